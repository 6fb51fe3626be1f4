"""How a field is cut: into chunks, each a stream, and shards, each an object of the store with many chunks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

from .. import ArgumentError
from ._field import Box, Field

# Chunks of up to 8 MiB have a codec that is chosen once for all.
CHUNK_BYTES = 4 << 20

# A worker's thread holds a shard, and a few copies of it.
SHARD_BYTES = 128 << 20

# By the names of dimensions. Those that are not named are whole.
Lengths = Mapping[str, int]


def layout_of(field: Field, chunks: Lengths | None, shards: Lengths | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of chunks and of shards: as they are asked for, or as the source suggests.

    Shards of at most 128 MiB are multiples of what the source has as chunks, so that little of it is read twice. They
    are cut into chunks of at most 4 MiB, by halves of their longest axis.
    """
    wanted = _suggested(field) if shards is None else _asked_for("shards", field, shards)
    if chunks is not None:
        chosen = _asked_for("chunks", field, chunks)
    else:
        chosen = wanted
        while math.prod(chosen) * field.dtype.itemsize > CHUNK_BYTES:
            axis = chosen.index(max(chosen))
            is_exact = shards is not None and wanted[axis] < field.shape[axis]
            chosen = _with(chosen, axis, _part_of(chosen[axis], is_exact))
    multiples = tuple(-(-length // chunk) * chunk for length, chunk in zip(wanted, chosen, strict=True))
    if shards is not None:
        ends = zip(field.dims, multiples, wanted, field.shape, strict=True)
        uneven = [name for name, multiple, length, whole in ends if multiple != length < whole]
        if uneven:
            raise ArgumentError(
                f"shards: {wanted} of {field.name} are no multiples of its chunks {chosen}, along {uneven}"
            )
    return chosen, multiples


def _suggested(field: Field) -> tuple[int, ...]:
    """Chunks of the source, together or cut, for shards of about 128 MiB."""
    size = field.dtype.itemsize
    found = tuple(max(min(stored, length), 1) for stored, length in zip(field.stored_chunks, field.shape, strict=True))
    while math.prod(found) * size > SHARD_BYTES:
        longest = found.index(max(found))
        found = _with(found, longest, _part_of(found[longest], is_exact=False))
    while True:
        longer = [_with(found, axis, min(2 * found[axis], length)) for axis, length in enumerate(field.shape)]
        fitting = [
            (found[axis], -axis, shape)
            for axis, shape in enumerate(longer)
            if shape != found and math.prod(shape) * size <= SHARD_BYTES
        ]
        if not fitting:
            return found
        # Along the shortest axis.
        found = min(fitting)[2]


def _part_of(length: int, is_exact: bool) -> int:
    """A half, rounded up; or the greatest part, at most a half, of which it is a multiple."""
    if not is_exact:
        return -(-length // 2)
    return next(length // parts for parts in range(2, length + 1) if length % parts == 0)


def _with(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    return (*shape[:axis], length, *shape[axis + 1 :])


def boxes_of(shape: tuple[int, ...], shards: tuple[int, ...]) -> Iterator[Box]:
    """The boxes of all shards, cut off at the end of the field."""
    starts = [range(0, length, shard) for length, shard in zip(shape, shards, strict=True)]
    for corner in itertools.product(*starts):
        yield tuple(
            slice(start, min(start + shard, length)) for start, shard, length in zip(corner, shards, shape, strict=True)
        )


def number_of_boxes(shape: tuple[int, ...], shards: tuple[int, ...]) -> int:
    return math.prod(-(-length // shard) for length, shard in zip(shape, shards, strict=True))


def times_read(field: Field, shards: tuple[int, ...]) -> float:
    """How often each value of the source is read, on average, as its chunks are read whole."""
    return math.prod(_times_read(field, shards, axis) for axis in range(len(shards)))


def _times_read(field: Field, shards: tuple[int, ...], axis: int) -> float:
    length, shard, stored = field.shape[axis], shards[axis], max(field.stored_chunks[axis], 1)
    read = 0
    for start in range(0, length, shard):
        stop = min(start + shard, length)
        read += min(-(-stop // stored) * stored, length) - start // stored * stored
    return read / max(length, 1)


def _asked_for(argument: str, field: Field, lengths: Lengths) -> tuple[int, ...]:
    is_right = {name: isinstance(length, int) and (length > 0 or length == -1) for name, length in lengths.items()}
    wrong = {name: length for name, length in lengths.items() if not is_right[name]}
    if wrong:
        raise ArgumentError(f"{argument}: {wrong}: a length is at least 1, or -1 for all")
    whole = {name: lengths.get(name, -1) for name in field.dims}
    return tuple(
        max(length if whole[name] == -1 else min(whole[name], length), 1)
        for name, length in zip(field.dims, field.shape, strict=True)
    )
