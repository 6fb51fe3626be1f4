"""The command: `python -m ferrosz.archive convert` and `python -m ferrosz.archive verify`."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any

from .. import DamagedStream, Error, OutOfMemory
from . import Variable, Verified, convert, plan, verify
from ._cluster import cluster
from ._paths import bytes_on_disk
from ._table import table_of

SOURCE_HELP = "a NetCDF file, a folder of them, a quoted pattern, or a Zarr group; several files one behind the other"
VARIABLE_HELP = (
    "a variable to code, and settings of its own, such as t2m or tp:abs=1e-6 or tos:range=1e-3,fill=1e20; "
    "fill=none if no value stands for missing elements; by default all measured variables"
)

DONE, NOT_KEPT, WRONG, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
STATUSES = """exit status:
  0    done
  1    the archive is damaged or not complete in a shard, or does not keep its bound
  2    an argument, the source or the target is not right; nothing can be done before that is changed
  3    the machine or the cluster failed: a disk, memory, a worker; the same command goes on
  130  interrupted (Ctrl-C); the same command goes on"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        with cluster(given.workers, given.scheduler) as client:
            return int(given.run(given, client))
    except DamagedStream as error:
        return _fail(NOT_KEPT, error)
    except (OutOfMemory, MemoryError) as error:
        return _fail(FAILED, str(error) or "there is not enough memory: use smaller shards, or fewer workers")
    except (Error, PermissionError, FileNotFoundError, NotADirectoryError) as error:
        return _fail(WRONG, error)
    except OSError as error:
        return _fail(FAILED, error)
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "interrupted; the same command goes on")
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "distributed":
            traceback.print_exc()
        return _fail(FAILED, f"{type(error).__name__}: {error}")


def _fail(status: int, message: object) -> int:
    print(f"ferrosz.archive: {message}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    about = "Archives in Zarr v3 with shards of ferrosz"
    shape: dict[str, Any] = {"epilog": STATUSES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(prog="python -m ferrosz.archive", description=about, **shape)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    converting = commands.add_parser(
        "convert", help="convert NetCDF files or a Zarr group; resumes an interrupted run", **shape
    )
    converting.set_defaults(run=_convert)
    for bound in ("range", "abs", "max", "pwrel"):
        converting.add_argument(f"--{bound}", type=float, metavar="NUMBER", help=f"the bound `{bound}`")
    converting.add_argument(
        "--variable", action="append", type=_variable, metavar="NAME[:KEY=VALUE,...]", help=VARIABLE_HELP
    )
    converting.add_argument("--preset", help="small, balanced or fast")
    for lengths in ("chunks", "shards"):
        converting.add_argument(
            f"--{lengths}", type=_lengths, metavar="DIMENSION=LENGTH,...", help=f"the shape of {lengths}"
        )
    converting.add_argument("--verify", action="store_true", help="compare each shard with the source after writing it")
    converting.add_argument(
        "--dry-run", action="store_true", help="show what would be done, and about how long it would be"
    )
    verifying = commands.add_parser("verify", help="compare an archive with its source", **shape)
    verifying.set_defaults(run=_verify)
    for command in (converting, verifying):
        command.add_argument("source", nargs="+", help=SOURCE_HELP)
        command.add_argument("target", help="the Zarr group")
        command.add_argument("--dimension", help="the dimension along which files follow each other")
        command.add_argument("--workers", type=_count, metavar="N", help="use N processes of this machine")
        command.add_argument("--scheduler", metavar="ADDRESS", help="use the Dask cluster at this address")
        command.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _convert(given: argparse.Namespace, client: Any) -> int:
    settings: dict[str, Any] = {
        "variables": dict(given.variable) if given.variable else None,
        **{
            name: getattr(given, name)
            for name in ("range", "abs", "max", "pwrel", "preset", "chunks", "shards", "dimension")
        },
        "note": _note,
    }
    source = _source(given)
    if given.dry_run:
        print(table_of(plan(source, **settings), bytes_on_disk(source)))
        return DONE
    progress = None if given.quiet else Progress()
    found = convert(source, given.target, **settings, client=client, verify=given.verify, progress=progress)
    for name, variable in found.items():
        print(_line_of_variable(name, variable))
    print(_line_of_totals(bytes_on_disk(source), bytes_on_disk(given.target)))
    return DONE


def _verify(given: argparse.Namespace, client: Any) -> int:
    progress = None if given.quiet else Progress()
    found = verify(_source(given), given.target, dimension=given.dimension, client=client, progress=progress)
    for name, verified in found.items():
        print(_line_of_verified(name, verified))
        for fault in verified.faults:
            print(f"  {fault}")
    return DONE if all(found.values()) else NOT_KEPT


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr, flush=True)


def _line_of_variable(name: str, done: Variable) -> str:
    kept = f", {done.shards_kept} were there" if done.shards_kept else ""
    error = "" if done.largest_error is None else f", largest error {done.largest_error:.4g}"
    return (
        f"{name}: values of {done.array_bytes / 1e6:.1f} MB in {done.stored_bytes / 1e6:.1f} MB, "
        f"ratio {done.ratio:.2f}; "
        f"bound {done.bound:.4g}{error}; {done.shards_written} shards written{kept}; "
        f"chunks {_product(done.chunks)}, shards {_product(done.shards)}, "
        f"source read {done.times_read:.1f} times a pass"
    )


def _line_of_totals(before: int | None, after: int | None) -> str:
    """The ratio of what lies on disks: compressed files before, and all of the archive."""
    if before is None or after is None:
        return "total: not known of what is no folder"
    return f"total: files of {before / 1e6:.1f} MB became {after / 1e6:.1f} MB, ratio {before / max(after, 1):.2f}"


def _line_of_verified(name: str, found: Verified) -> str:
    judgement = "bound kept" if found else "bound kept: NO"
    return (
        f"{name}: {judgement}; bound {found.bound:.4g}, largest error {found.largest_error:.4g}; "
        f"{found.elements} values, {found.over} over the bound, "
        f"{found.missing} missing, {found.changed} of these changed; {len(found.faults)} shards damaged"
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
            settings.setdefault("fill", []).extend([] if value == "none" else [_number(key, value)])
        elif key in ("abs", "range", "max", "pwrel"):
            settings[key] = _number(key, value)
        elif key in ("preset", "codec", "axes"):
            settings[key] = value
        else:
            raise argparse.ArgumentTypeError(f"{text}: unknown setting {key}")
    return name, settings


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes")
    return int(text)


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{key}={value}: {value!r} is no number") from None


def _lengths(text: str) -> dict[str, int]:
    try:
        return {name: int(length) for name, _, length in (part.partition("=") for part in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give lengths as time=10,lat=30") from None


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
