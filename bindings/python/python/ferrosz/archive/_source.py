"""What is converted: variables of files, read a box at a time by any process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import xarray as xr

from .. import ArgumentError
from ._classic import bytes_missing
from ._field import Field, unpacked
from ._header import Header, of_dataset, of_file, of_json, with_characters
from ._paths import identity_of, paths_of
from ._roles import roles_of
from ._series import Positions, along_one_dimension, same_values
from ._stored import floats_alike, packed_alike, stored_alike

Note = Callable[[str], object]

# The attribute of a group in which an archive says what it is.
ARCHIVE = "ferrosz_archive"

# As it is stored: neither unpacked nor decoded.
RAW: dict[str, Any] = {
    "mask_and_scale": False,
    "decode_times": False,
    "decode_timedelta": False,
    "decode_coords": False,
    "chunks": None,
}


@dataclass(frozen=True)
class File:
    """The variables of a file as they are stored, or those of a Zarr group or of a dataset of xarray."""

    name: str
    variables: Mapping[str, xr.Variable]
    attributes: Mapping[str, Any]
    header: Header
    # What was read of its coordinates.
    positions: dict[str, Positions | None] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Source:
    """Files, one behind the other along a dimension, and what identifies them when a run is resumed."""

    files: tuple[File, ...]
    along: str | None
    identity: dict[str, Any]
    # Names of coordinates that no attribute tells: those of a dataset of xarray.
    coordinates: frozenset[str] = frozenset()
    opened: tuple[xr.Dataset, ...] = field(default=(), repr=False)

    @property
    def is_stored(self) -> bool:
        """Whether variables are as files have them. Those of a dataset of xarray are as it has decoded them."""
        return bool(self.opened)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.files[0].variables)

    @property
    def attributes(self) -> dict[str, Any]:
        """Those of the group, without what an archive says of itself."""
        return {name: value for name, value in self.files[0].attributes.items() if name != ARCHIVE}

    @property
    def lengths(self) -> dict[str, int]:
        """The lengths of dimensions by their names."""
        fields = [self._pieces(name) for name in self.names]
        used = {dim: length for field in fields for dim, length in zip(field.dims, field.shape, strict=True)}
        return {**self.header.dimensions, **used}

    @property
    def header(self) -> Header:
        return self.files[0].header

    @cached_property
    def roles(self) -> dict[str, str]:
        """Why variables are exact, by what their attributes and those of others say."""
        return roles_of(self.files[0].variables, self.coordinates)

    def stored(self, name: str) -> Field:
        """A variable as its files have it; decoded only as far as files have stored it in different ways."""
        return stored_alike(self._pieces(name), self._parents(name))

    def exact(self, name: str) -> Field:
        """A variable as a file has it: one of a dataset of xarray is encoded as xarray would write it."""
        if self.is_stored:
            return self.stored(name)
        variable = self.files[0].variables[name]
        if variable.dtype.kind == "f":
            # As it is in memory, like those that are coded.
            variable = xr.Variable(variable.dims, variable._data, variable.attrs)
        return Field(name, (xr.conventions.encode_cf_variable(variable, name=name),), 0)

    def packed(self, name: str) -> Field | None:
        """A variable of packed integers, if all files have packed them alike."""
        return packed_alike(self._pieces(name))

    def floats(self, name: str) -> Field | None:
        """A variable of floats as its files have it, if it is in its units, and all files mean the same by them."""
        return floats_alike(self._pieces(name))

    def unpacked(self, name: str) -> Field:
        """A variable in its units; missing elements are NaN."""
        return unpacked(self._pieces(name))

    def _pieces(self, name: str) -> Field:
        first = self.files[0].variables[name]
        if self.along is None or self.along not in first.dims:
            return Field(name, (first,), 0)
        return Field(name, tuple(file.variables[name] for file in self.files), first.dims.index(self.along))

    def _parents(self, name: str) -> list[xr.Variable]:
        """In each file the variable whose units a variable has: bounds have those of their coordinate."""
        first = self.files[0].variables
        named = (
            parent for parent in first if name in (first[parent].attrs.get(key) for key in ("bounds", "climatology"))
        )
        parent = next(named, name)
        return [file.variables[parent] for file in self.files]

    def close(self) -> None:
        """Closes the files that were opened here."""
        for dataset in self.opened:
            dataset.close()


def open_source(
    source: Any, dimension: str | None, note: Note = lambda text: None, group: str = "", **raw: Any
) -> Source:
    """Opens a dataset of xarray, a Zarr group, a NetCDF file, a folder of them, a pattern such as `era5/*.nc`, or a
    list; of each the group that has this path, by xarray with these options.

    What is worth knowing of the source, and no error, is said to `note`.
    """
    if isinstance(source, xr.Dataset):
        return _of_dataset(source)
    paths = paths_of(source)
    if paths is None:
        name = str(source).rstrip("/").rsplit("/", 1)[-1]
        dataset = _open_zarr(source, group)
        file = _file_of(name, dataset, of_json(dataset.attrs.get(ARCHIVE, {}).get("header")))
        found = Source((file,), None, {"zarr": name}, opened=(dataset,))
        along_one_dimension(found.files, None, False, note)
    else:
        opened: list[xr.Dataset] = []
        try:
            opened.extend(_open_netcdf(path, group, raw) for path in paths)
            files = [_file_of(path, dataset, of_dataset(dataset)) for path, dataset in zip(paths, opened, strict=True)]
            _check_names(files)
            found = Source(tuple(files), None, {}, opened=tuple(opened))
            if found.names:
                found = _in_order(found, dimension, isinstance(source, list | tuple), note)
            found = replace(found, files=(_with_header(found.files[0], group), *found.files[1:]))
        except BaseException:
            for dataset in opened:
                dataset.close()
            raise
    for text in _lossy_already(found):
        note(text)
    return found


def open_as_stored(
    source: Any, dimension: str | None, note: Note = lambda text: None, group: str = ""
) -> Source:
    """The same for a file of NetCDF as target, which has characters as such."""
    paths = paths_of(source)
    if paths is not None and len(paths) == 1:
        return open_source(source, dimension, note, group, concat_characters=False)
    found = open_source(source, dimension, note, group)
    variables = with_characters([file.variables for file in found.files], found.header)
    files = zip(found.files, variables, strict=True)
    return replace(found, files=tuple(replace(file, variables=each) for file, each in files))


def _of_dataset(dataset: xr.Dataset) -> Source:
    variables, attributes = xr.conventions.encode_dataset_coordinates(dataset)
    known = {str(name): variable for name, variable in variables.items()}
    file = File("the dataset", known, attributes, of_dataset(dataset))
    return Source((file,), None, {}, frozenset(map(str, dataset.coords)))


def _in_order(source: Source, dimension: str | None, is_list: bool, note: Note) -> Source:
    """The files in the order of their coordinate, with the dimension along which they follow each other."""
    files, along = along_one_dimension(source.files, dimension, is_list, note)
    identity = {"files": len(files), "sha256": identity_of([file.name for file in files])}
    found = replace(source, files=tuple(files), along=along, identity=identity)
    if along is not None:
        for name in found.names:
            _check_alike(name, found.files, along)
            if along not in files[0].variables[name].dims:
                _note_if_different(name, found.files, note)
    return found


def _with_header(file: File, group: str) -> File:
    """The first file, in the order of its names."""
    owners = {"": file.attributes, **{name: variable.attrs for name, variable in file.variables.items()}}
    header = of_file(file.name, group, file.header, owners)
    return replace(file, header=header, variables=header.in_order(file.variables))


def _check_names(files: Sequence[File]) -> None:
    first = files[0]
    for file in files[1:]:
        lacking = sorted(first.variables.keys() - file.variables.keys())
        more = sorted(file.variables.keys() - first.variables.keys())
        if lacking or more:
            found = [f"no {_some(lacking)}"] * bool(lacking) + [_some(more)] * bool(more)
            raise ArgumentError(
                f"source: {file.name} has other variables than {first.name}: {', but '.join(found)}. "
                "Convert files with different variables apart, such as those of the pattern 'era5/t2m*.nc'"
            )


def _some(names: list[str]) -> str:
    more = [f"{len(names) - 4} others"] if len(names) > 5 else []
    return ", ".join([*names[: 4 if more else 5], *more])


def _check_alike(name: str, files: Sequence[File], along: str) -> None:
    """A variable must have the same dimensions, type and units in all files."""
    first = files[0].variables[name]

    def alike(variable: xr.Variable) -> tuple[Any, ...]:
        lengths = tuple(length for dim, length in variable.sizes.items() if dim != along)
        kind = variable.dtype.newbyteorder("=") if variable.dtype.kind in "iufb" else "text"
        return variable.dims, lengths, kind

    for file in files[1:]:
        piece = file.variables[name]
        if alike(piece) != alike(first):
            raise ArgumentError(
                f"source: variable {name} is {piece.dtype} {dict(piece.sizes)} in {file.name}, "
                f"and {first.dtype} {dict(first.sizes)} in {files[0].name}"
            )
        units, known = (str(variable.attrs.get("units", "")).strip() for variable in (piece, first))
        if units != known and not (" since " in units and " since " in known):
            raise ArgumentError(
                f"source: variable {name} has the units {units!r} in {file.name}, and {known!r} in {files[0].name}"
            )


def _note_if_different(name: str, files: Sequence[File], note: Note) -> None:
    first = files[0].variables[name]
    others = [file.name for file in files[1:] if not _same(name, first, file.variables[name])]
    if others:
        more = f" and {len(others) - 1} others" if len(others) > 1 else ""
        note(
            f"{name} is not the same in all files: the archive has that of {files[0].name}, "
            f"not that of {others[0]}{more}"
        )


def _same(name: str, one: xr.Variable, other: xr.Variable) -> bool:
    return one.attrs.get("units") == other.attrs.get("units") and same_values(name, one, other)


def _lossy_already(source: Source) -> Iterator[str]:
    for name, variable in source.files[0].variables.items():
        if "ferrosz_bound" in variable.attrs:
            mode = variable.attrs.get("ferrosz_mode", "abs")
            yield (
                f"{name}: the source is lossy already, by ferrosz ({mode}, bound {variable.attrs['ferrosz_bound']:g}); "
                "coded again, both errors add up"
            )


def _file_of(name: str, dataset: xr.Dataset, header: Header) -> File:
    variables = {str(key): variable.to_base_variable() for key, variable in dataset.variables.items()}
    return File(name, header.in_order(variables), dataset.attrs, header)


def _open_netcdf(path: str, group: str, raw: Mapping[str, Any]) -> xr.Dataset:
    # netCDF4 finds the filter of ferrosz.
    import_module("ferrosz.hdf5")
    missing = bytes_missing(path)
    if missing:
        raise ArgumentError(f"source: {path} is damaged: it is cut off, and at least {missing} bytes are missing")
    try:
        dataset: xr.Dataset = xr.open_dataset(path, group=group or None, cache=False, **{**RAW, **raw})
    except Exception as error:
        # Libraries say in many ways that they do not understand a file.
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ArgumentError(f"source: {path} is no NetCDF file, or is damaged: {reason}") from error
    return dataset


def _open_zarr(source: Any, group: str) -> xr.Dataset:
    with warnings.catch_warnings():
        # Consolidated metadata are not there, which costs time.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            dataset: xr.Dataset = xr.open_zarr(source, group=group or None, **RAW)
        except (OSError, ValueError, KeyError) as error:
            raise ArgumentError(f"source: {source} is no Zarr group that xarray reads: {error}") from error
    return dataset
