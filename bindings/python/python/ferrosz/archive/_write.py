"""The second pass: one call writes one shard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zarr.core.sync import sync

from ._compare import compare
from ._shard import Shard, open_array
from ._field import Box, Part


@dataclass(frozen=True)
class Written:
    """What a call has done with a shard."""

    bytes: int
    is_new: bool
    largest_error: float | None


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
    largest_error = compare(shard, values, part.missing).largest_error if check else None
    return Written(shard.bytes() or 0, is_new, largest_error), writer
