"""The command: `python -m ferrosz.archive convert` and `python -m ferrosz.archive verify`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from . import convert, plan, verify
from ._command import (
    BOUNDS,
    DONE,
    STATUSES,
    Progress,
    add_settings,
    add_workers,
    lengths,
    line_of_totals,
    line_of_variable,
    note,
    run,
    show_verified,
    variable,
)
from ._netcdf import is_file
from ._paths import bytes_on_disk
from ._table import table_of

SOURCE_HELP = "a NetCDF file, a folder of them, a quoted pattern, or a Zarr group; several files one behind the other"
VARIABLE_HELP = (
    "a variable to code, and settings of its own, such as t2m or tp:abs=1e-6 or tos:range=1e-3,fill=1e20; "
    "fill=none if no value stands for missing elements; by default all measured variables"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    return run("ferrosz.archive", _parser().parse_args(arguments))


def _parser() -> argparse.ArgumentParser:
    about = "Archives in Zarr v3 with shards of ferrosz"
    shape: dict[str, Any] = {"epilog": STATUSES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(prog="python -m ferrosz.archive", description=about, **shape)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    converting = commands.add_parser(
        "convert", help="convert NetCDF files or a Zarr group; resumes an interrupted run", **shape
    )
    converting.set_defaults(run=_convert)
    add_settings(converting)
    converting.add_argument(
        "--variable", action="append", type=variable, metavar="NAME[:KEY=VALUE,...]", help=VARIABLE_HELP
    )
    for shape_of in ("chunks", "shards"):
        converting.add_argument(
            f"--{shape_of}", type=lengths, metavar="DIMENSION=LENGTH,...", help=f"the shape of {shape_of}"
        )
    converting.add_argument("--verify", action="store_true", help="compare each shard with the source after writing it")
    converting.add_argument(
        "--dry-run", action="store_true", help="show what would be done, and about how long it would be"
    )
    verifying = commands.add_parser("verify", help="compare an archive with its source", **shape)
    verifying.set_defaults(run=_verify)
    for command in (converting, verifying):
        command.add_argument("source", nargs="+", help=SOURCE_HELP)
        command.add_argument("target", help="the Zarr group, or a file of NetCDF-4")
        command.add_argument("--dimension", help="the dimension along which files follow each other")
        add_workers(command)
    return parser


def _convert(given: argparse.Namespace, client: Any) -> int:
    settings: dict[str, Any] = {
        "variables": dict(given.variable) if given.variable else None,
        **{
            name: getattr(given, name)
            for name in (*BOUNDS, "preset", "chunks", "shards", "dimension")
        },
        "note": note,
    }
    source = _source(given)
    if given.dry_run:
        print(table_of(plan(source, target=given.target, **settings), bytes_on_disk(source)))
        return DONE
    progress = None if given.quiet else Progress()
    found = convert(source, given.target, **settings, client=client, verify=given.verify, progress=progress)
    for name, done in found.items():
        print(line_of_variable(name, done, is_file(given.target)))
    print(line_of_totals(bytes_on_disk(source), bytes_on_disk(given.target)))
    return DONE


def _verify(given: argparse.Namespace, client: Any) -> int:
    progress = None if given.quiet else Progress()
    found = verify(_source(given), given.target, dimension=given.dimension, client=client, progress=progress)
    return show_verified(found)


def _source(given: argparse.Namespace) -> Any:
    return given.source if len(given.source) > 1 else given.source[0]


if __name__ == "__main__":
    sys.exit(main())
