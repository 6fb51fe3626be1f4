"""Damaged streams: the elements of whole chunks are those of the whole stream, and lost elements are named."""

from __future__ import annotations

import numpy as np
import pytest

import ferrosz


@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "interp"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_what_is_left_is_that_of_the_whole_stream(codec: str, dtype: str, field: np.ndarray) -> None:
    array = (1000 * field).astype(dtype)
    # No element is 0, which stands for a lost integer.
    array[abs(array) < 100] = 500
    stream = bytearray(ferrosz.compress(array, abs=10, codec=codec))
    whole = ferrosz.decompress(stream)
    back, damages = ferrosz.salvage(stream)
    assert back.tobytes() == whole.tobytes() and damages == []
    for at in np.linspace(len(stream) // 2, len(stream) - 1, 5).astype(int):
        stream[at] ^= 8
        back, damages = ferrosz.salvage(stream)
        stream[at] ^= 8
        assert damages and all("checksum" in damage.cause for damage in damages)
        lost = np.zeros(array.shape, int)
        for damage in damages:
            before = lost.sum()
            for box in damage.lost:
                lost[box] += 1
            assert lost.sum() - before == damage.size
        assert lost.max() == 1
        assert (np.isnan(back) if dtype[0] == "f" else back == 0)[lost == 1].all()
        assert back[lost == 0].tobytes() == whole[lost == 0].tobytes()


def test_lines_of_elements_are_boxes(field: np.ndarray) -> None:
    """A chunk of a codec of lines begins and ends within a row of the array."""
    stream = bytearray(ferrosz.compress(field[:, :49, :59], abs=0.01, codec="plain", rank=1))
    whole = ferrosz.decompress(stream)
    stream[-1] ^= 1
    back, (damage,) = ferrosz.salvage(stream)
    lost = np.zeros(whole.shape, bool)
    for box in damage.lost:
        assert len(box) == 3 and not lost[box].any()
        lost[box] = True
    first = 8192 * (whole.size // 8192)
    assert (np.flatnonzero(lost) == np.arange(first, whole.size)).all()
    assert (np.isnan(back) == lost).all()


def test_the_end_of_a_stream_may_be_missing(field: np.ndarray) -> None:
    stream = bytes(ferrosz.compress(field, abs=0.01, codec="plain"))
    whole = ferrosz.decompress(stream)
    back, damages = ferrosz.salvage(stream[: len(stream) * 2 // 3])
    left = ~np.isnan(back)
    assert damages and 0.3 < left.mean() < 1 and (back[left] == whole[left]).all()
    with pytest.raises(ferrosz.DamagedStream, match="header"):
        ferrosz.salvage(stream[:50] + b"x" + stream[51:])
    with pytest.raises(ferrosz.UnsupportedType):
        ferrosz.salvage("text")  # type: ignore[arg-type]
