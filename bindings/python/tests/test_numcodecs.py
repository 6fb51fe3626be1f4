"""ferrosz in numcodecs and Zarr v2."""

from __future__ import annotations

import copy
import json
import pickle
from functools import partial
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from exact import beyond

import ferrosz
import ferrosz.numcodecs


def codec_of(**options: Any) -> Any:
    return numcodecs.get_codec({"id": "ferrosz", **options})


def test_arrays_keep_type_and_shape(field: np.ndarray) -> None:
    codec = codec_of(abs=0.01)
    data = codec.encode(field)
    assert isinstance(data, bytes)
    back = codec.decode(data)
    assert back.shape == field.shape and back.dtype == field.dtype
    assert np.abs(back - field).max() <= 0.01
    out = np.empty(field.size, "float32")
    assert codec.decode(data, out=out) is out
    assert np.array_equal(out, back.ravel())


def test_the_configuration_makes_an_equal_codec() -> None:
    codec = codec_of(abs=0.01, preset="fast", fill=-9999.0)
    assert codec.get_config() == {"id": "ferrosz", "abs": 0.01, "preset": "fast", "fill": -9999.0}
    assert numcodecs.get_codec(json.loads(json.dumps(codec.get_config()))) == codec
    for options in ({"range": 1e-3}, {"psnr": 60}, {}, {"abs": -1}):
        with pytest.raises(ferrosz.ArgumentError):
            codec_of(**options)


def test_damage_is_an_error(field: np.ndarray) -> None:
    codec = codec_of(abs=0.01)
    data = codec.encode(field)
    for other in (data[:-1], b"", data[:-1] + b"\0" if data[-1] else data[:-1] + b"\1"):
        with pytest.raises(ferrosz.DamagedStream):
            codec.decode(other)


def test_zarr_v2(tmp_path: Any, field: np.ndarray) -> None:
    path = tmp_path / "x.zarr"
    array = zarr.create_array(
        path, shape=field.shape, chunks=(20, 30, 40), dtype="float32", zarr_format=2, compressors=codec_of(abs=0.01)
    )
    array[...] = field
    assert json.loads((path / ".zarray").read_text())["compressor"] == {"id": "ferrosz", "abs": 0.01}
    back = zarr.open_array(path, mode="r")
    assert np.abs(back[...] - field).max() <= 0.01
    stored = sum(file.stat().st_size for file in path.iterdir())
    assert stored < field.nbytes / 2


def in_zarr_v2(values: np.ndarray, codec: Any, **options: Any) -> zarr.Array:
    options = {"compressors": codec, "chunks": tuple(min(20, length) for length in values.shape), **options}
    array = zarr.create_array({}, shape=values.shape, dtype=values.dtype, zarr_format=2, **options)
    array[...] = values
    return array


def test_fortran_order(field: np.ndarray) -> None:
    with pytest.raises(ferrosz.ArgumentError, match="order='F'"):
        in_zarr_v2(field, codec_of(abs=0.01), order="F")
    for values in (field, field[:40, :40, :40], field.astype(">f8")):
        array = in_zarr_v2(values, codec_of(abs=0.01, order="F", dtype=values.dtype), order="F")
        assert beyond(values, array[...], 0.01) == 0
        assert beyond(values[3:30:2, 7], array[3:30:2, 7], 0.01) == 0
    codec = codec_of(abs=0.01, order="F")
    assert beyond(field, codec.decode(codec.encode(np.asfortranarray(field))), 0.01) == 0
    assert beyond(field, codec.decode(codec.encode(field)), 0.01) == 0
    for wrong in ("K", None, 3):
        with pytest.raises(ferrosz.ArgumentError, match="order"):
            codec_of(abs=1, order=wrong)


