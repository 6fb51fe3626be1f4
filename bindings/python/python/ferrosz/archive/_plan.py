"""What `convert` would do, without doing it: which variables are coded, which are exact, and about how long each will
be."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numcodecs import Zstd

from .._relative import extremes_of
from ..hdf5 import Ferrosz
from ..zarr import FerroszCodec
from ._bounds import bound_of, codec_of, filter_of, valid_range_of
from ._asked import PlanGiven, asked_for, coded_by, entries_of
from ._choice import GIVEN, Choice, Lengths, Variables, why_exact
from ._community import is_installed
from ._entry import Entry
from ._field import Field
from ._groups import check_groups, groups_of, name_in
from ._netcdf import is_file
from ._sample import box_of, sample
from ._source import Note, Source, open_source
from ._suggest import suggest


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
    seconds: float | None = None
    """About how long this process takes to read and to code its values, by the same samples."""
    units: str = ""
    """The units of the variable."""
    entry: Entry = Entry(None)
    """Its bound and options, where the bound comes from, and why: what a plan's file has."""

    @property
    def ratio(self) -> float:
        """The bytes of the values, by those of the archive."""
        return self.source_bytes / max(self.stored_bytes, 1)

    @property
    def is_relative(self) -> bool:
        """Whether the bound is a share of each value."""
        settings = self.entry.settings or {}
        return "abs" not in settings and not {"pwrel", "digits"}.isdisjoint(settings)


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
    digits: int | None = None,
    plan: PlanGiven = None,
    fill: Any = None,
    preset: str | None = None,
    chunks: Lengths | None = None,
    shards: Lengths | None = None,
    dimension: str | None = None,
    note: Note | None = None,
) -> dict[str, Planned]:
    """What `convert` would do with these arguments. Nothing is written, and of each variable samples are read. Of the
    target only the kind counts: without one it is a Zarr group.

    **Without any bound** it suggests one for each variable, and says where it comes from and why: the requirements of the
    community, if the package compression-recommendations is installed; or else the precision that the values have by
    themselves. What cannot be judged stays exact. `save_plan` writes the result to a file, and `convert` takes it as
    `plan`.

    Sizes and, with `range` and `max`, bounds are those of the samples: the first pass of `convert` finds those of all
    values. Samples are up to four whole chunks from all parts of a variable, or of 2^18 values of one that stays exact.
    They are compressed as the conversion would do, and lengths and times are those of the samples, times the values of
    the variable over those of the samples.

    >>> import xarray
    >>> field = np.sin(np.arange(300000, dtype="float32") / 1000).reshape(30, 100, 100)
    >>> source = xarray.Dataset({"t": (("time", "y", "x"), field)}, coords={"x": np.arange(100.0)})
    >>> found = plan(source, abs=1e-3)
    >>> found["t"].bound, found["t"].ratio > 10, found["x"].bound, found["x"].reason
    (0.001, True, None, 'coordinate')

    A bound is suggested:

    >>> rounded = source.assign(t=source.t.astype("float64").round(3))
    >>> found = plan(rounded)
    >>> found["t"].bound, found["t"].entry.source, found["t"].entry.reason
    (0.0005, 'rounding', 'all values of the samples are multiples of 0.001, so they are off by up to half a step already')
    """
    given = {"range": range, "abs": abs, "max": max, "pwrel": pwrel, "digits": digits, "fill": fill, "preset": preset}
    note = note or warnings.warn
    to_file = is_file(target)
    groups = groups_of(source)
    entries = entries_of(plan)
    if plan is None and not bounds and not any(given[name] is not None for name in GIVEN) and not _has_bound(variables):
        options = {name: given[name] for name in ("preset", "fill") if given[name] is not None}
        entries = _suggested(source, groups, variables, options, dimension, note)
        variables, note = coded_by(entries), _say_nothing
    asked = asked_for(variables, bounds, plan, given, chunks, shards, as_stored=to_file)
    asked.check(groups)
    found: dict[str, Planned] = {}
    for group in groups:
        with closing(open_source(source, dimension, note, group)) as opened:
            chosen = asked.choices(opened, group, may_be_none=bool(entries) or to_file or len(groups) > 1)
            choices = {choice.field.name: choice for choice in chosen}
            for name in opened.names:
                entry = entries.get(name_in(group, name))
                of_name = _coded(choices[name], to_file, entry) if name in choices else _exact(opened, name, entry)
                found[name_in(group, name)] = of_name
    return found


