"""The first pass: the least and the greatest value of a whole field, and the bound that follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import xarray as xr

from .. import ArgumentError, cf, detect_fill
from .._relative import error_of_extremes, extremes_of
from .._rounding import below
from ..hdf5 import Ferrosz
from ..hdf5._filter import chosen_once, told_fill
from ..zarr import FerroszCodec, codec_of_chunks
from ._field import Field, Part


@dataclass(frozen=True)
class Extremes:
    """Of a box of a field: its least and greatest value that counts, if there is one, and what looks like a fill
    value."""

    low: float
    high: float
    suspects: tuple[float, ...]


def extremes_of_part(part: Part, valid: tuple[float, float] | None, ask: bool) -> Extremes | None:
    """What runs on a worker. Suspects are looked for if `ask`."""
    values = part.load()
    missing = [float(value) for value in part.missing]
    suspects = [value for value in detect_fill(values) if not math.isnan(value) and value not in missing] if ask else []
    found = extremes_of(values, missing, valid)
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
    """The valid values of a field as it is coded: of packed ones the packed limits."""
    known = {key: value for key, value in field.pieces[0].attrs.items() if key.startswith("valid_")}
    return cf.valid_range(field.pieces[0] if field.step is None else xr.Variable((), 0, known))


def unpacked_extremes(field: Field, extremes: tuple[float, float]) -> tuple[float, float]:
    """Extremes of packed integers in the units of the field."""
    if field.step is None:
        return extremes
    ends = [float(Fraction(value) * _scale(field) + field.offset) for value in extremes]
    return min(ends), max(ends)


def _scale(field: Field) -> Fraction:
    return Fraction(float(field.pieces[0].attrs.get("scale_factor", 1)))


def codec_with(settings: Mapping[str, Any]) -> FerroszCodec:
    """A codec for chunks of which each is written once."""
    return FerroszCodec(**settings, written_once=True)


def codec_of(
    field: Field,
    chunks: tuple[int, ...],
    bound: Mapping[str, float],
    extremes: tuple[float, float],
    options: Mapping[str, Any],
) -> FerroszCodec:
    """The codec of a field in Zarr: its absolute bound, and what a preset chooses for chunks of this shape."""
    # Packed zeros that mean missing elements are no values like others.
    keep_zero = {"keep_zero": True} if 0 in field.missing else {}
    codec = codec_with({**_limit_of(field, bound, extremes), **options, **keep_zero})
    return codec_of_chunks(field, chunks, codec, map(float, field.missing))


def filter_of(
    field: Field,
    chunks: tuple[int, ...],
    bound: Mapping[str, float],
    extremes: tuple[float, float],
    options: Mapping[str, Any],
) -> Ferrosz:
    """The same for a file of NetCDF-4: the filter."""
    fill = told_fill(list(field.missing), cf.fill_values(field.pieces[0], ["_FillValue"]))
    settings: dict[str, Any] = {**_limit_of(field, bound, extremes), **options}
    found = Ferrosz(**settings, fill=fill, written_once=True)
    return chosen_once(found, field, chunks, ["auto", *field.missing])


def _limit_of(field: Field, bound: Mapping[str, float], extremes: tuple[float, float]) -> dict[str, float]:
    """The bound of each chunk."""
    if field.step is not None:
        return {"abs": float(_steps_of(field, bound, extremes))}
    if "range" in bound or "max" in bound:
        return {"abs": error_of_extremes(*extremes, range=bound.get("range"), max=bound.get("max"))}
    if len(bound) > 1:
        return {"pwrel": _share_within(bound, extremes)}
    return dict(bound)


def _share_within(bound: Mapping[str, float], extremes: tuple[float, float]) -> float:
    """The greatest share of each value that is within both bounds: an absolute one, and a share of each value."""
    magnitude = max(abs(Fraction(value)) for value in extremes)
    if magnitude * Fraction(bound["pwrel"]) <= Fraction(bound["abs"]):
        return bound["pwrel"]
    return below(Fraction(bound["abs"]) / magnitude)


def limits_of(
    field: Field, bound: Mapping[str, float], extremes: tuple[float, float]
) -> tuple[float | None, float]:
    """What values may be off by at most, packed ones in steps, or, without it, by which share of each value."""
    if field.step is not None:
        return float(_steps_of(field, bound, extremes)), 0.0
    found = _limit_of(field, bound, extremes)
    return found.get("abs"), found.get("pwrel", 0.0)


def _steps_of(field: Field, bound: Mapping[str, float], extremes: tuple[float, float]) -> int:
    """The bound of packed integers in steps, rounded down: with 0 they stay exact."""
    (mode, factor), step = next(iter(bound.items())), field.step or Fraction(1)
    if mode == "abs":
        limit = Fraction(factor)
    elif mode == "range":
        limit = Fraction(factor) * step * (Fraction(extremes[1]) - Fraction(extremes[0]))
    else:
        limit = Fraction(factor) * max(abs(Fraction(value) * _scale(field) + field.offset) for value in extremes)
    return int(limit // step)


def bound_of(field: Field, codec: FerroszCodec | Ferrosz) -> float:
    """The absolute bound in the units of the field; with `pwrel`, the share of each value."""
    if codec.abs is None:
        return codec.pwrel or 0.0
    return codec.abs if field.step is None else float(Fraction(codec.abs) * field.step)
