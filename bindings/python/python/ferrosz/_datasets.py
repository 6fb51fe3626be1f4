"""Commands of whole datasets: NetCDF, HDF5 and Zarr to such, within a bound, and back; and which bound that may be."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import ArgumentError
from ._temporary import written
from .archive import Entry, convert, convert_files, load_plan, plan, save_plan, score_card, verify
from .archive._command import (
    BOUNDS,
    DONE,
    STATUSES,
    Progress,
    add_settings,
    add_workers,
    bound,
    lengths,
    line_of_totals,
    line_of_variable,
    note,
    run,
    show_verified,
    variable,
)
from .archive._files import pairs_of
from .archive._many import parts_of, together
from .archive._netcdf import is_file
from .archive._paths import bytes_on_disk, paths_of
from .archive._plan_file import text_of
from .archive._table import table_of

PLACES_HELP = (
    "files of NetCDF (.nc, .nc4, .cdf, .h5) and Zarr groups, folders or quoted patterns, and the target behind them; "
    "with --out-dir only sources"
)
ARCHIVE_HELP = "a file of NetCDF or HDF5, a folder or a quoted pattern of such, one behind the other, or a Zarr group"
BOUND_HELP = "a bound of one variable, such as t2m=abs:0.01 or sub/tos=range:1e-3,fill:1e20; may be repeated"
VARIABLE_HELP = (
    "a variable to code, and settings of its own, such as t2m or tp:abs=1e-6 or tos:range=1e-3,fill=1e20; "
    "fill=none if no value stands for missing elements; by default all measured variables"
)


def main(arguments: Sequence[str] | None = None, *, name: str = "ferrosz", in_place: bool = False) -> int:
    """Runs the command, and returns its exit status. With `in_place` a target has its name from the start, so that it may
    be a URL, and the same command goes on with it and repairs it."""
    given = _parser(name).parse_args(arguments)
    given.in_place = in_place
    return run(name, given)


def _parser(name: str) -> argparse.ArgumentParser:
    shape: dict[str, Any] = {"epilog": STATUSES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    about = "NetCDF, HDF5 and Zarr within a bound: each becomes either of them, with groups, attributes and coordinates"
    prog = name if name == "ferrosz" else f"python -m {name}"
    parser = argparse.ArgumentParser(prog=prog, description=about, **shape)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    planning = commands.add_parser("plan", help="suggest a bound for each variable, and predict sizes", **shape)
    _add_plan(planning)
    coding = "code float variables within a bound, all else exactly"
    converting = commands.add_parser("convert", aliases=["compress"], help=coding, **shape)
    _add_convert(converting)
    decompressing = commands.add_parser("decompress", help="write all variables without ferrosz", **shape)
    decompressing.set_defaults(run=_decompress)
    verifying = commands.add_parser("verify", help="judge variables by the bounds in attributes, or by a plan", **shape)
    verifying.add_argument("--plan", metavar="FILE", help="judge all variables by this plan")
    verifying.add_argument("--card", metavar="FILE", help="write a score card of the plan and the judgement, in HTML")
    verifying.set_defaults(run=_verify)
    for command in (converting, decompressing, verifying):
        command.add_argument("places", nargs="+", metavar="PLACE", help=PLACES_HELP)
        command.add_argument("--out-dir", metavar="FOLDER", help="a target for each source, in this folder")
        command.add_argument("--format", choices=("nc", "zarr"), help="what is in --out-dir; the same as the source")
        add_workers(command)
    for command in (planning, converting, decompressing, verifying):
        command.add_argument("--dimension", help="the dimension along which files of one target follow each other")
    for command in (converting, decompressing):
        command.add_argument("--skip", action="store_true", help="leave out targets that are there")
    return parser


def _add_plan(command: argparse.ArgumentParser) -> None:
    command.add_argument("places", nargs="+", metavar="ARCHIVE", help=ARCHIVE_HELP)
    add_settings(command)
    command.add_argument("--chunks", type=lengths, metavar="DIMENSION=LENGTH,...", help="the shape of chunks")
    command.add_argument("--format", choices=("nc", "zarr"), help="what the target will be; the same as the source")
    each = "plan each file and group by itself, as --out-dir of `convert` writes them, and one plan for all"
    command.add_argument("--each", action="store_true", help=each)
    command.add_argument("--out", metavar="FILE", help="write the plan to this file, and show a table; else show the plan")
    command.add_argument("--card", metavar="FILE", help="write a score card of the plan, in HTML")
    command.set_defaults(run=_plan, workers=None, scheduler=None)


def _add_convert(command: argparse.ArgumentParser) -> None:
    add_settings(command)
    command.add_argument("--bound", action="append", type=bound, metavar="NAME=KIND:NUMBER", help=BOUND_HELP)
    command.add_argument("--variable", action="append", type=variable, metavar="NAME[:KEY=VALUE,...]", help=VARIABLE_HELP)
    for shape_of in ("chunks", "shards"):
        command.add_argument(
            f"--{shape_of}", type=lengths, metavar="DIMENSION=LENGTH,...", help=f"the shape of {shape_of}"
        )
    command.add_argument("--verify", action="store_true", help="compare what was written with the source")
    command.add_argument("--dry-run", action="store_true", help="show what would be done, and write nothing")
    command.set_defaults(run=_convert)


def _pairs(given: argparse.Namespace) -> list[tuple[Any, Any]]:
    sources, target = given.places, None
    if given.out_dir is None:
        *sources, target = given.places
        if not sources:
            raise ArgumentError("give a source and a target behind it, or --out-dir")
    return pairs_of(sources, target, given.out_dir, given.format)


def _parts(given: argparse.Namespace, planned: Mapping[str, Entry] | None) -> list[tuple[Any, Any, Any]]:
    """Each source with its target, and what it has of a plan."""
    pairs = _pairs(given)
    parts = parts_of(planned, [source for source, _ in pairs], given.dimension)
    return [(*pair, part) for pair, part in zip(pairs, parts, strict=True)]


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    """What all commands have that code something. The file of a plan is read once."""
    settings = {name: getattr(given, name) for name in (*BOUNDS, "digits", "preset", "chunks", "dimension")}
    return settings | {"plan": None if given.plan is None else load_plan(given.plan), "note": note}


def _plan(given: argparse.Namespace, client: Any) -> int:
    settings = _settings(given)
    if given.each:
        pairs = pairs_of(given.places, None, ".", given.format)
        parts = parts_of(settings.pop("plan"), [source for source, _ in pairs], given.dimension)
        each = zip(pairs, parts, strict=True)
        found = together(plan(source, target=target, plan=part, **settings) for (source, target), part in each)
        source: Any = [source for source, _ in pairs]
    else:
        source = given.places if len(given.places) > 1 else given.places[0]
        suffix = given.format or ("zarr" if paths_of(source) is None else "nc")
        found = plan(source, target=f"target.{suffix}", **settings)
    if given.out is None:
        print(text_of(found, "FILE"), end="")
    else:
        save_plan(given.out, found)
        print(table_of(found, _bytes_of(source)))
    if given.card is not None:
        _write_text(given.card, score_card(found, title=" ".join(given.places)))
    return DONE


def _bytes_of(source: Any) -> int | None:
    """The bytes of sources, which may be files and groups."""
    sizes = [bytes_on_disk(each) for each in (source if isinstance(source, list) else [source])]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _convert(given: argparse.Namespace, client: Any) -> int:
    settings = _settings(given)
    settings |= {"bounds": dict(given.bound or ()), "variables": dict(given.variable) if given.variable else None}
    settings["shards"] = given.shards
    if given.dry_run:
        for source, target, part in _parts(given, settings.pop("plan")):
            if not given.in_place:
                print(f"{target}:")
            print(table_of(plan(source, target=target, plan=part, **settings), bytes_on_disk(source)))
        return DONE
    return _write(given, {**settings, "verify": given.verify, "client": client})


def _decompress(given: argparse.Namespace, client: Any) -> int:
    # Notes are of what is coded.
    settings = {"variables": [], "dimension": given.dimension, "note": lambda text: None, "client": client}
    return _write(given, {**settings, "may_be_exact": True} if given.in_place else settings)


def _write(given: argparse.Namespace, settings: dict[str, Any]) -> int:
    progress = None if given.quiet else Progress()
    for source, target, part in _parts(given, settings.pop("plan", None)):
        if given.out_dir is not None:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        if given.skip and os.path.exists(target):
            continue
        if given.in_place:
            done = {target: convert(source, target, plan=part, progress=progress, **settings)}
        else:
            done = convert_files(source, target, plan=part, progress=progress, **settings)
        for variables in done.values():
            for name, found in variables.items():
                print(line_of_variable(name, found, is_file(target)))
            print(f"{target}: {line_of_totals(bytes_on_disk(source), bytes_on_disk(target))}")
    return DONE


def _verify(given: argparse.Namespace, client: Any) -> int:
    progress = None if given.quiet else Progress()
    planned = None if given.plan is None else load_plan(given.plan)
    parts = _parts(given, planned)
    if given.card is not None and (planned is None or len(parts) > 1):
        raise ArgumentError("--card: a score card is of one target and a plan: give --plan, and one target")
    settings = {"dimension": given.dimension, "client": client, "exact": not given.in_place}
    statuses = []
    for source, target, part in parts:
        found = verify(source, target, plan=part, progress=progress, **settings)
        statuses.append(show_verified(found))
        if given.card is not None:
            _write_text(given.card, score_card(planned or {}, found, title=str(target)))
    return max(statuses)


def _write_text(path: str, text: str) -> None:
    with written(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
