"""What a plan says of a variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Where a bound comes from, in the words of a plan.
SOURCES = {
    "community": "requirements of the weather and climate community, of the package compression-recommendations",
    "packing": "the step of packed integers",
    "rounding": "the digits to which the values were rounded",
    "noise": "the noise of the values, by differences of neighbours",
    "information": "the bits of the values that inform of their neighbours",
    "kind": "what the variable is: coordinates, integers, flags and the like stay exact",
    "unknown": "nothing tells which error may be left, so the variable stays exact",
    "given": "the one who asked",
}


@dataclass(frozen=True)
class Entry:
    """A variable of a plan: what it is coded with, and why.

    >>> Entry({"abs": 0.01}, "given", "a hundredth of a kelvin is enough").is_exact
    False
    """

    settings: Mapping[str, Any] | None
    """Its bound, `abs`, `range`, `max`, `pwrel` or `digits`, and other settings that `convert` takes for a variable. None
    if it stays exact."""
    source: str = "given"
    """Where the bound comes from: `community`, `packing`, `rounding`, `noise` or `information`; of what stays exact also
    `kind` or `unknown`; `given` by a person."""
    reason: str = ""
    """Why, in words."""
    requirements: tuple[Mapping[str, Any], ...] = ()
    """What the community requires, as configurations of compression-recommendations, in the units of the variable."""
    ratio: float | None = None
    """The ratio that was predicted."""
    stored_bytes: int | None = None
    """The bytes that were predicted."""
    seconds: float | None = None
    """The time that was predicted."""

    @property
    def is_exact(self) -> bool:
        """Whether it stays exact."""
        return self.settings is None


def entry_of(found: Any) -> Entry:
    """A variable of a plan, also of the result of `ferrosz.archive.plan`."""
    entry: Entry = getattr(found, "entry", found)
    return entry
