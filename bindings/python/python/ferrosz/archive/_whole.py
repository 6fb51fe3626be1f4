"""Archives that have their name when they are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from .. import ArgumentError
from .._temporary import temporary
from ._convert import convert
from ._netcdf import is_file
from ._variable import Variable


def convert_whole(source: Any, target: str | os.PathLike[str], *, resume: bool, **settings: Any) -> dict[str, Variable]:
    """`convert` to a path, where nothing is before all is there: a Zarr group is written as `TARGET.partial` and renamed.

    With `resume` the same call goes on where it was interrupted. Otherwise it begins anew, which it must if nothing
    identifies the values of the source, as those of a dataset of xarray.
    """
    if is_file(target):
        return convert(source, target, **settings)
    if "://" in os.fspath(target):
        raise ArgumentError(f"target: {target} is a URL, where nothing is renamed: use ferrosz.archive.convert")
    final = Path(target)
    if final.exists():
        raise ArgumentError(f"target: {final} exists; remove it, or give another name")
    if not final.parent.is_dir():
        raise ArgumentError(f"target: there is no folder {final.parent}")
    unfinished = temporary(final)
    settings = {"may_be_exact": True, **settings}
    if resume:
        done = convert(source, unfinished, **settings)
    else:
        done = _anew(source, unfinished, settings)
    unfinished.rename(final)
    return done


def _anew(source: Any, unfinished: Path, settings: dict[str, Any]) -> dict[str, Variable]:
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        return convert(source, unfinished, **settings)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
