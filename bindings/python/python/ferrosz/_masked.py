"""Masked arrays of NumPy: what is masked is missing, and becomes the fill value of the array."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ArgumentError


def unmasked(array: Any) -> tuple[Any, float | None]:
    """An array with its fill value in the place of masked elements, and the fill value; other arrays as they are. The
    values that the mask hides count nowhere.

    The fill value must be one of the type, and none of the elements that are not masked, which would be missing with
    it.
    """
    if not isinstance(array, np.ma.MaskedArray):
        return array, None
    if array.dtype.names is not None or not np.ma.is_masked(array):
        return array.data, None
    if array.dtype.kind == "c":
        raise ArgumentError(
            "array: a mask of complex numbers has no fill value that both parts have; give array.filled(value) and "
            "fill=value, which is that of a part"
        )
    fill = _fill_value(array)
    taken = int(np.ma.count(array[np.ma.getdata(array) == fill]))
    if taken:
        raise ArgumentError(
            f"array: {taken} of its elements are not masked and have its fill value {fill!r}; set another "
            "array.fill_value"
        )
    return array.filled(fill), float(fill)


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
