"""Conversion to a file of NetCDF-4, group by group and variable by variable, a block at a time."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

from .. import ArgumentError, DamagedStream
from .._temporary import written
from ._asked import Asked
from ._choice import Choice
from ._first_pass import error_attributes, filter_found
from ._groups import name_in
from ._layout import times_read
from ._netcdf import Coded, GroupWriter, inherited_lengths, new_file
from ._paths import paths_of
from ._run import Progress
from ._source import Note, open_as_stored
from ._variable import Variable
from ._verify_file import verify_file


def convert_to_file(
    source: Any,
    target: str | os.PathLike[str],
    asked: Asked,
    groups: list[str],
    dimension: str | None,
    client: Any,
    check: bool,
    progress: Progress | None,
    note: Note,
) -> dict[str, Variable]:
    """Writes the file under a temporary name, and renames it when it is complete, and compared if `check`."""
    _check_place(source, Path(target))
    done: dict[str, Variable] = {}
    lengths: dict[str, dict[str, int]] = {}
    with written(target) as unfinished:
        with new_file(unfinished) as (root, datasets):
            for group in groups:
                with closing(open_as_stored(source, dimension, note, group)) as opened:
                    choices = asked.choices(opened, group, may_be_none=True)
                    coded = {choice.field.name: _coded(choice, client, progress) for choice in choices}
                    place, of_datasets = (root, datasets) if not group else (root.create_group(group), datasets[group])
                    writer = GroupWriter(place, of_datasets, opened, inherited_lengths(lengths, group))
                    writer.write(coded)
                    lengths[group] = opened.lengths
                    for name, of_name in coded.items():
                        done[name_in(group, name)] = _variable(of_name, writer.stored_bytes(name))
        if check:
            _check(source, unfinished, dimension, client, progress, done)
    return done


def _check_place(source: Any, target: Path) -> None:
    paths = paths_of(source) if isinstance(source, str | os.PathLike | list | tuple) else None
    if target.exists() and any(os.path.samefile(path, target) for path in paths or ()):
        raise ArgumentError(f"target: {target} is a file of the source")
    if not target.parent.is_dir():
        raise ArgumentError(f"target: there is no folder {target.parent}")


def _coded(choice: Choice, client: Any, progress: Progress | None) -> Coded:
    settings, known = filter_found(choice, client, progress)
    return Coded(choice, settings, error_attributes(choice, settings, known))


def _variable(coded: Coded, stored_bytes: int) -> Variable:
    choice, bound = coded.choice, coded.attributes["ferrosz_bound"]
    times = times_read(choice.field, choice.shards)
    found = Variable(bound, choice.chunks, choice.shards, times, choice.source_bytes, stored_bytes)
    found.shards_written = choice.shard_count
    found.is_relative = coded.attributes["ferrosz_mode"] == "pwrel"
    return found


def _check(
    source: Any, file: Path, dimension: str | None, client: Any, progress: Progress | None, done: dict[str, Variable]
) -> None:
    for name, found in verify_file(source, file, dimension, client, progress).items():
        if not found:
            faults = "; ".join(found.faults) or f"{found.over} values are over the bound, and {found.changed} changed"
            raise DamagedStream(f"{name}: {faults}", "bound")
        if name in done:
            done[name].largest_error = found.largest_error
