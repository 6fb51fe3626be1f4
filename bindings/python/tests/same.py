"""What a copy of a file lacks or has otherwise, by netCDF4, xarray and NumPy: nothing of ferrosz is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import xarray as xr

from exact import beyond

MARKS = ("_FillValue", "missing_value")


@dataclass(frozen=True)
class Stored:
    """A variable as it is stored."""

    dims: tuple[str, ...]
    values: np.ndarray
    attributes: Mapping[str, Any]

    @property
    def missing(self) -> np.ndarray:
        """Where values are missing."""
        marks = np.ravel([self.attributes[key] for key in MARKS if key in self.attributes]).astype(self.values.dtype)
        is_nan = np.isnan(self.values) if self.values.dtype.kind == "f" else np.False_
        return is_nan | np.isin(self.values, marks)


def stored_of(file: Any, name: str) -> Stored:
    variable = file[name]
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    return Stored(variable.dimensions, np.asarray(variable[...]), attributes_of(variable))


def attributes_of(owner: Any) -> dict[str, Any]:
    """Without those of ferrosz, which the copy has more."""
    return {name: owner.getncattr(name) for name in owner.ncattrs() if not name.startswith("ferrosz_")}


def bounds_of(source: Path, share: float, names: tuple[str, ...]) -> dict[str, float]:
    """This share of the range of each variable, in its stored numbers."""
    with netCDF4.Dataset(source) as file:
        variables = {name: stored_of(file, name) for name in names}
        return {name: share * float(np.ptp(each.values[~each.missing].astype("f8"))) for name, each in variables.items()}


def as_archived(variable: Stored) -> Stored:
    """A coded variable of floats as an archive has it: missing values are NaN, and `_FillValue` says so."""
    if variable.values.dtype.kind != "f" or not any(key in variable.attributes for key in MARKS):
        return variable
    nan = variable.values.dtype.type(np.nan)
    kept = {key: value for key, value in variable.attributes.items() if key not in MARKS}
    return Stored(variable.dims, np.where(variable.missing, nan, variable.values), {**kept, "_FillValue": nan})


def faults_of_file(source: Path, copy: Path, bounds: Mapping[str, float], *, by_archive: bool = False) -> Iterator[str]:
    """Of a file of NetCDF; `by_archive` if it was made of an archive in Zarr."""
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(copy) as new:
        yield from _faults_of_group(old, new)
        for name in old.variables.keys() & new.variables.keys():
            before, after = stored_of(old, name), stored_of(new, name)
            before = as_archived(before) if by_archive and name in bounds else before
            yield from _faults_of_attributes(name, before.attributes, after.attributes, typed=True)
            yield from _faults_of_values(name, before, after, bounds.get(name))
    if strings_of(source) != strings_of(copy):
        yield f"attributes that are strings of variable length: {strings_of(copy)}, not {strings_of(source)}"


def strings_of(path: Path) -> set[tuple[str, str]]:
    """The attributes of HDF5 that are strings of variable length. Others are characters, and netCDF4 does not tell them apart."""
    if not h5py.is_hdf5(path):
        return set()
    with h5py.File(path) as file:
        owners = {"": file, **file}
        kinds = {(name, key): owner.attrs.get_id(key).dtype for name, owner in owners.items() for key in owner.attrs}
    return {place for place, kind in kinds.items() if kind == object and h5py.check_string_dtype(kind) is not None}


def _faults_of_group(old: Any, new: Any) -> Iterator[str]:
    sizes = [[(name, len(dim), dim.isunlimited()) for name, dim in file.dimensions.items()] for file in (old, new)]
    if sizes[0] != sizes[1]:
        yield f"dimensions: {sizes[1]}, not {sizes[0]}"
    if list(old.variables) != list(new.variables):
        yield f"variables: {list(new.variables)}, not {list(old.variables)}"
    is_classic = [file.data_model != "NETCDF4" for file in (old, new)]
    if is_classic[0] != is_classic[1]:
        yield f"the data model is {new.data_model}, not {old.data_model}"
    yield from _faults_of_attributes("the group", attributes_of(old), attributes_of(new), typed=True)


def _faults_of_attributes(owner: str, old: Mapping[str, Any], new: Mapping[str, Any], *, typed: bool) -> Iterator[str]:
    if old.keys() != new.keys():
        yield f"{owner}: attributes {sorted(new)}, not {sorted(old)}"
    for key in old.keys() & new.keys():
        one, other = np.asarray(old[key]), np.asarray(new[key])
        is_same = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        if not is_same or (typed and one.dtype.kind != "U" and one.dtype != other.dtype):
            yield f"{owner}: the attribute {key} is {new[key]!r} ({other.dtype}), not {old[key]!r} ({one.dtype})"


def _faults_of_values(name: str, old: Stored, new: Stored, bound: float | None) -> Iterator[str]:
    kinds = [(each.dims, each.values.dtype.newbyteorder("="), each.values.shape) for each in (old, new)]
    if kinds[0] != kinds[1]:
        yield f"{name}: it is {kinds[1]}, not {kinds[0]}"
        return
    counts = np.zeros(old.values.shape, bool) if bound is None else ~old.missing
    if old.values.dtype.kind in "OU":
        is_same = np.array_equal(old.values, new.values)
    else:
        is_same = _bits(old.values[~counts]) == _bits(new.values[~counts])
    if not is_same:
        yield f"{name}: exact or missing values have changed"
    over = beyond(old.values[counts], new.values[counts], bound) if bound is not None else 0
    if over:
        yield f"{name}: {over} values are over the bound {bound:g}"
    lost = int(new.missing[counts].sum()) if bound is not None else 0
    if lost:
        yield f"{name}: {lost} values have become that of missing elements"
    if bound is not None and np.array_equal(old.values, new.values, equal_nan=True):
        yield f"{name}: nothing was coded"


def _bits(values: np.ndarray) -> bytes:
    return values.astype(values.dtype.newbyteorder("=")).tobytes()


def faults_of_archive(source: Path, archive: Path, bounds: Mapping[str, float]) -> Iterator[str]:
    """Of a Zarr group, which has neither types of attributes nor dimensions of characters."""
    options: dict[str, Any] = {"mask_and_scale": False, "decode_times": False, "decode_timedelta": False, "decode_coords": False}
    with netCDF4.Dataset(source) as old, xr.open_zarr(archive, consolidated=False, **options) as new:
        names = {str(name) for name in new.variables}
        if old.variables.keys() != names:
            yield f"variables: {sorted(names)}, not {sorted(old.variables)}"
        yield from _faults_of_attributes("the group", attributes_of(old), _without_ferrosz(new.attrs), typed=False)
        for name in old.variables.keys() & names:
            before = _with_texts(stored_of(old, name))
            before = as_archived(before) if name in bounds else before
            found = new.variables[name]
            after = Stored(tuple(map(str, found.dims)), _texts(found.values), _without_ferrosz(found.attrs))
            yield from _faults_of_attributes(name, before.attributes, after.attributes, typed=False)
            yield from _faults_of_values(name, before, after, bounds.get(name))


def _without_ferrosz(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in attributes.items() if not str(name).startswith("ferrosz_")}


def _with_texts(variable: Stored) -> Stored:
    """Characters as the texts that they are."""
    if variable.values.dtype != "S1":
        return Stored(variable.dims, _texts(variable.values), variable.attributes)
    return Stored(variable.dims[:-1], netCDF4.chartostring(variable.values, encoding="none"), variable.attributes)


def _texts(values: np.ndarray) -> np.ndarray:
    """Texts in one type: xarray has them as objects or as strings of NumPy."""
    return values.astype(object) if values.dtype.kind in "UT" else values


def ncdump(path: Path) -> list[str]:
    """The lines of `ncdump -h` without the name of the file and the attributes of ferrosz."""
    shown = subprocess.run(["ncdump", "-h", path], check=True, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines()[1:] if ":ferrosz_" not in line]
