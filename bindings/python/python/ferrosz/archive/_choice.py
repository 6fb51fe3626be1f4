"""Which variables are coded, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import ArgumentError
from ..zarr import FerroszCodec
from ._layout import layout_of, number_of_boxes
from ._source import Field, Source

BOUNDS = ("abs", "range", "max", "pwrel")
OPTIONS = ("preset", "codec", "rank", "axes", "keep_sign", "keep_zero")

# Smaller variables are copied as they are, unless they are named.
FEWEST_ELEMENTS = 1 << 16


@dataclass(frozen=True)
class Choice:
    """A field, and how it is to be coded."""

    field: Field
    bound: dict[str, float]
    options: dict[str, Any]
    ask: bool
    chunks: tuple[int, ...]
    shards: tuple[int, ...]

    @property
    def needs_extremes(self) -> bool:
        return "range" in self.bound or "max" in self.bound

    @property
    def shard_count(self) -> int:
        return number_of_boxes(self.field.shape, self.shards)

    def settings(self) -> dict[str, Any]:
        return {
            "dims": list(self.field.dims),
            "shape": list(self.field.shape),
            "dtype": self.field.dtype.name,
            "bound": self.bound,
            "fill": "auto" if self.ask else list(self.field.fill),
            "options": self.options,
            "chunks": list(self.chunks),
            "shards": list(self.shards),
        }


def choose(
    source: Source,
    variables: Sequence[str] | Mapping[str, Mapping[str, Any]] | None,
    defaults: dict[str, Any],
    chunks: Mapping[str, int] | None,
    shards: Mapping[str, int] | None,
) -> list[Choice]:
    if isinstance(variables, str):
        variables = [variables]
    if variables is None:
        variables = [name for name in source.measured if source.fields[name].size >= FEWEST_ELEMENTS]
        if not variables:
            raise ArgumentError(f"source: no variable of floating-point numbers with {FEWEST_ELEMENTS} elements: name some")
    own = variables if isinstance(variables, Mapping) else {name: {} for name in variables}
    known = {name for field in source.fields.values() for name in field.dims}
    strange = [name for lengths in (chunks, shards) for name in lengths or {} if name not in known]
    if strange:
        raise ArgumentError(f"chunks, shards: there are no dimensions {strange}; there are {sorted(known)}")
    return [_choice(source, name, {**own[name]}, defaults, chunks, shards) for name in own]


def _choice(
    source: Source,
    name: str,
    own: dict[str, Any],
    defaults: dict[str, Any],
    chunks: Mapping[str, int] | None,
    shards: Mapping[str, int] | None,
) -> Choice:
    if name not in source.fields:
        raise ArgumentError(f"variables: the source has no {name!r}; it has {sorted(source.fields)}")
    field = source.fields[name]
    if field.dtype.kind != "f" or not field.shape or not field.size:
        raise ArgumentError(f"variables: {name} is {field.dtype} {field.shape}; only arrays of floating-point numbers are coded")
    unknown = own.keys() - {*BOUNDS, *OPTIONS, "fill"}
    if unknown:
        raise ArgumentError(f"variables: {name} has unknown settings {sorted(unknown)}")
    has_own_bound = any(own.get(bound) is not None for bound in BOUNDS)
    given = {**{key: value for key, value in defaults.items() if not (has_own_bound and key in BOUNDS)}, **own}
    given = {key: value for key, value in given.items() if value is not None}
    bound = {key: float(given[key]) for key in BOUNDS if key in given}
    if len(bound) != 1:
        raise ArgumentError(f"{name}: give one of {', '.join(BOUNDS)}, not {list(bound) or 'none'}")
    # Wrong numbers and names are errors before anything is read.
    options = {key: given[key] for key in OPTIONS if key in given}
    FerroszCodec(abs=next(iter(bound.values())) if "pwrel" not in bound else None, pwrel=bound.get("pwrel"), **options)
    chosen = replace(field, fill=tuple(float(value) for value in given.get("fill", ())))
    layout = layout_of(chosen, _of_dims(chosen, chunks), _of_dims(chosen, shards))
    return Choice(chosen, bound, options, "fill" not in given, *layout)


def _of_dims(field: Field, lengths: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """None for a variable that has none of the named dimensions."""
    return lengths if lengths and any(name in field.dims for name in lengths) else None
