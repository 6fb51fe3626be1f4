"""What is converted: variables of files, read a box at a time by any process."""

from __future__ import annotations

import glob
import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .. import ArgumentError

# Attributes that name other variables. The values of those must stay exact.
REFERENCES = ("bounds", "climatology", "coordinates", "formula_terms", "grid_mapping", "cell_measures")

# What a variable that was read keeps, of how it was stored: xarray moved these there from its attributes.
KEPT = ("_FillValue", "missing_value", "scale_factor", "add_offset", "dtype", "units", "calendar", "_Unsigned", *REFERENCES)

NETCDF = (".nc", ".nc4", ".cdf", ".h5")
ZARR = ("zarr.json", ".zgroup", ".zmetadata")

Box = tuple[slice, ...]


@dataclass(frozen=True)
class Part:
    """A box of a field. It is sent to a worker, which loads it; so it has paths and places, no values."""

    pieces: tuple[xr.Variable, ...]
    axis: int
    fill: tuple[float, ...]

    def load(self) -> Any:
        """The values in C order; missing elements are NaN."""
        import dask

        # A worker's own thread loads: to ask the cluster from within a task may end in a deadlock.
        with dask.config.set(scheduler="synchronous"):
            loaded = [np.asarray(piece.values) for piece in self.pieces]
        values = loaded[0] if len(loaded) == 1 else np.concatenate(loaded, self.axis)
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        if self.fill:
            missing = np.isin(values, np.asarray(self.fill).astype(values.dtype))
            values = np.where(missing, values.dtype.type(np.nan), values)
        return values


