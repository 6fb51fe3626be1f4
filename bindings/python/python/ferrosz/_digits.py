"""A bound as a number of significant decimal digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._settings import whole
from .errors import ArgumentError

__all__ = ["pwrel_of_digits"]

# What float64 has.
MOST_DIGITS = 17


def pwrel_of_digits(digits: int) -> float:
    """The bound `pwrel` under which each value keeps so many significant decimal digits: 0.5 * 10^(1 - digits).

    This is the usual definition: x' has N significant digits of x if |x - x'| is at most 5 * 10^-N times |x|. It is the
    largest relative error that rounding to N digits makes: that of 1.0005, which four digits round to 1.000 or 1.001. So
    no value is off by more, relative to itself, than the worst one of a table with N digits. In units of its own Nth
    digit, a value that begins with 1 is off by at most a half to one, and one that begins with 9 by at most five; where
    each value must be within one of these, give one digit more. Zeros are exact, as are NaNs and infinities.

    The result is the double of this number, so `digits=4` and `pwrel=5e-4` make the same stream. There are 1 to 17 digits;
    other numbers are an `ArgumentError`.

    >>> ferrosz.pwrel_of_digits(4)
    0.0005
    >>> values = np.array([273.15, 0.0, -1.0005e-7])
    >>> back = ferrosz.decompress(ferrosz.compress(values, digits=4))
    >>> bool((abs(back - values) <= 0.0005 * abs(values)).all()), float(back[1])
    (True, 0.0)
    """
    found = whole("digits", digits)
    if found is None or isinstance(digits, bool) or not 1 <= found <= MOST_DIGITS:
        raise ArgumentError(f"digits: {digits!r} is no number of significant digits from 1 to {MOST_DIGITS}")
    return float(f"5e-{found}")


def pwrel_or_digits(pwrel: float | None, digits: int | None, others: Mapping[str, Any]) -> float | None:
    """The bound `pwrel`, as it is given, or that of `digits`; an error if there is another bound beside digits."""
    if digits is None:
        return pwrel
    given = [name for name, value in {**others, "pwrel": pwrel}.items() if value is not None]
    if given:
        raise ArgumentError(f"give only one of the bounds and targets {', '.join([*given, 'digits'])}")
    return pwrel_of_digits(digits)
