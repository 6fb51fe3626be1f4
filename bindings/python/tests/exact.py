"""The judge of the tests: whether a bound is kept, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


def beyond(original: Any, back: Any, bound: float, *, pwrel: bool = False) -> int:
    """How many elements are further than the bound from the original, or are not finite and other bits than before.

    Differences are taken in long doubles. Those near the bound, where rounding could decide, are judged by fractions.
    """
    original, back = np.asarray(original), np.asarray(back)
    assert original.shape == back.shape, (original.shape, back.shape)
    x, y = original.astype(np.longdouble).ravel(), back.astype(np.longdouble).ravel()
    finite = np.isfinite(x)
    limit = np.abs(x[finite]) * bound if pwrel else np.full(int(finite.sum()), bound, np.longdouble)
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.flatnonzero(~(np.abs(x[finite] - y[finite]) <= limit * (1 - np.longdouble(1e-12))))
    near = zip(x[finite][far], y[finite][far], strict=True)
    wrong = sum(not _is_within(a, b, bound, pwrel) for a, b in near)
    bits = (
        original.astype(original.dtype.newbyteorder("=")).ravel(),
        back.astype(original.dtype.newbyteorder("=")).ravel(),
    )
    return wrong + sum(a.tobytes() != b.tobytes() for a, b in zip(bits[0][~finite], bits[1][~finite], strict=True))


def _is_within(x: Any, y: Any, bound: float, pwrel: bool) -> bool:
    if not np.isfinite(y):
        return False
    exact = [Fraction(*value.as_integer_ratio()) for value in (x, y)]
    return abs(exact[0] - exact[1]) <= Fraction(bound) * (abs(exact[0]) if pwrel else 1)
