"""Batches: the streams and arrays of single calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ferrosz


def arrays(field: np.ndarray) -> list[Any]:
    """Arrays of several shapes and types, some with fill values, a mask, or another order of their elements."""
    with_fill = field.copy()
    with_fill[:, 7:9] = 1e20
    masked = np.ma.masked_greater(field, 1.0)
    lines = [np.sin(np.arange(500 + 3 * k) / 50) for k in range(40)]
    return [
        *lines,
        field,
        with_fill,
        masked,
        field.T,
        field.astype("float16"),
        (100 * field).astype("int32"),
        np.zeros((0, 4)),
        [1.0, 2.0, 3.0],
        np.float32(5),
    ]


SETTINGS: list[dict[str, Any]] = [
    {"abs": 0.01},
    {"range": 1e-3, "preset": "fast"},
    {"abs": 0.01, "codec": "plain", "device": "cpu"},
    {"pwrel": 1e-2, "preset": "balanced"},
    {"ratio": 4, "fill": None, "preset": "fast"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_batch_is_single_calls(settings: dict[str, Any], field: np.ndarray) -> None:
    compressor = ferrosz.Compressor(**settings)
    given = arrays(field)
    if "ratio" in settings:
        given = [array for array in given if np.size(array) > 100]
    if "pwrel" in settings:
        given = [array for array in given if np.asarray(array).dtype.name in ("float32", "float64")]
    streams = ferrosz.compress_batch(given, compressor)
    single = [compressor.compress(array) for array in given]
    assert [bytes(stream) for stream in streams] == [bytes(stream) for stream in single]
    back = ferrosz.decompress_batch(iter(streams), ferrosz.Decompressor())
    for found, stream in zip(back, single, strict=True):
        expected = ferrosz.decompress(stream)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()
    assert ferrosz.compress_batch([], compressor) == ferrosz.decompress_batch([]) == []


def test_errors_have_the_number_of_the_item(field: np.ndarray) -> None:
    compressor = ferrosz.Compressor(abs=0.01, codec="plain")
    with pytest.raises(ferrosz.UnsupportedType) as error:
        ferrosz.compress_batch([field, field > 0], compressor)
    assert error.value.__notes__ == ["arrays[1]"]
    with pytest.raises(ferrosz.ArgumentError, match="fill value") as fault:
        no_fraction = ferrosz.Compressor(abs=1, fill=0.5)
        ferrosz.compress_batch([field, field, field.astype("int16")], no_fraction)
    assert fault.value.__notes__ == ["arrays[2]"]
    streams = [bytearray(stream) for stream in ferrosz.compress_batch([field, field[0], field[1]], compressor)]
    streams[2][-1] ^= 1
    with pytest.raises(ferrosz.DamagedStream) as damaged:
        ferrosz.decompress_batch(streams)
    assert damaged.value.__notes__ == ["streams[2]"] and damaged.value.kind == "chunk_checksum"
    streams[0][0] ^= 1
    with pytest.raises(ferrosz.DamagedStream) as damaged:
        ferrosz.decompress_batch(streams)
    assert damaged.value.__notes__ == ["streams[0]"] and damaged.value.kind == "not_ferrosz"
