"""The two passes."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import zarr

from . import _record
from ._asked import PlanGiven, asked_for
from ._choice import Choice
from ._copy import attributes_of_zarr, copy
from ._field import Field
from ._first_pass import codec_found, error_attributes
from ._groups import groups_of, name_in, place_in
from ._layout import boxes_of, times_read
from ._netcdf import is_file
from ._record import Record
from ._run import Progress, counted, run
from ._source import ARCHIVE, Note, Source, open_source
from ._target import Target, target_of
from ._to_file import convert_to_file
from ._variable import Variable
from ._write import write_shard


def convert(
    source: Any,
    target: Any,
    *,
    variables: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    bounds: Mapping[str, Mapping[str, Any]] | None = None,
    range: float | None = None,
    abs: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    digits: int | None = None,
    plan: PlanGiven = None,
    fill: Sequence[float] | None = None,
    preset: str | None = None,
    chunks: Mapping[str, int] | None = None,
    shards: Mapping[str, int] | None = None,
    dimension: str | None = None,
    client: Any = None,
    verify: bool = False,
    progress: Progress | None = None,
    note: Note | None = None,
    branch: str = "main",
    batch: int = 256,
    may_be_exact: bool = False,
) -> dict[str, Variable]:
    """Converts files of NetCDF or a Zarr group to a Zarr v3 group with shards of ferrosz, on the workers of a Dask
    cluster; or to a file of NetCDF-4 with the filter of ferrosz.

    source
        A NetCDF file, a folder of them, a pattern such as `"era5/*.nc"`, or a list, one behind the other along one
        dimension; a Zarr group of version 2 or 3, a path or a URL; or a dataset of xarray, lazily opened.
    target
        A path, a URL or a store of zarr; or a repository of Icechunk. Or the path of a file of NetCDF-4, which ends with
        `.nc`, `.nc4`, `.cdf` or `.h5`: it is written by this process, a shard's size at a time, as `TARGET.partial`,
        and has its name when it is complete. There floats keep their `_FillValue`, and unlimited dimensions stay such.
    variables
        Names; or a mapping from names to settings of their own: `abs`, `range`, `max`, `pwrel` or `digits`; `fill`; `preset`,
        `codec`, `rank`, `axes`, `keep_sign` and `keep_zero`. By default all measured variables, which are those that
        `plan` shows with a bound. All others are copied exactly. Variables in groups have names such as
        `"forecast/t"`.
    bounds
        Settings of single variables, as in `variables`, beside all others that are measured.
    range, abs, max, pwrel, digits
        The bound of variables without one of their own: `range` times max - min of the *whole* variable, which a first
        pass over the source finds; absolute; `max` times the largest magnitude; `pwrel` times each value; or so many
        significant digits, as `ferrosz.pwrel_of_digits` defines them. A variable may have both `abs` and `pwrel` of its
        own: both hold.
    plan
        In place of all these the file of a plan, as `save_plan` writes it, or the result of `ferrosz.archive.plan`:
        variables are coded as it says, and those that it does not name stay exact.
    fill
        Values of missing elements, beside those of the attributes `_FillValue` and `missing_value`; of packed
        variables, which it makes unpacked ones, in their units. All of them become NaN. Without it, values that look so
        in the first pass are an error, as they would spoil the range; `[]` says that they are values like others.
    chunks, shards
        Lengths by the names of dimensions; those that are not named, and -1, are whole. By default shards are made of
        what the source has as chunks, up to 128 MiB, so that little of it is read twice, and cut into chunks of at most
        4 MiB.
    dimension
        The dimension along which files follow each other, if it is not the only one with other coordinates in each.
    client
        A client of Dask, `distributed.Client`. Without it all runs in this process, on all of its cores.
    verify
        Read each shard after it is written, and compare it with the source.
    progress
        Is called with what is done, how much of it, and of how much.
    note
        Is called with what is worth knowing of the source: gaps in time, variables that files do not agree on, values
        that are lossy already. By default these are warnings of Python.
    may_be_exact
        Whether it is no error if nothing is measured: then all is copied exactly, as it always is to a file.
    branch, batch
        Of a repository of Icechunk: the branch, and after how many shards there is a commit.

    A run that was interrupted, in whatever way, is resumed by the same call. Shards that are there are decoded; those
    that are damaged are written again. So the same call on a complete archive checks it, and repairs it. The bytes of
    shards depend neither on workers nor on interruptions.

    Raises `ArgumentError`, among others if the target was begun with other settings or from other files, and with
    `verify` `DamagedStream`.

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
    given = {"range": range, "abs": abs, "max": max, "pwrel": pwrel, "digits": digits, "fill": fill, "preset": preset}
    asked = asked_for(variables, bounds, plan, given, chunks, shards, as_stored=is_file(target))
    groups = groups_of(source)
    asked.check(groups)
    note = note or warnings.warn
    if is_file(target):
        return convert_to_file(source, target, asked, groups, dimension, client, verify, progress, note)
    done: dict[str, Variable] = {}
    for group in groups:
        place = target_of(place_in(target, group), branch, batch)
        with closing(open_source(source, dimension, note, group)) as opened:
            choices = asked.choices(opened, group, may_be_none=may_be_exact or len(groups) > 1)
            found = _convert(opened, choices, place, client, verify, progress)
        done |= {name_in(group, name): variable for name, variable in found.items()}
    return done


