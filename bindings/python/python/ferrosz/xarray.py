"""ferrosz for datasets of xarray: the encoding of `to_netcdf` and `to_zarr`, and an accessor that writes in one line.

Importing this module registers the accessor `ferrosz`:

>>> import xarray
>>> field = np.sin(np.arange(300000, dtype="float32") / 1000).reshape(30, 100, 100)
>>> dataset = xarray.Dataset({"t2m": (("time", "lat", "lon"), field)}, {"lat": np.linspace(-90, 90, 100)})
>>> written = dataset.ferrosz.to_netcdf(folder / "t2m.nc", range=1e-3)
>>> with xarray.open_dataset(folder / "t2m.nc", engine="h5netcdf") as found:
...     bool(abs(found.t2m - dataset.t2m).max() <= written["t2m"].bound), bool((found.lat == dataset.lat).all())
(True, True)

It needs the extra `archive`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import xarray as xr

from . import ArgumentError, cf
from .archive import Variable
from .archive._asked import PlanGiven, asked_for
from .archive._choice import Choice, choose
from .archive._first_pass import codec_found, error_attributes, filter_found
from .archive._layout import layout_of
from .archive._netcdf import is_file
from .archive._source import open_source
from .archive._whole import convert_whole

__all__ = ["Encoding", "FerroszAccessor", "encoding"]

ENGINES = ("h5netcdf", "zarr")

WHY_NOT = {
    "netcdf4": "the package netCDF4 writes only filters that it knows by name; it reads what h5netcdf writes",
    "scipy": "scipy writes NetCDF-3, which has no filters",
}

Settings = Mapping[str, Any]


class Encoding(dict[str, dict[str, Any]]):
    """The argument `encoding` of `to_netcdf` or `to_zarr`, by the names of variables, and the attributes that say which
    error is left.

    >>> found = Encoding({"t": {"chunks": (10,)}}, {"t": {"ferrosz_bound": 0.5}})
    >>> found["t"], found.attributes["t"]
    ({'chunks': (10,)}, {'ferrosz_bound': 0.5})
    """

    def __init__(
        self,
        entries: Mapping[str, dict[str, Any]] | Iterable[tuple[str, dict[str, Any]]] = (),
        attributes: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(entries)
        self.attributes = dict(attributes or {})
        """Those of each variable, as `ferrosz.cf.attributes` has them."""

    def record(self, dataset: xr.Dataset) -> xr.Dataset:
        """The dataset with these attributes.

        >>> import xarray
        >>> dataset = xarray.Dataset({"t": ("x", np.zeros(3))})
        >>> Encoding(attributes={"t": {"ferrosz_bound": 0.5}}).record(dataset).t.attrs
        {'ferrosz_bound': 0.5}
        """
        return dataset.assign({name: dataset[name].assign_attrs(own) for name, own in self.attributes.items()})


def encoding(
    dataset: xr.Dataset,
    *,
    engine: str | None = None,
    range: float | None = None,
    abs: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    digits: int | None = None,
    plan: PlanGiven = None,
    variables: Mapping[str, Settings] | None = None,
    fill: Iterable[float] | None = None,
    preset: str | None = None,
    chunks: Mapping[str, int] | None = None,
    client: Any = None,
) -> Encoding:
    """The encoding with which `to_netcdf` and `to_zarr` compress a dataset within a bound.

    dataset
        Its arrays are of NumPy or Dask, or lazily opened. With a relative bound each is read here, a part at a time,
        for its range: missing values do not count, and the range is that of the whole variable.
    engine
        `"h5netcdf"` for `to_netcdf(..., engine="h5netcdf")`, the default, or `"zarr"`. Other engines write no filter of
        ferrosz, and are an error that says why.
    range, abs, max, pwrel, digits
        The bound of all measured variables with 65,536 elements or more. Coordinates, flags, integers and what is small
        have no entry, and stay exact: `ferrosz.archive.plan` says why. Without a bound only those of `variables` have.
    variables
        Settings of single variables, such as `{"t2m": {"abs": 0.01}}`: a bound, `fill`, `preset`, `codec` or `rank`.
    plan
        In place of both, a plan, as `ferrosz.archive.convert` takes it.
    fill
        Values that look like those of missing elements, and are values like others: `[]`, as `ferrosz.archive.convert`
        has it.
    preset
        `"small"`, the default, `"balanced"` or `"fast"`. Its codec is chosen once for all chunks of a variable.
    chunks
        Lengths of chunks by the names of dimensions; others are whole. By default chunks have 2 to 4 MiB, and are long
        along all axes. Those of arrays of Dask divide the chunks of Dask, so that each is written once.
    client
        A client of Dask that reads the variables for their ranges.

    Packed variables that xarray has decoded are written as the numbers that it shows; missing elements are NaN.

    Raises `ArgumentError`.

    >>> import xarray
    >>> field = np.sin(np.arange(300000, dtype="float32") / 1000).reshape(30, 100, 100)
    >>> dataset = xarray.Dataset({"t2m": (("time", "lat", "lon"), field), "flag": ("time", np.arange(30))})
    >>> found = encoding(dataset, range=1e-3)
    >>> list(found), found["t2m"]["chunksizes"], round(found.attributes["t2m"]["ferrosz_bound"], 6)
    (['t2m'], (30, 100, 100), 0.002)
    >>> dataset.to_netcdf(folder / "t.nc", engine="h5netcdf", encoding=found)
    >>> encoding(dataset, range=1e-3, engine="scipy")
    Traceback (most recent call last):
    ...
    ferrosz.errors.ArgumentError: engine: scipy writes NetCDF-3, which has no filters; give "h5netcdf" or "zarr"
    """
    if not isinstance(dataset, xr.Dataset):
        raise ArgumentError(f"dataset: {type(dataset).__name__} is none; an array becomes one by array.to_dataset(name=...)")
    engine = _engine(engine)
    given = {"range": range, "abs": abs, "max": max, "pwrel": pwrel, "digits": digits, "fill": fill, "preset": preset}
    asked = asked_for(None, variables, plan, given, chunks, as_stored=True)
    source = open_source(dataset, None)
    found = Encoding()
    how = (asked.variables, asked.defaults, chunks, None)
    for choice in choose(source, *how, bounds=asked.bounds, as_stored=True):
        name = choice.field.name
        cf.note_error(dataset[name])
        found[name], found.attributes[name] = _entry(_aligned(choice, dataset[name], chunks), engine, client)
    return found


def _engine(engine: str | None) -> str:
    if engine is None:
        return ENGINES[0]
    if engine not in ENGINES:
        reason = WHY_NOT.get(engine, f"{engine!r} is none that ferrosz knows")
        raise ArgumentError(f'engine: {reason}; give "h5netcdf" or "zarr"')
    return engine


def _aligned(choice: Choice, variable: xr.DataArray, chunks: Mapping[str, int] | None) -> Choice:
    """A choice whose chunks divide those of Dask. A chunk that is written in parts would be coded again for each."""
    if variable.chunks is None:
        return choice
    lengths = {str(dim): parts[0] for dim, parts in zip(variable.dims, variable.chunks, strict=True)}
    for dim, parts in zip(variable.dims, variable.chunks, strict=True):
        if len(set(parts[:-1])) > 1 or parts[-1] > parts[0]:
            raise ArgumentError(
                f"dataset: {variable.name} has chunks of Dask of different lengths along {dim}: rechunk it, or use "
                "dataset.ferrosz.to_netcdf or to_zarr"
            )
    if chunks is None:
        return replace(choice, chunks=layout_of(choice.field, None, lengths)[0])
    for dim, length in zip(variable.dims, choice.chunks, strict=True):
        if lengths[str(dim)] % length and lengths[str(dim)] < variable.sizes[dim]:
            raise ArgumentError(f"chunks: {length} of {dim} does not divide {lengths[str(dim)]}, the chunk of Dask")
    return choice


def _entry(choice: Choice, engine: str, client: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The encoding of a variable, and its attributes."""
    field = choice.field
    if len(field.missing) > 1:
        raise ArgumentError(
            f"dataset: {field.name} has several values of missing elements, {field.missing}: open it with decoded values, "
            "or use dataset.ferrosz.to_netcdf"
        )
    if engine == "zarr":
        codec, known = codec_found(choice, client, None)
        entry = {"serializer": codec, "compressors": (), "filters": (), "chunks": choice.chunks}
        if field.missing:
            entry["fill_value"] = field.missing[0]
        return entry, error_attributes(choice, codec, known)
    settings, known = filter_found(choice, client, None)
    entry = {**settings, "chunksizes": choice.chunks}
    return entry, error_attributes(choice, settings, known)


