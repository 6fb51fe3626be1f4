"""A variable as its files have it, where they have stored it in different ways."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cftime  # type: ignore[import-untyped]
import numpy as np
import xarray as xr

from .. import ArgumentError
from ._field import Field, read, unpacked

# Attributes that say what a stored value stands for.
PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")

# Of packed integers, those that ferrosz compresses.
PACKED = ("int16", "uint16", "int32", "uint32")

SECONDS = {
    "day": 86400,
    "hour": 3600,
    "hr": 3600,
    "minute": 60,
    "min": 60,
    "second": 1,
    "sec": 1,
    "d": 86400,
    "h": 3600,
    "s": 1,
}


def stored_alike(pieces: Field, parents: Sequence[xr.Variable]) -> Field:
    """The pieces as they are, if all files mean the same by the same numbers. Otherwise times as the first file counts
    them, and other variables unpacked."""
    if len(pieces.pieces) == 1:
        return pieces
    kinds = {piece.dtype for piece in pieces.pieces}
    if len(kinds) > 1 and all(kind.kind in "SU" for kind in kinds):
        return replace(pieces, pieces=tuple(piece.astype(np.result_type(*kinds)) for piece in pieces.pieces))
    units = [_units_of(parent) for parent in parents]
    if any(" since " in each[0] for each in units) and len(set(units)) > 1:
        return replace(pieces, pieces=_counted_alike(pieces, units))
    return pieces if len({_packing_of(piece) for piece in pieces.pieces}) == 1 else unpacked(pieces)


def packed_alike(pieces: Field) -> Field | None:
    """The pieces as packed integers, if all files have packed them by the same numbers, and ferrosz compresses their
    type."""
    known = pieces.pieces[0].attrs
    is_packed = "scale_factor" in known or "add_offset" in known
    is_alike = len({_packing_of(piece) for piece in pieces.pieces}) == 1
    if not is_packed or not is_alike or "_Unsigned" in known or pieces.dtype.name not in PACKED:
        return None
    scale, offset = (_number(known.get(key, default)) for key, default in (("scale_factor", 1), ("add_offset", 0)))
    missing = _missing_of(known, np.iinfo(pieces.dtype))
    if not scale or offset is None or missing is None:
        return None
    return replace(pieces, step=abs(Fraction(scale)), offset=Fraction(offset), missing=missing)


def floats_alike(pieces: Field) -> Field | None:
    """The pieces with the numbers that stand for missing elements, if they are floats in their units, and all files mean
    the same by the same numbers."""
    known = pieces.pieces[0].attrs
    is_alike = len({_packing_of(piece) for piece in pieces.pieces}) == 1
    if pieces.dtype.kind != "f" or not is_alike or "scale_factor" in known or "add_offset" in known:
        return None
    given = [value for key in ("_FillValue", "missing_value") if key in known for value in np.ravel(known[key])]
    if any(np.asarray(value).dtype.kind not in "iuf" for value in given):
        return None
    marks = (float(pieces.dtype.type(value)) for value in given)
    missing = tuple(dict.fromkeys(mark for mark in marks if not math.isnan(mark)))
    return replace(pieces, missing=missing, is_stored=True)


def _missing_of(known: Mapping[str, Any], limits: np.iinfo[Any]) -> tuple[int, ...] | None:
    """The value of missing elements, or none; None if there are several, or one that the type does not have."""
    given = [value for key in ("_FillValue", "missing_value") if key in known for value in np.ravel(known[key])]
    marks = {_number(value) for value in given}
    whole = [int(mark) for mark in marks if mark is not None and mark.is_integer() and limits.min <= mark <= limits.max]
    return tuple(whole) if len(whole) == len(marks) <= 1 else None


def _number(value: Any) -> float | None:
    """A number of an attribute, if it is one, and finite."""
    values = np.ravel(value)
    is_number = values.size == 1 and values.dtype.kind in "iuf" and bool(np.isfinite(values[0]))
    return float(values[0]) if is_number else None


def _packing_of(variable: xr.Variable) -> tuple[Any, ...]:
    """What may be compared; NaN is itself."""
    known = {**variable.encoding, **variable.attrs}
    return tuple((key, repr(np.ravel(known[key]).tolist())) for key in PACKING if key in known)


def _units_of(variable: xr.Variable) -> tuple[str, str]:
    known = {**variable.encoding, **variable.attrs}
    return str(known.get("units", "")), str(known.get("calendar", "standard"))


def _counted_alike(pieces: Field, units: Sequence[tuple[str, str]]) -> tuple[xr.Variable, ...]:
    """Times since different days, as those since the first one. Integers stay such if this is exact."""
    first = pieces.pieces[0]
    wanted, calendar = units[0]
    counted = [
        _counted_since(pieces.name, read(pieces.name, piece), found, wanted, calendar)
        for piece, (found, _) in zip(pieces.pieces, units, strict=True)
    ]
    is_whole = all(bool((values % 1 == 0).all()) for values in counted)
    kind = first.dtype if first.dtype.kind == "f" or is_whole else np.dtype("f8")
    return tuple(xr.Variable(first.dims, values.astype(kind), first.attrs) for values in counted)


def _counted_since(name: str, values: Any, units: str, wanted: str, calendar: str) -> Any:
    """Numbers of `units`, such as days since one day, as those of `wanted`."""
    if units == wanted:
        return values
    seconds, seconds_wanted = (_seconds_of(name, each) for each in (units, wanted))
    start = cftime.num2date(0, units, calendar)
    between = cftime.date2num(start, f"seconds since {wanted.partition(' since ')[2]}", calendar)
    if seconds == seconds_wanted and between % seconds == 0:
        return values + int(between // seconds)
    exact = values.astype("f8") if values.dtype.kind == "f" else values.astype("i8")
    return (exact * seconds + between) / seconds_wanted


def _seconds_of(name: str, units: str) -> int:
    unit = re.split(r"\s+since\s+", units)[0].strip().lower()
    found = SECONDS.get(unit) or SECONDS.get(unit.removesuffix("s"))
    if found is None:
        raise ArgumentError(
            f"source: {name} counts {units!r} in one file, and otherwise in another, which cannot be put together"
        )
    return found
