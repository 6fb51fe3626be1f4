"""A shard beside its source, judged without the compressor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import DamagedStream
from ..zarr import FerroszCodec
from ._shard import Shard, open_array
from ._source import Box, Part

# Many times the relative error of differences and products in float64.
CLOSE = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A decoded shard beside its source."""

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
    return _compare(shard, part.load())


def compare(shard: Shard, values: Any) -> Comparison:
    """The same with values that are loaded; an error if the bound is not kept."""
    found = _compare(shard, values)
    if found.over or found.changed:
        raise DamagedStream(
            f"{shard.object}: {found.over} values are off by more than the bound, by {found.largest_error:g} at most, "
            f"and {found.changed} that are not finite have changed",
            "bound",
        )
    return found


def _compare(shard: Shard, values: Any) -> Comparison:
    codec = _codec_of(shard.array)
    decoded = shard.array[shard.box]
    finite = np.isfinite(values)
    is_changed = ~finite & (decoded.view(f"u{values.itemsize}") != values.view(f"u{values.itemsize}"))
    original, found = values[finite], decoded[finite]
    errors = np.abs(found.astype("f8") - original.astype("f8"))
    # A value that is not finite any more is off by infinity.
    errors[~np.isfinite(errors)] = np.inf
    over = _number_over(original, found, errors, codec)
    return Comparison(
        values.size, int(values.size - finite.sum()), float(errors.max(initial=0.0)), over, int(is_changed.sum())
    )


def _number_over(original: Any, found: Any, errors: Any, codec: FerroszCodec) -> int:
    """How many errors are over the bound. Differences and limits are rounded, so those that are close are computed exactly."""
    limits = codec.abs if codec.abs is not None else (codec.pwrel or 0.0) * np.abs(original.astype("f8"))
    is_over = errors > limits * (1 + CLOSE)
    close = np.flatnonzero((errors > limits * (1 - CLOSE)) & ~is_over).tolist()

    def is_exactly_over(at: int) -> bool:
        value, decoded = Fraction(float(original[at])), Fraction(float(found[at]))
        limit = Fraction(codec.abs) if codec.abs is not None else Fraction(codec.pwrel or 0.0) * abs(value)
        return abs(decoded - value) > limit

    return int(is_over.sum()) + sum(map(is_exactly_over, close))


def _codec_of(array: Any) -> FerroszCodec:
    """The codec of ferrosz within the shards of an array."""
    inner = (codec for outer in array.metadata.codecs for codec in getattr(outer, "codecs", ()))
    return next(codec for codec in inner if isinstance(codec, FerroszCodec))