@xr.register_dataset_accessor("ferrosz")  # type: ignore[no-untyped-call]
class FerroszAccessor:
    """`dataset.ferrosz`, which writes a dataset within a bound."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def encoding(self, **settings: Any) -> Encoding:
        """The encoding of this dataset: see `ferrosz.xarray.encoding`.

        >>> import xarray
        >>> dataset = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
        >>> dataset.ferrosz.encoding(abs=1e-3)["t"]["chunksizes"]
        (100000,)
        """
        return encoding(self._dataset, **settings)

    def to_netcdf(
        self, path: str | os.PathLike[str], *, variables: Mapping[str, Settings] | None = None, **settings: Any
    ) -> dict[str, Variable]:
        """Writes the dataset to a file of NetCDF-4, whose name ends with `.nc`, and says what became of its variables.

        variables
            Settings of single variables, beside all others that are measured, such as `{"t2m": {"abs": 0.01}}`.
        settings
            Those of `ferrosz.archive.convert`, such as `range=1e-3`, `chunks` and `verify=True`.

        The file is written a part at a time, on all cores, as `PATH.partial`, and renamed when it is complete. Attributes
        say which error is left. `dataset.encoding["unlimited_dims"]` names dimensions that can grow.

        >>> import xarray
        >>> dataset = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
        >>> written = dataset.ferrosz.to_netcdf(folder / "t.nc", abs=1e-3, verify=True)
        >>> written["t"].bound, written["t"].largest_error <= 1e-3
        (0.001, True)
        """
        if not is_file(path):
            raise ArgumentError(f"path: {path} has no suffix of a file of NetCDF, such as .nc")
        return convert_whole(self._dataset, path, resume=False, bounds=variables, **settings)

    def to_zarr(
        self, path: str | os.PathLike[str], *, variables: Mapping[str, Settings] | None = None, **settings: Any
    ) -> dict[str, Variable]:
        """Writes the dataset to a Zarr v3 group with shards of ferrosz: the same as `to_netcdf`. There must be nothing of
        this name.

        >>> import xarray
        >>> dataset = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
        >>> written = dataset.ferrosz.to_zarr(folder / "t.zarr", abs=1e-3)
        >>> with xarray.open_zarr(folder / "t.zarr", consolidated=False) as found:
        ...     bool(abs(found.t - dataset.t).max() <= 1e-3)
        True
        """
        if is_file(path):
            raise ArgumentError(f"path: {path} has the suffix of a file of NetCDF: use to_netcdf")
        return convert_whole(self._dataset, path, resume=False, bounds=variables, **settings)
