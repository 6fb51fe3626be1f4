"""Streams of cuSZp and AATROX: bytes that are known, bounds by NumPy's arithmetic, and parts of the whole array."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import ferrosz.bare

KINDS: list[dict[str, Any]] = [
    {"mode": mode, "rank": rank} for mode, rank in product(["fixed", "plain", "outlier"], [1, 2, 3, None])
]
KINDS += [{"v1": True}, {"format": "aatrox"}]


def example() -> np.ndarray:
    """32 values whose codes at the bound 0.01 begin with 500 and have these differences."""
    steps = [500, 0, 1, -1, 2, -2, 3, -3, 0, 1, 1, -1, -1, 2, 0, -3]
    steps += [3, 0, 0, 1, -2, 2, -1, 3, -3, 0, 1, -1, 0, 2, -2, 1]
    return (np.cumsum(steps) * 0.02 + 0.004).astype("float32")


def test_the_example_has_the_bytes_of_cuszp() -> None:
    stream, parameters = ferrosz.bare.compress(example(), mode="outlier", abs=0.01)
    assert stream[0] == 0xA2 and not any(stream[1:1024])
    assert stream[1024:] == bytes.fromhex("f4 01 15 19 0a 92 33 79 93 b1 0f 05 8d 86")
    back = ferrosz.bare.decompress(stream, parameters)
    assert back.dtype == np.float32
    assert (back == np.float32(2) * (np.round(example() / 0.02).astype("float32") * np.float32(0.01))).all()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_streams_come_back_whole_and_in_parts(kind: dict[str, Any], dtype: str, field: np.ndarray) -> None:
    array = field.astype(dtype)
    stream, parameters = ferrosz.bare.compress(array, range=1e-3, **kind)
    ends = array.max(), array.min()
    assert parameters.abs == np.dtype(dtype).type(1e-3) * (ends[0] - ends[1])
    again, _ = ferrosz.bare.compress(array, abs=parameters.abs, **kind)
    assert again == stream
    back = ferrosz.bare.decompress(stream, parameters)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert abs(back - array).max() <= 1.001 * parameters.abs
    part = ferrosz.bare.decompress(stream, parameters, elements=(1234, 5001))
    assert (part == back.ravel()[1234:5001]).all()
    part = ferrosz.bare.decompress(stream, parameters, box=np.s_[3:9, -2, 10:])
    assert part.shape == back[3:9, -2, 10:].shape and (part == back[3:9, -2, 10:]).all()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_replaced_parts_are_those_of_the_changed_array(kind: dict[str, Any], field: np.ndarray) -> None:
    """A change of sign keeps the lengths of bodies, where no first code is stored apart or carried on."""
    stream, parameters = ferrosz.bare.compress(field, abs=0.01, **kind)
    back = ferrosz.bare.decompress(stream, parameters)
    # Decoded values have the codes that they were decoded from.
    same = ferrosz.bare.replace(stream, parameters, back[3:9, 5:, 1:7], box=np.s_[3:9, 5:, 1:7])
    assert same == stream
    assert ferrosz.bare.replace(stream, parameters, back.ravel()[77:1999], elements=(77, 1999)) == stream
    assert ferrosz.bare.replace(stream, parameters, -back) == ferrosz.bare.compress(-back, abs=0.01, **kind)[0]
    noise = np.full((2, 50, 60), 1e4, "float32") * np.random.default_rng(2).normal(size=(2, 50, 60)).astype("float32")
    with pytest.raises(ferrosz.ArgumentError, match="bytes"):
        ferrosz.bare.replace(stream, parameters, noise, box=np.s_[:2])
    with pytest.raises(ferrosz.ArgumentError, match=r"values: they have the shape \[40, 50, 60\] of f32, and the part \[50, 60\]"):
        ferrosz.bare.replace(stream, parameters, back, box=np.s_[0])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_outlines_are_sums_over_the_rate_bytes(kind: dict[str, Any], field: np.ndarray) -> None:
    stream, parameters = ferrosz.bare.compress(field, abs=0.01, **kind)
    ferrosz.bare.check(stream, parameters)
    outline = ferrosz.bare.outline(stream, parameters)
    assert outline.stream_bytes == outline.found_bytes == len(stream)
    counts = np.bincount(np.frombuffer(stream, "uint8", outline.rate_bytes), minlength=256)
    assert {byte: blocks for byte, (_, blocks) in outline.rates.items()} == {k: n for k, n in enumerate(counts) if n}
    assert sum(size * blocks for size, blocks in outline.rates.values()) == outline.body_bytes
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.bare.check(stream + b"x", parameters)
    assert (error.value.kind, error.value.needed, error.value.found) == ("trailing_bytes", len(stream), len(stream) + 1)
    with pytest.raises(ferrosz.DamagedStream):
        ferrosz.bare.check(stream[:-1], parameters)


def test_bounds_are_computed_as_said(field: np.ndarray) -> None:
    array = field.astype("float64")
    _, parameters = ferrosz.bare.compress(array, range=1e-3, float_bound=True)
    assert parameters.abs == np.float32(1e-3) * np.float32(array.max() - array.min())
    _, parameters = ferrosz.bare.compress(array, max=1e-3)
    assert parameters.abs == 1e-3 * abs(array).max()


def test_faults_are_typed(field: np.ndarray) -> None:
    stream, parameters = ferrosz.bare.compress(field, abs=0.01)
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.bare.decompress(stream[:-1], parameters)
    assert (error.value.kind, error.value.needed, error.value.found) == ("truncated", len(stream), len(stream) - 1)
    with pytest.raises(ferrosz.DamagedStream, match="rate byte 0x4d") as error:
        ferrosz.bare.decompress(b"\x4d" + stream[1:], parameters)
    assert error.value.kind == "corrupt_rate"
    with pytest.raises(ferrosz.ArgumentError, match="one of the bounds"):
        ferrosz.bare.compress(field, abs=0.01, range=1e-3)
    with pytest.raises(ferrosz.ArgumentError, match="positive"):
        ferrosz.bare.compress(np.ones(10), range=1e-3)
    with pytest.raises(ferrosz.ArgumentError, match="mode: 'best'"):
        ferrosz.bare.compress(field, abs=0.01, mode="best")  # type: ignore[arg-type]
    with pytest.raises(ferrosz.ArgumentError, match="strict"):
        ferrosz.bare.compress([1.0, np.nan], abs=0.01, strict=True)
    with pytest.raises(ferrosz.ArgumentError, match="not both"):
        ferrosz.bare.decompress(stream, parameters, elements=(0, 1), box=np.s_[0])
    with pytest.raises(ferrosz.ArgumentError, match="not within"):
        ferrosz.bare.decompress(stream, parameters, elements=(0, field.size + 1))
    with pytest.raises(ferrosz.UnsupportedType, match="float32 or float64"):
        ferrosz.bare.compress(field.astype("int32"), abs=1)
    with pytest.raises(ferrosz.ArgumentError, match="dimensions"):
        ferrosz.bare.decompress(stream, replace(parameters, shape=(10, 20, 20, 30)))
