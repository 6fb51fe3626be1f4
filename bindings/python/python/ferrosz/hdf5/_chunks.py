"""The chunks of a dataset, and work on them on all cores."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Slices = tuple[slice, ...]


class Chunk(NamedTuple):
    """The part of a box that a chunk has."""

    offset: tuple[int, ...]
    """The place of the chunk in the dataset."""
    of_chunk: Slices
    """The part in the chunk."""
    of_box: Slices
    """The part in the box."""
    of_dataset: Slices
    """The part in the dataset."""


def chunks_of(ranges: Sequence[range], extents: tuple[int, ...]) -> Iterator[Chunk]:
    """The chunks that a box touches, in C order."""
    axes = [
        range(part.start - part.start % extent, part.stop, extent) if part else range(0)
        for part, extent in zip(ranges, extents, strict=True)
    ]
    for offset in itertools.product(*axes):
        starts = [max(part.start, start) for part, start in zip(ranges, offset, strict=True)]
        stops = [min(part.stop, start + extent) for part, start, extent in zip(ranges, offset, extents, strict=True)]
        yield Chunk(
            offset,
            _slices(starts, stops, offset),
            _slices(starts, stops, [part.start for part in ranges]),
            _slices(starts, stops, [0] * len(ranges)),
        )


def _slices(starts: Iterable[int], stops: Iterable[int], origin: Iterable[int]) -> Slices:
    return tuple(slice(start - zero, stop - zero) for start, stop, zero in zip(starts, stops, origin, strict=True))


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`work` on each item, on as many threads as there are cores, and with no more items at the same time; the results in
    the order of the items."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[Result]] = deque()
        for item in items:
            if len(running) == threads:
                yield running.popleft().result()
            running.append(pool.submit(work, item))
        while running:
            yield running.popleft().result()
