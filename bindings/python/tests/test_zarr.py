"""ferrosz in Zarr v3, through zarr-python, xarray and Dask; requests and bytes are counted in a store."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr.storage
from zarr.abc.store import RangeByteRequest
from zarr.core import codec_pipeline
from zarr.core.array_spec import ArrayConfig, ArraySpec

import ferrosz
from ferrosz.zarr import FerroszCodec, codec_for


class CountingStore(zarr.storage.MemoryStore):
    """Counts requests for chunks, and their bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[str, Any, int]] = []

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        value = await super().get(key, prototype, byte_range)
        if key.startswith("c/") and value is not None:
            self.requests.append((key, byte_range, len(value)))
        return value

    def take(self) -> tuple[int, int, set[str]]:
        """The number of requests, their bytes and their keys since the last call."""
        requests, self.requests = self.requests, []
        return len(requests), sum(length for *_, length in requests), {key for key, *_ in requests}


def create(store: Any, array: np.ndarray, codec: FerroszCodec, chunks: tuple[int, ...], **options: Any) -> zarr.Array:
    options = {"compressors": None, "serializer": codec, **options}
    made = zarr.create_array(store, shape=array.shape, chunks=chunks, dtype=array.dtype, **options)
    made[...] = array
    return made


@pytest.fixture(scope="module")
def wide() -> np.ndarray:
    """16 MiB, whose stream is longer than the first request."""
    walk = np.random.default_rng(18).normal(0, 1, (64, 256, 256)).cumsum(axis=2)
    return walk.astype("float32")


TYPES = ["f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("dtype", [order + name for name in TYPES for order in "<>"])
def test_every_type(dtype: str, field: np.ndarray) -> None:
    array = (field * 20 + 60).astype(dtype)
    back = create({}, array, FerroszCodec(abs=1), (20, 30, 40))[...]
    assert back.dtype == array.dtype
    assert np.abs(back.astype("float64") - array.astype("float64")).max() <= 1


def test_other_types_and_options_are_refused() -> None:
    for dtype, advice in (("bool", "no error bound"),):
        with pytest.raises(ferrosz.UnsupportedType, match=f"{dtype}.*{advice}"):
            create({}, np.zeros(4, dtype), FerroszCodec(abs=1), (4,))
    for options in ({}, {"abs": 1, "pwrel": 1}, {"abs": 1, "codec": "zip"}):
        with pytest.raises(ferrosz.ArgumentError):
            FerroszCodec(**options)
    for data in ({"name": "zfp"}, {"name": "ferrosz", "configuration": {"abs": 1, "level": 3}}):
        with pytest.raises(ferrosz.ArgumentError):
            FerroszCodec.from_dict(data)


def test_the_registry_is_told_every_key() -> None:
    texts = Path(__file__).parents[3] / "packaging" / "zarr-extensions"
    schema = json.loads((texts / "schema.json").read_text(encoding="utf-8"))
    keys = {field.name for field in dataclasses.fields(FerroszCodec)}
    assert schema["properties"]["configuration"]["properties"].keys() == keys
    assert all(f"`{key}`" in (texts / "README.md").read_text(encoding="utf-8") for key in keys)


def test_the_metadata_name_the_codec(tmp_path: Any, field: np.ndarray) -> None:
    create(tmp_path / "x.zarr", field, FerroszCodec(abs=0.01, preset="fast"), (40, 50, 60))
    found = json.loads((tmp_path / "x.zarr" / "zarr.json").read_text())["codecs"]
    assert found == [{"name": "ferrosz", "configuration": {"abs": 0.01, "preset": "fast"}}]
    back = zarr.open_array(tmp_path / "x.zarr", mode="r")
    assert np.abs(back[...] - field).max() <= 0.01
    chunk = (tmp_path / "x.zarr" / "c" / "0" / "0" / "0").read_bytes()
    assert np.array_equal(ferrosz.decompress(chunk), back[...]), "a chunk is a stream"


SELECTIONS = [
    np.s_[3],
    np.s_[-1, 5, 7],
    np.s_[..., 200],
    np.s_[10:14, 100:103, 50:60],
    np.s_[::17, 10:100:7, 4:9],
    np.s_[60:, 250:, 250:],
    np.s_[5:5],
]


@pytest.mark.parametrize("options", [{}, {"shards": (64, 128, 128)}], ids=["chunks", "shards"])
@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "interp"])
def test_every_selection(codec: str, options: dict[str, Any], wide: np.ndarray) -> None:
    chunks = (32, 64, 128) if options else (64, 128, 128)
    array = create({}, wide, FerroszCodec(abs=0.1, codec=codec, written_once=True), chunks, **options)
    whole = array[...]
    assert np.abs(whole - wide).max() <= 0.1 * (1 + 1e-6)
    for selection in SELECTIONS:
        assert np.array_equal(array[selection], whole[selection]), selection
    rows, columns = [1, 5, 40], [3, 200]
    assert np.array_equal(array.oindex[rows, columns, :], whole[np.ix_(rows, columns, range(256))])
    assert np.array_equal(array.vindex[[1, 50], [3, 200], [7, 250]], whole[[1, 50], [3, 200], [7, 250]])
    mask = np.zeros(wide.shape, bool)
    mask[3, 4, 5] = mask[60, 200, 9] = True
    assert np.array_equal(array.vindex[mask], whole[mask])
    array[10:14, 100:103, 50:60] = 7
    assert np.abs(array[10:14, 100:103, 50:60] - 7).max() <= 0.1 * (1 + 1e-6)


