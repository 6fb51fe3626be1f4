"""Requirements of the community, judged by the package compression-requirement-checks.

It computes with fractions, value by value, so of large variables it judges samples. The bound of a plan, under which the
requirements hold, is judged for all values by ferrosz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import ArgumentError
from ._community import OF_DIFFERENCES, WITH_UNITS, Requirement
from ._field import Field
from ._sample import BOXES, box_of, sample
from ._source import Source

PACKAGE = "compression-requirement-checks"

# Variables with more values are judged by samples of so many together.
MOST_VALUES = 1 << 16


@dataclass(frozen=True)
class Checked:
    """What the package says of a variable."""

    kept: bool | None
    """Whether all requirements are kept; None if nobody has looked."""
    words: str
    """By whom, and of how many values."""


def check(source: Source, copied: Source, field: Field, requirements: Sequence[Requirement]) -> Checked | None:
    """Whether a variable that was copied keeps requirements, which are in its units. None if there are none."""
    if not requirements:
        return None
    try:
        from compression_recommendations.requirements.abc import Requirement as Known
        from compression_requirement_checks import check_safety_requirements
    except ModuleNotFoundError as error:
        return Checked(None, f"not judged: {error.name} is not installed")
    if field.step is not None and all(each["kind"] in OF_DIFFERENCES for each in requirements):
        # In steps: unpacked values are rounded, which may be more than a bound allows.
        pair = field, copied.stored(field.name)
        requirements = [_in_steps(each, field.step) for each in requirements]
    else:
        pair = source.unpacked(field.name), copied.unpacked(field.name)
    shape = _samples_of(field)
    original, decoded = (np.concatenate([values.ravel() for values in sample(each, shape)]) for each in pair)
    if field.step is not None and pair[0] is field and field.missing:
        counts = ~np.isin(original, np.asarray(field.missing).astype(original.dtype))
        original, decoded = original[counts], decoded[counts]
    try:
        known = [Known.from_config(**_plain(each)) for each in requirements]
        kept = check_safety_requirements(original=original, reconstructed=decoded, requirements=known)
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"plan: {field.name}: requirements: {PACKAGE} cannot judge them: {error!r}") from error
    return Checked(kept, f"{original.size} of {field.size} values judged by {PACKAGE} {version(PACKAGE)}")


def _samples_of(field: Field) -> tuple[int, ...]:
    """The shape of what is judged: the whole field, or each of its samples."""
    if field.size <= MOST_VALUES:
        return tuple(max(length, 1) for length in field.shape)
    found = list(box_of(field))
    while math.prod(found) > MOST_VALUES // BOXES:
        longest = found.index(max(found))
        found[longest] = -(-found[longest] // 2)
    return tuple(found)


def _in_steps(requirement: Requirement, step: Fraction) -> dict[str, Any]:
    own = WITH_UNITS.get(requirement["kind"], ())
    return {key: float(Fraction(value) / step) if key in own else value for key, value in requirement.items()}


def _plain(requirement: Requirement) -> dict[str, Any]:
    return {key: value for key, value in requirement.items() if value is not None}
