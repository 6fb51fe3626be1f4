"""Levels of arrays, against slices of the whole array."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import numcodecs
import pytest
import zarr

import ferrosz
import ferrosz.numcodecs
from ferrosz.zarr import FerroszCodec

SHAPES = [(3000,), (70, 90), (20, 30, 50), (1, 33, 40), (2, 9, 20, 30)]
TYPES = ["float32", "float64", "float16", ml_dtypes.bfloat16, "int16", "uint16", "int32", "complex64", "complex128"]


def waves(shape: tuple[int, ...], dtype: Any = "float32") -> np.ndarray:
    number = np.arange(np.prod(shape)).reshape(shape)
    values = 100 * np.sin(number / 700) + 20 * np.cos(number % shape[-1] / 3) + 130
    return (values + 1j * values[::-1] if np.dtype(dtype).kind == "c" else values).astype(dtype)


def of_level(array: np.ndarray, level: int) -> np.ndarray:
    return array[(slice(None, None, 1 << level),) * array.ndim]


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def box_of_level(whole: np.ndarray, box: tuple[Any, ...], level: int) -> np.ndarray:
    """The values of a level in a box of slices and integers: those whose numbers in the whole array it has."""
    numbers = [np.arange(length)[item] for length, item in zip(whole.shape, box, strict=True)]
    kept = [number if number.ndim == 0 else number[number % (1 << level) == 0] for number in numbers]
    found = whole[np.ix_(*map(np.atleast_1d, kept))]
    return found.reshape([number.size for number in kept if number.ndim])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_levels_are_slices(shape: tuple[int, ...], dtype: Any) -> None:
    array = waves(shape, dtype)
    for options in ({"codec": "interp", "levels": 2}, {"levels": 3}, {"codec": "interp"}, {"preset": "fast"}):
        stream = ferrosz.compress(array, abs=0.5, **options)
        assert stream.info.levels_apart == options.get("levels", 0)
        whole = ferrosz.decompress(stream)
        for level in (0, 1, 2, 4, 9, 70):
            wanted = of_level(whole, min(level, 62))
            assert same(ferrosz.decompress(stream, level=level), wanted), (options, level)
            out = np.empty_like(wanted)
            assert ferrosz.decompress(stream, level=level, out=out) is out
            assert same(out, wanted), (options, level)


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_boxes_have_the_values_of_the_level(levels: int, field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=1e-3, codec="interp", levels=levels)
    whole = ferrosz.decompress(stream)
    boxes = [np.s_[3:37, 5:6, 0:60], np.s_[8, 1:50, 2:2], np.s_[8, -2, 16], np.s_[39:40, 7:9, 11:12], np.s_[-40, 16:33, :]]
    for level in (1, 2, 3):
        for box in boxes:
            integers = [range(length)[item] for length, item in zip(field.shape, box) if isinstance(item, int)]
            if any(number % (1 << level) for number in integers):
                with pytest.raises(ferrosz.ArgumentError, match=rf"of axis \d is not in level {level}"):
                    ferrosz.decompress(stream, box=box, level=level)
            else:
                found = ferrosz.decompress(stream, box=box, level=level)
                assert same(np.asarray(found), box_of_level(whole, box, level)), (box, level)
        found = ferrosz.decompress(stream, box=np.s_[..., 16:], level=level)
        assert same(found, of_level(whole[..., 16:], level))


def test_masked_arrays(field: np.ndarray) -> None:
    array = np.ma.masked_array(field, field > 1.2, fill_value=1e20)
    stream = ferrosz.compress(array, abs=1e-3, levels=2)
    whole = ferrosz.decompress(stream)
    assert (whole[array.mask] == np.float32(1e20)).all() and array.mask.any()
    for level in (1, 2, 3):
        assert same(ferrosz.decompress(stream, level=level), of_level(whole, level))
        box = ferrosz.decompress(stream, box=np.s_[8:, 3:44], level=level)
        assert same(box, box_of_level(whole, np.s_[8:, 3:44, :], level))


def read(file: bytes, stream: ferrosz.PartialStream, box: Any, level: int) -> int:
    """Puts in what a level of a box needs; returns the number of bytes."""
    count = rounds = 0
    while missing := stream.missing(box, level=level):
        rounds += 1
        for start, stop in missing:
            stream.put(start, file[start:stop])
            count += stop - start
    assert rounds <= 2
    return count


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64"])
def test_partial_streams_read_few_bytes(dtype: str) -> None:
    noise = np.random.default_rng(34).normal(0, 3, (600, 700))
    array = (waves((600, 700)) + noise).astype(dtype)
    file = bytes(ferrosz.compress(array, abs=0.5, codec="interp", levels=4))
    whole, stream = ferrosz.decompress(file), ferrosz.PartialStream(file[:2000])
    counts = []
    for level in (4, 3, 2, 1, 0):
        counts.append(read(file, stream, np.s_[...], level))
        assert same(stream.decompress(np.s_[...], level=level), of_level(whole, level))
        wanted = box_of_level(whole, np.s_[100:300, :], level)
        out = np.empty_like(wanted)
        assert stream.decompress(np.s_[100:300], level=level, out=out) is out and same(out, wanted)
    if dtype != "complex64":
        # A level has a quarter of the values of the next finer one, and all of it that is not in the coarser one is read.
        assert sum(counts[:3]) < len(file) / 8 and sum(counts[:4]) < len(file) / 2
    fresh = ferrosz.PartialStream(file[:2000])
    with pytest.raises(ferrosz.DamagedStream):
        fresh.decompress(np.s_[...], level=1)
    with pytest.raises(ferrosz.ArgumentError, match="box: 3 of axis 0 is not in level 1"):
        fresh.missing(3, level=1)


def test_coarse_to_fine(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=1e-3, levels=3)
    whole = ferrosz.decompress(stream)
    found = list(ferrosz.levels(stream))
    assert [level for level, _ in found] == [3, 2, 1, 0]
    assert all(same(array, of_level(whole, level)) for level, array in found)
    assert [level for level, _ in ferrosz.levels(stream, 1)] == [1, 0]
    first = next(ferrosz.levels(bytes(stream), 2, box=np.s_[:9, 4]))
    assert first[0] == 2 and same(first[1], whole[:9:4, 4, ::4])
    plain = ferrosz.compress(field, abs=1e-3, codec="plain")
    assert [level for level, _ in ferrosz.levels(plain)] == [0]
    assert [array.shape for _, array in ferrosz.levels(plain, 1)] == [(20, 25, 30), (40, 50, 60)]


def test_settings(field: np.ndarray) -> None:
    compressor = ferrosz.Compressor(abs=1e-3, levels=2)
    assert repr(compressor) == "ferrosz.Compressor(abs=0.001, levels=2)"
    assert pickle.loads(pickle.dumps(compressor)) == compressor
    assert ferrosz.Compressor(abs=1e-3, levels=0) == ferrosz.Compressor(abs=1e-3)
    stream = compressor.compress(field)
    names = ["codec", "rank", "axes", "chunk_tiles", "keep_sign", "keep_zero"]
    chosen = {name: getattr(stream.info, name) for name in names}
    assert ferrosz.compress(field, abs=1e-3, levels=stream.info.levels_apart, **chosen) == stream
    for options in ({"codec": "plain"}, {"preset": "fast"}, {"rewritable": True}):
        with pytest.raises(ferrosz.ArgumentError, match="no levels"):
            ferrosz.Compressor(abs=1e-3, levels=1, **options)
    with pytest.raises(ferrosz.ArgumentError, match=r"out: its shape is \[40, 50, 60\]"):
        ferrosz.decompress(stream, level=1, out=np.empty_like(field))


def test_progress_counts_the_values_of_a_level(large: np.ndarray) -> None:
    stream = ferrosz.compress(large[:64], abs=0.5, codec="interp", levels=2)
    done: list[int] = []
    array = ferrosz.decompress(stream, level=1, progress=done.append)
    assert sum(done) == array.size == 32 * 128 * 128


def test_zarr_codes_levels_apart(field: np.ndarray) -> None:
    codec = FerroszCodec(abs=1e-3, levels=2, written_once=True)
    assert codec.to_dict()["configuration"] == {"abs": 1e-3, "levels": 2, "written_once": True}
    assert FerroszCodec.from_dict(codec.to_dict()) == codec
    assert "levels" not in FerroszCodec(abs=1e-3).to_dict()["configuration"]
    store: dict[str, Any] = {}
    array = zarr.create_array(
        store, shape=field.shape, chunks=(20, 50, 60), dtype=field.dtype, serializer=codec, compressors=None
    )
    array[:] = field
    assert abs(array[:] - field).max() <= 1e-3 and abs(array[3:5, 7] - field[3:5, 7]).max() <= 1e-3
    chunk = store["c/1/0/0"].to_bytes()
    assert ferrosz.info(chunk).levels_apart == 2
    assert same(ferrosz.decompress(chunk, level=2), array[20::4, ::4, ::4])
    v2 = ferrosz.numcodecs.Ferrosz(abs=1e-3, levels=1, written_once=True)
    assert v2.get_config() == {"id": "ferrosz", "abs": 1e-3, "levels": 1, "written_once": True}
    assert numcodecs.get_codec(v2.get_config()).encode(field) == v2.encode(field)
    assert ferrosz.info(v2.encode(field)).levels_apart == 1
    assert "levels" not in ferrosz.numcodecs.Ferrosz(abs=1e-3).get_config()
    for make in (FerroszCodec, ferrosz.numcodecs.Ferrosz):
        with pytest.raises(ferrosz.ArgumentError, match="no levels"):
            make(abs=1e-3, levels=1)
