"""The command `python -m ferrosz`: datasets of NetCDF, HDF5 and Zarr to such, within a bound, and back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import ArgumentError
from .archive import convert_files, plan, verify
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
)
from .archive._files import pairs_of
from .archive._netcdf import is_file
from .archive._paths import bytes_on_disk
from .archive._table import table_of

PLACES_HELP = (
    "files of NetCDF (.nc, .nc4, .cdf, .h5) and Zarr groups, folders or quoted patterns, and the target behind them; "
    "with --out-dir only sources"
)
BOUND_HELP = "a bound of one variable, such as t2m=abs:0.01 or sub/tos=range:1e-3,fill:1e20; may be repeated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    return run("ferrosz", _parser().parse_args(arguments))


def _parser() -> argparse.ArgumentParser:
    shape: dict[str, Any] = {"epilog": STATUSES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    about = "NetCDF, HDF5 and Zarr within a bound: each becomes either of them, with groups, attributes and coordinates"
    parser = argparse.ArgumentParser(prog="python -m ferrosz", description=about, **shape)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    converting = commands.add_parser("convert", help="code float variables within a bound, all else exactly", **shape)
    add_settings(converting)
    converting.add_argument("--bound", action="append", type=bound, metavar="NAME=KIND:NUMBER", help=BOUND_HELP)
    converting.add_argument("--chunks", type=lengths, metavar="DIMENSION=LENGTH,...", help="the shape of chunks")
    converting.add_argument("--verify", action="store_true", help="compare what was written with the source")
    converting.add_argument("--dry-run", action="store_true", help="show what would be done, and write nothing")
    converting.set_defaults(run=_convert)
    decompressing = commands.add_parser("decompress", help="write all variables without ferrosz", **shape)
    decompressing.set_defaults(run=_decompress)
    verifying = commands.add_parser("verify", help="judge all variables by the bounds in attributes", **shape)
    verifying.set_defaults(run=_verify)
    for command in (converting, decompressing, verifying):
        command.add_argument("places", nargs="+", metavar="PLACE", help=PLACES_HELP)
        command.add_argument("--out-dir", metavar="FOLDER", help="a target for each source, in this folder")
        command.add_argument("--format", choices=("nc", "zarr"), help="what is in --out-dir; the same as the source")
        command.add_argument("--dimension", help="the dimension along which files of one target follow each other")
        add_workers(command)
    for command in (converting, decompressing):
        command.add_argument("--skip", action="store_true", help="leave out targets that are there")
    return parser


def _pairs(given: argparse.Namespace) -> list[tuple[Any, Any]]:
    sources, target = given.places, None
    if given.out_dir is None:
        *sources, target = given.places
        if not sources:
            raise ArgumentError("give a source and a target behind it, or --out-dir")
    return pairs_of(sources, target, given.out_dir, given.format)


def _convert(given: argparse.Namespace, client: Any) -> int:
    bounds = dict(given.bound or ())
    settings = {name: getattr(given, name) for name in (*BOUNDS, "preset", "chunks", "dimension")}
    settings |= {"bounds": bounds, "note": note}
    if given.dry_run:
        for source, target in _pairs(given):
            print(f"{target}:")
            print(table_of(plan(source, target=target, **settings), bytes_on_disk(source)))
        return DONE
    return _write(given, {**settings, "verify": given.verify, "client": client})


def _decompress(given: argparse.Namespace, client: Any) -> int:
    # Notes are of what is coded.
    settings = {"variables": [], "dimension": given.dimension, "note": lambda text: None, "client": client}
    return _write(given, settings)


def _write(given: argparse.Namespace, settings: dict[str, Any]) -> int:
    progress = None if given.quiet else Progress()
    for source, target in _pairs(given):
        if given.out_dir is not None:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        done = convert_files(source, target, skip=given.skip, progress=progress, **settings)
        for variables in done.values():
            for name, variable in variables.items():
                print(line_of_variable(name, variable, is_file(target)))
            print(f"{target}: {line_of_totals(bytes_on_disk(source), bytes_on_disk(target))}")
    return DONE


def _verify(given: argparse.Namespace, client: Any) -> int:
    progress = None if given.quiet else Progress()
    statuses = []
    for source, target in _pairs(given):
        found = verify(source, target, dimension=given.dimension, client=client, progress=progress, exact=True)
        statuses.append(show_verified(found))
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
