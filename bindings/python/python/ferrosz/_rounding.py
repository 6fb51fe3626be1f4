"""Exact numbers as doubles that do not exceed them: a bound is rounded down."""

from __future__ import annotations

import math
from fractions import Fraction


def below(exact: Fraction) -> float:
    """The greatest double that does not exceed a number."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)
