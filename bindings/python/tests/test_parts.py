"""Parts of arrays in groups that are written in Python; test_mpi.py has those of MPI."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import ferrosz


class Threads:
    """A member of a group of threads. `shared` has what all members have put there, by rank."""

    def __init__(self, rank: int, barrier: threading.Barrier, shared: list[Any], file: bytearray) -> None:
        self.rank, self.size = rank, barrier.parties
        self._barrier, self._shared, self._file = barrier, shared, file

    def _gathered(self, own: Any) -> list[Any]:
        self._shared[self.rank] = own
        self._barrier.wait()
        found = list(self._shared)
        self._barrier.wait()
        return found

    def max(self, numbers: np.ndarray) -> np.ndarray:
        return np.max(self._gathered(numbers), axis=0)

    def sum(self, numbers: np.ndarray) -> list[int]:
        # Any sequence of integers will do.
        return [int(number) for number in np.sum(self._gathered(numbers), axis=0)]

    def sum_before(self, number: int) -> int:
        return sum(self._gathered(number)[: self.rank])

    def exchange(self, messages: list[tuple[int, bytes]]) -> Any:
        # In any order, and any buffer will do.
        for rank, sent in reversed(list(enumerate(self._gathered(messages)))):
            yield from ((rank, memoryview(message)) for to, message in sent if to == self.rank)

    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        for start, piece in pieces:
            self._file[start : start + len(piece)] = piece

    def barrier(self) -> None:
        self._barrier.wait()


def together(field: np.ndarray, members: list[type[Threads]], **options: Any) -> tuple[list[Any], bytearray]:
    """What members with slabs of an array return or raise, and the file."""
    count = len(members)
    barrier, shared = threading.Barrier(count), [None] * count
    file, found = bytearray(2 * field.nbytes + 10_000), [None] * count

    def work(rank: int) -> None:
        own = slice(len(field) * rank // count, len(field) * (rank + 1) // count)
        group = members[rank](rank, barrier, shared, file)
        try:
            found[rank] = ferrosz.compress_part(field[own], group, box=own, shape=field.shape, **options)
        except Exception as error:
            found[rank] = error
            barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found, file


@pytest.mark.parametrize("codec", ["plain", "interp"])
def test_threads_make_the_bytes_of_one_call(field: np.ndarray, codec: str) -> None:
    options = {"codec": codec, "range": 1e-3}
    whole = bytes(ferrosz.compress(field, fill=None, **options))
    found, file = together(field, [Threads] * 3, **options)
    assert found == [len(whole)] * 3
    assert file[: len(whole)] == whole


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "int32"])
@pytest.mark.parametrize("axes", [None, "x,z,y"])
def test_members_convert_turn_and_choose(field: np.ndarray, dtype: str, axes: str | None) -> None:
    # Without zeros, and not without negative values: nothing is kept that would need a mask.
    values = (50 * field - 1000).astype(dtype)
    for choice in ({"preset": "small"}, {"codec": "outlier"}):
        options = {"abs": 2.0, "axes": axes, **choice}
        found, file = together(values, [Threads] * 3, **options)
        whole = bytes(ferrosz.compress(values, fill=None, **options))
        assert found == [len(whole)] * 3
        assert file[: len(whole)] == whole


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_members_have_complex_numbers(field: np.ndarray, dtype: str) -> None:
    values = (field + 3 + 1j * (field[::-1] - 9)).astype(dtype)
    for choice in ({"preset": "small"}, {"codec": "plain"}, {"codec": "interp", "axes": "z,y,x,s"}):
        options = {"range": 1e-3, **choice}
        found, file = together(values, [Threads] * 3, **options)
        whole = bytes(ferrosz.compress(values, fill=None, **options))
        assert found == [len(whole)] * 3
        assert file[: len(whole)] == whole and ferrosz.info(whole).dtype == dtype


def test_the_device_is_that_of_the_members(field: np.ndarray) -> None:
    found, file = together(field, [Threads] * 2, codec="plain", range=1e-3, device="cuda:63")
    # The first one that ends breaks the barrier.
    assert any(isinstance(error, ferrosz.DeviceError) for error in found), found
    assert all(isinstance(error, Exception) for error in found), found
    assert not any(file)


def test_what_methods_raise_and_return(field: np.ndarray) -> None:
    def of_first(**methods: Any) -> list[Any]:
        first = type("First", (Threads,), methods)
        return together(field, [first, Threads], codec="plain", range=1e-3)[0]

    def broken(*_: Any) -> None:
        raise KeyError("broken")

    for method in ("max", "sum", "sum_before", "exchange", "write", "barrier"):
        first, second = of_first(**{method: broken})
        assert isinstance(first, KeyError), f"{method}: {first!r}"
        assert isinstance(second, threading.BrokenBarrierError | ferrosz.GroupError), f"{method}: {second!r}"
    first, _ = of_first(max=lambda *_: [1])
    assert isinstance(first, ferrosz.GroupError) and "2 numbers became 1" in str(first)
    first, _ = of_first(sum=lambda *_: None)
    assert isinstance(first, TypeError)
    first, _ = of_first(exchange=lambda *_: [(0, "text")])
    assert isinstance(first, TypeError)
    first, _ = of_first(rank=property(lambda _: "first", lambda *_: None))
    assert isinstance(first, TypeError)
