"""The precision to which values were rounded before they were stored, as samples show it.

A value that was rounded is off by up to half of its step already. So half a step is the bound: as much again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Powers of ten that are tried as steps, from the coarsest.
LARGEST, SMALLEST = 4, -12

# A step is told from the spacing of floats if it has at least so many of these.
CLEAR = 4.0

# So few values, and so few different ones, show nothing: 0.5 and 1.5 may be all there is to measure.
FEWEST_VALUES, FEWEST_DIFFERENT = 1000, 20

# So many zero bits behind the last one that is set are no chance.
FEWEST_ZERO_BITS = 3


@dataclass(frozen=True)
class Rounded:
    """How values were rounded: to multiples of a step, or to so many bits of their mantissas."""

    step: float | None
    bits: int | None
    words: str

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers, which may count or name something."""
        return self.step is not None and self.step >= 1

    @property
    def bound(self) -> dict[str, float]:
        """Half a step. A value with b bits behind its first one has steps of at least 2^-(b + 1) of it."""
        return {"abs": self.step / 2} if self.step is not None else {"pwrel": 0.5 ** ((self.bits or 0) + 2)}


def rounding_of(samples: list[Any]) -> Rounded | None:
    """How all finite values of these arrays were rounded; None if they were not, or if there are too few to tell."""
    values = np.concatenate([each[np.isfinite(each) & (each != 0)] for each in samples]) if samples else np.zeros(0)
    if values.size < FEWEST_VALUES or np.unique(values).size < FEWEST_DIFFERENT:
        return None
    clear = CLEAR * float(np.spacing(np.abs(values).max()))
    tens = (exponent for exponent in range(LARGEST, SMALLEST - 1, -1) if 10.0**exponent >= clear)
    ten = next((exponent for exponent in tens if _are_multiples(values, exponent)), None)
    zero_bits, two = _zero_bits(values)
    # Multiples of 0.25 are multiples of 0.01, too.
    if 2.0**two >= max(clear, 0.0 if ten is None else 10.0**ten):
        return Rounded(2.0**two, None, f"multiples of 2^{two}, which is {2.0**two:.4g}")
    if ten is not None:
        return Rounded(10.0**ten, None, f"multiples of {10.0**ten:g}")
    if zero_bits < FEWEST_ZERO_BITS:
        return None
    bits = np.finfo(values.dtype).nmant - zero_bits
    return Rounded(None, bits, f"rounded to {bits} of the {np.finfo(values.dtype).nmant} bits of a mantissa")


def _are_multiples(values: Any, exponent: int) -> bool:
    """Whether each value is the float that is nearest to a multiple of a power of ten."""
    # Powers of ten up to 10^22 are exact, their reciprocals are not.
    power, wide = 10.0 ** abs(exponent), values.astype("f8")
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = np.rint(wide / power) * power if exponent > 0 else np.rint(wide * power) / power
        return bool((nearest.astype(values.dtype) == values).all())


def _zero_bits(values: Any) -> tuple[int, int]:
    """How many last bits are zero in all mantissas, and the exponent of the power of two of which all values are
    multiples."""
    kind, size = np.finfo(values.dtype), values.dtype.itemsize
    mantissas = values.view(f"u{size}") & np.array((1 << kind.nmant) - 1, f"u{size}")
    together = int(np.bitwise_or.reduce(mantissas))
    zero_bits = kind.nmant if together == 0 else (together & -together).bit_length() - 1
    mantissa, exponent = np.frexp(values.astype("f8"))
    # As whole numbers of 53 bits: the last bit that is set, in each.
    scaled = np.abs(np.ldexp(mantissa, 53)).astype("i8")
    last = np.frexp((scaled & -scaled).astype("f8"))[1] - 1
    return zero_bits, int((exponent - 53 + last).min())
