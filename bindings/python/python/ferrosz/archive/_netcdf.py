"""Files of NetCDF-4 as targets: what is coded has the filter of ferrosz, and all else is exact."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr

from .. import ArgumentError
from ..hdf5 import Ferrosz
from ..hdf5._chunks import chunks_of
from ..hdf5._write import write_chunks
from ._choice import Choice
from ._field import Box, Field
from ._header import STRING
from ._layout import SHARD_BYTES, boxes_of, layout_of
from ._paths import NETCDF
from ._source import Source

# Exact variables from so many bytes on are compressed by zlib, which every program reads.
FEWEST_BYTES = 1 << 16
LOSSLESS = {"compression": "gzip", "compression_opts": 4, "shuffle": True}


def is_file(target: Any) -> bool:
    """Whether a target is a file of NetCDF-4, by its name."""
    return isinstance(target, str | os.PathLike) and Path(target).suffix.lower() in NETCDF


@dataclass(frozen=True)
class Coded:
    """A variable that is coded: how, and what its attributes say of it."""

    choice: Choice
    settings: Ferrosz
    attributes: Mapping[str, Any]


@contextmanager
def new_file(path: Path) -> Iterator[tuple[Any, Any]]:
    """A new file, as h5netcdf and h5py have it."""
    import h5netcdf

    with h5py.File(path, "w", track_order=True) as file, h5netcdf.File(file, "a") as root:
        yield root, file


class GroupWriter:
    """Writes the variables of a source to a group of h5netcdf, block by block."""

    def __init__(self, group: Any, datasets: Any, source: Source, inherited: Mapping[str, int]) -> None:
        self.group = group
        self.datasets = datasets
        self.source = source
        self.lengths = source.lengths
        if source.header.is_classic:
            datasets.attrs["_nc3_strict"] = np.int32(1)
        self._set_attributes(group, "", source.attributes)
        # A dimension that a group above has is not made again.
        for name, length in self.lengths.items():
            if inherited.get(name) != length:
                self._add_dimension(name, length)

    def _add_dimension(self, name: str, length: int) -> None:
        is_unlimited = name in self.source.header.unlimited
        self.group.dimensions[name] = None if is_unlimited or not length else length
        if is_unlimited:
            self.group.resize_dimension(name, length)

    def write(self, coded: Mapping[str, Coded]) -> None:
        """Writes all variables, of which these are coded."""
        for name in self.source.names:
            if name in coded:
                self._write_coded(coded[name])
            else:
                self._write_exact(self.source.exact(name))

    def _write_coded(self, coded: Coded) -> None:
        field, chunks = coded.choice.field, coded.choice.chunks
        variable = self.group.create_variable(
            field.name, field.dims, _stored_type(field), fillvalue=_fill_value(field), chunks=chunks, **coded.settings
        )
        self._set_attributes(variable, field.name, {**field.attributes, **coded.attributes})
        dataset = self._dataset(field.name)
        compressor = coded.settings.compressor(["auto", *field.missing])
        for box in boxes_of(field.shape, coded.choice.shards):
            ranges = [range(each.start, each.stop) for each in box]
            write_chunks(dataset, field.part(box).load(), chunks_of(ranges, chunks), compressor)

    def _enumeration(self, variable: xr.Variable) -> Any:
        """The type of a variable whose numbers have names, if it is such a one: xarray has them beside the type."""
        known = getattr(variable.encoding.get("dtype"), "metadata", None) or {}
        if "enum" not in known:
            return None
        name, found = known["enum_name"], self.group.enumtypes
        return found[name] if name in found else self.group.create_enumtype(variable.dtype, name, known["enum"])

    def _dataset(self, name: str) -> h5py.Dataset:
        """h5netcdf has another name for a variable that is called as a dimension, and is none of it."""
        return self.datasets[f"_nc4_non_coord_{name}" if name in self.lengths else name]

    def stored_bytes(self, name: str) -> int:
        """The bytes of a variable that is coded, in the file."""
        return int(self._dataset(name).id.get_storage_size())

    def _write_exact(self, field: Field) -> None:
        first = field.pieces[0]
        dims, kind = field.dims, self._enumeration(first) or _stored_type(field)
        options: dict[str, Any] = {}
        if isinstance(kind, np.dtype) and field.shape and field.size and field.nbytes >= FEWEST_BYTES and field.dtype.kind in "iuf":
            options = {"chunks": layout_of(field, None, None)[0], **LOSSLESS}
        variable = self.group.create_variable(
            field.name, dims, kind, fillvalue=_exact_fill(first, kind), **options
        )
        self._set_attributes(variable, field.name, {**first.attrs, **_bool_attribute(field)})
        if not field.size:
            return
        for box in _blocks(field):
            variable[box if box else ...] = _storable(field.part(box).load())


    def _set_attributes(self, owner: Any, name: str, attributes: Mapping[str, Any]) -> None:
        """Those of a variable, or of the group, whose name is empty."""
        for key, value in attributes.items():
            # h5netcdf has set the fill value with the variable.
            if key != "_FillValue":
                owner.attrs[key] = _attribute(key, value, self.source.header.types.get(name, {}).get(key))


def _blocks(field: Field) -> Iterator[Box]:
    """Boxes of a field that memory holds. Texts and what is small are one."""
    if not field.shape or field.dtype.kind not in "iufb" or field.nbytes <= SHARD_BYTES:
        return iter([tuple(slice(0, length) for length in field.shape)])
    return boxes_of(field.shape, layout_of(field, None, None)[1])


def _fill_value(field: Field) -> Any:
    """The attribute `_FillValue` of the files; NaN of floats that were decoded."""
    if field.step is not None or field.is_stored:
        return field.pieces[0].attrs.get("_FillValue")
    return field.dtype.type(np.nan)


def _exact_fill(variable: xr.Variable, kind: Any) -> Any:
    found = variable.attrs.get("_FillValue")
    if found is None or not isinstance(kind, np.dtype) or h5py.check_string_dtype(kind) is None:
        return found
    return found.decode() if isinstance(found, bytes) else str(found)


def _stored_type(field: Field) -> Any:
    """The type of a variable in the file."""
    dtype = field.dtype
    if dtype.kind in "OU" or (dtype.kind == "S" and dtype.itemsize > 1):
        return h5py.string_dtype()
    if dtype.kind == "b":
        return np.dtype("int8")
    if dtype.kind in "iu" or dtype in (np.dtype("f4"), np.dtype("f8")) or dtype == np.dtype("S1"):
        return dtype
    raise ArgumentError(f"source: {field.name} is {dtype}, which files of NetCDF do not have: convert it before")


def _bool_attribute(field: Field) -> dict[str, str]:
    """As xarray marks what it has written as int8."""
    return {"dtype": "bool"} if field.dtype.kind == "b" else {}


def _storable(values: Any) -> Any:
    if values.dtype.kind == "b":
        return values.astype("int8")
    if values.dtype.kind == "S" and values.dtype.itemsize > 1:
        values = np.char.decode(values, "utf-8")
    return values.astype(object) if values.dtype.kind == "U" else values


def _attribute(name: str, value: Any, kind: str | None) -> Any:
    """What h5netcdf writes in the type that the source has, if that is known, and otherwise as netCDF4 would: texts of
    ASCII as characters, and lists as arrays."""
    if isinstance(value, str) and value.isascii() and kind != STRING:
        return np.bytes_(value) if value else h5py.Empty("S1")
    if kind is not None and kind != STRING:
        return np.asarray(value, kind)[()]
    if isinstance(value, bool | np.bool):
        return np.int8(value)
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return np.array(value, dtype=object)
    if isinstance(value, int):
        return np.int32(value) if -(2**31) <= value < 2**31 else np.int64(value)
    if isinstance(value, dict) or value is None:
        raise ArgumentError(f"source: the attribute {name} is {value!r}, which files of NetCDF do not have")
    return value


def inherited_lengths(known: Mapping[str, Mapping[str, int]], group: str) -> dict[str, int]:
    """The dimensions of the groups above one, by the dimensions that are known of each."""
    found: dict[str, int] = {}
    parts: Sequence[str] = group.split("/") if group else ()
    for depth in range(len(parts)):
        found |= known.get("/".join(parts[:depth]), {})
    return found
