"""Arrays of complex numbers: NumPy's types there and back, in every call, each part within the bound."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import ferrosz
import ferrosz.frames

TYPES = ["complex64", "complex128"]


def packet(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    """Waves of all axes, with some noise."""
    axes = np.meshgrid(*(np.linspace(0, 3 + axis, length) for axis, length in enumerate(shape)), indexing="ij")
    phase = np.asarray(sum(axes, np.zeros(shape)))
    noise = np.random.default_rng(seed).normal(0, 1e-3, (2, *shape))
    return np.asarray((1 + 0.3 * np.cos(phase)) * np.exp(3j * phase) + noise[0] + 1j * noise[1]).astype(dtype)


def largest_error(one: np.ndarray, other: np.ndarray) -> float:
    """Of all parts, in the precision of long double."""
    difference = one.astype("clongdouble") - other.astype("clongdouble")
    return float(max(abs(difference.real).max(), abs(difference.imag).max()))


def bounds(array: np.ndarray) -> list[tuple[dict[str, float], float]]:
    """Arguments, and the absolute error that they allow, computed from the parts."""
    parts = np.concatenate([array.real.ravel(), array.imag.ravel()]).astype("longdouble")
    return [
        ({"abs": 1e-3}, 1e-3),
        ({"range": 1e-3}, float(1e-3 * (parts.max() - parts.min()))),
        ({"max": 1e-3}, float(1e-3 * abs(parts).max())),
        ({"abs": 0}, 0),
    ]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(2000,), (40, 50), (12, 20, 30), (3, 4, 5, 16), (2, 1, 3, 2, 2, 2, 9), (), (0, 3)])
@pytest.mark.parametrize("choice", [{}, {"preset": "fast"}, {"codec": "lorenzo"}, {"codec": "interp"}])
def test_numbers_come_back(dtype: str, shape: tuple[int, ...], choice: dict[str, Any]) -> None:
    array = packet(shape, dtype)
    given = bounds(array) if array.size else [({"abs": 1e-3}, 1e-3)]
    for bound, error in given:
        stream = ferrosz.compress(array, **bound, **choice)
        back = ferrosz.decompress(stream)
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert not array.size or largest_error(array, back) <= error
        info = ferrosz.info(stream)
        assert (info.dtype, info.shape) == (dtype, array.shape)
        assert (info.size, info.array_bytes) == (array.size, array.nbytes)
        assert ferrosz.verify(array, stream)
        out = np.empty_like(array)
        ferrosz.decompress(stream, out=out)
        assert out.tobytes() == back.tobytes()


def test_a_relative_bound_is_that_of_each_part() -> None:
    array = packet((40, 50), "complex64")
    back = ferrosz.decompress(ferrosz.compress(array, pwrel=1e-2))
    for one, other in ((array.real, back.real), (array.imag, back.imag)):
        exact = one.astype("float64")
        assert (abs(exact - other) <= 1e-2 * abs(exact)).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("codec", ["plain", "lorenzo", "interp"])
def test_boxes_are_those_of_the_numbers(dtype: str, codec: str) -> None:
    array = packet((12, 20, 30), dtype)
    stream = ferrosz.compress(array, abs=1e-3, codec=codec)
    whole = ferrosz.decompress(stream)
    partial = ferrosz.PartialStream(bytes(stream)[: ferrosz.PartialStream.FIRST_BYTES])
    assert partial.shape == array.shape
    for box in (np.s_[3:5, 4:19, 1:2], np.s_[7], np.s_[..., 29], np.s_[3, 4, 5]):
        found = ferrosz.decompress(stream, box=box)
        assert found.dtype == array.dtype and np.array_equal(found, whole[box])
        while missing := partial.missing(box):
            for start, stop in missing:
                partial.put(start, bytes(stream)[start:stop])
        assert np.array_equal(partial.decompress(box), whole[box])


def test_all_layouts_of_memory_give_one_stream() -> None:
    array = packet((30, 40), "complex64")
    stream = ferrosz.compress(array, range=1e-3)
    double = np.empty((30, 80), "complex64")
    double[:, ::2] = array
    for same in (array.astype(">c8"), np.asfortranarray(array), double[:, ::2]):
        assert ferrosz.compress(same, range=1e-3) == stream
    # The parts are a field of one more axis, whose stream has the same values.
    parts = array.view("float32").reshape(30, 40, 2)
    plain = ferrosz.compress(parts, range=1e-3, axes=stream.info.axes, codec=stream.info.codec, rank=stream.info.rank)
    found = ferrosz.decompress(plain).view("complex64")[..., 0]
    assert np.array_equal(found, ferrosz.decompress(stream))
    assert ferrosz.info(plain).dtype == "float32"


def test_parts_that_are_no_numbers_come_back_bit_for_bit() -> None:
    array = packet((30, 40), "complex128")
    array[3, 4] = complex(np.nan, 1)
    array[5, 6] = complex(2, np.inf)
    back = ferrosz.decompress(ferrosz.compress(array, range=1e-3))
    assert np.isnan(back[3, 4].real) and abs(back[3, 4].imag - 1) < 0.01
    assert np.isinf(back[5, 6].imag) and abs(back[5, 6].real - 2) < 0.01
    array[7] = 1e20
    filled = ferrosz.compress(array, range=1e-3, fill=1e20)
    back = ferrosz.decompress(filled)
    assert (back[7].real == 1e20).all() and ferrosz.info(filled).absolute_error < 0.01


def test_arrays_of_short_axes_are_never_longer_than_raw() -> None:
    for shape in ((5000, 2), (5000, 3), (2, 5000), (5000, 1), (5, 1000, 2)):
        field = np.sin(np.arange(np.prod(shape)) * 0.003).astype("float32").reshape(shape)
        for codec in ("fixed", "plain", "outlier", "lorenzo", "layered", "interp", "lorenzo+rans"):
            assert len(ferrosz.compress(field, range=1e-4, codec=codec)) < field.nbytes, (shape, codec)


def test_what_is_not_complex_says_so() -> None:
    array = packet((30, 40), "complex64")
    stream = ferrosz.compress(array, abs=1e-3)
    for out in (np.empty((30, 40), "float32"), np.empty((30, 40), "complex128"), np.empty((30, 40, 2), "float32")):
        with pytest.raises(ferrosz.ArgumentError, match="out: "):
            ferrosz.decompress(stream, out=out)
    with pytest.raises(ferrosz.ArgumentError, match="original: .*complex64"):
        ferrosz.verify(array.real, stream)
    with pytest.raises(ferrosz.ArgumentError):
        ferrosz.compress(np.zeros((1,) * 8, "complex64"), abs=1e-3)
    compressor = ferrosz.Compressor(abs=1e-3, codec="plain")
    assert len(compressor.compress(array)) <= compressor.max_stream_bytes(array.shape, array.dtype)


def test_zarr_has_complex_arrays(tmp_path: Any) -> None:
    zarr = pytest.importorskip("zarr")
    from ferrosz.zarr import FerroszCodec

    array = packet((40, 50), "complex64")
    array[0, :9] = complex(1e20, -1e20)
    for codec in (FerroszCodec(abs=1e-3), FerroszCodec(abs=1e-3, codec="interp", written_once=True)):
        stored = zarr.create_array(
            tmp_path / f"{codec.codec}.zarr", shape=array.shape, chunks=(40, 20), dtype=array.dtype,
            serializer=codec, compressors=None, fill_value=complex(1e20, -1e20),
        )
        stored[:] = array
        back = stored[:]
        assert back.dtype == array.dtype and (back[0, :9] == array[0, :9]).all()
        assert largest_error(array[1:], back[1:]) <= 1e-3
        assert np.array_equal(stored[3:5, 7], back[3:5, 7])


def test_a_relative_bound_of_zarr_is_that_of_all_parts() -> None:
    pytest.importorskip("zarr")
    from ferrosz.zarr import codec_for

    array = np.array([1 + 100j, 2 - 28j, complex(np.nan, 7)], "complex64")
    assert codec_for(array, range=1 / 64).abs == 2.0


def test_numcodecs_has_complex_arrays() -> None:
    numcodecs = pytest.importorskip("numcodecs")
    array = packet((40, 50), "complex128")
    for codec in ({"id": "ferrosz", "abs": 1e-3}, {"id": "ferrosz", "abs": 1e-3, "codec": "lorenzo"}):
        coder = numcodecs.get_codec(codec)
        back = coder.decode(coder.encode(array))
        assert back.dtype == array.dtype and largest_error(array, back) <= 1e-3


def test_tensors_of_the_cpu_are_taken() -> None:
    torch = pytest.importorskip("torch")
    array = packet((40, 50), "complex64")
    stream = ferrosz.compress(torch.from_numpy(array), abs=1e-3)
    assert stream == ferrosz.compress(array, abs=1e-3)


@pytest.mark.parametrize("dtype", TYPES)
def test_batches_frames_updates_and_salvage_take_them(dtype: str) -> None:
    arrays = [packet(shape, dtype, seed) for seed, shape in enumerate([(3000,), (40, 50), (40, 50), (3000,)])]
    for codec in ("plain", "interp"):
        compressor = ferrosz.Compressor(abs=1e-3, codec=codec)
        streams = ferrosz.compress_batch([*arrays, arrays[0].real.copy()], compressor)
        assert [bytes(stream) for stream in streams[:4]] == [bytes(compressor.compress(array)) for array in arrays]
        backs = ferrosz.decompress_batch(streams)
        for array, back in zip(arrays, backs[:4], strict=True):
            assert (back.dtype, back.shape) == (array.dtype, array.shape)
            assert largest_error(array, back) <= 1e-3
        assert backs[4].dtype == arrays[0].real.dtype

    file = io.BytesIO()
    with ferrosz.frames.FrameWriter(file, ferrosz.Compressor(abs=1e-3, preset="fast")) as writer:
        writer.write(arrays[1])
        with pytest.raises(ferrosz.ArgumentError, match=dtype):
            writer.write(np.stack([arrays[2].real, arrays[2].imag], axis=-1))
        writer.write(arrays[2])
    frames = ferrosz.frames.Frames(file.getvalue())
    assert [frame.dtype for frame in frames] == [dtype] * 2
    assert largest_error(arrays[2], frames[1]) <= 1e-3

    stream = ferrosz.compress(arrays[1], abs=1e-3, codec="plain")
    box = np.s_[3:5, 7:9]
    changed = arrays[1].copy()
    changed[box] = [[1 - 2j, 3j], [4, -5 + 6j]]
    back = ferrosz.decompress(ferrosz.update(stream, changed[box], box=box))
    assert largest_error(changed, back) <= 1e-3
    with pytest.raises(ferrosz.ArgumentError, match=dtype):
        ferrosz.update(stream, changed[box].real, box=box)

    whole, none = ferrosz.salvage(stream)
    assert (whole.dtype, list(none)) == (arrays[1].dtype, [])
    damaged = bytearray(ferrosz.compress(packet((300, 200), dtype), abs=1e-3, codec="plain"))
    damaged[-1] ^= 1
    found, damages = ferrosz.salvage(damaged)
    is_lost = np.zeros(found.shape, bool)
    for damage in damages:
        for index in damage.lost:
            is_lost[index] = True
    assert is_lost.any() and (np.isnan(found) == is_lost).all()
