"""The command: `python -m ferrosz.archive convert` and `python -m ferrosz.archive verify`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import DamagedStream, Error
from . import Variable, Verified, convert, verify

SOURCE_HELP = "a NetCDF file, a folder of them, a quoted pattern, or a Zarr group; several files one behind the other"
VARIABLE_HELP = (
    "a variable to code, and settings of its own, such as t2m or tp:abs=1e-6 or tos:range=1e-3,fill=1e20; "
    "fill=none if no value stands for missing elements; by default all measured variables"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 1 if an archive is damaged or does not keep its bound, 2 if it cannot be made or read."""
    given = _parser().parse_args(arguments)
    try:
        with _cluster(given) as client:
            return int(given.run(given, client))
    except Error as error:
        print(f"ferrosz.archive: {error}", file=sys.stderr)
        return 1 if isinstance(error, DamagedStream) else 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ferrosz.archive", description="Archives in Zarr v3 with shards of ferrosz")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    converting = commands.add_parser("convert", help="convert NetCDF files or a Zarr group; resumes an interrupted run")
    converting.set_defaults(run=_convert)
    for bound in ("range", "abs", "max", "pwrel"):
        converting.add_argument(f"--{bound}", type=float, metavar="NUMBER", help=f"the bound `{bound}`")
    converting.add_argument("--variable", action="append", metavar="NAME[:KEY=VALUE,...]", help=VARIABLE_HELP)
    converting.add_argument("--preset", help="small, balanced or fast")
    for lengths in ("chunks", "shards"):
        converting.add_argument(f"--{lengths}", type=_lengths, metavar="DIMENSION=LENGTH,...", help=f"the shape of {lengths}")
    converting.add_argument("--verify", action="store_true", help="compare each shard with the source after writing it")
    verifying = commands.add_parser("verify", help="compare an archive with its source")
    verifying.set_defaults(run=_verify)
    for command in (converting, verifying):
        command.add_argument("source", nargs="+", help=SOURCE_HELP)
        command.add_argument("target", help="the Zarr group")
        command.add_argument("--dimension", help="the dimension along which files follow each other")
        command.add_argument("--workers", type=int, metavar="N", help="use N processes of this machine")
        command.add_argument("--scheduler", metavar="ADDRESS", help="use the Dask cluster at this address")
        command.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _convert(given: argparse.Namespace, client: Any) -> int:
    found = convert(
        _source(given),
        given.target,
        variables=dict(map(_variable, given.variable)) if given.variable else None,
        range=given.range,
        abs=given.abs,
        max=given.max,
        pwrel=given.pwrel,
        preset=given.preset,
        chunks=given.chunks,
        shards=given.shards,
        dimension=given.dimension,
        client=client,
        verify=given.verify,
        progress=None if given.quiet else Progress(),
    )
    for name, variable in found.items():
        print(_line_of_variable(name, variable))
    return 0


def _verify(given: argparse.Namespace, client: Any) -> int:
    progress = None if given.quiet else Progress()
    found = verify(_source(given), given.target, dimension=given.dimension, client=client, progress=progress)
    for name, verified in found.items():
        print(_line_of_verified(name, verified))
        for fault in verified.faults:
            print(f"  {fault}")
    return 0 if all(found.values()) else 1


def _line_of_variable(name: str, done: Variable) -> str:
    kept = f", {done.shards_kept} were there" if done.shards_kept else ""
    error = "" if done.largest_error is None else f", largest error {done.largest_error:.4g}"
    return (
        f"{name}: {done.array_bytes / 1e6:.1f} MB to {done.stored_bytes / 1e6:.1f} MB, ratio {done.ratio:.2f}; "
        f"bound {done.bound:.4g}{error}; {done.shards_written} shards written{kept}; "
        f"chunks {_product(done.chunks)}, shards {_product(done.shards)}, source read {done.times_read:.1f} times a pass"
    )


def _line_of_verified(name: str, found: Verified) -> str:
    judgement = "bound kept" if found else "bound kept: NO"
    return (
        f"{name}: {judgement}; bound {found.bound:.4g}, largest error {found.largest_error:.4g}; "
        f"{found.elements} values, {found.over} over the bound, {found.missing} missing, {found.changed} of these changed; "
        f"{len(found.faults)} shards damaged"
    )


def _product(lengths: tuple[int, ...]) -> str:
    return " x ".join(map(str, lengths))


def _source(given: argparse.Namespace) -> Any:
    return given.source if len(given.source) > 1 else given.source[0]


def _variable(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    settings: dict[str, Any] = {}
    for setting in filter(None, rest.split(",")):
        key, _, value = setting.partition("=")
        if key == "fill":
            settings.setdefault("fill", []).extend([] if value == "none" else [float(value)])
        elif key in ("abs", "range", "max", "pwrel"):
            settings[key] = float(value)
        elif key in ("preset", "codec", "axes"):
            settings[key] = value
        else:
            raise SystemExit(f"ferrosz.archive: --variable {text}: unknown setting {key}")
    return name, settings


def _lengths(text: str) -> dict[str, int]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name: int(length) for name, _, length in pairs}


@contextmanager
def _cluster(given: argparse.Namespace) -> Iterator[Any]:
    """A client of the cluster that is asked for, or none."""
    if given.workers is None and given.scheduler is None:
        yield None
        return
    from distributed import Client, LocalCluster

    if given.scheduler is not None:
        with Client(given.scheduler) as client:
            yield client
        return
    options: dict[str, Any] = {"n_workers": given.workers, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


class Progress:
    """Lines on stderr, not more than one in ten seconds, and the last of each pass."""

    def __init__(self) -> None:
        self.shown = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        if done == total or time.monotonic() - self.shown > 10:
            self.shown = time.monotonic()
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
