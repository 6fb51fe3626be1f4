"""`ferrosz.xarray`: encodings that xarray writes, and the accessor, judged by NumPy."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import dask.array
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from exact import beyond

import ferrosz
import ferrosz.hdf5
import ferrosz.xarray
from ferrosz.xarray import Encoding, encoding

pytestmark = pytest.mark.filterwarnings("ignore")


def walk(seed: int) -> np.ndarray:
    return (280 + np.random.default_rng(seed).normal(0, 0.1, (40, 60, 80)).cumsum(axis=2)).astype("f4")


@pytest.fixture
def dataset() -> xr.Dataset:
    """Chunks have different ranges, and some values are missing."""
    t2m = walk(1)
    t2m[20:] = 280 + 5 * (t2m[20:] - 280)
    t2m[3, :20] = np.nan
    u10 = walk(2).astype("f8")
    return xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m, {"units": "K"}),
            "u10": (("time", "lat", "lon"), u10),
            "count": (("time", "lat", "lon"), np.arange(192000).reshape(40, 60, 80)),
            "small": ("lat", np.linspace(0, 1, 60)),
        },
        {"time": np.arange("2000-01-01", "2000-02-10", dtype="M8[D]").astype("M8[ns]"), "lat": np.linspace(-90, 90, 60)},
        {"title": "walks"},
    )


def span(values: Any) -> float:
    """Max - min of the finite values."""
    finite = np.asarray(values, "f8")[np.isfinite(values)]
    return float(finite.max() - finite.min())


def write(dataset: xr.Dataset, path: Path, engine: str, own: Encoding) -> xr.Dataset:
    if engine == "zarr":
        dataset.to_zarr(path, encoding=own, zarr_format=3, consolidated=False)
        return xr.open_zarr(path, consolidated=False)
    dataset.to_netcdf(path, engine="h5netcdf", encoding=own)
    return xr.open_dataset(path)


def assert_kept(dataset: xr.Dataset, found: xr.Dataset, bounds: dict[str, float]) -> None:
    assert set(found.variables) == set(dataset.variables) and found.attrs.items() >= dataset.attrs.items()
    for name in dataset.variables:
        if name in bounds:
            assert found[name].dtype == dataset[name].dtype
            assert beyond(dataset[name].values, found[name].values, bounds[str(name)]) == 0
            assert (found[name].values != dataset[name].values).any()
        else:
            assert found[name].variable.equals(dataset[name].variable), name
        assert found[name].attrs.items() >= dataset[name].attrs.items()


@pytest.mark.parametrize("engine", ["h5netcdf", "zarr"])
@pytest.mark.parametrize("chunks", [None, {"time": 20}, {"time": 7, "lon": 25}])
def test_xarray_writes_what_the_encoding_says(
    dataset: xr.Dataset, tmp_path: Path, engine: str, chunks: dict[str, int] | None
) -> None:
    """The range is that of the whole variable, also of one whose chunks are narrower."""
    source = dataset if chunks is None else dataset.chunk(chunks)
    own = encoding(source, engine=engine, range=1e-3, variables={"u10": {"abs": 0.05}})
    assert list(own) == ["t2m", "u10"]
    bounds = {"t2m": 1e-3 * span(dataset.t2m.values), "u10": 0.05}
    assert own.attributes["t2m"]["ferrosz_bound"] == pytest.approx(bounds["t2m"], rel=1e-12)
    assert own.attributes["u10"]["ferrosz_bound"] == 0.05
    found = write(own.record(source), tmp_path / "t", engine, own)
    assert_kept(dataset, found, bounds)
    assert found.t2m.attrs["ferrosz_range"] == 1e-3 and "ferrosz_range" not in found.u10.attrs
    if chunks is not None:
        # Each chunk is written once.
        key = "chunks" if engine == "zarr" else "chunksizes"
        for length, whole, of_dask in zip(own["t2m"][key], dataset.t2m.shape, source.t2m.chunks):
            assert of_dask[0] % length == 0 or of_dask[0] == whole
    assert pickle.loads(pickle.dumps(own)) == own and pickle.loads(pickle.dumps(own)).attributes == own.attributes


def test_the_file_has_one_codec_and_large_chunks(tmp_path: Path) -> None:
    """One codec is chosen for all chunks of a variable, and chunks have 1 MiB or more."""
    values = np.concatenate([walk(seed) for seed in range(10)]).repeat(2, axis=1)
    dataset = xr.Dataset({"t": (("time", "lat", "lon"), values)})
    own = encoding(dataset, range=1e-3)
    assert 1 << 20 <= 4 * np.prod(own["t"]["chunksizes"]) <= 4 << 20
    dataset.to_netcdf(tmp_path / "t.nc", engine="h5netcdf", encoding=own)
    with h5py.File(tmp_path / "t.nc") as file:
        chunks = [file["t"].id.read_direct_chunk(place.chunk_offset)[1] for place in stored_chunks(file["t"])]
    assert len(chunks) > 1
    assert {ferrosz.info(chunk).codec for chunk in chunks} == {own.attributes["t"]["ferrosz_codec"]}
    found = {ferrosz.info(chunk).absolute_error for chunk in chunks}
    assert len(found) == 1 and found.pop() == pytest.approx(own.attributes["t"]["ferrosz_bound"], rel=1e-6)
    assert encoding(dataset, range=1e-3, chunks={"time": 100, "lat": 30})["t"]["chunksizes"] == (100, 30, 80)


def stored_chunks(dataset: h5py.Dataset) -> list[Any]:
    return [dataset.id.get_chunk_info(number) for number in range(dataset.id.get_num_chunks())]


@pytest.mark.parametrize("engine", ["h5netcdf", "zarr"])
def test_values_of_missing_elements_come_back(dataset: xr.Dataset, tmp_path: Path, engine: str) -> None:
    """Of a dataset that was opened without decoding: they count in no range, and are the same bits."""
    mark = np.float32(-9999)
    values = np.nan_to_num(dataset.t2m.values, nan=mark)
    values[17, 5, 5] = mark
    raw = xr.Dataset({"t2m": (("time", "lat", "lon"), values, {"_FillValue": mark})})
    own = encoding(raw, engine=engine, range=1e-3)
    assert own.attributes["t2m"]["ferrosz_bound"] == pytest.approx(1e-3 * span(values[values != mark]), rel=1e-12)
    write(raw, tmp_path / "t", engine, own)
    options: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
    found = xr.open_dataset(tmp_path / "t", engine=engine, mask_and_scale=False, **options).t2m.values
    assert ((found == mark) == (values == mark)).all()
    assert beyond(values[values != mark], found[values != mark], own.attributes["t2m"]["ferrosz_bound"]) == 0
    raw.t2m.attrs["missing_value"] = np.float32(1e20)
    with pytest.raises(ferrosz.ArgumentError, match="several values of missing elements"):
        encoding(raw, engine=engine, range=1e-3)


@pytest.mark.parametrize("engine", ["h5netcdf", "zarr"])
def test_packed_values_use_all_of_their_bound(tmp_path: Path, engine: str) -> None:
    """Of a dataset that was opened without decoding, also beside the value of missing elements."""
    mark, steps = np.int16(-32767), np.rint(1000 * walk(3)).astype("i4")
    packed = (steps - steps.min() - 32766).astype("i2")
    packed[3, :20] = mark
    raw = xr.Dataset({"t": (("time", "lat", "lon"), packed, {"_FillValue": mark, "scale_factor": 0.5})})
    own = encoding(raw, engine=engine, abs=5)
    assert own.attributes["t"]["ferrosz_bound"] == 5
    write(raw, tmp_path / "t", engine, own)
    options: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
    found = xr.open_dataset(tmp_path / "t", engine=engine, mask_and_scale=False, **options).t.values
    assert ((found == mark) == (packed == mark)).all()
    assert np.abs(found.astype("i4") - packed).max() == 10


def test_packed_variables_are_written_as_xarray_shows_them(dataset: xr.Dataset, tmp_path: Path) -> None:
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
    dataset[["t2m"]].to_netcdf(tmp_path / "packed.nc", engine="h5netcdf", encoding={"t2m": packing})
    with xr.open_dataset(tmp_path / "packed.nc") as opened:
        own = encoding(opened, abs=0.1)
        found = write(opened, tmp_path / "t.nc", "h5netcdf", own)
        assert_kept(opened, found, {"t2m": 0.1})
    with netCDF4.Dataset(tmp_path / "t.nc") as file:
        assert "scale_factor" not in file["t2m"].ncattrs() and file["t2m"].dtype.kind == "f"


def test_dask_is_read_a_block_at_a_time() -> None:
    """Of an array of 1.2 GB less than a half is in memory at any time."""

    def block(block_info: Any) -> np.ndarray:
        number = block_info[None]["chunk-location"][0]
        values = np.linspace(number, number + 0.5, 1 << 20, dtype="f4").reshape(1, 1024, 1024)
        values[0, 0, 1] = np.nan
        return values

    array = dask.array.map_blocks(block, chunks=((1,) * 300, (1024,), (1024,)), dtype="f4", meta=np.empty((0, 0, 0), "f4"))
    dataset = xr.Dataset({"t": (("time", "y", "x"), array)})
    tracemalloc.start()
    own = encoding(dataset, range=1e-3, preset="fast")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert own.attributes["t"]["ferrosz_bound"] == pytest.approx(0.2995)
    assert peak < 512 << 20


@pytest.mark.parametrize("engine, message", [("scipy", "no filters"), ("netcdf4", "h5netcdf"), ("grib", "'grib' is none")])
def test_engines_without_the_filter_are_refused(dataset: xr.Dataset, engine: str, message: str) -> None:
    with pytest.raises(ferrosz.ArgumentError, match=f"engine: .*{message}"):
        encoding(dataset, engine=engine, range=1e-3)


def test_what_cannot_be_meant_is_refused(dataset: xr.Dataset, tmp_path: Path) -> None:
    for settings, message in (
        ({}, "t2m: give one of"),
        ({"range": 1e-3, "abs": 1}, "t2m: give one of"),
        ({"range": 1e-3, "variables": {"nothing": {"abs": 1}}}, "the source has no 'nothing'"),
        ({"range": 1e-3, "variables": {"count": {"abs": 1}}}, "only arrays of floating-point numbers"),
        ({"range": 1e-3, "variables": {"t2m": {"absolute": 1}}}, "t2m has unknown settings"),
    ):
        with pytest.raises(ferrosz.ArgumentError, match=message):
            encoding(dataset, **settings)
    with pytest.raises(ferrosz.ArgumentError, match="dataset: DataArray is none"):
        encoding(dataset.t2m, abs=1)
    uneven = dataset.chunk({"time": (5, 15, 20)})
    with pytest.raises(ferrosz.ArgumentError, match="different lengths along time"):
        encoding(uneven, range=1e-3)
    with pytest.raises(ferrosz.ArgumentError, match="does not divide 7"):
        encoding(dataset.chunk({"time": 7}), range=1e-3, chunks={"time": 5})
    for call, name in ((dataset.ferrosz.to_netcdf, "t.zarr"), (dataset.ferrosz.to_zarr, "t.nc")):
        with pytest.raises(ferrosz.ArgumentError, match="path: .*suffix"):
            call(tmp_path / name, range=1e-3)
    assert list(encoding(dataset, variables={"t2m": {"abs": 0.01}})) == ["t2m"]
    # A value like 1e20 that no attribute explains would be the range.
    dataset.t2m.values[7, :30] = 1e20
    with pytest.raises(ferrosz.ArgumentError, match="looks like the value of missing elements"):
        encoding(dataset, range=1e-3)


@pytest.mark.parametrize("name", ["t.nc", "t.zarr"])
@pytest.mark.parametrize("chunks", [None, {"time": (5, 15, 20), "lat": 25}])
def test_the_accessor_writes_in_one_line(
    dataset: xr.Dataset, tmp_path: Path, name: str, chunks: dict[str, Any] | None
) -> None:
    """Dask may have any chunks, and is out of memory."""
    source = dataset if chunks is None else dataset.chunk(chunks)
    source.encoding["unlimited_dims"] = {"time"}
    if name == "t.nc":
        # How a file had packed it does not count: the values are those in memory.
        source.small.encoding = {"dtype": "i2", "scale_factor": 0.5}
    to = source.ferrosz.to_netcdf if name == "t.nc" else source.ferrosz.to_zarr
    done = to(tmp_path / name, range=1e-3, variables={"u10": {"abs": 0.05}}, verify=True)
    bounds = {"t2m": 1e-3 * span(dataset.t2m.values), "u10": 0.05}
    assert {key: variable.bound for key, variable in done.items()} == pytest.approx(bounds)
    assert all(variable.largest_error <= variable.bound for variable in done.values())
    assert [found.name for found in tmp_path.iterdir()] == [name]
    found = xr.open_dataset(tmp_path / name) if name == "t.nc" else xr.open_zarr(tmp_path / name, consolidated=False)
    with found:
        assert_kept(dataset, found, bounds)
        assert found.t2m.attrs["ferrosz_range"] == 1e-3
        assert name != "t.nc" or found.encoding["unlimited_dims"] == {"time"}
    assert pickle.loads(pickle.dumps(source)).identical(source)


@pytest.mark.parametrize("name", ["t.nc", "t.zarr"])
def test_an_error_leaves_nothing(dataset: xr.Dataset, tmp_path: Path, name: str) -> None:
    """In the last block of the second pass."""
    calls = []

    def block(values: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) > 3 and values.size:
            raise OSError("the disk")
        return values

    array = dask.array.from_array(dataset.u10.values, chunks=(20, 60, 80)).map_blocks(block, meta=np.empty((0, 0, 0)))
    broken = xr.Dataset({"u10": (("time", "lat", "lon"), array)})
    to = broken.ferrosz.to_netcdf if name == "t.nc" else broken.ferrosz.to_zarr
    with pytest.raises((OSError, ferrosz.ArgumentError), match="the disk"):
        to(tmp_path / name, abs=0.01)
    assert not list(tmp_path.iterdir())


def test_a_group_that_is_there_is_kept_and_a_file_replaced(dataset: xr.Dataset, tmp_path: Path) -> None:
    dataset.ferrosz.to_zarr(tmp_path / "t.zarr", abs=0.1)
    with pytest.raises(ferrosz.ArgumentError, match="exists"):
        dataset.ferrosz.to_zarr(tmp_path / "t.zarr", abs=0.1)
    for bound in (0.1, 0.05):
        dataset.ferrosz.to_netcdf(tmp_path / "t.nc", abs=bound)
    with xr.open_dataset(tmp_path / "t.nc") as found:
        assert found.t2m.attrs["ferrosz_bound"] == 0.05


def test_what_another_dataset_left_is_not_taken(dataset: xr.Dataset, tmp_path: Path) -> None:
    """A killed process leaves `t.zarr.partial`, whose shards are sound, and of other values."""
    dataset.ferrosz.to_zarr(tmp_path / "other.zarr", abs=0.1)
    (tmp_path / "other.zarr").rename(tmp_path / "t.zarr.partial")
    changed = dataset.assign(t2m=dataset.t2m + 100)
    changed.ferrosz.to_zarr(tmp_path / "t.zarr", abs=0.1)
    with xr.open_zarr(tmp_path / "t.zarr", consolidated=False) as found:
        assert_kept(changed, found, {"t2m": 0.1, "u10": 0.1})


def test_repeated_compression_is_said(dataset: xr.Dataset, tmp_path: Path) -> None:
    dataset.ferrosz.to_netcdf(tmp_path / "t.nc", abs=0.1)
    with xr.open_dataset(tmp_path / "t.nc") as found, pytest.warns(ferrosz.RepeatedCompression, match="'t2m'"):
        encoding(found, abs=0.1)


def test_ferrosz_alone_imports_no_xarray() -> None:
    code = "import sys, ferrosz; assert not {'xarray', 'zarr', 'h5py'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
