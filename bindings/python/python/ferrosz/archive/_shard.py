"""A shard of a Zarr array, and whether it is sound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import zarr
from zarr.abc.store import SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ._field import Box

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
        except (ValueError, IndexError) as error:
            # Those of damage. An error of the store, or of memory, says nothing about the object.
            return str(error)
        return None


def open_array(store: Any, name: str, mode: Any = "r") -> Any:
    """An array of the archive. Chunks of fill values are written as others, so that what is not there is missing."""
    # As an argument of `open_array` the configuration has no effect in zarr 3.1.
    return zarr.open_array(store, path=name, mode=mode).with_config({"write_empty_chunks": True})