TYPES = ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", TYPES)
def test_every_type_in_both_byte_orders(name: str, order: str, field: np.ndarray) -> None:
    values = (field[:20, :30, :40] * 20 + 60).astype(order + name)
    array = in_zarr_v2(values, codec_of(abs=1, dtype=values.dtype))
    assert array.dtype == values.dtype
    assert beyond(values, array[...], 1) == 0
    # As a filter it is followed by any compressor.
    array = in_zarr_v2(values, None, filters=[codec_of(abs=1, dtype=values.dtype)])
    assert beyond(values, array[...], 1) == 0
    if values.dtype.isnative and values.dtype.itemsize > 1 and name not in ("i8", "u8"):
        assert beyond(values, in_zarr_v2(values, codec_of(abs=1))[...], 1) == 0
        return
    with pytest.raises(ferrosz.UnsupportedType, match=f"dtype='{np.dtype(values.dtype).str.replace('|', '.')}'"):
        in_zarr_v2(values, codec_of(abs=1))


def test_other_types_are_refused(field: np.ndarray) -> None:
    with pytest.raises(ferrosz.UnsupportedType):
        in_zarr_v2(field > 0, codec_of(abs=1))
    for dtype in ("bool", "clongdouble"):
        with pytest.raises(ferrosz.UnsupportedType):
            codec_of(abs=1, dtype=dtype)
    with pytest.raises(ferrosz.UnsupportedType, match="dtype: the codec has '<f8', and the array '<f4'"):
        in_zarr_v2(field, codec_of(abs=1, dtype="f8"))


def test_big_endian_arrays_of_xarray(tmp_path: Any, field: np.ndarray) -> None:
    import xarray as xr

    values = field.astype(">f4")
    data = xr.Dataset({"t": (("z", "y", "x"), values)})
    for settings, is_right in (({}, False), ({"dtype": ">f4"}, True)):
        encoding = {"t": {"compressors": [codec_of(abs=0.01, **settings)], "chunks": (20, 50, 60)}}
        write = partial(
            data.to_zarr, tmp_path / f"{is_right}.zarr", zarr_format=2, encoding=encoding, consolidated=False
        )
        if not is_right:
            with pytest.raises(ferrosz.UnsupportedType, match="dtype='>f4'"):
                write()
            continue
        write()
        assert beyond(values, xr.open_zarr(tmp_path / "True.zarr", consolidated=False).t.values, 0.01) == 0


def test_out_is_any_buffer_of_as_many_bytes(field: np.ndarray) -> None:
    codec = codec_of(abs=0.01)
    data = codec.encode(field)
    expected = codec.decode(data)
    outs = [
        bytearray(field.nbytes),
        memoryview(bytearray(field.nbytes)),
        np.empty(field.nbytes, "u1"),
        np.empty(field.shape, "i4"),
        np.empty(field.size // 2, "f8"),
        np.empty((field.size, 2), "f4")[:, 0],
    ]
    for out in outs:
        assert codec.decode(data, out=out) is out
        assert np.asarray(out).tobytes() == expected.tobytes()
    fortran = np.empty_like(field, order="F")
    # The order of the memory is that of the bytes, as with the codecs of numcodecs itself.
    codec.decode(data, out=fortran)
    assert fortran.tobytes(order="A") == numcodecs.compat.ndarray_copy(expected, np.empty_like(fortran)).tobytes(
        order="A"
    )
    for wrong in (
        bytearray(3),
        bytes(field.nbytes),
        np.empty(field.shape, "f8"),
        np.empty(0),
        np.empty(field.size // 2, object),
    ):
        with pytest.raises(ferrosz.ArgumentError, match="out: a writable buffer"):
            codec.decode(data, out=wrong)


def test_it_is_copied_and_printed() -> None:
    codec = codec_of(abs=np.float32(0.5), preset="fast", fill=[np.float32(-9999), np.nan], dtype=">f4")
    assert repr(codec) == "Ferrosz(abs=0.5, preset='fast', fill=[-9999.0, 'NaN'], dtype='>f4')"
    for other in (
        pickle.loads(pickle.dumps(codec)),
        copy.copy(codec),
        copy.deepcopy(codec),
        eval(repr(codec), vars(ferrosz.numcodecs)),
    ):
        assert other == codec and repr(other) == repr(codec)
        values = np.array([1, np.nan, -9999] * 50, ">f4")
        assert beyond(values, other.decode(codec.encode(values)), 0.5) == 0
    assert numcodecs.get_codec(json.loads(json.dumps(codec.get_config(), allow_nan=False))) == codec
    assert codec != codec_of(abs=0.25, preset="fast")
