"""Masked arrays of NumPy: what is masked is missing, and becomes the fill value of the array."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ArgumentError
from ._carrier import fills_in_carrier


def unmasked(array: Any) -> tuple[Any, float | complex | None]:
    """An array with its fill value in the place of masked elements, and the fill value; other arrays as they are. The
    values that the mask hides count nowhere.

    The fill value must be one of the type, and none of the elements that are not masked, which would be missing with
    it. Of complex numbers both parts of the fill value stand for missing parts, and no part of the elements that are
    not masked may have them.
    """
    if not isinstance(array, np.ma.MaskedArray):
        return array, None
    if array.dtype.names is not None or not np.ma.is_masked(array):
        return array.data, None
    fill = _fill_value(array)
    is_complex = array.dtype.kind == "c"
    taken = int(np.ma.count(array[_has(np.ma.getdata(array), fill)]))
    if taken:
        advice = "array.fill_value, such as complex(1e20, 1e20)" if is_complex else "array.fill_value"
        raise ArgumentError(
            f"array: {taken} of its elements are not masked and have its fill value {fill!r}"
            f"{' in a part' if is_complex else ''}; set another {advice}"
        )
    return array.filled(fill), complex(fill) if is_complex else float(fill)


def unmasked_with_fills(array: Any) -> tuple[Any, list[float]]:
    """As `unmasked`, but with the values of a stream that stand for the fill value."""
    found, fill = unmasked(array)
    return found, [] if fill is None else fills_in_carrier(fill, found.dtype)


def _has(values: Any, fill: Any) -> Any:
    """Which values have a fill value; of complex numbers, which have a part of it."""
    if values.dtype.kind != "c":
        return values == fill
    parts = [fill.real, fill.imag]
    return np.isin(values.real, parts) | np.isin(values.imag, parts)


def _fill_value(array: Any) -> Any:
    """The fill value as an element of the array."""
    given = array.fill_value
    try:
        with np.errstate(over="ignore"):
            fill = np.asarray(given).astype(array.dtype)[()]
            is_kept = (
                np.isfinite(fill) == np.isfinite(given) if array.dtype.kind not in "iu" else int(fill) == int(given)
            )
    except (TypeError, ValueError, OverflowError):
        is_kept = False
    if not is_kept:
        raise ArgumentError(f"array: its fill value {given!r} is none of {array.dtype}; set another array.fill_value")
    return fill
