"""What a group of a file of NetCDF has beside its values and attributes, and Zarr has no place for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import h5py
import netCDF4
import numpy as np
import xarray as xr

# Files of these kinds keep to the types of NetCDF-3.
CLASSIC = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC")

# The type of an attribute that is a text of variable length, and those of numbers of JSON.
STRING, OF_JSON = "string", ("int32", "float64")

# HDF5 calls a variable so that has the name of a dimension, and is not its coordinate.
RENAMED = "_nc4_non_coord_"

# The attributes of variables, and of the group, whose name is empty.
Owners = Mapping[str, Mapping[Any, Any]]


@dataclass(frozen=True)
class Header:
    """Names in their order, and how dimensions and texts are stored."""

    variables: tuple[str, ...] = ()
    dimensions: Mapping[str, int] = field(default_factory=dict)
    """Lengths, also of those that no variable has."""
    unlimited: tuple[str, ...] = ()
    characters: Mapping[str, str] = field(default_factory=dict)
    """Of texts that are stored as characters the dimension of these."""
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of variables, and of the group, whose name is empty, the types of attributes that JSON does not tell."""
    is_classic: bool = False

    def in_order(self, variables: Mapping[str, xr.Variable]) -> dict[str, xr.Variable]:
        known = {name: variables[name] for name in self.variables if name in variables}
        return {**known, **variables}

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def of_json(found: Mapping[str, Any] | None) -> Header:
    """The header of a group that `to_json` has written to an archive; an earlier ferrosz has written none."""
    if found is None:
        return Header()
    names = {key: tuple(found[key]) for key in ("variables", "unlimited")}
    return Header(**{**found, **names})


def of_dataset(dataset: xr.Dataset) -> Header:
    """What xarray knows of it."""
    characters = {
        str(name): str(variable.encoding["char_dim_name"])
        for name, variable in dataset.variables.items()
        if "char_dim_name" in variable.encoding
    }
    return Header(unlimited=tuple(map(str, dataset.encoding.get("unlimited_dims", ()))), characters=characters)


def of_file(path: str, group: str, known: Header, owners: Owners) -> Header:
    """What a file has, of which xarray knows this header, and the attributes of the group and of its variables."""
    with netCDF4.Dataset(path) as file:
        place = file[group] if group else file
        return Header(
            tuple(place.variables),
            {name: len(found) for name, found in place.dimensions.items()},
            tuple(name for name, found in place.dimensions.items() if found.isunlimited()),
            known.characters,
            _types(path, group, owners),
            file.data_model in CLASSIC,
        )


def _types(path: str, group: str, owners: Owners) -> dict[str, dict[str, str]]:
    types = {name: _types_of_numbers(attributes) for name, attributes in owners.items()}
    for name, strings in _strings(path, group).items():
        types.setdefault(name, {}).update(dict.fromkeys(strings, STRING))
    return {name: of_name for name, of_name in types.items() if of_name}


def _types_of_numbers(attributes: Mapping[Any, Any]) -> dict[str, str]:
    kinds = {str(key): np.asarray(value).dtype for key, value in attributes.items()}
    return {key: kind.name for key, kind in kinds.items() if kind.kind in "iuf" and kind.name not in OF_JSON}


def _strings(path: str, group: str) -> dict[str, list[str]]:
    """The attributes that are texts of variable length: netCDF4 and xarray do not tell."""
    if not h5py.is_hdf5(path):
        return {}
    with h5py.File(path) as file:
        place = file[group or "/"]
        variables = {name.removeprefix(RENAMED): each for name, each in place.items() if isinstance(each, h5py.Dataset)}
        owners = {"": place, **variables}
        return {name: [key for key in owner.attrs if _is_string(owner.attrs, key)] for name, owner in owners.items()}


def _is_string(attributes: Any, name: str) -> bool:
    found = h5py.check_string_dtype(attributes.get_id(name).dtype)
    return found is not None and found.length is None


def with_characters(files: Sequence[Mapping[str, xr.Variable]], header: Header) -> list[dict[str, xr.Variable]]:
    """The variables of files, with texts that were stored as characters as such, of the same number in all files."""
    found = [dict(variables) for variables in files]
    for name, dimension in header.characters.items():
        texts = [variables[name] for variables in files if name in variables]
        if len(texts) == len(files) and all(text.dtype.kind == "S" for text in texts):
            width = max(text.dtype.itemsize for text in texts)
            for variables, text in zip(found, texts, strict=True):
                letters = text.values.astype(f"S{width}")[..., None].view("S1")
                variables[name] = xr.Variable((*text.dims, dimension), letters, text.attrs)
    return found
