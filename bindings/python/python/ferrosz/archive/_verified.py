"""What `verify` says of a variable."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._checked import Checked
from ._compare import Comparison


@dataclass
class Verified:
    """A variable of the archive beside its source."""

    bound: float
    """The bound that it was judged by; 0 of one that was copied exactly."""
    elements: int = 0
    missing: int = 0
    """NaN and infinities, among them the missing elements."""
    largest_error: float = 0.0
    over: int = 0
    """Values that are off by more than the bound."""
    changed: int = 0
    """NaN and infinities that are not what they were; of what was copied exactly, all such values."""
    faults: list[str] = field(default_factory=list)
    """What is not there or damaged, and why: shards, or the variable."""

    is_exact: bool = False
    """Whether it must be an exact copy."""
    is_relative: bool = False
    """Whether the bound is a share of each value."""

    checked: Checked | None = None
    """With a plan, whether the requirements that it has are kept."""

    def __bool__(self) -> bool:
        """Whether all shards are there and sound, the bound holds for every value, and no requirement is broken."""
        is_broken = self.checked is not None and self.checked.kept is False
        return not (self.over or self.changed or self.faults or is_broken)

    def add(self, found: Comparison, step: float = 1.0) -> None:
        """Counts a part. Its errors are in steps."""
        self.elements += found.elements
        self.missing += found.missing
        self.largest_error = max(self.largest_error, found.largest_error * step)
        self.over += found.over
        self.changed += found.changed
        if found.fault is not None:
            self.faults.append(found.fault)
