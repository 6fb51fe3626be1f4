"""Chunks that tools write in parts, so that they are decoded and encoded again: the bound holds against the original."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numcodecs
import numpy as np
import pytest
import zarr
from exact import beyond

import ferrosz
import ferrosz.hdf5
import ferrosz.numcodecs
from ferrosz.zarr import FerroszCodec, codec_for

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", ">f4", ">i2"]


def values_of(dtype: Any, field: np.ndarray, part: Any = np.s_[:12, :13, :14]) -> np.ndarray:
    return (field[part] * 20 + 60).astype(dtype)


def zarr_array(store: Any, values: np.ndarray, chunks: Any, kind: str, **settings: Any) -> zarr.Array:
    options: dict[str, Any] = {"zarr_format": 3, "serializer": None, "compressors": None}
    if kind == "v2":
        options = {"zarr_format": 2, "compressors": ferrosz.numcodecs.Ferrosz(dtype=values.dtype, **settings)}
    else:
        options["serializer"] = FerroszCodec(**settings)
    if kind == "shards":
        options["shards"] = tuple(2 * length for length in chunks)
    return zarr.create_array(store, shape=values.shape, chunks=chunks, dtype=values.dtype, **options)


SETTINGS = [{"abs": 2}, {"abs": 2, "preset": "fast"}, {"abs": 2, "codec": "lorenzo+huffman"}]


@pytest.mark.parametrize(
    "kind, settings", [("v2", SETTINGS[0]), ("shards", SETTINGS[0]), *(("v3", each) for each in SETTINGS)]
)
@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_written_again(kind: str, dtype: str, settings: dict[str, Any], field: np.ndarray) -> None:
    """A hundred times of one type, some times of the others."""
    values = values_of(dtype, field, np.s_[:6, :7, :12])
    array = zarr_array({}, values, (6, 7, 6), kind, **settings)
    array[...] = values
    for number in range(100 if dtype == "float32" else 15):
        at = np.unravel_index(number * 17 % values.size, values.shape)
        array[at] = values[at]
    assert beyond(values, array[...], 2) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("preset", [None, "fast", "balanced"])
def test_a_bound_relative_to_each_value(dtype: str, preset: str | None, field: np.ndarray) -> None:
    values = values_of(dtype, field)
    array = zarr_array({}, values, values.shape, "v3", pwrel=1e-2, preset=preset)
    array[...] = values
    for number in range(100 if preset == "balanced" else 25):
        at = np.unravel_index(number * 17 % values.size, values.shape)
        array[at] = values[at]
    assert beyond(values, array[...], 1e-2, pwrel=True) == 0


@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans"])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int16", "uint16", "int32", "uint32"]
)
def test_decoded_values_are_compressed_again(dtype: str, codec: str) -> None:
    """Arrays of any scale and bound, one value of which is written again."""
    random = np.random.default_rng(42)
    for _ in range(300):
        steps = np.cumsum(random.normal(0, 1, 300))
        kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            base = int(random.integers(limits.max // 8, limits.max - limits.max // 16))
            values = (np.round((steps - steps.min()) * 40) + base).astype(kind)
            bound = float(random.choice([1, 2, 3, 5]))
        else:
            scale = 10.0 ** random.uniform(-2, 2)
            values, bound = (steps * scale).astype(kind), float(scale * 10.0 ** random.uniform(-3, 0))
        found = ferrosz.decompress(ferrosz.compress(values, abs=bound, codec=codec, rewritable=True))
        place = int(random.integers(300))
        found[place] = values[place]
        found = ferrosz.decompress(ferrosz.compress(found, abs=bound, codec=codec, rewritable=True))
        assert beyond(values, found, bound) == 0


@pytest.mark.parametrize("kind", ["v3", "v2"])
def test_rows_are_appended(kind: str, field: np.ndarray) -> None:
    values = values_of("float32", field, np.s_[:32])
    array = zarr_array({}, values[:0], (32, 50, 60), kind, abs=0.05)
    for row in values:
        array.append(row[None])
    assert beyond(values, array[...], 0.05) == 0


def test_planes_of_a_chunk_that_is_larger_than_the_cache(tmp_path: Path) -> None:
    y, x = np.linspace(0, 3, 256)[:, None], np.linspace(0, 4, 256)
    noise = np.random.default_rng(0).normal(0, 0.01, (16, 256, 256))
    values = (280 + 0.1 * np.arange(16)[:, None, None] + 10 * (np.sin(1.3 * y) + np.sin(2.3 * x)) + noise).astype(
        "float32"
    )
    with h5py.File(tmp_path / "x.h5", "w", rdcc_nbytes=1 << 20) as file:
        dataset = file.create_dataset("x", values.shape, "f4", chunks=values.shape, **ferrosz.hdf5.Ferrosz(abs=0.02))
        for number, plane in enumerate(values):
            dataset[number] = plane
    with h5py.File(tmp_path / "x.h5") as file:
        assert 0 < file["x"].id.get_storage_size() < values.nbytes / 3
        assert beyond(values, file["x"][...], 0.02) == 0


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_a_dataset_without_a_cache(dtype: str, tmp_path: Path, field: np.ndarray) -> None:
    values = values_of(dtype, field)
    with h5py.File(tmp_path / "x.h5", "w", rdcc_nbytes=0) as file:
        dataset = file.create_dataset("x", values.shape, dtype, chunks=values.shape, **ferrosz.hdf5.Ferrosz(abs=2))
        for place in np.ndindex(*values.shape[:2]):
            dataset[place] = values[place]
        _, stored, _, _ = dataset.id.get_chunk_info(0)
        assert stored == 0, "the filter has made a stream"
        assert beyond(values, dataset[...], 2) == 0


def test_bfloat16_in_hdf5(tmp_path: Path, field: np.ndarray) -> None:
    bfloat16 = h5py.h5t.IEEE_F16LE.copy()
    bfloat16.set_fields(15, 7, 8, 0, 7)
    bfloat16.set_ebias(127)
    values = values_of(ml_dtypes.bfloat16, field).astype("float32")
    with h5py.File(tmp_path / "x.h5", "w", rdcc_nbytes=0) as file:
        dataset = file.create_dataset("x", values.shape, bfloat16, chunks=values.shape, **ferrosz.hdf5.Ferrosz(abs=2))
        for place in np.ndindex(*values.shape[:2]):
            dataset[place] = values[place]
        assert beyond(values, dataset[...], 2) == 0


def test_what_xarray_opens_changes_and_saves(tmp_path: Path, field: np.ndarray) -> None:
    import xarray as xr

    values = values_of("float32", field, np.s_[...])
    codec = FerroszCodec(abs=0.05)
    encoding = {"t": {"serializer": codec, "compressors": (), "chunks": (20, 50, 60)}}
    xr.Dataset({"t": (("z", "y", "x"), values)}).to_zarr(tmp_path / "0.zarr", encoding=encoding, consolidated=False)
    for number in range(10):
        opened = xr.open_zarr(tmp_path / f"{number}.zarr", consolidated=False).load()
        opened.t[number, number, number] = values[number, number, number]
        opened.to_zarr(tmp_path / f"{number + 1}.zarr", consolidated=False)
    written = zarr.open_array(tmp_path / "10.zarr" / "t")
    assert written.metadata.codecs[0] == codec
    assert beyond(values, written[...], 0.05) == 0


def test_chunks_that_are_written_once_may_have_splines(field: np.ndarray) -> None:
    once = FerroszCodec(abs=1e-3, written_once=True)
    lengths = {}
    for codec in (
        once,
        FerroszCodec(abs=1e-3),
        FerroszCodec(abs=1e-3, preset="balanced"),
        FerroszCodec(abs=1e-3, preset="small"),
    ):
        store: dict[str, Any] = {}
        array = zarr.create_array(
            store, shape=field.shape, chunks=field.shape, dtype="f4", serializer=codec, compressors=None
        )
        array[...] = field
        assert beyond(field, array[...], 1e-3) == 0
        lengths[codec] = len(store["c/0/0/0"].to_bytes())
    once_, *others = lengths.values()
    assert once_ < others[0] and len(set(others)) == 1
    assert codec_for(field, range=1e-3, chunks=field.shape).codec in (
        "lorenzo+rans",
        "lorenzo+huffman",
        "outlier",
        "lorenzo",
    )


@pytest.mark.parametrize(
    "make", [FerroszCodec, ferrosz.numcodecs.Ferrosz, ferrosz.hdf5.Ferrosz], ids=["zarr", "numcodecs", "hdf5"]
)
def test_splines_are_refused_by_name(make: Any) -> None:
    for codec in ("interp", "stencil+huffman", "slices", "cusz-hi"):
        with pytest.raises(ferrosz.ArgumentError, match="written_once=True"):
            make(abs=1, codec=codec)
        make(abs=1, codec=codec, written_once=True)
    with pytest.raises(ferrosz.ArgumentError, match="neither True nor False"):
        make(abs=1, written_once="no")


def test_metadata_have_the_setting_only_where_it_was_given() -> None:
    assert FerroszCodec(abs=1).to_dict()["configuration"] == {"abs": 1}
    given = FerroszCodec(abs=1, codec="interp", written_once=True)
    assert given.to_dict()["configuration"] == {"abs": 1, "codec": "interp", "written_once": True}
    assert FerroszCodec.from_dict(given.to_dict()) == given
    codec = numcodecs.get_codec({"id": "ferrosz", "abs": 1, "written_once": True})
    assert codec.get_config() == {"id": "ferrosz", "abs": 1, "written_once": True}
    assert numcodecs.get_codec({"id": "ferrosz", "abs": 1}).get_config() == {"id": "ferrosz", "abs": 1}
    assert ferrosz.hdf5.Ferrosz(abs=1, written_once=True).compression_opts[0] == 1 + (1 << 24)
    assert ferrosz.cf.attributes(given)["ferrosz_written_once"] == 1
    assert "ferrosz_written_once" not in ferrosz.cf.attributes(FerroszCodec(abs=1))
    assert ferrosz.cf.attributes(FerroszCodec(abs=1))["ferrosz_preset"] == "balanced"
    assert ferrosz.cf.attributes(FerroszCodec(abs=1, written_once=True))["ferrosz_preset"] == "small"


def test_an_array_with_splines_is_read_but_not_written(field: np.ndarray) -> None:
    """One whose metadata do not say that its chunks are written once."""
    store: dict[str, Any] = {}
    codec = FerroszCodec(abs=0.01, codec="interp", written_once=True)
    array = zarr.create_array(
        store, shape=field.shape, chunks=field.shape, dtype="f4", serializer=codec, compressors=None
    )
    array[...] = field
    metadata = store["zarr.json"].to_bytes().replace(b"true", b"false")
    store["zarr.json"] = type(store["zarr.json"]).from_bytes(metadata)
    opened = zarr.open_array(store)
    assert beyond(field, opened[...], 0.01) == 0
    with pytest.raises(ferrosz.ArgumentError, match="written_once=True"):
        opened[0, 0, 0] = 1


def test_the_filter_refuses_splines_by_name(tmp_path: Path, field: np.ndarray) -> None:
    words = list(ferrosz.hdf5.Ferrosz(abs=0.01, codec="interp", written_once=True).compression_opts)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for first, is_made in ((1 << 24 | 1, True), (1, False)):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk(field.shape)
            # Not optional: a failure is an error.
            properties.set_filter(ferrosz.hdf5.FILTER_ID, 0, (first, *words[1:]))
            space = h5py.h5s.create_simple(field.shape)
            if is_made:
                h5py.Dataset(h5py.h5d.create(file.id, b"once", h5py.h5t.NATIVE_FLOAT, space, properties))[...] = field
                continue
            with pytest.raises(ValueError):
                h5py.h5d.create(file.id, b"again", h5py.h5t.NATIVE_FLOAT, space, properties)
        assert ferrosz.info(file["once"].id.read_direct_chunk((0, 0, 0))[1]).codec == "interp"
        # A preset is what the codecs without splines are chosen by.
        file.create_dataset(
            "small",
            data=field,
            chunks=field.shape,
            compression=ferrosz.hdf5.FILTER_ID,
            compression_opts=(1, 0, *words[2:]),
        )
        balanced = ferrosz.compress(field, abs=0.01, preset="balanced", fill=["auto"])
        assert file["small"].id.read_direct_chunk((0, 0, 0))[1] == bytes(balanced)


def test_write_takes_splines_and_says_so(tmp_path: Path, field: np.ndarray) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        once = ferrosz.hdf5.write(file, "once", field, abs=1e-3)
        again = ferrosz.hdf5.write(file, "again", field, abs=1e-3, written_once=False)
        assert once.attrs["ferrosz_written_once"] == 1 and "ferrosz_written_once" not in again.attrs
        assert once.id.get_storage_size() < again.id.get_storage_size()


@pytest.mark.parametrize("tool", ["h5repack", "nccopy"])
def test_copies_by_tools(tool: str, tmp_path: Path, field: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    import xarray as xr

    monkeypatch.setenv("HDF5_PLUGIN_PATH", ferrosz.hdf5.PLUGIN_PATH)
    encoding = {"t": {**ferrosz.hdf5.Ferrosz(abs=0.05), "chunksizes": (20, 50, 60)}}
    data = xr.Dataset({"t": (("z", "y", "x"), field)})
    data.to_netcdf(tmp_path / "0.nc", engine="h5netcdf", encoding=encoding)
    chunks = (
        [["-l", "t:CHUNK=7x50x60"], ["-l", "t:CHUNK=40x9x60"]] if tool == "h5repack" else [["-c", "z/7"], ["-c", "y/9"]]
    )
    for number in range(6):
        files = [str(tmp_path / f"{place}.nc") for place in (number, number + 1)]
        subprocess.run([tool, *chunks[number % 2], *files], check=True, capture_output=True)
    with h5py.File(tmp_path / "6.nc") as file:
        assert str(ferrosz.hdf5.FILTER_ID) in file["t"]._filters
        assert beyond(field, file["t"][...], 0.05) == 0


def test_a_note_where_errors_add(field: np.ndarray, tmp_path: Path) -> None:
    import xarray as xr

    data = xr.DataArray(field, dims=("z", "y", "x"), name="t")
    codec = codec_for(data, range=1e-3)
    data.attrs.update(ferrosz.cf.attributes(codec, range=1e-3, variable=data))
    with pytest.warns(ferrosz.RepeatedCompression, match="'t' .*adds"):
        again = codec_for(data, range=1e-3)
    assert again == codec
    with pytest.warns(ferrosz.RepeatedCompression):
        ferrosz.hdf5.filter_for(data, range=1e-3)
    with pytest.warns(ferrosz.RepeatedCompression):
        ferrosz.cf.attributes(codec, variable=data.attrs)
    with h5py.File(tmp_path / "x.h5", "w") as file, pytest.warns(ferrosz.RepeatedCompression) as found:
        ferrosz.hdf5.write(file, "t", data, range=1e-3)
    assert [warning.filename for warning in found if warning.category is ferrosz.RepeatedCompression] == [__file__]


def test_presets_keep_signs_and_zeros() -> None:
    y, x = np.linspace(0, 9, 120)[:, None], np.linspace(0, 12, 150)
    rain = np.maximum(0, np.sin(y) * np.cos(x) - 0.3).astype("float32") * 40
    for preset in ("small", "balanced", "fast"):
        found = ferrosz.decompress(ferrosz.compress(rain, range=1e-2, preset=preset))
        assert found.min() >= 0 and (found[rain == 0] == 0).all()
    kept, free = ferrosz.compress(rain, range=1e-2), ferrosz.compress(rain, range=1e-2, keep="none")
    assert len(free) <= len(kept)
    with pytest.raises(ferrosz.ArgumentError, match="keep"):
        ferrosz.compress(rain, range=1e-2, keep="all")  # type: ignore[arg-type]
    with pytest.raises(ferrosz.ArgumentError, match="splines"):
        ferrosz.compress(rain, abs=1e-2, codec="interp", rewritable=True)
