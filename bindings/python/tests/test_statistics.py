"""Statistics in streams, and values that are found by them, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ferrosz

SHAPE = (20, 90, 110)


def slope(dtype: str) -> np.ndarray:
    noise = np.random.default_rng(7).integers(0, 8, SHAPE)
    return (np.arange(SHAPE[0])[:, None, None] * 100 + np.arange(SHAPE[1])[:, None] + noise).astype(dtype)


@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "interp"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "uint32"])
def test_values_are_found_where_they_are(codec: str, dtype: str, tmp_path: Path) -> None:
    stream = ferrosz.compress(slope(dtype), abs=1, codec=codec, statistics=True)
    path = tmp_path / "t.fsz"
    path.write_bytes(bytes(stream))
    asked: list[tuple[int, int]] = []

    def read(ranges: list[tuple[int, int]]) -> list[bytes]:
        asked.extend(ranges)
        return [bytes(stream)[start:stop] for start, stop in ranges]

    decoded = ferrosz.decompress(stream)
    for above, below in ((1950, None), (None, 20), (700, 705), (1e6, None), (None, None)):
        expected = np.ones(SHAPE, bool)
        if above is not None:
            expected &= decoded.astype(float) > above
        if below is not None:
            expected &= decoded.astype(float) < below
        for source in (stream, bytes(stream), path, str(path), read):
            found = ferrosz.where(source, above=above, below=below)
            indices, values = found
            assert all((a == b).all() for a, b in zip(indices, np.nonzero(expected), strict=True))
            assert values.dtype == decoded.dtype
            assert (values == decoded[expected]).all()
            assert found.chunks_read <= found.chunks
            assert found.bytes_read <= len(stream)
    assert asked


def test_few_chunks_are_read() -> None:
    array = np.random.default_rng(1).random((200, 100, 100)) + np.arange(200)[:, None, None]
    stream = ferrosz.compress(array, abs=1e-9, codec="plain", statistics=True)
    found = ferrosz.where(stream, above=199.5)
    assert 0 < found.chunks_read < found.chunks / 10
    assert found.bytes_read < len(stream) / 5
    assert len(found.values) == (ferrosz.decompress(stream) > 199.5).sum()


def test_statistics_are_those_of_the_array() -> None:
    array = slope("float32").astype("float64") + 0.25
    array[3] = -9999
    array[4, 5] = np.nan
    stream = ferrosz.compress(array, abs=1, fill=[-9999, np.nan], statistics=True)
    present = array[(array != -9999) & ~np.isnan(array)]
    found = ferrosz.stats(stream)
    assert (found.min, found.max, found.size) == (present.min(), present.max(), present.size)
    assert found.mean == pytest.approx(present.mean(), rel=1e-12)
    assert found.groups >= 1
    assert not found.outdated
    assert ferrosz.where(stream, below=-1000).values.size == 0
    updated = ferrosz.compress(np.zeros(100_000), abs=1, codec="plain", statistics=True)
    updated = ferrosz.update(updated, np.full(3, 7.0), box=np.s_[10:13])
    assert ferrosz.stats(updated).outdated
    assert ferrosz.where(updated, above=5).indices[0].tolist() == [10, 11, 12]
    assert ferrosz.stats(ferrosz.compact(updated)) is None


def test_streams_without_statistics() -> None:
    array = np.arange(1000.0)
    stream = ferrosz.compress(array, abs=0.1)
    assert ferrosz.stats(stream) is None
    found = ferrosz.where(stream, below=10.5)
    assert found.chunks_read == found.chunks
    assert found.indices[0].tolist() == list(range(len(found.values)))
    compressor = ferrosz.Compressor(abs=0.1, statistics=True)
    assert repr(compressor) == "ferrosz.Compressor(abs=0.1, statistics=True)"
    assert compressor.compress(array) == ferrosz.compress(array, abs=0.1, statistics=True)
    assert ferrosz.where(ferrosz.compress(np.float64(5), abs=0.1), above=4).values.tolist() == [5.0]


def test_errors_of_readers_and_damage_are_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ferrosz.stats(tmp_path / "nothing.fsz")
    with pytest.raises(ferrosz.DamagedStream):
        ferrosz.where(b"no stream" * 100)
    with pytest.raises(ferrosz.UnsupportedType):
        ferrosz.stats(5)

    def fail(ranges: list[tuple[int, int]]) -> list[bytes]:
        raise OSError("the network is away")

    with pytest.raises(OSError, match="the network is away"):
        ferrosz.where(fail)
    stream = bytearray(ferrosz.compress(np.arange(1000.0), abs=0.1, statistics=True))
    stream[-20] ^= 1
    with pytest.raises(ferrosz.DamagedStream):
        ferrosz.stats(stream)
    assert (ferrosz.decompress(stream) < 1000).all()
