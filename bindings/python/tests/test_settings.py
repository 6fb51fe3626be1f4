"""Settings: they are copied, pickled, compared and printed, and taken as NumPy computes them."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import struct
from typing import Any

import h5py
import numpy as np
import pytest
import zarr

import ferrosz
import ferrosz.cf
import ferrosz.hdf5
import ferrosz.numcodecs
from ferrosz.zarr import FerroszCodec, codec_for

OBJECTS = [
    ferrosz.Compressor(abs=1e-3),
    ferrosz.Compressor(range=1e-3, codec="lorenzo+rans", rank=2, axes="s,y,x", fill=[1e20, math.nan], keep_zero=True),
    ferrosz.Compressor(psnr=60, preset="fast", fill=["auto", -9999], keep_sign=True, device="cpu"),
    ferrosz.Compressor(abs=0, fill=None),
    ferrosz.Decompressor(),
    ferrosz.Decompressor(device="cpu", verify_checksums=False),
    FerroszCodec(abs=1e-3, preset="fast"),
    FerroszCodec(pwrel=1e-3, codec="interp", written_once=True),
    ferrosz.hdf5.Ferrosz(abs=1e-3, fill=-9999.0),
    ferrosz.hdf5.Ferrosz(abs=1e-3, codec="slices", rank=3, fill=None, written_once=True),
    ferrosz.numcodecs.Ferrosz(abs=1e-3, preset="fast", fill=[1.0, 2.0], dtype=">i2", order="F"),
]
NAMES = {"ferrosz": ferrosz, "FerroszCodec": FerroszCodec, "nan": math.nan}


@pytest.mark.parametrize("made", OBJECTS, ids=repr)
def test_objects_are_copied_and_printed(made: Any) -> None:
    names = dict(NAMES, Ferrosz=type(made))
    copies = [pickle.loads(pickle.dumps(made, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in [*copies, copy.copy(made), copy.deepcopy(made), eval(repr(made), names)]:
        assert type(other) is type(made) and other == made and not other != made
        assert repr(other) == repr(made)
        if type(made).__hash__ is not None:
            assert hash(other) == hash(made)
    assert [other == made for other in OBJECTS].count(True) == 1
    assert made != 3 and made != "text"


def test_what_a_copy_does(field: np.ndarray) -> None:
    for made in OBJECTS[:2]:
        assert pickle.loads(pickle.dumps(made)).compress(field) == made.compress(field)
    stream = ferrosz.compress(field, abs=0.01)
    assert repr(OBJECTS[0]) == "ferrosz.Compressor(abs=0.001)"
    assert np.array_equal(copy.deepcopy(OBJECTS[5]).decompress(stream), ferrosz.decompress(stream))


def test_reports_are_copied_and_compared(field: np.ndarray) -> None:
    array = field.copy()
    array[3:9] = np.nan
    stream = ferrosz.compress(array, range=1e-3, fill=[np.nan, 7.0])
    for made in (stream.info, ferrosz.verify(array, stream)):
        for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            assert other == made and hash(other) == hash(made) and repr(other) == repr(made)
        assert isinstance(made, ferrosz.Info | ferrosz.Verification) and dataclasses.asdict(made)["size"] == made.size
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.size = 3
    assert stream.info == ferrosz.info(bytes(stream)) != ferrosz.info(ferrosz.compress(field, abs=1))
    assert ferrosz.verify(array, stream) == ferrosz.verify(array, stream)


NUMBERS = [
    np.float32(0.25),
    np.float64(0.25),
    np.float16(0.25),
    np.array(0.25),
    np.array(0.25, "f4"),
    np.float32([0.25])[0],
]


@pytest.mark.parametrize("bound", [*NUMBERS, np.int64(2), np.uint8(2), np.array(2)], ids=repr)
def test_bounds_that_numpy_computed(bound: Any, field: np.ndarray, tmp_path: Any) -> None:
    codec = FerroszCodec(abs=bound, keep_sign=np.True_, rank=np.int64(2), preset=np.str_("fast"))
    assert type(codec.abs) is float and codec.abs == float(bound) and type(codec.keep_sign) is bool
    array = zarr.create_array({}, shape=field.shape, chunks=field.shape, dtype="f4", serializer=codec, compressors=None)
    array[...] = field
    assert np.abs(array[...] - field).max() <= bound
    json.dumps(
        [codec.to_dict(), ferrosz.cf.attributes(codec, range=bound), ferrosz.numcodecs.Ferrosz(abs=bound).get_config()]
    )
    json.dumps(codec_for(field, range=bound, fill=np.array([7], "f4")).to_dict())
    of_file = ferrosz.hdf5.Ferrosz(abs=bound)
    assert type(of_file.abs) is float and of_file == ferrosz.hdf5.Ferrosz(abs=float(bound))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        assert ferrosz.hdf5.write(file, "x", field, abs=bound).attrs["ferrosz_bound"] == bound
        ferrosz.hdf5.write(file, "y", field, range=bound, fillvalue=np.float32(7))
    assert ferrosz.compress(field, abs=bound) == ferrosz.compress(field, abs=float(bound))


@pytest.mark.parametrize(
    "make", [FerroszCodec, ferrosz.hdf5.Ferrosz, ferrosz.numcodecs.Ferrosz], ids=["zarr", "hdf5", "numcodecs"]
)
def test_wrong_settings_say_what_to_do(make: Any, field: np.ndarray) -> None:
    relative = "filter_for" if make is ferrosz.hdf5.Ferrosz else "codec_for"
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, f"give abs or pwrel, .*{relative}"),
        ({"abs": 1, "pwrel": 1}, "give abs or pwrel, not both"),
        ({"range": 1e-3}, f"range: .*{relative}"),
        ({"max": 1e-3}, f"max: .*{relative}"),
        ({"psnr": 60}, "psnr: .*abs"),
        ({"abs": 1, "device": "cpu"}, "device: "),
        ({"abs": 1, "level": 3}, "level: .*no such setting.*abs, pwrel, preset, codec"),
        ({"abs": "small"}, "abs: 'small' is not a number"),
        ({"abs": [1, 2]}, "abs: .* is not a number"),
        ({"abs": 1, "rank": 2.5}, "rank: 2.5 is not a whole number"),
        ({"abs": 1, "preset": 3}, "preset: 3 is not a string"),
        ({"abs": 1, "codec": 3}, "codec: 3 is not a string"),
        ({"abs": 1j}, "abs: 1j is not a number"),
    ]
    for settings, message in cases:
        with pytest.raises(ferrosz.ArgumentError, match=message):
            make(**settings)
    for function in (codec_for, ferrosz.hdf5.filter_for):
        array = np.array([0, 1, 5, 1e20], "f4")
        for fill in (
            1e20,
            np.float32(1e20),
            [1e20],
            (1e20,),
            np.array([1e20]),
            np.array(1e20),
            iter([1e20]),
            ["auto", 1e20],
        ):
            assert function(array, range=1 / 64, fill=fill).abs == 5 / 64
        for fill in ("x", [[]], b"1", [None, "x"]):
            with pytest.raises(ferrosz.ArgumentError, match="fill"):
                function(array, range=1 / 64, fill=fill)
        for settings in ({}, {"range": 1e-3, "max": 1e-3}, {"abs": 1}, {"range": "x"}):
            with pytest.raises(ferrosz.ArgumentError):
                function(field, **settings)


def test_the_number_of_the_filter_is_one_for_tests() -> None:
    """Who writes with it is warned once in a process, and who reads is not."""
    import subprocess
    import sys

    program = (
        "import warnings, ferrosz, ferrosz.hdf5, h5py, numpy as np\n"
        "file = h5py.File('x.h5', 'w', driver='core', backing_store=False)\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    dataset = ferrosz.hdf5.write(file, 'x', np.zeros((30, 40)), abs=1)\n"
        "    ferrosz.hdf5.read(dataset), ferrosz.hdf5.Ferrosz(abs=1), ferrosz.hdf5.Ferrosz(abs=2)\n"
        "assert [warning.category for warning in found] == [ferrosz.TestNumber], found\n"
        "assert 'not for keeping' in str(found[0].message) and found[0].filename == '<string>', found[0]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("chunks", "count"), [("", 1), (", chunks=(40, 100, 100)", 0)])
def test_small_chunks_are_warned_of_once(chunks: str, count: int) -> None:
    """HDF5 writes chunks that were not asked for, which are small."""
    import subprocess
    import sys

    program = (
        "import warnings, ferrosz, ferrosz.hdf5, h5py, numpy as np\n"
        "file = h5py.File('x.h5', 'w', driver='core', backing_store=False)\n"
        "field = np.random.default_rng(5).normal(size=(200, 100, 100)).astype('f4')\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    for name in 'xy':\n"
        f"        file.create_dataset(name, data=field{chunks}, **ferrosz.hdf5.Ferrosz(abs=1))\n"
        "found = [warning for warning in found if warning.category is ferrosz.SmallChunks]\n"
        f"assert len(found) == {count}, found\n"
        "assert all('1 MiB' in str(warning.message) and warning.filename == '<string>' for warning in found), found\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fill_values_as_xarray_writes_them(tmp_path: Any) -> None:
    import xarray as xr

    for number, value in enumerate((math.nan, -9999.0, 1e20, 5)):
        dtype = "f4" if isinstance(value, float) else "i4"
        data = xr.DataArray(np.full((8, 9), 3, dtype), dims=("y", "x"), name="t")
        data.encoding["_FillValue"] = np.dtype(dtype).type(value)
        data.to_zarr(tmp_path / f"{number}.zarr", consolidated=False, zarr_format=3)
        array = zarr.open_array(tmp_path / f"{number}.zarr" / "t")
        found = ferrosz.cf.fill_values(array)
        np.testing.assert_array_equal(found, [float(np.dtype(dtype).type(value))])
        assert isinstance(array.attrs["_FillValue"], str) == isinstance(value, float)
        assert codec_for(array, range=1e-3).abs == 0
    for attributes in ({"_FillValue": "none"}, {"missing_value": "AAAA"}, {"missing_value": [1.0, "x"]}):
        with pytest.raises(ferrosz.ArgumentError, match=f"the attribute {list(attributes)[0]} is no number"):
            ferrosz.cf.fill_values(xr.DataArray([1.0], attrs=attributes))
    assert ferrosz.cf.fill_values(xr.DataArray([1.0], attrs={"missing_value": "-9999"})) == [-9999]


def test_packing_that_is_no_number() -> None:
    import xarray as xr

    for name in ("scale_factor", "add_offset"):
        for wrong in ("0.1", [0.1, 0.2], b"1"):
            data = xr.DataArray([1.0, 2.0], attrs={name: wrong, "valid_min": 0.0})
            for function in (ferrosz.cf.valid_range, lambda data: codec_for(data, range=1e-3)):
                with pytest.raises(ferrosz.ArgumentError, match=f"the attribute {name} is not a number"):
                    function(data)
        assert ferrosz.cf.valid_range(xr.DataArray([1.0], attrs={name: np.float32(0.1), "valid_min": 0.0})) is None
    with pytest.raises(ferrosz.ArgumentError, match="valid_range"):
        ferrosz.cf.valid_range(xr.DataArray([1.0], attrs={"valid_range": "0 1"}))


def test_arrays_without_dimensions(tmp_path: Any) -> None:
    stream = ferrosz.compress(np.float32(3.5), abs=0)
    out = np.zeros((), "float32")
    assert ferrosz.decompress(stream, out=out) is out and out == 3.5
    assert ferrosz.decompress(stream).shape == () and stream.info.shape == ()
    with pytest.raises(ferrosz.ArgumentError, match="shape"):
        ferrosz.decompress(ferrosz.compress(np.zeros(2, "f4"), abs=0), out=out)
    for kind in (
        {"serializer": FerroszCodec(abs=0)},
        {"zarr_format": 2, "compressors": ferrosz.numcodecs.Ferrosz(abs=0)},
    ):
        array = zarr.create_array({}, shape=(), dtype="f4", **{"compressors": None, **kind})
        array[...] = 3.5
        assert array[...].shape == () and array[...] == 3.5
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = ferrosz.hdf5.write(file, "x", np.float32(3.5), abs=1)
        assert dataset.shape == () and dataset[()] == 3.5


def test_arrays_without_elements_and_of_endless_length() -> None:
    """NumPy has no such arrays, and says so by other errors."""
    for shape in [(0, 2**62), (2**62, 0), (0, 2**63), (0, 2**64 - 1), (2**40, 0, 2**40)]:
        stream = empty_stream(shape)
        for box in (None, np.s_[...], np.s_[:, :]):
            with pytest.raises((ferrosz.DamagedStream, ferrosz.ArgumentError)):
                ferrosz.decompress(stream, box=box)
        for box in (np.s_[0, 0], np.s_[-1, -1], np.s_[2**70]):
            with pytest.raises((ferrosz.DamagedStream, ferrosz.ArgumentError)):
                ferrosz.decompress(stream, box=box)


def empty_stream(shape: tuple[int, ...]) -> bytes:
    """The stream of an array without elements, whose lengths are put into the header, with the checksums of FORMAT.md."""
    data = bytearray(bytes(ferrosz.compress(np.zeros((0, 5, 3)[: len(shape)], "f4"), abs=1, codec="plain")))

    def seal() -> bytes:
        struct.pack_into("<Q", data, 128, mix(checksum(bytes(data[:128]))))
        struct.pack_into("<Q", data, 152, checksum(bytes(data[:152])))
        return bytes(data)

    assert seal() == bytes(ferrosz.compress(np.zeros((0, 5, 3)[: len(shape)], "f4"), abs=1, codec="plain"))
    for place, length in enumerate(shape):
        struct.pack_into("<Q", data, 16 + 8 * place, length)
    return seal()


def checksum(data: bytes) -> int:
    found = 0
    for number, (word,) in enumerate(struct.iter_unpack("<I", data)):
        weight = (number + 1) * 0x9E3779B1 % 2**32
        found += word * ((weight ^ weight >> 15) | 1)
    return found % 2**64


def mix(value: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor % 2**64
    return value ^ value >> 33
