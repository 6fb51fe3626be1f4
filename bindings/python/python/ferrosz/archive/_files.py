"""Many files, each to one of its own: the structure of their folders is kept."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from .. import ArgumentError
from ._asked import entries_of
from ._many import parts_of
from ._netcdf import is_file
from ._paths import NETCDF, ZARR, paths_of
from ._variable import Variable
from ._whole import convert_whole


def convert_files(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str] | None = None,
    *,
    out_dir: str | os.PathLike[str] | None = None,
    format: Literal["nc", "zarr"] | None = None,
    skip: bool = False,
    **settings: Any,
) -> dict[str, dict[str, Variable]]:
    """Converts files of NetCDF and Zarr groups to such, by `convert`, whose settings it takes. Nothing has the name of a
    target before it is complete. Returns what became of variables, by the targets.

    sources, target
        As those of `convert`: the files of a folder or a pattern come one behind the other in one target. One that
        ends with `.nc`, `.nc4`, `.cdf` or `.h5` is a file of NetCDF-4, and others are Zarr groups.
    out_dir
        In place of `target`, a folder that gets a file or a group for each one that is found: in `sources` that are
        folders, with all below them, and by patterns. Its folders are those of the sources. Of a `plan` each takes the
        variables that it has.
    format
        What is written to `out_dir`, `"nc"` or `"zarr"`: by default the same as is read.
    skip
        Leave out targets that are there. Otherwise files are replaced, and groups are an error.

    Raises `ArgumentError`, and with `verify=True` `DamagedStream`.

    >>> import xarray
    >>> (folder / "in" / "2026").mkdir(parents=True)
    >>> source = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
    >>> source.to_netcdf(folder / "in" / "2026" / "t.nc", engine="h5netcdf")
    >>> done = convert_files(folder / "in", out_dir=folder / "out", abs=1e-3)
    >>> [variables["t"].bound for variables in done.values()], (folder / "out" / "2026" / "t.nc").exists()
    ([0.001], True)
    """
    done = {}
    pairs = pairs_of(sources, target, out_dir, format)
    plan = settings.pop("plan", None)
    plans = [plan] if out_dir is None else parts_of(entries_of(plan) or None, [source for source, _ in pairs], None)
    for (source, place), part in zip(pairs, plans, strict=True):
        if skip and os.path.exists(place):
            continue
        if out_dir is not None:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        # Files are known again by their sizes and times; nothing tells what a Zarr group had.
        resume = paths_of(source) is not None
        done[os.fspath(place)] = convert_whole(source, place, resume=resume, plan=part, **settings)
    return done


def pairs_of(
    sources: Any, target: Any, out_dir: str | os.PathLike[str] | None, format: Literal["nc", "zarr"] | None
) -> list[tuple[Any, Any]]:
    """Each source with its target."""
    if (target is None) == (out_dir is None):
        raise ArgumentError("give one of target and out_dir")
    given = list(sources) if isinstance(sources, list | tuple) else [sources]
    if target is not None:
        if format is not None:
            raise ArgumentError("format: a target has its own, by its suffix; this is for out_dir")
        return [(given if len(given) > 1 else given[0], target)]
    assert out_dir is not None
    pairs = [
        (os.fspath(path), os.fspath(Path(out_dir) / _renamed(path.relative_to(base), format)))
        for source in given
        for base, path in _found(os.fspath(source))
    ]
    places = [place for _, place in pairs]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise ArgumentError(f"out_dir: two sources would become {twice}")
    return pairs


def _renamed(path: Path, format: Literal["nc", "zarr"] | None) -> Path:
    if format is None or (format == "nc") == is_file(path):
        return path
    return path.with_suffix(f".{format}")


def _found(source: str) -> Iterator[tuple[Path, Path]]:
    """Files and groups, each with the folder to which its name is relative."""
    if os.path.exists(source):
        matches, base = [source], Path(source)
        base = base.parent if _is_one(base) else base
    else:
        matches = sorted(glob.glob(source, recursive=True))
        parts = Path(source).parts
        fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
        base = Path(*parts[:fixed])
    found = [path for match in matches for path in _below(Path(match))]
    if not found:
        raise ArgumentError(f"source: {source}: there is no Zarr group and no file ({', '.join(NETCDF)})")
    for path in dict.fromkeys(found):
        yield base, path


def _is_one(path: Path) -> bool:
    return path.is_file() or any((path / name).exists() for name in ZARR)


def _below(path: Path) -> Iterator[Path]:
    """This file or group, or all in a folder."""
    if _is_one(path):
        if path.is_dir() or is_file(path):
            yield path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            yield from _below(child)