@pytest.mark.parametrize("codec, share", [("plain", 0.1), ("lorenzo+rans", 0.2)])
def test_a_box_reads_few_bytes_of_a_chunk(codec: str, share: float, wide: np.ndarray) -> None:
    store = CountingStore()
    array = create(store, wide, FerroszCodec(abs=0.1, codec=codec), wide.shape)
    store.take()
    whole = array[...]
    requests, all_bytes, _ = store.take()
    assert requests == 1
    found = array[10:14, 100:103, 50:60]
    requests, read, keys = store.take()
    assert np.array_equal(found, whole[10:14, 100:103, 50:60])
    assert keys == {"c/0/0/0"} and requests <= 3, (requests, read)
    assert read < share * all_bytes, (requests, read, all_bytes)


def test_a_box_of_a_shard_reads_its_chunks_alone(wide: np.ndarray) -> None:
    store = CountingStore()
    codec = FerroszCodec(abs=0.1)
    array = create(store, wide, codec, (32, 64, 64), shards=(64, 128, 128))
    store.take()
    whole = array[...]
    _, all_bytes, keys = store.take()
    assert len(keys) == 4
    found = array[3:5, 10:12, 20:22]
    requests, read, keys = store.take()
    assert np.array_equal(found, whole[3:5, 10:12, 20:22])
    # The index of the shard, and the chunk.
    assert keys == {"c/0/0/0"} and requests == 2
    assert read < 1.5 * all_bytes / 32


def test_the_fill_value_is_kept_and_spoils_no_bound(field: np.ndarray) -> None:
    for fill_value in (0, -9999.0, float("nan"), 1e20):
        values = field + 300
        values[:, 20:30] = fill_value
        # 40 x 50 x 60 in chunks of 32: those at the edge are padded with the fill value.
        array = create({}, values, FerroszCodec(abs=0.01), (32, 32, 32), fill_value=fill_value)
        back = array[...]
        filled = np.broadcast_to(np.arange(50)[:, None], (50, 60)) // 10 == 2
        assert np.array_equal(back[:, filled], values[:, filled], equal_nan=True)
        assert np.abs(back[:, ~filled] - values[:, ~filled]).max() <= 0.01 * (1 + 1e-6)


