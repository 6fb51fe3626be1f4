"""What `convert` says of a variable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Variable:
    """A variable of the archive, as `convert` leaves it."""

    bound: float
    """The absolute bound; with `pwrel`, the share of each value."""
    chunks: tuple[int, ...]
    shards: tuple[int, ...]
    times_read: float
    """How often a value of the source is read in a pass, as its chunks are read whole."""
    array_bytes: int
    """The bytes of the values, in the type that the source has, not compressed."""
    stored_bytes: int = 0
    shards_written: int = 0
    """Those of this run."""
    shards_kept: int = 0
    """Those that were there, and sound."""
    largest_error: float | None = None
    """With `verify`."""
    is_relative: bool = False
    """Whether the bound is a share of each value."""

    @property
    def ratio(self) -> float:
        """The bytes of the values, by those of the shards."""
        return self.array_bytes / max(self.stored_bytes, 1)
