"""`ferrosz.hdf5`: h5py, which reads and writes through the filter, is what `read` and `write` are compared with."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import ferrosz
import ferrosz.hdf5
from ferrosz.hdf5 import FILTER_ID, Ferrosz, _chunks, filter_for, read, write

TYPES = [order + name for name in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8") for order in "<>"]

BOXES: list[Any] = [
    np.s_[...],
    (),
    np.s_[7],
    np.s_[-1, 5, 7],
    np.s_[..., 11],
    np.s_[3:29, 17:18, 20:60],
    np.s_[:, 49],
    np.s_[0:16, 0:20, 0:30],
    np.s_[16:32, ..., 30:60],
    np.s_[38:, 45:, 55:],
    np.s_[5:5],
    np.s_[-3:, ..., -2],
    np.s_[np.int64(2), 3:9],
]

# Not boxes: h5py reads them.
OTHERS: list[Any] = [np.s_[::3], np.s_[[1, 5, 30], 2], np.s_[5, ::2, :4]]


@pytest.fixture
def file(tmp_path: Path) -> Any:
    # Without a cache, where HDF5 keeps chunks as they were before they were compressed.
    with h5py.File(tmp_path / "x.h5", "w", rdcc_nbytes=0) as opened:
        yield opened


def assert_same(found: Any, expected: Any) -> None:
    """Bit for bit, and of the same kind."""
    assert type(found) is type(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()


def streams(dataset: h5py.Dataset) -> dict[tuple[int, ...], bytes]:
    """The stored bytes of all chunks."""
    places = [dataset.id.get_chunk_info(number).chunk_offset for number in range(dataset.id.get_num_chunks())]
    return {place: dataset.id.read_direct_chunk(place)[1] for place in places}


def filter_of(dataset: h5py.Dataset) -> dict[str, Any]:
    """The filter of a dataset, for another one."""
    _, _, words, _ = dataset.id.get_create_plist().get_filter(0)
    return {"compression": FILTER_ID, "compression_opts": words}


# Reading.


@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "interp"])
def test_every_box(codec: str, file: Any, field: np.ndarray) -> None:
    # 40 x 50 x 60 in chunks that do not divide it.
    dataset = file.create_dataset("x", data=field, chunks=(16, 20, 30), **Ferrosz(abs=0.01, codec=codec, written_once=True))
    assert np.abs(dataset[...] - field).max() <= 0.01 * (1 + 1e-6)
    for box in BOXES + OTHERS:
        expected = dataset[box]
        assert_same(read(dataset, box), expected)
        out = np.full(np.shape(expected), 77, field.dtype)
        assert read(dataset, box, out=out) is out
        assert_same(out, np.asarray(expected))
    strided = np.zeros((80, 50, 120), "float32")[::2, :, ::2]
    read(dataset, out=strided)
    assert_same(strided.copy(), dataset[...])


def test_wrong_indices_are_the_errors_of_h5py(file: Any, field: np.ndarray) -> None:
    dataset = write(file, "x", field, abs=0.01)
    for box in [np.s_[40], np.s_[0, 0, 0, 0], np.s_[..., ...], "name", 1.5]:
        with pytest.raises(Exception) as expected:
            dataset[box]
        with pytest.raises(type(expected.value)):
            read(dataset, box)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(dtype: str, file: Any, field: np.ndarray) -> None:
    array = (field * 20 + 60).astype(dtype)
    array[3, 4, 5:9] = 7
    written = write(file, "y", array, abs=1, chunks=(16, 20, 30))
    dataset = file.create_dataset("x", data=array, chunks=(16, 20, 30), **filter_of(written))
    assert written.dtype == array.dtype and streams(written) == streams(dataset)
    assert np.abs(dataset[...].astype("f8") - array.astype("f8")).max() <= 1
    for box in BOXES:
        assert_same(read(dataset, box), dataset[box])


@pytest.mark.parametrize("dtype", ["<c8", ">c8", "<c16", ">c16"])
def test_complex_numbers(dtype: str, file: Any, field: np.ndarray) -> None:
    array = (field + 1j * field[::-1, ::-1]).astype(dtype)
    array[3, 4, 5:9] = missing = array.dtype.type(1e20 - 7j)
    seen = np.delete(array, 3, 0)
    # Two settings: a codec, and the preset's choice of a codec for the range of all parts.
    for number, settings in enumerate(({"abs": 0.01, "codec": "lorenzo+rans"}, {"range": 1e-3})):
        written = write(file, f"y{number}", array, fillvalue=missing, chunks=(16, 20, 30), **settings)
        options: dict[str, Any] = {"chunks": (16, 20, 30), "fillvalue": missing, **filter_of(written)}
        dataset = file.create_dataset(f"x{number}", data=array, **options)
        assert written.dtype == array.dtype and streams(written) == streams(dataset)
        parts = np.delete(array, (4,), 1)
        parts = np.concatenate([parts.real.ravel(), parts.imag.ravel()]).astype("f8")
        bound = 0.01 if "abs" in settings else 1.001e-3 * np.ptp(parts)
        back = np.delete(dataset[...], 3, 0)
        for one, other in ((seen.real, back.real), (seen.imag, back.imag)):
            error = abs(one.astype("f8") - other.astype("f8")).max()
            assert 0 < error <= bound
        assert (dataset[3, 4, 5:9] == missing).all()
        for box in BOXES + OTHERS:
            assert_same(read(dataset, box), dataset[box])
    many = array[:2, :3, :2].reshape((2, 3, 2) + (1,) * 5)
    assert (read(write(file, "many", many, abs=0)) == many).all()


@pytest.mark.parametrize("names", [("re", "im"), ("real", "imag")])
def test_complex_numbers_under_other_names(names: tuple[str, str], file: Any, field: np.ndarray) -> None:
    """h5py has them as structures, and reads them through the filter."""
    array = np.ascontiguousarray(field + 1j * field[::-1])
    of_h5py = file.create_dataset("x", data=array, chunks=(16, 20, 30), **Ferrosz(abs=0.01))
    structures = array.view([(name, array.real.dtype) for name in names])
    dataset = file.create_dataset("y", data=structures, chunks=(16, 20, 30), **Ferrosz(abs=0.01))
    assert streams(dataset) == streams(of_h5py)
    for box in BOXES:
        assert_same(read(dataset, box), dataset[box])
    assert dataset[...].tobytes() == read(of_h5py).tobytes()


def test_netcdf_has_complex_numbers(tmp_path: Path, field: np.ndarray) -> None:
    """A compound of netCDF4, whose chunks h5py copies through the filter, and netCDF4 reads again."""
    netCDF4 = pytest.importorskip("netCDF4")
    array = np.ascontiguousarray(field + 1j * field[::-1]).astype("complex128")
    with netCDF4.Dataset(tmp_path / "x.nc", "w", auto_complex=True) as file:
        for name, length in zip("zyx", array.shape, strict=True):
            file.createDimension(name, length)
        file.createVariable("t", array.dtype, ("z", "y", "x"))[...] = array
    with h5py.File(tmp_path / "x.nc") as source, h5py.File(tmp_path / "y.h5", "w") as target:
        written = write(target, "t", source["t"], abs=0.01, chunks=(16, 20, 30))
        assert_same(read(written), written[...])
        expected = written[...]
    with netCDF4.Dataset(tmp_path / "y.h5", auto_complex=True) as file:
        found = np.asarray(file["t"][...])
    assert found.tobytes() == expected.tobytes() and abs(expected - array).max() <= 0.01 * 2**0.5


def test_special_values_come_back_bit_for_bit(file: Any, field: np.ndarray) -> None:
    bits = field.view("uint32").copy()
    bits[::2, 3, 4] = [0x7F800001 + place for place in range(20)]
    bits[1, 1, :3] = 0xFF800000, 0x7F800000, 0x80000000
    for dtype in ("<f4", ">f4"):
        array = bits.view("float32") if dtype == "<f4" else bits.byteswap().view(dtype)
        dataset = file.create_dataset(dtype, data=array, chunks=(16, 20, 30), **Ferrosz(abs=0.01))
        assert_same(read(dataset), dataset[...])
        assert read(dataset)[::2, 3, 4].tobytes() == array[::2, 3, 4].tobytes()


def test_chunks_that_are_no_streams(file: Any, field: np.ndarray) -> None:
    dataset = file.create_dataset(
        "x", field.shape, "f4", chunks=(16, 20, 30), maxshape=(None, 50, 60), fillvalue=-7.25, **Ferrosz(abs=0.01)
    )
    assert_same(read(dataset), np.full(field.shape, -7.25, "f4"))
    dataset[:16, :20, :30] = field[:16, :20, :30]
    # One that HDF5 stored as it is, as an optional filter may fail.
    raw = np.ascontiguousarray(field[16:32, 20:40, 30:60])
    dataset.id.write_direct_chunk((16, 20, 30), raw.tobytes(), filter_mask=1)
    dataset.resize((60, 50, 60))
    for box in BOXES:
        assert_same(read(dataset, box), dataset[box])
    assert_same(read(dataset, np.s_[16:32, 20:40, 30:60]), raw)


def test_other_datasets_are_read_by_h5py(file: Any, field: np.ndarray) -> None:
    chunks = {"chunks": (16, 20, 30)}
    datasets = [
        file.create_dataset("contiguous", data=field),
        file.create_dataset("gzip", data=field, compression="gzip", **chunks),
        file.create_dataset("checksum", data=field, fletcher32=True, **chunks, **Ferrosz(abs=0.01)),
        # The filter is optional and has no such type, so HDF5 leaves it away.
        file.create_dataset("bool", data=field > 0, **chunks, **Ferrosz(abs=0.01)),
    ]
    for dataset, box in itertools.product(datasets, BOXES + OTHERS):
        assert_same(read(dataset, box), dataset[box])
    file["scalar"] = np.float32(3)
    assert_same(read(file["scalar"], ()), file["scalar"][()])
    file["none"] = h5py.Empty("f4")
    assert read(file["none"], ()) == file["none"][()]
    # h5py reads bfloat16 as float32.
    bfloat16 = h5py.h5t.IEEE_F32LE.copy()
    bfloat16.set_fields(15, 7, 8, 0, 7)
    bfloat16.set_size(2)
    bfloat16.set_ebias(127)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((16, 20, 30))
    properties.set_filter(ferrosz.hdf5.FILTER_ID, 0, Ferrosz(abs=0.1).compression_opts)
    space = h5py.h5s.create_simple(field.shape)
    dataset = h5py.Dataset(h5py.h5d.create(file.id, b"bfloat16", bfloat16, space, properties))
    dataset[...] = field
    assert_same(read(dataset, np.s_[3:9, 4]), dataset[3:9, 4])


def test_shapes(file: Any) -> None:
    for number, (shape, chunks) in enumerate(
        [
            ((1,), (1,)),
            ((1000,), (64,)),
            ((5, 1, 9), (2, 1, 9)),
            ((2,) * 8, (2,) * 8),
            ((2, 3, 2, 1, 2, 1, 2, 1, 3, 2), (2, 2, 2, 1, 2, 1, 2, 1, 2, 2)),
        ]
    ):
        array = np.arange(np.prod(shape), dtype="float64").reshape(shape)
        written = write(file, f"y{number}", array, abs=0.25, chunks=chunks)
        dataset = file.create_dataset(f"x{number}", data=array, chunks=chunks, **filter_of(written))
        assert streams(written) == streams(dataset)
        assert_same(read(written), dataset[...])
        assert_same(read(written, np.s_[..., :1]), dataset[..., :1])
    for array in (np.zeros((0, 5), "f4"), np.float64(3.5)):
        dataset = write(file, None, array, abs=0.25)
        assert_same(read(dataset, ()), dataset[()])
        assert dataset.shape == array.shape and (dataset[()] == array).all()


def test_only_the_chunks_of_the_box_are_read(tmp_path: Path) -> None:
    array = np.random.default_rng(1).normal(0, 1, (64, 128, 128)).cumsum(axis=2).astype("float32")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = write(file, "x", array, abs=0.1, codec="plain", chunks=(32, 128, 128))
        whole = dataset[...]
        places = [dataset.id.get_chunk_info_by_coord(offset) for offset in ((0, 0, 0), (32, 0, 0))]
    content = bytearray((tmp_path / "x.h5").read_bytes())
    # The last byte of the first chunk, and all of the second.
    content[places[0].byte_offset + places[0].size - 1] ^= 1
    content[places[1].byte_offset : places[1].byte_offset + places[1].size] = bytes(places[1].size)
    (tmp_path / "x.h5").write_bytes(content)
    with h5py.File(tmp_path / "x.h5") as file:
        assert_same(read(file["x"], np.s_[:8, :20, 3]), whole[:8, :20, 3])
        with pytest.raises(OSError, match="filter returned failure"):
            file["x"][:8, :20, 3]
        for box, place, kind in ((np.s_[31, 127, 127], (0, 0, 0), "chunk_checksum"), (np.s_[32], (32, 0, 0), "not_ferrosz")):
            with pytest.raises(ferrosz.DamagedStream) as error:
                read(file["x"], box)
            assert error.value.kind == kind
            assert str(error.value).startswith(f"dataset /x, chunk at {place}: ")


def test_damage_is_an_error(file: Any, field: np.ndarray) -> None:
    dataset = write(file, "x", field, abs=0.01, chunks=(40, 50, 60))
    expected, stream = dataset[...], dataset.id.read_direct_chunk((0, 0, 0))[1]
    other = bytes(ferrosz.compress(field[:39], abs=0.01))
    doubles = bytes(ferrosz.compress(field.astype("float64"), abs=0.01))
    damaged = [stream[:-1], stream[:200], b"x", bytes(len(stream)), other, doubles]
    for at in range(0, len(stream), 509):
        damaged.append(stream[:at] + bytes([stream[at] ^ 4]) + stream[at + 1 :])
    for wrong in damaged:
        dataset.id.write_direct_chunk((0, 0, 0), wrong)
        with pytest.raises(ferrosz.DamagedStream, match=r"dataset /x, chunk at \(0, 0, 0\): "):
            read(dataset)
    dataset.id.write_direct_chunk((0, 0, 0), stream)
    assert_same(read(dataset), expected)


def test_out_must_fit(file: Any, field: np.ndarray) -> None:
    read_only = np.zeros_like(field)
    read_only.flags.writeable = False
    datasets = write(file, "x", field, abs=0.01), file.create_dataset("y", data=field)
    for dataset, out in itertools.product(datasets, (np.zeros((40, 50, 61), "f4"), field.astype("f8"), [1], read_only)):
        with pytest.raises(ferrosz.ArgumentError, match="out: "):
            read(dataset, out=out)
    with pytest.raises(ferrosz.ArgumentError, match="device: "):
        read(datasets[0], device="tpu")


# Writing.


def with_gap(array: np.ndarray, value: float, count: int) -> np.ndarray:
    """The array with so many elements of a value."""
    found = array.copy()
    found.ravel()[100 : 100 + count] = value
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {"abs": 0.01, "codec": "lorenzo+rans"},
        {"pwrel": 1e-3, "codec": "plain"},
        {"abs": 0.1, "codec": "interp", "rank": 2},
    ],
)
@pytest.mark.parametrize("fillvalue", [None, 0.0, -9999.0, float("nan")])
def test_chunks_have_the_bytes_that_h5py_writes(
    fillvalue: float | None, settings: dict[str, Any], file: Any, field: np.ndarray
) -> None:
    small = field[:20, :30, :40] + 3
    arrays = [small, with_gap(with_gap(small, np.nan, 5000), -9999, 900)]
    arrays += [with_gap(small, value, count) for value in (-9999.0, np.nan) for count in (1, 900)]
    for number, (array, fill) in enumerate(itertools.product(arrays, ("auto", None, -9999.0))):
        # The second chunk is padded.
        ours = write(file, f"ours{number}", array, fill=fill, fillvalue=fillvalue, chunks=(16, 30, 40), **settings)
        theirs = file.create_dataset(
            f"theirs{number}", data=array, chunks=(16, 30, 40), fillvalue=fillvalue,
            **Ferrosz(fill=fill, written_once=True, **settings),
        )
        assert streams(ours) == streams(theirs)
        assert ours._filters == theirs._filters
        np.testing.assert_array_equal(read(ours), theirs[...])


def test_the_filter_writes_what_the_list_of_words_says(file: Any) -> None:
    """The words of the README, written out."""
    low, high = np.array([1e-3]).view("<u4").tolist()
    assert Ferrosz(abs=1e-3).compression_opts == (1, 0, 0, low, high)
    assert Ferrosz(pwrel=1e-3, preset="fast", rank=2).compression_opts == (1 + 3 * 256, 2, 2, low, high)
    assert Ferrosz(abs=1e-3, codec="lorenzo+rans", fill=None).compression_opts == (1 + 65536, 4112, 0, low, high)
    assert Ferrosz(abs=2, codec="plain", fill=1e-3).compression_opts == (1 + 131072, 513, 0, 0, 1 << 30, low, high)
    assert dict(Ferrosz(abs=1e-3)).keys() == {"compression", "compression_opts"}
    for settings, advice in (
        ({}, "abs or pwrel"),
        ({"abs": 1, "pwrel": 1}, "not both"),
        ({"abs": -1}, "negative"),
        ({"range": 1e-3}, "filter_for"),
        ({"abs": 1, "device": "cpu"}, "device"),
    ):
        with pytest.raises(ferrosz.ArgumentError, match=advice):
            Ferrosz(**settings)
    for wrong in ({"codec": "zip"}, {"preset": "tiny"}, {"rank": 4}, {"fill": "x"}, {"fill": [1, 2]}, {"fill": ["auto", 1]}):
        with pytest.raises(ferrosz.ArgumentError):
            Ferrosz(abs=1, **wrong)


def test_the_bound_of_the_whole_array(file: Any, field: np.ndarray) -> None:
    array = field * 5
    array[30:] = -9999
    range_ = np.ptp(array[:30].astype("f8"))
    for settings, bound in (({"range": 1e-3}, 1e-3 * range_), ({"max": 1e-2}, 1e-2 * np.abs(array[:30]).max())):
        dataset = write(file, None, array, chunks=(10, 50, 60), **settings)
        found = dataset.attrs["ferrosz_bound"]
        assert found == pytest.approx(bound, rel=1e-6) and filter_for(array, **settings).abs == found
        assert np.abs(read(dataset) - array).max() <= found * (1 + 1e-6)
        assert (read(dataset)[30:] == -9999).all()
    for settings in ({}, {"abs": 1, "range": 1e-3}, {"range": 1, "max": 1}, {"abs": 1, "pwrel": 1}):
        with pytest.raises(ferrosz.ArgumentError, match="give one of the bounds"):
            write(file, "y", array, **settings)
    assert "y" not in file


def test_arrays_of_all_kinds_are_written(file: Any, tmp_path: Path, field: np.ndarray) -> None:
    import dask.array as da
    import xarray as xr

    options: dict[str, Any] = {"codec": "plain", "chunks": (16, 20, 30)}
    expected = streams(write(file, "x", field, range=1e-3, **options))
    np.save(tmp_path / "field.npy", field)
    arrays = [
        field.tolist(),
        np.asfortranarray(field),
        np.repeat(field, 2, axis=1)[:, ::2],
        np.load(tmp_path / "field.npy", mmap_mode="r"),
        da.from_array(field, chunks=(7, 50, 60)),
        xr.DataArray(field, dims=("z", "y", "x")),
        file.create_dataset("source", data=field),
    ]
    for array in arrays:
        kind = np.asarray(array, "float32") if isinstance(array, list) else array
        assert streams(write(file, None, kind, range=1e-3, **options)) == expected
    assert write(file, None, field.tolist(), abs=1).dtype == np.float64


def test_attributes_say_which_error_is_left(file: Any, field: np.ndarray) -> None:
    dataset = write(file, "x", field, range=1e-3, preset="fast")
    back = read(dataset).astype("f8")
    assert np.abs(back - field).max() <= dataset.attrs["ferrosz_bound"] <= 1e-3 * np.ptp(field.astype("f8"))
    found = dict(dataset.attrs)
    del found["ferrosz_bound"]
    assert found == {
        "ferrosz_version": ferrosz.__version__,
        "ferrosz_mode": "abs",
        "ferrosz_preset": "fast",
        "ferrosz_written_once": 1,
        "ferrosz_range": 1e-3,
    }
    found = dict(write(file, "y", field, pwrel=1e-2, codec="plain").attrs)
    assert found == {
        "ferrosz_version": ferrosz.__version__,
        "ferrosz_mode": "pwrel",
        "ferrosz_bound": 1e-2,
        "ferrosz_codec": "plain",
        "ferrosz_written_once": 1,
    }


def test_what_cannot_be_written_leaves_nothing(file: Any, field: np.ndarray) -> None:
    for array in (field > 0, field.astype("clongdouble"), np.array(["a"])):
        with pytest.raises(TypeError):
            write(file, "x", array, abs=1)
    with pytest.raises(ferrosz.ArgumentError, match="values from -2147483648 to 2147483647"):
        write(file, "x", field.astype("int64") * 2**40, abs=1)
    for options in ({"fletcher32": True}, {"shuffle": True}):
        with pytest.raises((ferrosz.ArgumentError, ValueError)):
            write(file, "x", field, abs=1, **options)
    with pytest.raises(ferrosz.UnsupportedType):
        write(file, "x", field.astype("int16"), pwrel=1e-3)

    class Broken:
        shape, dtype, ndim, size = field.shape, field.dtype, 3, field.size

        def __getitem__(self, box: Any) -> np.ndarray:
            if box[0].start > 0:
                raise ZeroDivisionError
            return field[box]

    with pytest.raises(ZeroDivisionError):
        write(file, "x", Broken(), abs=1, chunks=(16, 20, 30))
    assert list(file) == []
    write(file, "x", field, abs=1)
    with pytest.raises(ValueError):
        write(file, "x", field, abs=1)
    assert list(file) == ["x"]


def test_a_preset_chooses_once_for_all_chunks(file: Any, field: np.ndarray) -> None:
    chunks = (20, 25, 60)
    dataset = write(file, "x", field, range=1e-3, chunks=chunks, preset="fast")
    codecs = {ferrosz.info(stream).codec for stream in streams(dataset).values()}
    chosen = filter_for(field, range=1e-3, chunks=chunks, preset="fast", written_once=True)
    assert codecs == {chosen.codec} and chosen.preset is None and chosen.rank is not None
    assert dataset.attrs["ferrosz_codec"] == chosen.codec
    through_h5py = file.create_dataset("y", data=field, chunks=chunks, **chosen)
    assert streams(through_h5py) == streams(dataset)
    of_each = filter_for(field, range=1e-3, preset="fast", written_once=True)
    each = file.create_dataset("z", data=field, chunks=chunks, **of_each)
    lengths = [sum(map(len, streams(written).values())) for written in (dataset, each)]
    assert lengths[0] <= 1.02 * lengths[1]


# Threads and processes.


def test_the_filter_chooses_for_few_chunks(file: Any) -> None:
    """Within the bound, about as short as with a choice for each chunk, and with its codec where the values change."""
    z, y, x = np.ogrid[:64, :64, :64]
    noise = np.random.default_rng(7).normal(0, 1, (64, 64, 64))
    smooth = (np.sin(z / 30) * np.cos(y / 25) + np.sin(x / 20) + 1e-4 * noise).astype("float32")
    half = np.where(z < 32, smooth, noise).astype("float32")
    error, chunks = 1e-3, (16, 32, 32)
    for name, field in (("smooth", smooth), ("half", half)):
        dataset = file.create_dataset(name, data=field, chunks=chunks, **Ferrosz(abs=error))
        assert abs(dataset[...].astype("float64") - field.astype("float64")).max() <= error
        streams = [dataset.id.read_direct_chunk(dataset.id.get_chunk_info(at).chunk_offset)[1] for at in range(16)]
        places = [dataset.id.get_chunk_info(at).chunk_offset for at in range(16)]
        boxes = [field[tuple(slice(at, at + n) for at, n in zip(place, chunks, strict=True))] for place in places]
        each = [ferrosz.compress(np.ascontiguousarray(box), abs=error, preset="balanced", rewritable=True) for box in boxes]
        assert sum(map(len, streams)) <= 1.05 * sum(map(len, each)), name
        first = {ferrosz.info(stream).codec for stream in streams[1:3]}
        assert first == {ferrosz.info(streams[0]).codec}, "the chunks behind the first have its codec"
        if name == "half":
            # Where the noise begins, a choice for the chunk alone.
            begin = next(at for at, place in enumerate(places) if place[0] >= 32)
            assert bytes(streams[begin]) == bytes(each[begin])


def test_work_is_in_order_and_bounded() -> None:
    cores = len(os.sched_getaffinity(0))
    lock, running, most = threading.Lock(), 0, 0

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if number == 70:
            raise ZeroDivisionError
        return number

    taken = itertools.count()
    results = []
    with pytest.raises(ZeroDivisionError):
        for result in _chunks.in_order(work, taken):
            results.append(result)
            with lock:
                running -= 1
    assert results == list(range(70))
    assert most <= cores and next(taken) <= 70 + cores + 1


def test_sixteen_threads(tmp_path: Path, field: np.ndarray) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        settings = {"abs": 0.01, "codec": "plain", "chunks": (16, 20, 30)}
        dataset = write(file, "x", field, **settings)
        whole, chunks = dataset[...], streams(dataset)

        def work(number: int) -> bool:
            other = write(file, f"t{number}", field, **settings)
            box = np.s_[number : number + 9, 3]
            return streams(other) == chunks and np.array_equal(read(dataset, box), whole[box])

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(work, range(32)))


def _in_child(path: str) -> tuple[bytes, bytes]:
    with h5py.File(path) as file:
        array = read(file["x"])
    with h5py.File(f"{path}.{os.getpid()}", "w") as file:
        return array.tobytes(), write(file, "x", array, abs=0).id.read_direct_chunk((0, 0, 0))[1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method: str, tmp_path: Path, field: np.ndarray) -> None:
    """Those that are forked have none of the threads that this process has started."""
    path = str(tmp_path / "x.h5")
    with h5py.File(path, "w") as file:
        write(file, "x", field, abs=0.01)
    expected = _in_child(path)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_in_child, [path] * 6).get(timeout=60) == [expected] * 6


# Other tools.


@pytest.mark.parametrize(
    "imports",
    [
        "import ferrosz.hdf5, h5py, netCDF4",
        "import h5py, netCDF4, ferrosz.hdf5",
        "import netCDF4; netCDF4.Dataset('x.h5').close(); import ferrosz.hdf5, h5py",
        "import h5py; h5py.h5pl.size(); import ferrosz.hdf5, netCDF4",
    ],
)
@pytest.mark.parametrize("variable", [None, "/nowhere"])
def test_importing_the_module_is_enough(imports: str, variable: str | None, tmp_path: Path, field: np.ndarray) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        expected = write(file, "x", field, abs=0.01)[3, 4, 5]
    program = imports + "\n" + (
        "found = {h5py.File('x.h5')['x'][3, 4, 5], netCDF4.Dataset('x.h5')['x'][3, 4, 5].item()}\n"
        f"assert found == {{{expected}}}, found\n"
    )
    if variable is None:
        # The plugins of netCDF4 are still found.
        program += (
            "file = netCDF4.Dataset('z.nc', 'w'); file.createDimension('x', 9)\n"
            "file.createVariable('v', 'f4', ('x',), compression='zstd')[:] = 1\n"
        )
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    if variable is not None:
        environment["HDF5_PLUGIN_PATH"] = variable
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_module_prints_the_folder_of_the_plugin() -> None:
    done = subprocess.run([sys.executable, "-m", "ferrosz.hdf5"], capture_output=True, text=True, check=True)
    assert done.stdout == ferrosz.hdf5.PLUGIN_PATH + "\n"
    assert list(Path(done.stdout.strip()).glob("libferrosz_hdf5*"))


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="needs h5dump")
def test_h5dump_reads_what_write_wrote(tmp_path: Path, field: np.ndarray) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        expected = write(file, "x", field, range=1e-3)[...]
    command = ["h5dump", "-d", "/x", "-b", "LE", "-o", "x.bin", "x.h5"]
    environment = {**os.environ, "HDF5_PLUGIN_PATH": ferrosz.hdf5.PLUGIN_PATH}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "x.bin").read_bytes() == expected.tobytes()


def test_through_xarray_and_netcdf4(tmp_path: Path, field: np.ndarray) -> None:
    import netCDF4
    import xarray as xr

    values = field.copy()
    values[:5] = np.nan
    data = xr.DataArray(values, dims=("z", "y", "x"), attrs={"units": "K"})
    chosen = filter_for(data, range=1e-3)
    data.attrs.update(ferrosz.cf.attributes(chosen, range=1e-3))
    encoding = {"t": {**chosen, "chunksizes": (20, 50, 60), "_FillValue": np.float32(-9999)}}
    data.to_dataset(name="t").to_netcdf(tmp_path / "t.nc", engine="h5netcdf", encoding=encoding)
    with netCDF4.Dataset(tmp_path / "t.nc") as file:
        found = file["t"][...].filled(np.nan)
        assert file["t"].getncattr("ferrosz_bound") == chosen.abs and file["t"].getncattr("ferrosz_range") == 1e-3
        with pytest.warns(ferrosz.RepeatedCompression, match="'t'"):
            assert filter_for(file["t"], range=1e-3).abs == pytest.approx(chosen.abs, rel=1e-2)
    assert np.isnan(found[:5]).all() and np.nanmax(np.abs(found - values)) <= chosen.abs
    for engine in ("netcdf4", "h5netcdf"):
        with xr.open_dataset(tmp_path / "t.nc", engine=engine) as dataset:
            assert_same(dataset["t"].values, found)
            assert dataset["t"].attrs["ferrosz_mode"] == "abs"
    with h5py.File(tmp_path / "t.nc") as file:
        assert_same(read(file["t"]), file["t"][...])
        assert (read(file["t"], np.s_[:5]) == -9999).all()


def test_fill_values_of_the_conventions(field: np.ndarray) -> None:
    import xarray as xr

    array = field.astype("float64")
    array[:5] = 1e20
    array[5:9] = 50
    bound = np.ptp(field[9:].astype("f8")) * 1e-3

    def found(**attributes: Any) -> Ferrosz:
        return filter_for(xr.DataArray(array, attrs=attributes), range=1e-3)

    assert filter_for(xr.DataArray(array[:5], attrs={"missing_value": [1e20]}), range=1e-3).fill == 1e20
    assert found(missing_value=1e20, valid_range=[-40.0, 40.0]).abs == pytest.approx(bound)
    assert found(missing_value=1e20, valid_min=40.0).abs == 0
    assert found(_FillValue=1e20, missing_value=[50.0, 1e20]).fill == "auto"
    assert found(_FillValue=1e20, missing_value=[50.0, 1e20]).abs == pytest.approx(bound)
    # The limits are for packed values.
    assert found(missing_value=[50.0, 1e20], valid_max=1.0, scale_factor=0.1).abs == pytest.approx(bound)
    assert repr(filter_for(array, range=1e-3, fill=[1e20, 50])) == repr(found(_FillValue=1e20, missing_value=50.0))
    assert filter_for(array, range=1e-3, fill=1e20).fill == 1e20
    with pytest.raises(ferrosz.ArgumentError, match="valid_range"):
        found(valid_range=[1.0, 2.0, 3.0])


# GPUs: NumPy stands for CuPy. tests/gpu.py is for a machine with one.


class OnGpu(np.ndarray):
    """An array of NumPy that looks as if it were on a GPU."""

    __cuda_array_interface__: dict[str, Any] = {}
    device = contextlib.nullcontext()


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = types.ModuleType("cupy")
    vars(stand_in).update(
        {name: getattr(np, name) for name in ("asarray", "empty", "full", "ascontiguousarray")},
        asnumpy=np.asarray,
        from_dlpack=lambda object: np.frombuffer(object, "u1") if isinstance(object, ferrosz.Stream) else object,
        cuda=types.SimpleNamespace(Device=lambda number: contextlib.nullcontext()),
    )
    monkeypatch.setitem(sys.modules, "cupy", stand_in)


@pytest.mark.usefixtures("cupy")
def test_the_way_over_a_gpu(file: Any, field: np.ndarray) -> None:
    settings = {"range": 1e-3, "chunks": (16, 20, 30), "fillvalue": 2.5}
    expected = write(file, "x", field, **settings)
    dataset = write(file, "y", field.view(OnGpu), **settings)
    assert streams(dataset) == streams(expected)
    for box in BOXES + OTHERS:
        assert_same(np.asarray(read(dataset, box, device="cuda:1")), np.asarray(dataset[box]))
    dataset.id.write_direct_chunk((0, 0, 0), b"x")
    with pytest.raises(ferrosz.DamagedStream, match="dataset /y, chunk at"):
        read(dataset, device="cuda")
    with pytest.raises(ferrosz.ArgumentError, match="out: "):
        read(dataset, device="cuda", out=np.empty_like(field))


def test_without_cupy(file: Any, field: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    dataset = write(file, "x", field, abs=1)
    with pytest.raises(ImportError, match="cupy"):
        read(dataset, device="cuda")