@pytest.mark.parametrize("rows", [0, 5])
@pytest.mark.parametrize("fill_value", [-32767, 0])
def test_no_other_value_becomes_the_fill_value(fill_value: int, rows: int) -> None:
    """Also in a chunk without the fill value."""
    distances = np.random.default_rng(7).integers(1, 200, (64, 64, 64))
    values = (fill_value + distances).astype("int16")
    values[:rows] = fill_value
    for settings in ({}, {"codec": "fixed"}, {"codec": "stencil"}, {"preset": "fast"}):
        codec = FerroszCodec(abs=65, keep_zero=True, written_once=True, **settings)
        back = create({}, values, codec, values.shape, fill_value=fill_value)[...]
        assert np.array_equal(back == fill_value, values == fill_value), settings
        assert np.abs(back.astype("int32") - values).max() == 65


def test_the_default_fill_value_costs_nothing_where_zeros_are_kept(field: np.ndarray) -> None:
    # Hits of a detector: few, and many within the bound of 0.
    hits = np.where(np.random.default_rng(5).random(field.shape) < 0.1, field, 0).astype("float32")
    for settings in ({}, {"codec": "outlier"}, {"codec": "stencil", "written_once": True}, {"written_once": True}):
        stores: list[dict[str, Any]] = [{}, {}]
        for store, fill_value in zip(stores, (0, 1e30), strict=True):
            array = create(store, hits, FerroszCodec(abs=0.5, **settings), hits.shape, fill_value=fill_value)
            assert np.abs(array[...] - hits).max() <= 0.5
            assert fill_value != 0 or (array[...][hits == 0] == 0).all()
        streams = [store["c/0/0/0"].to_bytes() for store in stores]
        has_mask = "written_once" in settings
        assert (streams[0] != streams[1]) == has_mask, settings


def test_a_chunk_that_is_not_there(field: np.ndarray) -> None:
    array = zarr.create_array(
        {}, shape=(64, 64, 64), chunks=(32, 32, 32), dtype="float32", fill_value=5,
        serializer=FerroszCodec(abs=1), compressors=None,
    )
    assert (array[3:5, 7:9] == 5).all() and (array[...] == 5).all()
    array[:32, :32, :32] = 80
    assert (array[40:42, 3] == 5).all()


def test_arrays_without_dimensions_and_without_elements() -> None:
    array = zarr.create_array({}, shape=(), dtype="float64", serializer=FerroszCodec(abs=0), compressors=None)
    array[...] = 3.5
    assert array[...] == 3.5
    empty = zarr.create_array(
        {}, shape=(0, 5), chunks=(1, 5), dtype="float64", serializer=FerroszCodec(abs=0), compressors=None
    )
    assert empty[...].shape == (0, 5)


def test_damaged_chunks_are_errors(wide: np.ndarray) -> None:
    store = zarr.storage.MemoryStore()
    array = create(store, wide, FerroszCodec(abs=0.1, codec="plain"), wide.shape)
    whole = array[...]
    chunk = store._store_dict["c/0/0/0"].to_bytes()

    def put(data: bytes) -> None:
        store._store_dict["c/0/0/0"] = zarr.core.buffer.default_buffer_prototype().buffer.from_bytes(data)

    put(chunk[:-1] + bytes([chunk[-1] ^ 1]))
    with pytest.raises(ferrosz.DamagedStream) as error:
        array[...]
    assert error.value.kind == "chunk_checksum"
    assert np.array_equal(array[:2, :2, :2], whole[:2, :2, :2]), "other chunks of the stream are whole"
    with pytest.raises(ferrosz.DamagedStream):
        array[-1, -1, -1]
    for data in (b"", b"nothing", chunk[:100], chunk[:5000], bytes(len(chunk))):
        put(data)
        for selection in (np.s_[...], np.s_[-1, -1, -1]):
            with pytest.raises(ferrosz.DamagedStream):
                array[selection]


