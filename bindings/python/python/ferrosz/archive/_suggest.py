"""The bound that a variable may have: by what the community requires of it, or else by what its values tell.

Each way is tried in turn, and the first one that tells something is taken. What none can judge stays exact.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import ROUND_DOWN, Context
from typing import Any

import numpy as np

from .. import detect_fill
from ._choice import why_exact
from ._community import Found, requirements_of
from ._entry import Entry
from ._field import Field
from ._information import SHARE, mantissa_bits_of
from ._noise import noise_of
from ._precision import FEWEST_DIFFERENT, rounding_of
from ._required import needed_for
from ._sample import box_of, sample
from ._source import Source

WHY = {
    "small": "it has few values",
    "few values": "it has few different values, all of them whole numbers",
    "classes": "its description speaks of classes, and it has few different values",
    "integers": "its values are integers",
    "text": "its values are texts",
    "time": "it is a time",
    "flags": "it is flags",
    "bounds": "it is the bounds of another variable",
}

# An error that follows from information is at most so much of the range of the samples.
MOST_OF_RANGE = 0.01


def suggest(source: Source, name: str) -> Entry:
    """The bound of a variable, and why. Of its values samples are read."""
    reason = why_exact(source, name)
    if reason is not None:
        return Entry(None, "kind", WHY.get(reason, f"it is a {reason}" if " " not in reason else reason))
    variables = source.files[0].variables
    earlier = variables[name].attrs.get("ferrosz_bound")
    if earlier is not None:
        return Entry(None, "kind", f"ferrosz has left an error of up to {earlier:g} in it, and a second one would add to that")
    field, packed = source.unpacked(name), source.packed(name)
    samples = [_without_marks(values) for values in sample(field, box_of(field))]
    found = requirements_of(variables, name)
    entry = None if found is None else _by_community(found, packed, samples)
    if entry is None:
        entry = _by_values(packed, samples)
        if found is not None:
            reason = f"{entry.reason} ({found.origin} does not apply: {found.refused or 'it bounds no error'})"
            entry = replace(entry, reason=reason)
    if field.dtype.itemsize < 4 and "pwrel" in (entry.settings or ()):
        reason = f"{entry.reason}; {field.dtype} has no bound relative to each value, so it stays exact"
        entry = replace(entry, settings=None, reason=reason)
    return entry


def _without_marks(values: Any) -> Any:
    """Values without those that look like fill values, which come back as they are: 1e20 would be all of the range."""
    marks = [mark for mark in detect_fill(values) if not math.isnan(mark)]
    return np.where(np.isin(values, np.asarray(marks).astype(values.dtype)), np.nan, values) if marks else values


def _by_community(found: Found, packed: Field | None, samples: list[Any]) -> Entry | None:
    if found.refused:
        return None
    needed = needed_for(found.requirements, packed, samples)
    if needed is None:
        return None
    return Entry(needed.settings, "community", f"{needed.reason} ({found.origin})", found.requirements)


def _by_values(packed: Field | None, samples: list[Any]) -> Entry:
    if packed is not None:
        step = float(packed.step or 0)
        reason = f"it is packed in steps of {step:.4g}, so it is off by up to half a step already; no step is changed"
        return Entry({"abs": step / 2}, "packing", reason)
    if np.unique(_finite(samples)).size < FEWEST_DIFFERENT:
        return Entry(None, "unknown", f"the samples have less than {FEWEST_DIFFERENT} different values")
    rounded = rounding_of(samples)
    if rounded is not None and rounded.is_whole:
        reason = f"all values of the samples are {rounded.words}: whole numbers may count or name something"
        return Entry(None, "kind", reason)
    if rounded is not None:
        reason = f"all values of the samples are {rounded.words}, so they are off by up to half a step already"
        return Entry(rounded.bound, "rounding", reason)
    noise = noise_of(samples)
    if noise is not None:
        reason = f"its noise has a standard deviation of about {noise:.3g}; errors up to half of that raise it by 4 %"
        return Entry({"abs": _short(noise / 2)}, "noise", reason)
    by_information = _by_information(samples)
    if by_information is not None:
        return by_information
    return Entry(None, "unknown", "its values were not rounded, show no noise, and do not tell which of their bits inform")


def _by_information(samples: list[Any]) -> Entry | None:
    """The error of rounding to the bits that inform, or to more of them: far from zero, as in kelvins, a share of a value
    is much of the range. None if all bits would be kept."""
    bits = mantissa_bits_of(samples)
    if bits is None:
        return None
    known = _finite(samples)
    magnitude, spread = float(np.abs(known).max()), float(np.ptp(known.astype("f8")))
    more = range(bits, np.finfo(known.dtype).nmant)
    kept = next((each for each in more if 0.5 ** (each + 1) * magnitude <= MOST_OF_RANGE * spread), None)
    if kept is None:
        return None
    reason = f"{bits} bits of its mantissas have {SHARE:.0%} of the information"
    if kept > bits:
        reason += f", and {kept} are kept, so that no error is more than {MOST_OF_RANGE:.0%} of the range"
    return Entry({"pwrel": 0.5 ** (kept + 1)}, "information", f"{reason}: it is the error of rounding to them")


def _finite(samples: list[Any]) -> Any:
    return np.concatenate([values[np.isfinite(values)] for values in samples])


def _short(number: float) -> float:
    """A bound with two digits, rounded down: it is an estimate."""
    return float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(number))
