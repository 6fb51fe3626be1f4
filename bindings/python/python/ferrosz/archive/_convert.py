"""The two passes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import dask
import zarr

from .. import ArgumentError, cf
from ..zarr import FerroszCodec
from . import _record
from ._bounds import codec_of, extremes_of_part, extremes_together, valid_range_of
from ._layout import boxes_of, layout_of, number_of_boxes, times_read
from ._record import Record
from ._run import run
from ._shard import compare_shard, write_shard
from ._source import KEPT, Field, Source, open_source
from ._target import Target, target_of

BOUNDS = ("abs", "range", "max", "pwrel")
OPTIONS = ("preset", "codec", "rank", "axes", "keep_sign", "keep_zero")

# Smaller variables are copied as they are, unless they are named.
FEWEST_ELEMENTS = 1 << 16

Progress = Callable[[str, int, int], object]
"""Is called with what is done, such as `"t: shards"`, and how much of how much."""


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


@dataclass
class Variable:
    """A variable of the archive, as `convert` leaves it."""

    bound: float
    """The absolute bound; with `pwrel`, the share of each value."""
    chunks: tuple[int, ...]
    shards: tuple[int, ...]
    times_read: float
    """How often a value of the source is read in a pass, as its chunks are read whole."""
    array_bytes: int
    stored_bytes: int = 0
    shards_written: int = 0
    """Those of this run."""
    shards_kept: int = 0
    """Those that were there, and sound."""
    largest_error: float | None = None
    """With `verify`."""

    @property
    def ratio(self) -> float:
        """The bytes of the values, by those of the shards."""
        return self.array_bytes / max(self.stored_bytes, 1)


@dataclass
class Verified:
    """A variable of the archive beside its source."""

    bound: float
    elements: int = 0
    missing: int = 0
    """NaN and infinities, among them the missing elements."""
    largest_error: float = 0.0
    over: int = 0
    """Values that are off by more than the bound."""
    changed: int = 0
    """NaN and infinities that are not what they were."""
    faults: list[str] = field(default_factory=list)
    """Shards that are not there or damaged, and why."""

    def __bool__(self) -> bool:
        """Whether all shards are there and sound, and the bound holds for every value."""
        return not (self.over or self.changed or self.faults)


def convert(
    source: Any,
    target: Any,
    *,
    variables: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    range: float | None = None,
    abs: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    fill: Sequence[float] | None = None,
    preset: str | None = None,
    chunks: Mapping[str, int] | None = None,
    shards: Mapping[str, int] | None = None,
    dimension: str | None = None,
    client: Any = None,
    verify: bool = False,
    progress: Progress | None = None,
    branch: str = "main",
    batch: int = 256,
) -> dict[str, Variable]:
    """Converts files of NetCDF or a Zarr group to a Zarr v3 group with shards of ferrosz, on the workers of a Dask cluster.

    source
        A NetCDF file, a folder of them, a pattern such as `"era5/*.nc"`, or a list, one behind the other along one
        dimension; a Zarr group of version 2 or 3, a path or a URL; or a dataset of xarray, lazily opened.
    target
        A path, a URL or a store of zarr; or a repository of Icechunk.
    variables
        Names; or a mapping from names to settings of their own: `abs`, `range`, `max` or `pwrel`; `fill`; `preset`,
        `codec`, `rank`, `axes`, `keep_sign` and `keep_zero`. By default all measured variables: those of floating-point
        numbers, packed ones among them, with at least 65,536 elements, that no other variable names as its bounds or the
        like. All others are copied exactly.
    range, abs, max, pwrel
        The bound of variables without one of their own: `range` times max - min of the *whole* variable, which a first
        pass over the source finds; absolute; `max` times the largest magnitude; or `pwrel` times each value.
    fill
        Values of missing elements, beside those of the attributes `_FillValue` and `missing_value`. All of them become
        NaN. Without it, values that look so in the first pass are an error, as they would spoil the range; `[]` says
        that they are values like others.
    chunks, shards
        Lengths by the names of dimensions; those that are not named, and -1, are whole. By default shards are made of what
        the source has as chunks, up to 128 MiB, so that little of it is read twice, and cut into chunks of at most 4 MiB.
    dimension
        The dimension along which files follow each other, if it is not the only one with other coordinates in each.
    client
        A client of Dask, `distributed.Client`. Without it all runs in this process, on all of its cores.
    verify
        Read each shard after it is written, and compare it with the source.
    progress
        Is called with what is done, how much of it, and of how much.
    branch, batch
        Of a repository of Icechunk: the branch, and after how many shards there is a commit.

    A run that was interrupted, in whatever way, is resumed by the same call. Shards that are there are decoded; those that
    are damaged are written again. So the same call on a complete archive checks it, and repairs it. The bytes of shards
    depend neither on workers nor on interruptions.

    Raises `ArgumentError`, among others if the target was begun with other settings or from other files, and with `verify`
    `DamagedStream`.

    >>> import tempfile, xarray
    >>> field = np.sin(np.arange(300000, dtype="float32") / 1000).reshape(30, 100, 100)
    >>> source = xarray.Dataset({"t": (("time", "y", "x"), field)})
    >>> target = tempfile.mkdtemp() + "/t.zarr"
    >>> done = convert(source, target, range=1e-3)
    >>> done["t"].shards_written, done["t"].ratio > 10
    (1, True)
    >>> found = xarray.open_zarr(target, consolidated=False)["t"]
    >>> bool(abs(found - field).max() <= done["t"].bound)
    True
    """
    settings = {"range": range, "abs": abs, "max": max, "pwrel": pwrel, "fill": fill, "preset": preset}
    defaults = {name: value for name, value in settings.items() if value is not None}
    place = target_of(target, branch, batch)
    with closing(open_source(source, dimension)) as opened:
        choices = _choose(opened, variables, defaults, chunks, shards)
        return _convert(opened, choices, place, client, verify, progress)


def _convert(
    source: Source, choices: list[Choice], target: Target, client: Any, check: bool, progress: Progress | None
) -> dict[str, Variable]:
    # 1. A new archive, or one that the same settings have begun.
    settings = {"source": source.identity, "variables": {choice.field.name: choice.settings() for choice in choices}}
    record = _record.begin(target, settings)
    # 2. The first pass: the bound of each variable.
    for choice in choices:
        if choice.field.name not in record.codecs:
            _find_codec(choice, record, client, progress)
            record.save(target, f"Bound of {choice.field.name}")
    # 3. Everything but shards.
    if not record.is_copied:
        _copy_rest(source, choices, target, record)
    # 4. The second pass: shards.
    done = {choice.field.name: _write_shards(choice, target, record, client, check, progress) for choice in choices}
    # 5. The end.
    target.sweep()
    if not record.is_complete:
        record.is_complete = True
        record.save(target, "Complete")
    return done


def verify(
    source: Any,
    target: Any,
    *,
    dimension: str | None = None,
    client: Any = None,
    progress: Progress | None = None,
    branch: str = "main",
) -> dict[str, Verified]:
    """Reads every shard of an archive as its users do, and compares it with the source that it was made of.

    Errors are computed by NumPy in this package, in exact arithmetic where they are close to the bound; nothing of the
    compressor is asked. Arguments are those of `convert`. A result is true if its variable is sound and keeps its bound.

    >>> import tempfile, xarray
    >>> source = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
    >>> target = tempfile.mkdtemp() + "/t.zarr"
    >>> done = convert(source, target, abs=1e-3)
    >>> found = verify(source, target)
    >>> bool(found["t"]), found["t"].elements, found["t"].largest_error <= 1e-3
    (True, 100000, True)
    """
    place = target_of(target, branch)
    record = _record.read(place)
    if not record.is_complete:
        raise ArgumentError("target: this archive is not complete: call `convert` once more")
    with closing(open_source(source, dimension)) as opened:
        if opened.identity != record.settings["source"]:
            raise ArgumentError(f"source: the archive was made of {record.settings['source']}, and this is {opened.identity}")
        fields = {name: _recorded(opened, name, settings) for name, settings in record.settings["variables"].items()}
        store = place.reading()
        return {name: _verify_shards(field, store, record, client, progress) for name, field in fields.items()}


def _recorded(source: Source, name: str, settings: dict[str, Any]) -> Field:
    """A field of the source, as the archive has it."""
    if name not in source.fields:
        raise ArgumentError(f"source: it has no variable {name}, which the archive has")
    found = source.fields[name]
    if found.shape != tuple(settings["shape"]):
        raise ArgumentError(f"source: {name} is {found.shape}, and {tuple(settings['shape'])} in the archive")
    return replace(found, fill=() if settings["fill"] == "auto" else tuple(settings["fill"]))


def _choose(
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


def _find_codec(choice: Choice, record: Record, client: Any, progress: Progress | None) -> None:
    """The first pass over a variable."""
    field = choice.field
    extremes = (0.0, 0.0)
    if choice.needs_extremes:
        valid = valid_range_of(field)
        calls = ((field.part(box), valid, choice.ask) for box in boxes_of(field.shape, choice.shards))
        with closing(run(client, extremes_of_part, calls)) as results:
            extremes = extremes_together(field, _counted(results, progress, f"{field.name}: range", choice.shard_count))
    codec = codec_of(field, choice.chunks, choice.bound, extremes, choice.options)
    found: dict[str, Any] = {"codec": codec.to_dict()["configuration"]}
    if choice.needs_extremes:
        found |= {"minimum": extremes[0], "maximum": extremes[1]}
    record.codecs[field.name] = found


def _copy_rest(source: Source, choices: list[Choice], target: Target, record: Record) -> None:
    """Coordinates and all other variables, exactly, and the metadata of those that are coded."""
    # A copy, as a dataset of the caller keeps its encodings.
    rest = source.rest([choice.field.name for choice in choices]).copy()
    for name in rest.variables:
        variable = rest[name].variable
        variable.encoding = {key: value for key, value in variable.encoding.items() if key in KEPT}
        if variable.chunks is not None:
            rest[name] = rest[name].chunk({axis: lengths[0] for axis, lengths in rest[name].chunksizes.items()})
    attributes = dict(rest.attrs)
    with target.session("Coordinates, and what is copied exactly") as session:
        # By this process: a session of a repository cannot go to workers by way of xarray.
        with dask.config.set(scheduler="threads"):
            rest.attrs = {**attributes, _record.ATTRIBUTE: record.attribute()}
            rest.to_zarr(session.store, mode="a", zarr_format=3, consolidated=False, safe_chunks=False)
        group = zarr.open_group(session.store, mode="r+")
        for choice in choices:
            _create(group, choice, record)
        record.is_copied = True
        group.attrs[_record.ATTRIBUTE] = record.attribute()


def _create(group: Any, choice: Choice, record: Record) -> None:
    found = record.codecs[choice.field.name]
    codec = FerroszCodec(**found["codec"])
    relative = {key: value for key, value in choice.bound.items() if key in ("range", "max")}
    left = {**cf.attributes(codec, **relative)}
    left |= {f"ferrosz_{key}": found[key] for key in ("minimum", "maximum") if key in found}
    group.create_array(
        choice.field.name,
        shape=choice.field.shape,
        chunks=choice.chunks,
        shards=choice.shards,
        dtype=choice.field.dtype,
        fill_value=float("nan"),
        serializer=codec,
        compressors=None,
        filters=None,
        dimension_names=choice.field.dims,
        attributes={**choice.field.attributes, **left},
        overwrite=True,
    )


def _write_shards(
    choice: Choice, target: Target, record: Record, client: Any, check: bool, progress: Progress | None
) -> Variable:
    """The second pass over a variable."""
    field = choice.field
    codec = FerroszCodec(**record.codecs[field.name]["codec"])
    size = field.size * field.dtype.itemsize
    done = Variable(_bound_of(codec), choice.chunks, choice.shards, times_read(field, choice.shards), size)
    boxes = boxes_of(field.shape, choice.shards)
    first = 0
    while batch := list(itertools.islice(boxes, target.batch)):
        last = first + len(batch)
        with target.session(f"{field.name}: shards {first + 1} to {last} of {choice.shard_count}") as session:
            writer = session.writer()
            calls = ((writer, field.name, box, field.part(box), check) for box in batch)
            writers = []
            with closing(run(client, write_shard, calls)) as results:
                for written, used in _counted(results, progress, f"{field.name}: shards", choice.shard_count, first):
                    done.stored_bytes += written.bytes
                    done.shards_written += written.is_new
                    done.shards_kept += not written.is_new
                    if written.largest_error is not None:
                        done.largest_error = max(done.largest_error or 0.0, written.largest_error)
                    if written.is_new:
                        writers.append(used)
            session.take(writers)
        first = last
    return done


def _verify_shards(field: Field, store: Any, record: Record, client: Any, progress: Progress | None) -> Verified:
    done = Verified(_bound_of(FerroszCodec(**record.codecs[field.name]["codec"])))
    shards = tuple(record.settings["variables"][field.name]["shards"])
    calls = ((store, field.name, box, field.part(box)) for box in boxes_of(field.shape, shards))
    with closing(run(client, compare_shard, calls)) as results:
        for found in _counted(results, progress, f"{field.name}: verified", number_of_boxes(field.shape, shards)):
            done.elements += found.elements
            done.missing += found.missing
            done.largest_error = max(done.largest_error, found.largest_error)
            done.over += found.over
            done.changed += found.changed
            if found.fault is not None:
                done.faults.append(found.fault)
    return done


def _bound_of(codec: FerroszCodec) -> float:
    return codec.abs if codec.abs is not None else codec.pwrel or 0.0


def _counted(results: Iterator[Any], progress: Progress | None, what: str, total: int, first: int = 0) -> Iterator[Any]:
    for number, result in enumerate(results, first + 1):
        if progress is not None:
            progress(what, number, total)
        yield result
