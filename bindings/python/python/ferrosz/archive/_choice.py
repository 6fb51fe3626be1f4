"""Which variables are coded, and how; and why the others are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import ArgumentError, pwrel_of_digits
from ._bounds import codec_with
from ._field import Field
from ._layout import layout_of, number_of_boxes
from ._roles import speaks_of_classes
from ._sample import looks_like_classes
from ._source import Source

BOUNDS = ("abs", "range", "max", "pwrel")

# As they are given: digits are a `pwrel`.
GIVEN = (*BOUNDS, "digits")

# Both of these hold where both are given.
TOGETHER = {"abs", "pwrel"}

OPTIONS = ("preset", "codec", "rank", "axes", "keep_sign", "keep_zero")

# So many different whole numbers may be classes, if a description speaks of such.
MOST_NAMED_CLASSES = 1000

# Smaller variables are copied as they are, unless they are named.
FEWEST_ELEMENTS = 1 << 16

Variables = Sequence[str] | Mapping[str, Mapping[str, Any]] | None
Lengths = Mapping[str, int]


@dataclass(frozen=True)
class Choice:
    """A field, and how it is to be coded."""

    field: Field
    bound: dict[str, float]
    options: dict[str, Any]
    ask: bool
    chunks: tuple[int, ...]
    shards: tuple[int, ...]
    source_bytes: int
    """The bytes of its values in the type that the source has."""

    @property
    def is_relative(self) -> bool:
        """Whether the bound follows from the least and the greatest value."""
        return "range" in self.bound or "max" in self.bound or len(self.bound) > 1

    @property
    def needs_extremes(self) -> bool:
        """Whether there is a first pass: for the bound, or to see how near packed values come to that of missing
        ones."""
        return self.is_relative or (self.field.step is not None and bool(self.field.missing))

    @property
    def shard_count(self) -> int:
        return number_of_boxes(self.field.shape, self.shards)

    def settings(self) -> dict[str, Any]:
        return {
            "dims": list(self.field.dims),
            "shape": list(self.field.shape),
            "dtype": self.field.dtype.name,
            "packed": self.field.step is not None,
            "bound": self.bound,
            "fill": "auto" if self.ask else list(self.field.fill),
            "options": self.options,
            "chunks": list(self.chunks),
            "shards": list(self.shards),
        }


def choose(
    source: Source,
    variables: Variables,
    defaults: dict[str, Any],
    chunks: Lengths | None,
    shards: Lengths | None,
    *,
    bounds: Mapping[str, Mapping[str, Any]] | None = None,
    as_stored: bool = False,
    may_be_none: bool = False,
) -> list[Choice]:
    """The variables that are named, or all that are measured, and those of `bounds`, which have settings of their own.

    With `as_stored` floats keep their values of missing elements. There may be no variables if it is said so.
    """
    own = settings_of(source, variables, defaults, bounds or {}, may_be_none)
    known = {str(name) for variable in source.files[0].variables.values() for name in variable.dims}
    strange = [name for lengths in (chunks, shards) for name in lengths or {} if name not in known]
    if strange and not may_be_none:
        raise ArgumentError(f"chunks, shards: there are no dimensions {strange}; there are {sorted(known)}")
    return [_choice(source, name, {**own[name]}, defaults, chunks, shards, as_stored) for name in own]


def settings_of(
    source: Source,
    variables: Variables,
    defaults: Mapping[str, Any],
    bounds: Mapping[str, Mapping[str, Any]],
    may_be_none: bool,
) -> dict[str, Mapping[str, Any]]:
    """The names of the variables that are coded, and settings of their own."""
    if isinstance(variables, Mapping):
        return {**variables, **bounds}
    if variables is not None:
        named = [variables] if isinstance(variables, str) else variables
        return {**{name: {} for name in named}, **bounds}
    if bounds and not any(bound in defaults for bound in GIVEN):
        return dict(bounds)
    names = [name for name in source.names if why_exact(source, name) is None]
    if not names and not bounds and not may_be_none:
        raise ArgumentError(
            f"source: no measured variable has {FEWEST_ELEMENTS} elements. All would be exact: "
            + ", ".join(f"{name} ({why_exact(source, name)})" for name in source.names)
            + ". Name those that are to be coded"
        )
    return {**{name: {} for name in names}, **bounds}


def why_exact(source: Source, name: str) -> str | None:
    """Why a variable that nobody names is copied exactly; None of one that is coded."""
    if name in source.roles:
        return source.roles[name]
    stored = source.stored(name)
    if stored.dtype.kind in "iu":
        if not source.unpacked(name).was_packed:
            return "integers"
        if source.packed(name) is None and stored.dtype.itemsize not in (2, 4):
            return f"packed as {stored.dtype}"
    elif stored.dtype.kind != "f":
        return "text" if stored.dtype.kind in "OSU" else str(stored.dtype)
    field = source.unpacked(name)
    if not _is_measured(field):
        return "integers"
    if field.size < FEWEST_ELEMENTS:
        return "small"
    if speaks_of_classes(source.files[0].variables[name]) and looks_like_classes(field, MOST_NAMED_CLASSES):
        return "classes"
    return "few values" if looks_like_classes(field) else None


def _is_measured(field: Field) -> bool:
    """Whether values were stored as floating-point numbers, or packed: others are integers with missing elements."""
    kind = field.pieces[0].encoding.get("dtype", field.dtype)
    return field.was_packed or getattr(kind, "kind", None) == "f" or str(kind).startswith("float")


def _choice(
    source: Source,
    name: str,
    own: dict[str, Any],
    defaults: dict[str, Any],
    chunks: Lengths | None,
    shards: Lengths | None,
    as_stored: bool,
) -> Choice:
    if name not in source.names:
        raise ArgumentError(f"variables: the source has no {name!r}; it has {sorted(source.names)}")
    unknown = own.keys() - {*GIVEN, *OPTIONS, "fill"}
    if unknown:
        raise ArgumentError(f"variables: {name} has unknown settings {sorted(unknown)}")
    has_own_bound = any(own.get(bound) is not None for bound in GIVEN)
    given = {**{key: value for key, value in defaults.items() if not (has_own_bound and key in GIVEN)}, **own}
    given = {key: value for key, value in given.items() if value is not None}
    bound = bound_of_settings(name, given)
    # Wrong numbers and names are errors before anything is read.
    options = {key: given[key] for key in OPTIONS if key in given}
    for key, value in bound.items():
        codec_with({"pwrel" if key == "pwrel" else "abs": value, **options})
    fill = tuple(float(value) for value in given.get("fill", ()))
    field = coded(source, name, can_be_packed="pwrel" not in bound and not fill, as_stored=as_stored)
    chosen = replace(field, missing=field.missing + fill) if field.is_stored else replace(field, fill=fill)
    layout = layout_of(chosen, _of_dims(chosen, chunks), _of_dims(chosen, shards))
    source_bytes = field.size * source.files[0].variables[name].dtype.itemsize
    return Choice(chosen, bound, options, "fill" not in given, *layout, source_bytes)


def bound_of_settings(name: str, given: Mapping[str, Any]) -> dict[str, float]:
    """The bound among settings of a variable: one, or an absolute one and one relative to each value."""
    found = [key for key in GIVEN if key in given]
    if len(found) != 1 and set(found) != TOGETHER:
        raise ArgumentError(f"{name}: give one of {', '.join(GIVEN)}, or abs and pwrel, not {found or 'none'}")
    if found == ["digits"]:
        return {"pwrel": pwrel_of_digits(given["digits"])}
    return {key: float(given[key]) for key in found}


def coded(source: Source, name: str, *, can_be_packed: bool, as_stored: bool) -> Field:
    """A variable in the type in which it is coded: packed integers, if the source has them, floats as they are stored,
    or numbers in its units."""
    variable = source.files[0].variables[name]
    if variable.dims == (name,):
        raise ArgumentError(f"variables: {name} is the coordinate of its dimension, and stays exact")
    packed = source.packed(name) if can_be_packed else None
    field = packed or (source.floats(name) if as_stored else None) or source.unpacked(name)
    if not (field.dtype.kind == "f" or field.step is not None) or not field.shape or not field.size:
        raise ArgumentError(
            f"variables: {name} is {field.dtype} {field.shape}; only arrays of floating-point numbers are coded"
        )
    kinds = {piece.dtype.newbyteorder("=") for piece in field.pieces}
    if len(kinds) > 1:
        raise ArgumentError(
            f"source: {name} has values of several types when it is unpacked: {sorted(map(str, kinds))}"
        )
    return field


def _of_dims(field: Field, lengths: Lengths | None) -> Lengths | None:
    """None for a variable that has none of the named dimensions."""
    return lengths if lengths and any(name in field.dims for name in lengths) else None
