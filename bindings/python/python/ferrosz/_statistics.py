"""`stats` and `where`: statistics in streams, and values that are found by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _ferrosz

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy.typing as npt

    from ._types import Buffer

    _Source = Buffer | str | os.PathLike[str] | Callable[[list[tuple[int, int]]], list[bytes]]

__all__ = ["Statistics", "stats", "where"]


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """The statistics of an array in its stream. Missing values, which are NaNs and fill values, do not count."""

    min: float | None
    """The smallest value; none if all are missing."""
    max: float | None
    """The largest value."""
    mean: float | None
    """The mean."""
    size: int
    """Values that are not missing."""
    groups: int
    """Groups of chunks that have statistics."""
    group_chunks: int
    """Chunks of a group."""
    bytes: int
    """Bytes of the statistics."""
    outdated: bool
    """Whether updates have replaced values since."""


class _Pair(NamedTuple):
    indices: tuple[npt.NDArray[np.intp], ...]
    values: npt.NDArray[Any]


class Found(_Pair):
    """Indices and values that `where` found, and what it read."""

    chunks_read: int
    """Chunks that were decoded."""
    chunks: int
    """Chunks of the array."""
    bytes_read: int
    """Bytes that were read of the stream."""


def stats(stream: _Source) -> Statistics | None:
    """The statistics of an array, which its stream has if it was compressed with `statistics=True`, or by the command
    `ferrosz compress`; otherwise `None`. They are those of the array before it was compressed.

    stream
        A buffer of bytes, the path of a file, or a function that reads a stream from anywhere: it gets a list of pairs of
        start and stop, and returns the bytes of each, fewer behind the end of the stream. Only the bytes that are needed
        are read.

    Raises `DamagedStream`, `UnsupportedType`, `OutOfMemory`, and `OSError` from reading.

    >>> stream = ferrosz.compress(np.arange(10.0), abs=0.1, statistics=True)
    >>> found = ferrosz.stats(stream)
    >>> found.min, found.max, found.mean
    (0.0, 9.0, 4.5)
    """
    found = _ferrosz.stats(stream)
    if found is None:
        return None
    (low, high, mean, size, groups, group_chunks, nbytes), outdated = found
    return Statistics(
        min=low,
        max=high,
        mean=mean,
        size=size,
        groups=groups,
        group_chunks=group_chunks,
        bytes=nbytes,
        outdated=outdated,
    )


def where(stream: _Source, *, above: float | None = None, below: float | None = None) -> Found:
    """The indices of the decoded values above `above` and below `below`, and these values: as `numpy.where` has them, so that
    `array[indices]` are the values. Missing values are never found. With statistics only the chunks are read that may have
    such values; see `stats`, also for `stream`. Of complex numbers the parts are found, with an index more.

    The result has `chunks_read` of `chunks`, and `bytes_read`.

    Raises `DamagedStream`, `UnsupportedType`, `OutOfMemory`, and `OSError` from reading.

    >>> array = np.linspace(0, 1, 1000000).reshape(1000, 1000)
    >>> stream = ferrosz.compress(array, abs=1e-9, codec="plain", statistics=True)
    >>> found = ferrosz.where(stream, above=0.9999995)
    >>> indices, values = found
    >>> indices
    (array([999]), array([999]))
    >>> found.chunks_read < found.chunks / 10
    True
    """
    places, values, shape, read = _ferrosz.find(stream, above, below)
    # An array without dimensions has one element.
    indices = np.unravel_index(places.astype(np.intp), shape) if shape else ()
    found = Found(tuple(indices), values)
    found.chunks_read, found.chunks, found.bytes_read = read
    return found
