"""The second pass: one shard of a Zarr array, which one call writes, and whether it is sound and keeps the bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import zarr
from zarr.abc.store import SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from .. import DamagedStream
from ..zarr import FerroszCodec
from ._source import Box, Part

# The index of a shard has a start and a length for each chunk, these for one that is not there, and a checksum behind.
ABSENT = 2**64 - 1
ENTRY_BYTES, CHECKSUM_BYTES = 16, 4


@dataclass(frozen=True)
class Shard:
    """A shard of an array: the box that it has, and its object."""

    array: Any
    box: Box

    @property
    def object(self) -> Any:
        places = tuple(part.start // length for part, length in zip(self.box, self.array.shards, strict=True))
        return self.array.store_path / self.array.metadata.encode_chunk_key(places)

    def bytes(self) -> int | None:
        """The length of the object, if it is there."""
        if not sync(self.object.exists()):
            return None
        return int(sync(self.object.store.getsize(self.object.path)))

    def fault(self) -> str | None:
        """What is wrong with the object: all of its chunks must be there, and each is decoded, with its checksums."""
        counts = tuple(shard // chunk for shard, chunk in zip(self.array.shards, self.array.chunks, strict=True))
        length = ENTRY_BYTES * math.prod(counts) + CHECKSUM_BYTES
        found = sync(self.object.get(default_buffer_prototype(), SuffixByteRequest(length)))
        if found is None or len(found) < length:
            return "it is shorter than its index"
        starts = np.frombuffer(found.to_bytes()[:-CHECKSUM_BYTES], "<u8").reshape(*counts, 2)[..., 0]
        used = (-(-(part.stop - part.start) // chunk) for part, chunk in zip(self.box, self.array.chunks, strict=True))
        if (starts[tuple(slice(count) for count in used)] == ABSENT).any():
            return "a chunk is not there"
        try:
            self.array[self.box]
        except (ValueError, RuntimeError, IndexError) as error:
            # Those of damage. An error of the store, or of memory, says nothing about the object.
            return str(error)
        return None


@dataclass(frozen=True)
class Written:
    """What a call has done with a shard."""

    bytes: int
    is_new: bool
    largest_error: float | None


def open_array(store: Any, name: str, mode: Any = "r") -> Any:
    """An array of the archive. Chunks of fill values are written as others, so that what is not there is missing."""
    # As an argument of `open_array` the configuration has no effect in zarr 3.1.
    return zarr.open_array(store, path=name, mode=mode).with_config({"write_empty_chunks": True})


def write_shard(writer: Any, name: str, box: Box, part: Part, check: bool) -> tuple[Written, Any]:
    """What runs on a worker: writes a shard, unless it is there and sound."""
    shard = Shard(open_array(writer.store, name, "r+"), box)
    is_new = not sync(shard.object.exists()) or shard.fault() is not None
    if is_new:
        # zarr reads the shard that it is to replace. What is no shard would be an error.
        sync(shard.object.delete())
    values = part.load() if is_new or check else None
    if is_new:
        shard.array[box] = values
    largest_error = compare(shard, values).largest_error if check else None
    return Written(shard.bytes() or 0, is_new, largest_error), writer


@dataclass(frozen=True)
class Comparison:
    """A decoded shard beside its source."""

    elements: int
    missing: int
    largest_error: float
    over: int
    changed: int
    fault: str | None = None


def compare_shard(store: Any, name: str, box: Box, part: Part) -> Comparison:
    """What runs on a worker: reads a shard as its users do, and its source, and compares them."""
    shard = Shard(open_array(store, name), box)
    fault = "it is not there" if shard.bytes() is None else shard.fault()
    if fault is not None:
        return Comparison(0, 0, 0.0, 0, 0, f"{shard.object.path}: {fault}")
    return _compare(shard, part.load())


def compare(shard: Shard, values: Any) -> Comparison:
    """The same with values that are loaded; an error if the bound is not kept."""
    found = _compare(shard, values)
    if found.over or found.changed:
        raise DamagedStream(
            f"{shard.object}: {found.over} values are off by more than the bound, by {found.largest_error:g} at most, "
            f"and {found.changed} that are not finite have changed",
            "bound",
        )
    return found


def _compare(shard: Shard, values: Any) -> Comparison:
    codec = codec_of_array(shard.array)
    decoded = shard.array[shard.box]
    finite = np.isfinite(values)
    is_bad = ~finite & (decoded.view(f"u{values.itemsize}") != values.view(f"u{values.itemsize}"))
    original, found = values[finite], decoded[finite]
    # A value that is not finite any more is off by infinity.
    errors = np.abs(found.astype("f8") - original.astype("f8"))
    errors[~np.isfinite(errors)] = np.inf
    limits = codec.abs if codec.abs is not None else (codec.pwrel or 0.0) * np.abs(original.astype("f8"))
    over = sum(1 for _ in _over(original, found, errors, np.broadcast_to(limits, errors.shape), codec))
    return Comparison(
        values.size, int(values.size - finite.sum()), float(errors.max(initial=0.0)), over, int(is_bad.sum())
    )


def _over(original: Any, found: Any, errors: Any, limits: Any, codec: FerroszCodec) -> Iterator[int]:
    """The places of errors over the bound. Differences and limits are rounded, so those that are close are computed exactly."""
    for at in np.flatnonzero(errors > limits * (1 - 1e-12)):
        if not math.isfinite(found[at]):
            yield int(at)
            continue
        error = abs(Fraction(float(found[at])) - Fraction(float(original[at])))
        size = abs(Fraction(float(original[at])))
        if error > (Fraction(codec.abs) if codec.abs is not None else Fraction(codec.pwrel or 0.0) * size):
            yield int(at)


def codec_of_array(array: Any) -> FerroszCodec:
    """The codec of ferrosz within the shards of an array."""
    inner = (codec for outer in array.metadata.codecs for codec in getattr(outer, "codecs", ()))
    return next(codec for codec in inner if isinstance(codec, FerroszCodec))
