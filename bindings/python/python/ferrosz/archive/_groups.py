"""Groups of a source: the path of each, such as `forecast/surface`, and none for the root, which is the first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import netCDF4
import zarr

from .. import ArgumentError
from ._paths import paths_of

ROOT = ""

Value = TypeVar("Value")


def groups_of(source: Any) -> list[str]:
    """The groups of a NetCDF file, of files that follow each other, or of a Zarr group; a dataset of xarray is one."""
    if not isinstance(source, str | os.PathLike | list | tuple):
        return [ROOT]
    paths = paths_of(source)
    if paths is None:
        return [ROOT, *_of_zarr(source)]
    first, *others = (_of_file(path) for path in paths)
    for path, found in zip(paths[1:], others, strict=True):
        if found != first:
            raise ArgumentError(f"source: {path} has the groups {found}, and {paths[0]} {first}")
    return [ROOT, *first]


def _of_file(path: str) -> list[str]:
    try:
        with netCDF4.Dataset(path) as file:
            return [found.path.strip("/") for found in _walk(file)]
    except OSError:
        # What opens it says what is wrong.
        return []


def _walk(group: Any) -> Iterator[Any]:
    for child in group.groups.values():
        yield child
        yield from _walk(child)


def _of_zarr(source: Any) -> list[str]:
    try:
        group = zarr.open_group(str(source), mode="r")
    except (OSError, ValueError, KeyError):
        return []
    return [path for path, found in group.members(max_depth=None) if isinstance(found, zarr.Group)]


def name_in(group: str, name: str) -> str:
    """The path of a variable, which is its name in the root."""
    return f"{group}/{name}" if group else name


def names_of(group: str, names: Iterable[str]) -> dict[str, str]:
    """Of paths of variables those in a group, by their names there."""
    parts = {name: name.strip("/").rpartition("/") for name in names}
    return {last: name for name, (parent, _, last) in parts.items() if parent == group}


def of_group(group: str, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Of settings by the paths of variables those of a group, by names."""
    return {name: settings[path] for name, path in names_of(group, settings).items()}


def check_groups(groups: Iterable[str], names: Iterable[str]) -> None:
    """An error if a name is in no group."""
    known = set(groups)
    strange = [name for name in names if name.strip("/").rpartition("/")[0] not in known]
    if strange:
        raise ArgumentError(f"variables: the source has no {strange[0]!r}; its groups are {sorted(known - {ROOT})}")


def place_in(target: Any, group: str) -> Any:
    """A group of a target, which must be a path or a URL then."""
    if not group:
        return target
    if not isinstance(target, str | os.PathLike):
        raise ArgumentError(f"target: the source has groups, such as {group}, which need a path or a URL")
    return f"{os.fspath(target).rstrip('/')}/{group}"
