"""The bound of a variable under which requirements of the community hold.

A bound of each value also bounds the mean error, so a requirement of the mean is met by a bound that is as large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._community import Requirement
from ._field import Field

ABSOLUTE = ("max-pointwise-absolute-error-bound", "mean-absolute-error-bound")
OF_RANGE = ("max-pointwise-range-relative-error-bound", "mean-range-relative-error-bound")
RELATIVE, MEAN_RELATIVE = "max-pointwise-relative-error-bound", "mean-relative-error-bound"

# Codecs without splines: zeros come back as zeros, and signs as they were.
KEEPING = {"preset": "balanced"}

# So many times the mean magnitude of samples must be what a relative requirement of the mean needs of it.
CLEARLY = 4.0


@dataclass(frozen=True)
class Needed:
    """What requirements come to. Without settings the variable stays exact."""

    settings: dict[str, Any] | None
    reason: str


def needed_for(requirements: Sequence[Requirement], packed: Field | None, samples: list[Any]) -> Needed | None:
    """The settings under which requirements hold, for packed values or for floats with these samples; None if nothing of
    them is about an error."""
    by_kind: dict[str, list[Requirement]] = {}
    for each in requirements:
        by_kind.setdefault(each["kind"], []).append(each)
    if "lossless" in by_kind:
        return Needed(None, "it must stay exact")
    strange = sorted(by_kind.keys() - {*ABSOLUTE, *OF_RANGE, RELATIVE, MEAN_RELATIVE, "data-limits", "missing-value"})
    if strange:
        return Needed(None, f"it must keep {', '.join(map(_words, strange))}, which no bound does, so it stays exact")
    least = _least(by_kind, (*ABSOLUTE, *OF_RANGE, RELATIVE, MEAN_RELATIVE))
    if least is None:
        return None
    asked = f"it needs {' and '.join(map(_text, requirements))}"
    if least == 0:
        return Needed(None, f"{asked}, so it stays exact")
    bound = _absolute_or_range(by_kind, samples)
    return _of_floats(by_kind, bound, samples, asked) if packed is None else _of_packed(by_kind, bound, packed, asked)


def _of_packed(by_kind: dict[str, list[Requirement]], bound: dict[str, float], packed: Field, asked: str) -> Needed:
    step = float(packed.step or 0)
    if by_kind.keys() - {*ABSOLUTE, *OF_RANGE, "missing-value"}:
        return Needed({"abs": step / 2}, f"{asked}; packed values keep that if no step of {step:.4g} is changed")
    is_less = bound.get("abs", step) < step
    more = f"; that is less than a step of {step:.4g}, so no step is changed" if is_less else ""
    return Needed({**bound}, asked + more)


def _of_floats(by_kind: dict[str, list[Requirement]], bound: dict[str, float], samples: list[Any], asked: str) -> Needed:
    limits = by_kind.get("data-limits", [])
    others = [f"minimum {each['minimum']:g}" for each in limits if each.get("minimum")]
    others += [f"maximum {each['maximum']:g}" for each in limits if each.get("maximum") is not None]
    if others:
        return Needed(None, f"{asked}; no bound promises the {' and the '.join(others)}, so it stays exact")
    mean, pointwise = _least(by_kind, (MEAN_RELATIVE,)), _least(by_kind, (RELATIVE,))
    if mean is None and pointwise is None:
        return Needed({**bound, **KEEPING}, f"{asked}; its codecs keep signs and zeros") if limits else Needed(bound, asked)
    if "range" in bound:
        bound = {"abs": bound["range"] * _spread(samples)}
    magnitude = _mean_magnitude(samples)
    if pointwise is None and mean is not None and bound and CLEARLY * bound["abs"] <= mean * magnitude:
        implied = f"; the mean magnitude is about {magnitude:.3g}, so a bound of all values implies that of the mean"
        return Needed({**bound, **KEEPING}, f"{asked}{implied}, and its codecs keep zeros")
    share = min(value for value in (pointwise, mean) if value is not None)
    return Needed({**bound, "pwrel": share}, asked)


def _absolute_or_range(by_kind: dict[str, list[Requirement]], samples: list[Any]) -> dict[str, float]:
    """An absolute bound, or one of the range, or none. The range of samples is not more than that of the variable."""
    absolute, of_range = _least(by_kind, ABSOLUTE), _least(by_kind, OF_RANGE)
    if absolute is None:
        return {} if of_range is None else {"range": of_range}
    return {"abs": absolute if of_range is None else min(absolute, of_range * _spread(samples) or absolute)}


def _least(by_kind: dict[str, list[Requirement]], kinds: Iterable[str]) -> float | None:
    values = [float(each["value"]) for kind in kinds for each in by_kind.get(kind, ())]
    return min(values) if values else None


def _finite(samples: list[Any]) -> Any:
    known = [values[np.isfinite(values)].astype("f8") for values in samples]
    return np.concatenate(known) if known else np.zeros(0)


def _spread(samples: list[Any]) -> float:
    known = _finite(samples)
    return float(known.max()) - float(known.min()) if known.size else 0.0


def _mean_magnitude(samples: list[Any]) -> float:
    known = np.abs(_finite(samples))
    return float(known.mean()) if known.size else 0.0


def _text(requirement: Requirement) -> str:
    values = [f"{key} {value:g}" for key, value in requirement.items() if key != "kind" and value is not None]
    return f"{_words(requirement['kind'])} {', '.join(values).removeprefix('value ')}"


def _words(kind: str) -> str:
    return {
        "max-pointwise-absolute-error-bound": "a largest error of",
        "mean-absolute-error-bound": "a mean error of",
        "max-pointwise-relative-error-bound": "a largest error relative to each value of",
        "mean-relative-error-bound": "a mean error relative to the mean of",
        "max-pointwise-range-relative-error-bound": "a largest error relative to the range of",
        "mean-range-relative-error-bound": "a mean error relative to the range of",
        "data-limits": "values that stay within the limits",
        "missing-value": "missing values that stay",
    }.get(kind, kind.replace("-", " "))
