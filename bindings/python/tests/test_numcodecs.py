"""ferrosz in numcodecs and Zarr v2."""

from __future__ import annotations

import json
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr

import ferrosz


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


def test_fortran_order_is_refused(field: np.ndarray) -> None:
    array = zarr.create_array(
        {}, shape=field.shape, chunks=(20, 30, 40), dtype="float32", zarr_format=2, order="F", compressors=codec_of(abs=0.01)
    )
    with pytest.raises(ferrosz.ArgumentError, match="C order"):
        array[...] = field
