"""What the commands of this package share: exit statuses, types of arguments, and lines of results."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any

from .. import DamagedStream, Error, OutOfMemory
from ._checked import Checked
from ._cluster import cluster
from ._variable import Variable
from ._verified import Verified

DONE, NOT_KEPT, WRONG, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
STATUSES = """exit status:
  0    done
  1    the archive is damaged or not complete in a shard, or does not keep its bound
  2    an argument, the source or the target is not right; nothing can be done before that is changed
  3    the machine or the cluster failed: a disk, memory, a worker; the same command goes on
  130  interrupted (Ctrl-C); the same command goes on"""

BOUNDS = ("range", "abs", "max", "pwrel")

# Settings of a variable that are words.
WORDS = ("preset", "codec", "axes")


def run(name: str, given: argparse.Namespace) -> int:
    """Runs a command, whose function is `given.run`, and returns its exit status."""

    def fail(status: int, message: object) -> int:
        print(f"{name}: {message}", file=sys.stderr)
        return status

    try:
        with cluster(given.workers, given.scheduler) as client:
            return int(given.run(given, client))
    except DamagedStream as error:
        return fail(NOT_KEPT, error)
    except (OutOfMemory, MemoryError) as error:
        return fail(FAILED, str(error) or "there is not enough memory: use smaller shards, or fewer workers")
    except (Error, PermissionError, FileNotFoundError, NotADirectoryError) as error:
        return fail(WRONG, error)
    except OSError as error:
        return fail(FAILED, error)
    except KeyboardInterrupt:
        return fail(INTERRUPTED, "interrupted; the same command goes on")
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "distributed":
            traceback.print_exc()
        return fail(FAILED, f"{type(error).__name__}: {error}")


def add_settings(command: argparse.ArgumentParser) -> None:
    """Arguments that say how variables are coded."""
    for bound in BOUNDS:
        command.add_argument(f"--{bound}", type=float, metavar="NUMBER", help=f"the bound `{bound}`")
    digits = "each value keeps so many significant digits: a bound `pwrel` of 0.5 * 10^(1 - N)"
    command.add_argument("--digits", type=int, metavar="N", help=digits)
    plan = "a plan, as the command `plan` writes it, in the place of bounds"
    command.add_argument("--plan", metavar="FILE", help=plan)
    command.add_argument("--preset", help="small, balanced or fast")


def add_workers(command: argparse.ArgumentParser) -> None:
    """Arguments that say who works, and what is shown of it."""
    command.add_argument("--workers", type=count, metavar="N", help="use N processes of this machine")
    command.add_argument("--scheduler", metavar="ADDRESS", help="use the Dask cluster at this address")
    command.add_argument("--quiet", action="store_true", help="show no progress")


def note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr, flush=True)


def line_of_variable(name: str, done: Variable, is_file: bool = False) -> str:
    kept = f", {done.shards_kept} were there" if done.shards_kept else ""
    error = "" if done.largest_error is None else f", largest error {done.largest_error:.4g}"
    sizes = (
        f"{name}: values of {done.array_bytes / 1e6:.1f} MB in {done.stored_bytes / 1e6:.1f} MB, "
        f"ratio {done.ratio:.2f}; bound {_bound_of(done)}{error}"
    )
    if is_file:
        return f"{sizes}; chunks {_product(done.chunks)}"
    return (
        f"{sizes}; {done.shards_written} shards written{kept}; "
        f"chunks {_product(done.chunks)}, shards {_product(done.shards)}, "
        f"source read {done.times_read:.1f} times a pass"
    )


def line_of_totals(before: int | None, after: int | None) -> str:
    """The ratio of what lies on disks: compressed files before, and all of the archive."""
    if before is None or after is None:
        return "total: not known of what is no folder"
    return f"total: files of {before / 1e6:.1f} MB became {after / 1e6:.1f} MB, ratio {before / max(after, 1):.2f}"


def line_of_verified(name: str, found: Verified) -> str:
    if found.is_exact:
        return f"{name}: {'exact' if found else 'exact: NO'}; {found.elements} values, {found.changed} changed"
    judgement = "bound kept" if found else "bound kept: NO"
    return (
        f"{name}: {judgement}; bound {_bound_of(found)}, largest error {found.largest_error:.4g}; "
        f"{found.elements} values, {found.over} over the bound, "
        f"{found.missing} missing, {found.changed} of these changed; {len(found.faults)} shards damaged"
        f"{_of_requirements(found.checked)}"
    )


def _of_requirements(checked: Checked | None) -> str:
    if checked is None:
        return ""
    word = {True: "kept: ", False: "kept: NO; ", None: ""}[checked.kept]
    return f"; requirements {word}{checked.words}"


def _bound_of(found: Variable | Verified) -> str:
    return f"{'pwrel ' if found.is_relative else ''}{found.bound:.4g}"


def _product(lengths: tuple[int, ...]) -> str:
    return " x ".join(map(str, lengths))


def variable(text: str) -> tuple[str, dict[str, Any]]:
    """A variable, and settings of its own, such as `t2m:abs=0.01,fill=1e20`."""
    name, _, rest = text.partition(":")
    settings: dict[str, Any] = {}
    for setting in filter(None, rest.split(",")):
        key, _, value = setting.partition("=")
        if key == "fill":
            settings.setdefault("fill", []).extend([] if value == "none" else [number(key, value)])
        elif key in BOUNDS:
            settings[key] = number(key, value)
        elif key == "digits":
            settings[key] = whole(key, value)
        elif key in WORDS:
            settings[key] = value
        else:
            raise argparse.ArgumentTypeError(f"{text}: unknown setting {key}")
    return name, settings


def bound(text: str) -> tuple[str, dict[str, Any]]:
    """The same as `t2m=abs:0.01,fill:1e20`."""
    name, equals, rest = text.partition("=")
    if not equals or not rest:
        raise argparse.ArgumentTypeError(f"{text!r}: give a bound as t2m=abs:0.01")
    return variable(f"{name}:{rest.replace(':', '=')}")


def count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes")
    return int(text)


def number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{key}={value}: {value!r} is no number") from None


def whole(key: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{key}={value}: {value!r} is no whole number") from None


def lengths(text: str) -> dict[str, int]:
    try:
        return {name: int(length) for name, _, length in (part.partition("=") for part in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give lengths as time=10,lat=30") from None


def show_verified(found: Mapping[str, Verified]) -> int:
    """Prints lines of variables, and returns the exit status."""
    for name, verified in found.items():
        print(line_of_verified(name, verified))
        for fault in verified.faults:
            print(f"  {fault}")
    return DONE if all(found.values()) else NOT_KEPT


class Progress:
    """Lines on stderr, not more than one in ten seconds, and the last of each pass."""

    def __init__(self) -> None:
        self.shown = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        if done == total or time.monotonic() - self.shown > 10:
            self.shown = time.monotonic()
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