def _has_bound(variables: Variables) -> bool:
    """Whether a variable has a bound of its own."""
    settings = variables.values() if isinstance(variables, Mapping) else ()
    return any(own.get(name) is not None for own in settings for name in GIVEN)


def _suggested(
    source: Any,
    groups: list[str],
    variables: Variables,
    options: dict[str, Any],
    dimension: str | None,
    note: Note,
) -> dict[str, Entry]:
    """A bound for each variable, or for those that are named, with settings that they have, and options of all."""
    if not is_installed():
        note(
            "compression-recommendations is not installed, so no bound comes from the community: "
            "pip install 'ferrosz[plan]'"
        )
    named = {variables: {}} if isinstance(variables, str) else variables
    own = named if isinstance(named, Mapping) else dict.fromkeys(named or (), {})
    check_groups(groups, own)
    found: dict[str, Entry] = {}
    for group in groups:
        with closing(open_source(source, dimension, note, group)) as opened:
            for name in opened.names:
                path = name_in(group, name)
                if named is None or path in own:
                    entry = suggest(opened, name)
                    settings = None if entry.settings is None else {**options, **entry.settings, **own.get(path, {})}
                    found[path] = replace(entry, settings=settings)
    return found


def _say_nothing(text: str) -> None:
    """What is worth a note was noted when bounds were suggested."""


def _coded(choice: Choice, to_file: bool, entry: Entry | None) -> Planned:
    field = choice.field
    started = perf_counter()
    samples = sample(field, choice.chunks)
    seconds = perf_counter() - started
    missing = [float(value) for value in field.missing]
    known = [extremes_of(values, missing, valid_range_of(field)) for values in samples]
    ends = [extremes for extremes in known if extremes is not None] or [(0.0, 0.0)]
    extremes = min(low for low, _ in ends), max(high for _, high in ends)
    settings = (field, choice.chunks, choice.bound, extremes, choice.options)
    codec = filter_of(*settings) if to_file else codec_of(*settings)
    marks = ["auto", *missing]
    compressor = codec.compressor(marks) if isinstance(codec, Ferrosz) else codec._compressor(marks)
    started = perf_counter()
    lengths = [len(compressor.compress(values)) for values in samples]
    seconds += perf_counter() - started
    name = codec.codec or codec.preset or "small"
    bound = bound_of(field, codec)
    fill = {} if choice.ask else {"fill": list(field.fill or missing)}
    how, given = _how(field, codec), Entry({**choice.bound, **choice.options, **fill})
    return _planned(field, bound, name, how, choice.source_bytes, lengths, samples, seconds, entry or given, choice.chunks)


def _how(field: Field, codec: FerroszCodec | Ferrosz) -> str:
    """What a variable is coded as, where the source has packed it."""
    if field.step is None:
        return "unpacked" if field.was_packed else ""
    steps = int(codec.abs or 0)
    return f"packed, {steps} steps" if steps else "packed, lossless: the bound is less than a step"


def _exact(source: Source, name: str, entry: Entry | None) -> Planned:
    field, reason = source.stored(name), why_exact(source, name)
    if entry is None:
        entry = Entry(None, "kind" if reason else "given", reason or "not named")
    what = reason or (entry.source if entry.source != "given" else "not named")
    if field.dtype.kind in "iufb":
        started = perf_counter()
        samples = sample(field, box_of(field))
        lengths = [len(Zstd(level=0).encode(np.ascontiguousarray(values))) for values in samples]
        seconds = perf_counter() - started
        return _planned(field, None, "zstd", what, field.nbytes, lengths, samples, seconds, entry)
    values = field.whole()
    length = sum(len(str(value)) for value in values.flat) if values.dtype.kind == "O" else int(values.nbytes)
    return _planned(field, None, "zstd", what, length, [length], [], 0.0, entry)


def _planned(
    field: Field,
    bound: float | None,
    codec: str,
    reason: str,
    size: int,
    lengths: list[int],
    samples: list[Any],
    seconds: float,
    entry: Entry,
    chunks: tuple[int, ...] | None = None,
) -> Planned:
    """The same length and time for each value as in the samples."""
    scale = field.size / max(sum(values.size for values in samples) or field.size, 1)
    stored, time = round(sum(lengths) * scale), seconds * scale
    predicted = replace(entry, ratio=size / max(stored, 1), stored_bytes=stored, seconds=time)
    dims, first = dict(zip(field.dims, field.shape, strict=True)), field.pieces[0]
    units = str({**first.encoding, **first.attrs}.get("units", ""))
    return Planned(dims, field.dtype.name, bound, codec, reason, size, stored, chunks, time, units, predicted)
