"""Which files a source has, and what identifies them when a run is resumed."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import ArgumentError

NETCDF = (".nc", ".nc4", ".cdf", ".h5")
ZARR = ("zarr.json", ".zgroup", ".zmetadata")


def paths_of(source: Any) -> list[str] | None:
    """The files of a source, in the order of their names, or as a list has them; none of a Zarr group."""
    if isinstance(source, list | tuple):
        paths = [os.fspath(path) for path in source]
    elif not isinstance(source, str | os.PathLike) or "://" in os.fspath(source):
        return None
    elif Path(source).is_dir():
        if any((Path(source) / name).exists() for name in ZARR):
            return None
        paths = sorted(str(path) for path in Path(source).iterdir() if path.suffix in NETCDF)
    elif Path(source).exists():
        paths = [os.fspath(source)]
    else:
        paths = sorted(glob.glob(os.fspath(source)))
    missing = [path for path in paths if not Path(path).is_file()]
    if missing or not paths:
        wrong = ", ".join(missing) or os.fspath(source)
        raise ArgumentError(f"source: {wrong}: there is no Zarr group and no file ({', '.join(NETCDF)})")
    return paths


def identity_of(paths: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        found = os.stat(path)
        digest.update(f"{Path(path).name}\0{found.st_size}\0{int(found.st_mtime)}\0".encode())
    return digest.hexdigest()


def bytes_on_disk(place: Any) -> int | None:
    """The bytes of a file, of all files of a folder, or of a list or pattern; None of what is no path."""
    if isinstance(place, list | tuple):
        return sum(os.path.getsize(path) for path in place)
    if not isinstance(place, str | os.PathLike) or "://" in os.fspath(place):
        return None
    if Path(place).is_dir():
        is_zarr = any((Path(place) / name).exists() for name in ZARR)
        files = Path(place).rglob("*") if is_zarr else map(Path, paths_of(place) or [])
        return sum(path.stat().st_size for path in files if path.is_file())
    return sum(os.path.getsize(path) for path in paths_of(place) or [])
