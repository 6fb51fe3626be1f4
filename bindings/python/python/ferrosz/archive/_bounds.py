"""The first pass: the least and the greatest value of a whole field."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import ArgumentError, cf, detect_fill
from .._relative import error_of_extremes, extremes_of
from ..zarr import FerroszCodec, codec_of_chunks
from ._source import Field, Part


@dataclass(frozen=True)
class Extremes:
    """Of a box of a field: its least and greatest value that counts, if there is one, and what looks like a fill value."""

    low: float
    high: float
    suspects: tuple[float, ...]


def extremes_of_part(part: Part, valid: tuple[float, float] | None, ask: bool) -> Extremes | None:
    """What runs on a worker. Suspects are looked for if `ask`."""
    values = part.load()
    suspects = [value for value in detect_fill(values) if not math.isnan(value)] if ask else []
    found = extremes_of(values, [], valid)
    return None if found is None else Extremes(*found, tuple(suspects))


def extremes_together(field: Field, found: Iterable[Extremes | None]) -> tuple[float, float]:
    """The least and the greatest value of a field, zeros if there are none; an error if they look like fill values.

    A fill value that nobody names would be the range: with 1e20 for land, a thousandth of the range of temperatures is
    1e17, and nothing would be left of them.
    """
    known = []
    for extremes in found:
        if extremes is None:
            continue
        if extremes.suspects:
            values = ", ".join(f"{value:g}" for value in extremes.suspects)
            raise ArgumentError(
                f"variable {field.name}: {values} looks like the value of missing elements, and no attribute says so. "
                f"If it is, name it: fill=[{values}]. If it is a value like others: fill=[]"
            )
        known.append((extremes.low, extremes.high))
    return (min(low for low, _ in known), max(high for _, high in known)) if known else (0.0, 0.0)


def valid_range_of(field: Field) -> tuple[float, float] | None:
    return cf.valid_range(field.pieces[0])


def codec_of(
    field: Field, chunks: tuple[int, ...], bound: dict[str, float], extremes: tuple[float, float], options: dict[str, Any]
) -> FerroszCodec:
    """The codec of a field: its absolute bound, and what a preset chooses for chunks of this shape."""
    if "range" in bound or "max" in bound:
        limit = error_of_extremes(*extremes, range=bound.get("range"), max=bound.get("max"))
        codec = FerroszCodec(abs=limit, **options)
    else:
        codec = FerroszCodec(**bound, **options)  # type: ignore[arg-type]
    return codec_of_chunks(field, chunks, codec, [])
