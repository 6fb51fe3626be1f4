"""The comparison of an archive with its source."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from .. import ArgumentError
from . import _record
from ._asked import PlanGiven, entries_of
from ._compare import compare_shard
from ._field import Field
from ._groups import groups_of, name_in, place_in
from ._judge import judge
from ._layout import boxes_of, number_of_boxes
from ._netcdf import is_file
from ._record import Record
from ._run import Progress, counted, run
from ._source import Source, open_source
from ._target import Target, target_of
from ._verified import Verified
from ._verify_file import verify_exact, verify_file


def verify(
    source: Any,
    target: Any,
    *,
    dimension: str | None = None,
    client: Any = None,
    progress: Progress | None = None,
    branch: str = "main",
    exact: bool = False,
    plan: PlanGiven = None,
) -> dict[str, Verified]:
    """Reads every shard of an archive as its users do, and compares it with the source that it was made of.

    Errors are computed by NumPy in this package, in exact arithmetic where they are close to the bound; nothing of the
    compressor is asked. Arguments are those of `convert`. A result is true if its variable is sound and keeps its
    bound.

    With `exact` what was copied exactly is compared, too. Of a file of NetCDF all variables are, and the bounds are those
    of its attributes.

    With `plan`, as `convert` takes it, all variables are judged by it, whatever attributes say: those that it codes by its
    bounds, all others as exact copies. The requirements of the community that it has are judged by the package
    compression-requirement-checks, if that is installed: `checked` of the result says so, and of how many values.

    >>> import tempfile, xarray
    >>> source = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
    >>> target = tempfile.mkdtemp() + "/t.zarr"
    >>> done = convert(source, target, abs=1e-3)
    >>> found = verify(source, target)
    >>> bool(found["t"]), found["t"].elements, found["t"].largest_error <= 1e-3
    (True, 100000, True)
    """
    if plan is not None:
        return judge(source, target, entries_of(plan), dimension, client, progress, branch)
    if is_file(target):
        return verify_file(source, target, dimension, client, progress)
    found: dict[str, Verified] = {}
    for group in groups_of(source):
        place = target_of(place_in(target, group), branch)
        with closing(open_source(source, dimension, group=group)) as opened:
            of_group = _verify_group(opened, place, client, progress)
            if exact:
                of_group |= _verify_rest(opened, place, of_group)
        found |= {name_in(group, name): verified for name, verified in of_group.items()}
    return found


def _verify_group(source: Source, target: Target, client: Any, progress: Progress | None) -> dict[str, Verified]:
    """What is coded in a group."""
    record = _record.read(target)
    if not record.is_complete:
        raise ArgumentError("target: this archive is not complete: call `convert` once more")
    if source.identity != record.settings["source"]:
        raise ArgumentError(
            f"source: the archive was made of {record.settings['source']}, and this is {source.identity}"
        )
    fields = {name: _recorded(source, name, settings) for name, settings in record.settings["variables"].items()}
    store = target.reading()
    return {name: _verify_shards(field, store, record, client, progress) for name, field in fields.items()}


def _verify_rest(source: Source, target: Target, coded: Mapping[str, Verified]) -> dict[str, Verified]:
    """What was copied exactly."""
    with closing(open_source(target.reading(), None)) as copied:
        return {name: verify_exact(source, copied, name) for name in source.names if name not in coded}


def _recorded(source: Source, name: str, settings: dict[str, Any]) -> Field:
    """A field of the source, as the archive has it."""
    if name not in source.names:
        raise ArgumentError(f"source: it has no variable {name}, which the archive has")
    found = source.packed(name) if settings.get("packed") else source.unpacked(name)
    if found is None:
        raise ArgumentError(f"source: its files do not pack {name} alike any more")
    if found.shape != tuple(settings["shape"]):
        raise ArgumentError(f"source: {name} is {found.shape}, and {tuple(settings['shape'])} in the archive")
    return replace(found, fill=() if settings["fill"] == "auto" else tuple(settings["fill"]))


def _verify_shards(field: Field, store: Any, record: Record, client: Any, progress: Progress | None) -> Verified:
    done = Verified(record.bound_of(field.name), is_relative=record.is_relative(field.name))
    shards = tuple(record.settings["variables"][field.name]["shards"])
    calls = ((store, field.name, box, field.part(box)) for box in boxes_of(field.shape, shards))
    with closing(run(client, compare_shard, calls)) as results:
        for found in counted(results, progress, f"{field.name}: verified", number_of_boxes(field.shape, shards)):
            done.add(found, float(field.step or 1))
    return done