@dataclass(frozen=True)
class Field:
    """A variable, whose pieces lie in files one behind the other along an axis."""

    name: str
    pieces: tuple[xr.Variable, ...]
    axis: int
    fill: tuple[float, ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.pieces[0].dims)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.pieces[0].dtype
        return found.newbyteorder("=")

    @property
    def shape(self) -> tuple[int, ...]:
        shape = list(self.pieces[0].shape)
        if shape:
            shape[self.axis] = sum(piece.shape[self.axis] for piece in self.pieces)
        return tuple(shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    @property
    def is_packed(self) -> bool:
        return "scale_factor" in self.pieces[0].encoding or "add_offset" in self.pieces[0].encoding

    @property
    def is_floating(self) -> bool:
        """Whether its values are measured numbers: stored as floating-point numbers, or packed."""
        stored = np.dtype(self.pieces[0].encoding.get("dtype", self.dtype))
        return self.dtype.kind == "f" and (stored.kind == "f" or self.is_packed)

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes for the target, where values are not packed and missing elements are NaN."""
        first = self.pieces[0]
        found = {**first.attrs, **{name: first.encoding[name] for name in REFERENCES if name in first.encoding}}
        packed_limits = ("valid_range", "valid_min", "valid_max") if self.is_packed else ()
        dropped = ("_FillValue", "missing_value", *packed_limits)
        return {name: _of_json(value) for name, value in found.items() if name not in dropped}

    @property
    def stored_chunks(self) -> tuple[int, ...]:
        """The shape of what is read at once: chunks of the source, or a row of values that are not in chunks."""
        first = self.pieces[0]
        preferred = first.encoding.get("preferred_chunks") or {}
        rows = [1] * (first.ndim - 1) + [self.shape[-1]] if first.ndim else []
        if not preferred and first.chunks is not None:
            return tuple(max(lengths) for lengths in first.chunks)
        return tuple(int(np.max(preferred.get(name, row))) for name, row in zip(first.dims, rows, strict=True))

    def part(self, box: Box) -> Part:
        import dask

        low, high = box[self.axis].start, box[self.axis].stop
        found, start = [], 0
        for piece in self.pieces:
            stop = start + piece.shape[self.axis]
            if start < high and low < stop:
                within = slice(max(low, start) - start, min(high, stop) - start)
                found.append(piece[(*box[: self.axis], within, *box[self.axis + 1 :])])
            start = stop
        # Of a graph of Dask, the tasks of this box alone.
        return Part(dask.optimize(*found), self.axis, self.fill)

    def __getitem__(self, box: Box) -> Any:
        limited = tuple(slice(*part.indices(length)) for part, length in zip(box, self.shape, strict=True))
        return self.part(limited).load()


@dataclass(frozen=True)
class Source:
    """Variables, and what identifies them when a run is resumed."""

    fields: dict[str, Field]
    # Names of variables with measured numbers.
    measured: tuple[str, ...]
    # The dataset without the variables of these names.
    rest: Callable[[Sequence[str]], xr.Dataset]
    identity: dict[str, Any]
    opened: tuple[xr.Dataset, ...] = ()

    def close(self) -> None:
        """Closes the files that were opened here."""
        for dataset in self.opened:
            dataset.close()


def open_source(source: Any, dimension: str | None) -> Source:
    """Opens a dataset of xarray, a Zarr group, a NetCDF file, a folder of them, a pattern such as `era5/*.nc`, or a list."""
    if isinstance(source, xr.Dataset):
        return _source_of([source], None, lambda names: _without(source, names), {})
    paths = _paths_of(source)
    if paths is None:
        lazy = _open_zarr(source, chunks=None, decode_times=False, decode_timedelta=False)
        return _source_of([lazy], None, lambda names: _raw(_open_zarr, source, names), {"zarr": str(source).rstrip("/").rsplit("/", 1)[-1]}, [lazy])
    datasets = [xr.open_dataset(path, decode_times=len(paths) > 1, decode_timedelta=False) for path in paths]
    identity = {"files": len(paths), "sha256": _identity_of(paths)}
    if len(datasets) == 1:
        return _source_of(datasets, None, lambda names: _raw(xr.open_dataset, paths[0], names), identity, datasets)
    along = dimension or _dimension_of(datasets)
    _check_coordinates(datasets, along)

    def rest(names: Sequence[str]) -> xr.Dataset:
        # Files may be packed by different numbers, and have times since different days: so all is decoded.
        return xr.open_mfdataset(
            paths,
            chunks={},
            combine="nested",
            concat_dim=along,
            data_vars="minimal",
            coords="minimal",
            compat="override",
            join="exact",
            combine_attrs="override",
            decode_timedelta=False,
            drop_variables=list(names),
        )

    return _source_of(datasets, along, rest, identity, datasets)


def _paths_of(source: Any) -> list[str] | None:
    """The files of a source; none of a Zarr group."""
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


def _source_of(
    datasets: list[xr.Dataset],
    along: str | None,
    rest: Callable[[Sequence[str]], xr.Dataset],
    identity: dict[str, Any],
    opened: Sequence[xr.Dataset] = (),
) -> Source:
    first = datasets[0]
    fields = {str(name): _field_of(str(name), datasets, along) for name in first.data_vars}
    referred = {word for variable in first.variables.values() for word in _references_of(variable)}
    measured = tuple(name for name, field in fields.items() if field.is_floating and name not in referred)
    return Source(fields, measured, rest, identity, tuple(opened))


def _field_of(name: str, datasets: list[xr.Dataset], along: str | None) -> Field:
    first = datasets[0][name].variable
    if along is None or along not in first.dims:
        return Field(name, (first,), 0)
    axis = first.dims.index(along)
    pieces = []
    for number, dataset in enumerate(datasets):
        if name not in dataset:
            raise ArgumentError(f"source: file {number + 1} has no variable {name}, which the first has")
        piece = dataset[name].variable
        alike = (piece.dims, piece.dtype, *(length for at, length in enumerate(piece.shape) if at != axis))
        if alike != (first.dims, first.dtype, *(length for at, length in enumerate(first.shape) if at != axis)):
            raise ArgumentError(
                f"source: variable {name} is {piece.dtype} {dict(piece.sizes)} in file {number + 1}, "
                f"and {first.dtype} {dict(first.sizes)} in the first"
            )
        pieces.append(piece)
    return Field(name, tuple(pieces), axis)


def _dimension_of(datasets: list[xr.Dataset]) -> str:
    """The dimension along which files follow each other: the one whose coordinate is not the same in all."""
    first, last = datasets[0], datasets[-1]
    found = [str(name) for name in first.indexes if name in last.indexes and not first.indexes[name].equals(last.indexes[name])]
    if len(found) != 1:
        raise ArgumentError(f"dimension: name the one along which files follow each other; coordinates that differ: {found}")
    starts = [dataset.indexes[found[0]][0] for dataset in datasets]
    if any(not before < behind for before, behind in zip(starts, starts[1:], strict=False)):
        raise ArgumentError(f"source: files are not in the order of {found[0]}: give them as a list in this order")
    return found[0]


def _check_coordinates(datasets: list[xr.Dataset], along: str) -> None:
    """Files must have the same coordinates along all other dimensions."""
    first = datasets[0].indexes
    for number, dataset in enumerate(datasets, 1):
        for name, index in dataset.indexes.items():
            if name != along and (name not in first or not index.equals(first[name])):
                raise ArgumentError(f"source: the coordinate {name} in file {number} is not that in the first file")


def _references_of(variable: xr.Variable) -> Iterable[str]:
    known = {**variable.encoding, **variable.attrs}
    for name in REFERENCES:
        yield from str(known.get(name) or "").replace(":", " ").split()


def _open_zarr(source: Any, **options: Any) -> xr.Dataset:
    with warnings.catch_warnings():
        # Consolidated metadata are not there, which costs time.
        warnings.simplefilter("ignore", RuntimeWarning)
        dataset: xr.Dataset = xr.open_zarr(source, **options)
    return dataset


def _raw(open_dataset: Callable[..., xr.Dataset], source: Any, names: Sequence[str]) -> xr.Dataset:
    """A dataset as it is stored, not decoded."""
    raw = {"mask_and_scale": False, "decode_times": False, "decode_timedelta": False, "chunks": {}}
    dataset: xr.Dataset = open_dataset(source, drop_variables=list(names), **raw)
    return dataset


def _without(dataset: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    return dataset.drop_vars(list(names))


def _identity_of(paths: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        found = os.stat(path)
        digest.update(f"{Path(path).name}\0{found.st_size}\0{int(found.st_mtime)}\0".encode())
    return digest.hexdigest()


def _of_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