def test_synchronous_and_asynchronous_methods_agree(wide: np.ndarray) -> None:
    """The synchronous pipeline came with zarr 3.3; its methods are called here as it calls them."""
    array = create({}, wide, FerroszCodec(abs=0.1), wide.shape)
    prototype = zarr.core.buffer.default_buffer_prototype()
    codec = FerroszCodec(abs=0.1)
    spec = ArraySpec(wide.shape, array.metadata.dtype, np.float32(0), ArrayConfig.from_dict({}), prototype)
    decoded = prototype.nd_buffer.from_numpy_array(wide)
    encoded = codec._encode_sync(decoded, spec)
    assert encoded.to_bytes() == asyncio.run(codec._encode_single(decoded, spec)).to_bytes()
    whole = codec._decode_sync(encoded, spec).as_numpy_array()

    class Getter:
        def get_sync(self, prototype: Any, byte_range: RangeByteRequest | None) -> Any:
            return encoded if byte_range is None else encoded[byte_range.start : byte_range.end]

        async def get(self, prototype: Any, byte_range: RangeByteRequest | None = None) -> Any:
            return self.get_sync(prototype, byte_range)

    for selection in itertools.chain(SELECTIONS[1:], [(slice(None),) * 3]):
        selection = tuple(np.index_exp[selection] if not isinstance(selection, tuple) else selection)
        if Ellipsis in selection or len(selection) < 3:
            continue
        found = codec._decode_partial_sync(Getter(), selection, spec)
        other = asyncio.run(codec._decode_partial_single(Getter(), selection, spec))
        assert np.array_equal(found.as_numpy_array(), whole[selection])
        assert np.array_equal(other.as_numpy_array(), whole[selection])


@pytest.mark.skipif(not hasattr(codec_pipeline, "FusedCodecPipeline"), reason="it came with zarr 3.3")
@pytest.mark.parametrize("options", [{}, {"shards": (64, 128, 128)}], ids=["chunks", "shards"])
def test_the_synchronous_pipeline(options: dict[str, Any], wide: np.ndarray) -> None:
    chunks = (32, 64, 128) if options else (64, 128, 128)
    expected = create({}, wide, FerroszCodec(abs=0.1), chunks, **options)
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"}):
        array = create({}, wide, FerroszCodec(abs=0.1), chunks, **options)
        assert "Fused" in type(array._async_array.codec_pipeline).__name__
        for selection in [np.s_[...], *SELECTIONS]:
            assert np.array_equal(array[selection], expected[selection]), selection


def test_the_range_of_the_whole_array(field: np.ndarray) -> None:
    import dask.array as da
    import xarray as xr

    array = field.copy()
    array[0, 0, :3] = [np.nan, np.inf, -np.inf]
    finite = array[np.isfinite(array)]
    range_ = Fraction(float(finite.max())) - Fraction(float(finite.min()))
    # The float below or at the exact product.
    codec = codec_for(array, range=1e-3, preset="fast")
    assert Fraction(codec.abs) <= Fraction(1e-3) * range_ < Fraction(np.nextafter(codec.abs, 1))
    assert codec.preset == "fast"
    assert codec_for(array, max=1e-3).abs == pytest.approx(1e-3 * np.abs(finite).max())
    assert codec_for(da.from_array(array, chunks=(7, 50, 60)), range=1e-3, preset="fast") == codec
    array[5:9] = -9999
    assert codec_for(array, range=1e-3, preset="fast") == codec, "it looks like a fill value"
    lazy = da.from_array(array, chunks=(7, 50, 60))
    assert codec_for(lazy, range=1e-3, fill=[-9999], preset="fast") == codec
    data = xr.DataArray(lazy, attrs={"_FillValue": np.float32(-9999)})
    assert codec_for(data, range=1e-3, preset="fast") == codec
    assert codec_for(np.full((3, 3), np.nan), range=1e-3).abs == 0
    for options in ({}, {"range": 1e-3, "max": 1e-3}):
        with pytest.raises(ferrosz.ArgumentError):
            codec_for(array, **options)


