"""Settings at the door: Python's own numbers of whatever a user gives, and names of settings that are none."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import ArgumentError


def number(name: str, value: Any) -> float | None:
    """A number of Python, NumPy or anything that has one, as a float."""
    if value is None:
        return None
    try:
        if isinstance(value, str | bytes) or np.ndim(value) > 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{name}: {value!r} is not a number") from error


def whole(name: str, value: Any) -> int | None:
    """A whole number."""
    try:
        return None if value is None else operator.index(value)
    except TypeError as error:
        raise ArgumentError(f"{name}: {value!r} is not a whole number") from error


def text(name: str, value: Any) -> str | None:
    """A string, such as one of NumPy."""
    if value is not None and not isinstance(value, str):
        raise ArgumentError(f"{name}: {value!r} is not a string")
    return None if value is None else str(value)


def flag(name: str, value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool | np.bool):
        raise ArgumentError(f"{name}: {value!r} is neither True nor False")
    return bool(value)


def fills(value: Any) -> Any:
    """The setting `fill`, with Python's own numbers: `"auto"`, `"none"` or `None`, a number, or a list of numbers and
    `"auto"`."""
    if isinstance(value, np.ndarray) and value.ndim > 0:
        value = value.ravel().tolist()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | np.ndarray):
        return [_fill(item, ("auto",)) for item in value]
    return None if value is None else _fill(value, ("auto", "none"))


def _fill(value: Any, names: tuple[str, ...]) -> float | str:
    """One fill value, or one of these names. A number may be a string, as JSON has NaN and infinities."""
    if isinstance(value, str) and value in names:
        return str(value)
    try:
        found = float(value) if isinstance(value, str) else number("fill", value)
    except ValueError:
        found = None
    if found is None:
        raise ArgumentError(f"fill: {value!r} is not 'auto', None, a number, or a list of numbers and 'auto'")
    return found


def refuse_others(of: str, others: dict[str, Any], known: Iterable[str], relative: str) -> None:
    """An error if there are settings that `of` has not. `relative` is the function that makes one for a relative
    bound."""
    for name in others:
        if name in ("range", "max"):
            raise ArgumentError(
                f"{name}: each chunk would have another bound; {relative}(array, {name}=...) makes one of that of the "
                "array"
            )
        if name in ("psnr", "rmse", "mae", "ratio"):
            raise ArgumentError(f"{name}: each chunk would have another bound; give abs")
        if name == "device":
            raise ArgumentError("device: a chunk is compressed where its array is")
        raise ArgumentError(f"{name}: {of} has no such setting; it has {', '.join(known)}")


def one_bound(abs: float | None, pwrel: float | None, relative: str) -> None:
    """An error if there is not one bound."""
    if (abs is None) == (pwrel is None):
        given = "not both" if abs is not None else f"or make it by {relative}(array, range=...)"
        raise ArgumentError(f"give abs or pwrel, {given}")


def chosen(info: Any, names: Iterable[str]) -> dict[str, Any]:
    """The settings of these names that made a stream. An array without dimensions has no axes to name."""
    return {name: getattr(info, name) or None for name in names}
