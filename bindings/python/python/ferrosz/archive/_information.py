"""The bits of floats that inform of their neighbours: the bitwise real information of Kloewer et al. (2021, Nature
Computational Science 1, 713-724).

The real information of a bit is the mutual information of that bit in neighbouring values. Of random bits it is not
exactly 0 in a sample, so what is less than chance leaves at a confidence of 99 % counts as 0. The bits that are kept are
the first ones that together have 99 % of all. Where axes differ, the one that needs most bits counts. Pairs with a value
that is missing or 0 do not count: zeros come back exactly under a relative bound, and would inform with all of their
bits.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

SHARE, CONFIDENCE = 0.99, 0.99

# Of less information, in bits of a value, nothing can be told: some bits of pure noise seem to inform by chance.
LEAST = 0.05

# So few pairs of neighbours show nothing.
FEWEST_PAIRS = 10_000


def mantissa_bits_of(samples: list[Any]) -> int | None:
    """How many bits of the mantissas are kept; None if that are all of them, if no bit informs, or if there are too few
    values."""
    kind = np.finfo(samples[0].dtype)
    found = [_kept(samples, axis) for axis in range(samples[0].ndim)]
    known = [kept for kept in found if kept is not None]
    if not known:
        return None
    kept = max(max(known) - (kind.bits - kind.nmant), 1)
    return kept if kept < kind.nmant else None


def information_along(samples: list[Any], axis: int) -> Any:
    """The real information of each bit, the sign first, along an axis; None if there are too few pairs."""
    pairs = [_pairs(np.moveaxis(values, axis, -1)) for values in samples]
    one, other = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    if one.size < FEWEST_PAIRS:
        return None
    size = one.dtype.itemsize
    first, second = (values.view(f"u{size}") for values in (one, other))
    masks = np.array([1 << place for place in reversed(range(8 * size))], first.dtype)
    found = np.array([_mutual(first & mask != 0, second & mask != 0) for mask in masks])
    return np.where(found > _by_chance(one.size), found, 0.0)


def _kept(samples: list[Any], axis: int) -> int | None:
    """How many bits, the sign and the exponent among them, have nearly all information along an axis."""
    found = information_along(samples, axis)
    if found is None or found.sum() < LEAST:
        return None
    return int(np.searchsorted(np.cumsum(found), SHARE * found.sum())) + 1


def _pairs(values: Any) -> tuple[Any, Any]:
    one, other = values[..., :-1], values[..., 1:]
    counts = np.isfinite(one) & np.isfinite(other) & (one != 0) & (other != 0)
    return one[counts], other[counts]


def _mutual(one: Any, other: Any) -> float:
    """The mutual information of two series of bits, in bits."""
    total, of_one, of_other = one.size, np.count_nonzero(one), np.count_nonzero(other)
    both = np.count_nonzero(one & other)
    joint = np.array([[total - of_one - of_other + both, of_other - both], [of_one - both, both]]) / total
    alone = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log2(joint[there] / alone[there])).sum())


def _by_chance(count: int) -> float:
    """The information that random bits leave in so many pairs at most: 1 minus the entropy of a coin that is as uneven as
    chance makes it."""
    uneven = min(0.5 + NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2) / (2 * math.sqrt(count)), 1.0)
    return 1.0 + sum(share * math.log2(share) for share in (uneven, 1 - uneven) if share)