def test_the_codec_of_all_chunks(wide: np.ndarray) -> None:
    import dask.array as da

    chunks = (16, 64, 64)
    codec = codec_for(wide, range=1e-3, chunks=chunks)
    assert None not in (codec.codec, codec.rank, codec.axes) and codec.preset is None
    assert codec_for(da.from_array(wide, chunks=chunks), range=1e-3, chunks=chunks) == codec

    def length(codec: FerroszCodec) -> int:
        store = CountingStore()
        create(store, wide, codec, chunks)[...]
        return store.take()[1]

    assert length(codec) <= 1.02 * length(codec_for(wide, range=1e-3))
    assert codec_for(wide, range=1e-3, codec="plain", chunks=chunks) == codec_for(wide, range=1e-3, codec="plain")
    assert codec_for(wide, range=1e-3, rank=1, chunks=chunks).rank == 1
    assert codec_for(wide[:0], range=1e-3, chunks=chunks) == codec_for(wide[:0], range=1e-3)
    for wrong in ((16, 64), (16, 64, 0)):
        with pytest.raises(ferrosz.ArgumentError, match="chunks: "):
            codec_for(wide, range=1e-3, chunks=wrong)


def test_through_xarray(tmp_path: Any, field: np.ndarray) -> None:
    import xarray as xr

    values = field.copy()
    values[:5] = np.nan
    dataset = xr.Dataset({"t": (("z", "y", "x"), values)})
    codec = codec_for(dataset.t, range=1e-3)
    encoding = {"t": {"serializer": codec, "compressors": (), "chunks": (20, 50, 60), "_FillValue": -9999.0}}
    dataset.to_zarr(tmp_path / "x.zarr", zarr_format=3, encoding=encoding, consolidated=False)
    back = xr.open_zarr(tmp_path / "x.zarr", consolidated=False)
    found = back.t.values
    assert np.isnan(found[:5]).all() and not np.isnan(found[5:]).any()
    assert np.nanmax(np.abs(found - values)) <= codec.abs
    assert np.array_equal(back.t[7:9, 3].values, found[7:9, 3])


@pytest.mark.filterwarnings("ignore:Sending large graph")
def test_through_a_cluster_of_dask(tmp_path: Any, wide: np.ndarray) -> None:
    """Workers that are processes write and read the same as this process alone."""
    import dask.array as da
    from distributed import Client, LocalCluster

    chunks = (32, 128, 128)
    lazy = da.from_array(wide, chunks=chunks)
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster, Client(cluster):
        codec = codec_for(lazy, range=1e-3)
        target = zarr.create_array(
            tmp_path / "x.zarr", shape=wide.shape, chunks=chunks, dtype="float32", serializer=codec, compressors=None
        )
        da.store(lazy, target, lock=False)
        found = da.from_zarr(str(tmp_path / "x.zarr")).compute()
    assert codec == codec_for(wide, range=1e-3)
    assert np.abs(found.astype("float64") - wide).max() <= codec.abs * (1 + 1e-6)
    serial = create(tmp_path / "y.zarr", wide, codec, chunks)
    assert np.array_equal(found, serial[...])
    paths = [path.relative_to(tmp_path / "y.zarr") for path in (tmp_path / "y.zarr").rglob("c/**/*") if path.is_file()]
    assert len(paths) == 8
    for path in paths:
        assert (tmp_path / "x.zarr" / path).read_bytes() == (tmp_path / "y.zarr" / path).read_bytes()


@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
def test_through_dask(tmp_path: Any, processes: bool, wide: np.ndarray) -> None:
    import dask
    import dask.array as da

    lazy = da.from_array(wide, chunks=(32, 128, 128))
    codec = codec_for(lazy, range=1e-3, preset="fast")
    with dask.config.set(scheduler="processes" if processes else "threads", num_workers=4):
        target = zarr.create_array(
            tmp_path / "x.zarr", shape=wide.shape, chunks=(32, 128, 128), dtype="float32", serializer=codec, compressors=None
        )
        da.store(lazy, target, lock=False)
        found = da.from_zarr(str(tmp_path / "x.zarr")).compute()
    assert np.abs(found.astype("float64") - wide).max() <= codec.abs
    plain = create({}, wide, codec, (32, 128, 128))
    assert np.array_equal(found, plain[...])
