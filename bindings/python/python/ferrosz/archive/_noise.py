"""The noise of a field, by differences of neighbours.

Third differences remove what is smooth. Of white noise with the standard deviation s they have that of s times the root
of 20, and the median of their magnitudes estimates it, whatever a few fronts and edges are: s = 1.4826 median / root of
20. Two things must hold, or there is no noise to speak of. Along each axis neighbouring differences must change sign as
often as those of white noise, in 77 of 100 places (those of a random walk do so in 73, and those of smooth fields in
fewer), and s must be the same along all of them, and for small values as for large ones. And the values must vary by
much more than s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Of a normal distribution, the standard deviation by the median of magnitudes; and the sum of the squares of 1, 3, 3, 1.
OF_MEDIAN, OF_THIRD = 1.4826, 20.0**0.5

# Third differences of white noise change sign in arccos(-3/4) / pi of the places, those of a random walk in
# arccos(-2/3) / pi.
WHITE, WALK = np.arccos(-3 / 4) / np.pi, np.arccos(-2 / 3) / np.pi
FEWEST_CHANGES = (WHITE + WALK) / 2

# By which factor the estimates of axes, and of the quarters of values, may differ; how many times the noise the values
# must vary; and how many times the spacing of floats the noise must exceed.
ALIKE, SIGNAL, SPACINGS = 1.25, 10.0, 4.0

# Axes and samples that are shorter show nothing.
SHORTEST, FEWEST_VALUES = 16, 4096


def noise_of(samples: list[Any]) -> float | None:
    """The standard deviation of white noise in all of these arrays; None if they do not show such noise."""
    found = [_noise(values) for values in samples]
    known = [noise for noise in found if noise is not None]
    return min(known) if known and len(known) == len(found) else None


def _noise(values: Any) -> float | None:
    axes = [axis for axis, length in enumerate(values.shape) if length >= SHORTEST]
    finite = values[np.isfinite(values)]
    if not axes or finite.size < FEWEST_VALUES:
        return None
    found = [_along(np.moveaxis(values, axis, -1)) for axis in axes]
    if any(noise is None for noise in found):
        return None
    known = [noise for noise in found if noise is not None]
    low, high = np.quantile(finite.astype("f8"), (0.05, 0.95))
    least = SPACINGS * float(np.spacing(np.abs(finite).max()))
    if min(known) <= least or max(known) > ALIKE * min(known) or high - low < SIGNAL * max(known):
        return None
    return min(known)


def _along(values: Any) -> float | None:
    """The noise along the last axis, if neighbouring differences change sign as often as those of white noise, and are
    alike wherever the values lie."""
    differences = np.diff(values.astype("f8"), 3, axis=-1)
    one, other = differences[..., :-1], differences[..., 1:]
    are_known = np.isfinite(one) & np.isfinite(other)
    if are_known.sum() < FEWEST_VALUES or (one[are_known] * other[are_known] < 0).mean() < FEWEST_CHANGES:
        return None
    magnitudes, places = np.abs(one[are_known]), values[..., 1:-3][are_known]
    quarters = np.searchsorted(np.quantile(places, (0.25, 0.5, 0.75)), places)
    found = [float(np.median(magnitudes[quarters == each])) for each in range(4) if (quarters == each).any()]
    return OF_MEDIAN * min(found) / OF_THIRD if max(found) <= ALIKE * min(found) else None
