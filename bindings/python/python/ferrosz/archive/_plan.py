"""What `convert` would do, without doing it: which variables are coded, which are exact, and about how long each will
be."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numcodecs import Zstd

from .._relative import extremes_of
from ..hdf5 import Ferrosz
from ..zarr import FerroszCodec
from ._bounds import bound_of, codec_of, filter_of, margin_of, valid_range_of
from ._choice import Asked, Choice, Lengths, Variables, why_exact
from ._field import Field
from ._groups import groups_of, name_in
from ._netcdf import is_file
from ._sample import box_of, sample
from ._source import Note, Source, open_source


@dataclass(frozen=True)
class Planned:
    """A variable, as `convert` would write it."""

    dims: dict[str, int]
    dtype: str
    """The type of the archive."""
    bound: float | None
    """The bound in the units of the variable; with `pwrel`, the share of each value. None: it is copied exactly."""
    codec: str
    """The codec of ferrosz, or `zstd`."""
    reason: str
    """Why it is exact, or what it is coded as."""
    source_bytes: int
    """The bytes of the values, in the type that the source has, not compressed."""
    stored_bytes: int
    """About how many bytes they will have in the archive, by samples."""
    chunks: tuple[int, ...] | None = None
    """The shape of chunks of a variable that is coded."""

    @property
    def ratio(self) -> float:
        """The bytes of the values, by those of the archive."""
        return self.source_bytes / max(self.stored_bytes, 1)


def plan(
    source: Any,
    *,
    target: Any = None,
    variables: Variables = None,
    bounds: Mapping[str, Mapping[str, Any]] | None = None,
    range: float | None = None,
    abs: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    fill: Any = None,
    preset: str | None = None,
    chunks: Lengths | None = None,
    shards: Lengths | None = None,
    dimension: str | None = None,
    note: Note | None = None,
) -> dict[str, Planned]:
    """What `convert` would do with these arguments. Nothing is written, and of each variable samples are read. Of the
    target only the kind counts: without one it is a Zarr group.

    Sizes and, with `range` and `max`, bounds are those of the samples: the first pass of `convert` finds those of all
    values.

    >>> import xarray
    >>> field = np.sin(np.arange(300000, dtype="float32") / 1000).reshape(30, 100, 100)
    >>> source = xarray.Dataset({"t": (("time", "y", "x"), field)}, coords={"x": np.arange(100.0)})
    >>> found = plan(source, abs=1e-3)
    >>> found["t"].bound, found["t"].ratio > 10, found["x"].bound, found["x"].reason
    (0.001, True, None, 'coordinate')
    """
    given = {"range": range, "abs": abs, "max": max, "pwrel": pwrel, "fill": fill, "preset": preset}
    defaults = {name: value for name, value in given.items() if value is not None}
    to_file = is_file(target)
    asked = Asked(variables, bounds or {}, defaults, chunks, shards, as_stored=to_file)
    groups = groups_of(source)
    asked.check(groups)
    found: dict[str, Planned] = {}
    for group in groups:
        with closing(open_source(source, dimension, note or warnings.warn, group)) as opened:
            chosen = asked.choices(opened, group, may_be_none=to_file or len(groups) > 1)
            choices = {choice.field.name: choice for choice in chosen}
            for name in opened.names:
                of_name = _coded(choices[name], to_file) if name in choices else _exact(opened, name)
                found[name_in(group, name)] = of_name
    return found


def _coded(choice: Choice, to_file: bool) -> Planned:
    field = choice.field
    samples = sample(field, choice.chunks)
    missing = [float(value) for value in field.missing]
    known = [extremes_of(values, missing, valid_range_of(field)) for values in samples]
    ends = [extremes for extremes in known if extremes is not None] or [(0.0, 0.0)]
    extremes = min(low for low, _ in ends), max(high for _, high in ends)
    settings = (field, choice.chunks, choice.bound, extremes, choice.options)
    codec = filter_of(*settings) if to_file else codec_of(*settings)
    fill = ["auto", *missing]
    compressor = codec.compressor(fill) if isinstance(codec, Ferrosz) else codec._compressor(fill)
    lengths = [len(compressor.compress(values)) for values in samples]
    name = codec.codec or codec.preset or "small"
    margin = margin_of(field, choice.bound, extremes)
    bound = bound_of(field, codec, margin)
    found = _planned(field, bound, name, _how(field, codec, margin), choice.source_bytes, lengths, samples)
    return replace(found, chunks=choice.chunks)


def _how(field: Field, codec: FerroszCodec | Ferrosz, margin: int) -> str:
    """What a variable is coded as, where the source has packed it."""
    if field.step is None:
        return "unpacked" if field.was_packed else ""
    steps = int(codec.abs or 0) + margin
    return f"packed, {steps} steps" if steps else "packed, lossless: the bound is less than a step"


def _exact(source: Source, name: str) -> Planned:
    field, reason = source.stored(name), why_exact(source, name) or "not named"
    if field.dtype.kind in "iufb":
        samples = sample(field, box_of(field))
        lengths = [len(Zstd(level=0).encode(np.ascontiguousarray(values))) for values in samples]
        return _planned(field, None, "zstd", reason, field.nbytes, lengths, samples)
    values = field.whole()
    length = sum(len(str(value)) for value in values.flat) if values.dtype.kind == "O" else int(values.nbytes)
    return _planned(field, None, "zstd", reason, length, [length], [])


def _planned(
    field: Field, bound: float | None, codec: str, reason: str, size: int, lengths: list[int], samples: list[Any]
) -> Planned:
    """The same length for each value as in the samples."""
    elements = sum(values.size for values in samples) or field.size
    stored = round(sum(lengths) * field.size / max(elements, 1))
    dims = dict(zip(field.dims, field.shape, strict=True))
    return Planned(dims, field.dtype.name, bound, codec, reason, size, stored)
