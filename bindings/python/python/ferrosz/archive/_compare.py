"""A shard beside its source, judged without the compressor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import DamagedStream
from ..zarr import FerroszCodec
from ._shard import Shard, open_array
from ._field import Box, Part

# Many times the relative error of differences and products in float64.
CLOSE = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A decoded shard beside its source. Errors of packed integers are counted in steps."""

    elements: int
    missing: int
    largest_error: float
    over: int
    changed: int
    fault: str | None = None


def compare_shard(store: Any, name: str, box: Box, part: Part) -> Comparison:
    """What runs on a worker: reads a shard as its users do, and its source, and compares them."""
    shard = Shard(open_array(store, name), box)
    fault = "it is not there" if shard.bytes() is None else shard.fault()
    if fault is not None:
        return Comparison(0, 0, 0.0, 0, 0, f"{shard.object.path}: {fault}")
    return _compare(shard, part.load(), part.missing)


def compare(shard: Shard, values: Any, missing: tuple[float, ...]) -> Comparison:
    """The same with values that are loaded; an error if the bound is not kept."""
    found = _compare(shard, values, missing)
    if found.over or found.changed:
        raise DamagedStream(
            f"{shard.object}: {found.over} values are off by more than the bound, by {found.largest_error:g} at most, "
            f"and {found.changed} missing ones have changed",
            "bound",
        )
    return found


def _compare(shard: Shard, values: Any, missing: tuple[float, ...]) -> Comparison:
    codec = _codec_of(shard.array)
    return compare_values(values, shard.array[shard.box], missing, codec.abs, codec.pwrel or 0.0)


def compare_values(
    values: Any, decoded: Any, missing: tuple[float, ...], limit: float | None, share: float = 0.0
) -> Comparison:
    """Values beside decoded ones, which must be within a limit; without one, within a share of each value."""
    counts = _counts(values, missing)
    is_changed = ~counts & (decoded.view(f"u{values.itemsize}") != values.view(f"u{values.itemsize}"))
    original, found = values[counts], decoded[counts]
    errors = np.abs(found.astype("f8") - original.astype("f8"))
    # A value that has become a missing one is off by infinity.
    errors[~_counts(found, missing)] = np.inf
    over = _number_over(original, found, errors, limit, share)
    return Comparison(
        values.size, int(values.size - counts.sum()), float(errors.max(initial=0.0)), over, int(is_changed.sum())
    )


def _counts(values: Any, missing: tuple[float, ...]) -> Any:
    """Where values are neither missing nor NaN nor infinite."""
    if not missing:
        return np.isfinite(values)
    return np.isfinite(values) & ~np.isin(values, np.asarray(missing).astype(values.dtype))


def _number_over(original: Any, found: Any, errors: Any, limit: float | None, share: float) -> int:
    """How many errors are over the limit, or over a share of each value. Differences and limits are rounded, so those
    that are close are computed exactly."""
    limits = limit if limit is not None else share * np.abs(original.astype("f8"))
    is_over = errors > limits * (1 + CLOSE)
    close = np.flatnonzero((errors > limits * (1 - CLOSE)) & ~is_over).tolist()

    def is_exactly_over(at: int) -> bool:
        value, decoded = Fraction(float(original[at])), Fraction(float(found[at]))
        return abs(decoded - value) > (Fraction(limit) if limit is not None else Fraction(share) * abs(value))

    return int(is_over.sum()) + sum(map(is_exactly_over, close))


def _codec_of(array: Any) -> FerroszCodec:
    """The codec of ferrosz within the shards of an array."""
    inner = (codec for outer in array.metadata.codecs for codec in getattr(outer, "codecs", ()))
    return next(codec for codec in inner if isinstance(codec, FerroszCodec))