def _convert(
    source: Source, choices: list[Choice], target: Target, client: Any, check: bool, progress: Progress | None
) -> dict[str, Variable]:
    # 1. A new archive, or one that the same settings have begun.
    settings = {"source": source.identity, "variables": {choice.field.name: choice.settings() for choice in choices}}
    record = _record.begin(target, settings)
    record.header = source.header.to_json()
    # 2. The first pass: the bound of each variable.
    for choice in choices:
        if choice.field.name not in record.codecs:
            codec, known = codec_found(choice, client, progress)
            record.codecs[choice.field.name] = {"codec": codec.to_dict()["configuration"], **known}
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


def _copy_rest(source: Source, choices: list[Choice], target: Target, record: Record) -> None:
    """Coordinates and all other variables, exactly, and the metadata of those that are coded."""
    coded = {choice.field.name for choice in choices}
    with target.session("Coordinates, and what is copied exactly") as session:
        attributes = {**source.attributes, ARCHIVE: record.attribute()}
        copy(source, [name for name in source.names if name not in coded], session.store, attributes)
        group = zarr.open_group(session.store, mode="r+")
        for choice in choices:
            # One that is there is of a run that was interrupted here. To replace it would remove its shards.
            if choice.field.name not in group:
                _create(group, choice, record)
        record.is_copied = True
        group.attrs[ARCHIVE] = record.attribute()


def _create(group: Any, choice: Choice, record: Record) -> None:
    field = choice.field
    found = record.codecs[field.name]
    codec = record.codec_of(field.name)
    left = error_attributes(choice, codec, {**found, "bound": record.bound_of(field.name)})
    group.create_array(
        field.name,
        shape=field.shape,
        chunks=choice.chunks,
        shards=choice.shards,
        dtype=field.dtype,
        fill_value=_fill_value(field),
        serializer=codec,
        compressors=None,
        filters=None,
        dimension_names=field.dims,
        attributes=attributes_of_zarr({**field.attributes, **left}),
    )


def _fill_value(field: Field) -> float | int:
    """NaN; of packed integers the value of missing elements, or the one farthest from 0, which is a value like
    others."""
    if field.step is None:
        return float("nan")
    limits = np.iinfo(field.dtype)
    return field.missing[0] if field.missing else int(limits.min or limits.max)


def _write_shards(
    choice: Choice, target: Target, record: Record, client: Any, check: bool, progress: Progress | None
) -> Variable:
    """The second pass over a variable."""
    field = choice.field
    bound, times = record.bound_of(field.name), times_read(field, choice.shards)
    done = Variable(bound, choice.chunks, choice.shards, times, choice.source_bytes)
    done.is_relative = record.is_relative(field.name)
    boxes = boxes_of(field.shape, choice.shards)
    first = 0
    while batch := list(itertools.islice(boxes, target.batch)):
        last = first + len(batch)
        with target.session(f"{field.name}: shards {first + 1} to {last} of {choice.shard_count}") as session:
            writer = session.writer()
            calls = ((writer, field.name, box, field.part(box), check) for box in batch)
            writers = []
            with closing(run(client, write_shard, calls)) as results:
                for written, used in counted(results, progress, f"{field.name}: shards", choice.shard_count, first):
                    done.stored_bytes += written.bytes
                    done.shards_written += written.is_new
                    done.shards_kept += not written.is_new
                    if written.largest_error is not None:
                        done.largest_error = max(
                            done.largest_error or 0.0, written.largest_error * float(field.step or 1)
                        )
                    if written.is_new:
                        writers.append(used)
            session.take(writers)
        first = last
    return done
