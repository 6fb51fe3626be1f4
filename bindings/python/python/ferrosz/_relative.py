"""Bounds relative to a whole array, as absolute ones."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from . import ArgumentError, cf, detect_fill
from ._carrier import fills_in_carrier, to_carrier
from ._device import is_on_gpu
from ._rounding import below
from ._settings import fills, number


def fill_values_of(array: Any, fill: float | str | Iterable[float | str] | None) -> list[float]:
    """The values of missing elements of a whole array: the numbers of `fill`. `"auto"` in it, or no `fill`, stands for
    the CF attributes `_FillValue` and `missing_value`, and for values that look like fill values in an array that is
    neither on a GPU nor one of Dask.
    """
    given = "auto" if fill is None else fills(fill)
    names = given if isinstance(given, list) else [given]
    found = [name for name in names if not isinstance(name, str)]
    values = values_of(array)
    if "auto" in names:
        is_far = hasattr(values, "dask") or is_on_gpu(values)
        found += [*cf.fill_values(array), *([] if is_far else detect_fill(to_carrier(values)))]
    elif np.ma.is_masked(values):
        found += fills_in_carrier(values.fill_value, values.dtype)
    return list(dict.fromkeys(found))


def absolute_error(array: Any, *, range: float | None, max: float | None, fill: Iterable[float]) -> float:
    """`range` times the range of an array, or `max` times its largest magnitude, rounded down.

    The array is one of NumPy, CuPy, Dask or xarray, or anything that NumPy makes an array of. Missing elements do not
    count: those that are not finite, those out of the CF attribute `valid_range`, and those of `fill`.
    """
    if (range is None) == (max is None):
        raise ArgumentError("give one of range and max")
    range, max = number("range", range), number("max", max)
    numbers = [value for value in fill if not math.isnan(value)]
    return error_of_extremes(*_extremes(values_of(array), numbers, cf.valid_range(array)), range=range, max=max)


def error_of_extremes(low: float, high: float, *, range: float | None, max: float | None) -> float:
    """`range` times high - low, or `max` times the larger magnitude, rounded down."""
    if range is not None:
        return below(Fraction(range) * (Fraction(high) - Fraction(low)))
    return below(Fraction(max or 0.0) * Fraction(high if high > -low else -low))


def values_of(array: Any) -> Any:
    """An array of Dask, on a GPU or with a mask as it is, and others as those of NumPy."""
    values = getattr(array, "data", array) if hasattr(array, "encoding") else array
    is_kept = hasattr(values, "dask") or is_on_gpu(values) or isinstance(values, np.ma.MaskedArray)
    return values if is_kept else np.asarray(values)


def _extremes(values: Any, fill: list[float], valid: tuple[float, float] | None) -> tuple[float, float]:
    """The least and the greatest of the values that are finite, valid and not `fill`; zeros if there are none."""
    if hasattr(values, "dask"):
        import dask

        blocks = [dask.delayed(extremes_of)(block, fill, valid) for block in values.to_delayed().ravel()]
        found = dask.compute(*blocks)
    else:
        found = (extremes_of(values, fill, valid),)
    known = [extremes for extremes in found if extremes is not None]
    if not known:
        return 0.0, 0.0
    return min(low for low, _ in known), builtins.max(high for _, high in known)


def extremes_of(
    block: Any, fill: list[float], valid: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The least and the greatest of the values of a block that are finite, valid and not `fill`; None if there are
    none."""
    if isinstance(block, np.ma.MaskedArray):
        block = block.compressed()
    block = block if is_on_gpu(block) else np.asarray(block)
    if block.dtype.kind == "c":
        found = [extremes_of(part, fill, valid) for part in (block.real, block.imag)]
        known = [extremes for extremes in found if extremes is not None]
        return (min(low for low, _ in known), builtins.max(high for _, high in known)) if known else None
    if block.size and not fill and valid is None:
        # The usual case: all elements count. A NaN would be the least and the greatest.
        low, high = float(block.min()), float(block.max())
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    counts = np.isfinite(block)
    for value in fill:
        counts &= block != _as_element(value, block.dtype)
    if valid is not None:
        counts &= (block >= valid[0]) & (block <= valid[1])
    chosen = block[counts]
    return (float(chosen.min()), float(chosen.max())) if chosen.size else None


def _as_element(value: float, dtype: np.dtype[Any]) -> Any:
    """A fill value as an element of an array, so that it equals those elements; a number that integers lack as it
    is."""
    if dtype.kind in "iu":
        return int(value) if value.is_integer() and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max else value
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(dtype)[()]
