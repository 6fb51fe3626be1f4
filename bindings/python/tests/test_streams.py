"""Streams: buffers of every kind, boxes, `out`, the golden streams, and what a stream says about itself."""

from __future__ import annotations

import copy
import gc
import hashlib
import mmap
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest

import ferrosz

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"


@pytest.fixture(scope="module")
def stream(field: np.ndarray) -> ferrosz.Stream:
    return ferrosz.compress(field, range=1e-3)


def test_golden_streams_have_their_elements() -> None:
    rows = [line.split() for line in (GOLDEN / "index.txt").read_text().splitlines() if line[0] != "#"]
    assert len(rows) > 300
    wrong = []
    for name, elements, digest, *_ in rows:
        data = (GOLDEN / f"{name}.fsz").read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        array = ferrosz.decompress(data)
        if hashlib.sha256(array.astype(array.dtype, order="C").tobytes()).hexdigest() != elements:
            wrong.append(name)
        out = np.full_like(array, 1)
        ferrosz.decompress(data, out=out)
        assert out.tobytes() == array.tobytes(), name
    assert wrong == []


def test_any_buffer_is_a_stream(tmp_path: Path, stream: ferrosz.Stream, field: np.ndarray) -> None:
    expected = ferrosz.decompress(stream)
    path = tmp_path / "x.fsz"
    path.write_bytes(stream)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        buffers = [
            bytes(stream),
            bytearray(stream),
            memoryview(stream),
            mapped,
            np.frombuffer(stream, "uint8"),
            memoryview(b"1234" + bytes(stream))[4:],
        ]
        for buffer in buffers:
            assert np.array_equal(ferrosz.decompress(buffer), expected)
            assert ferrosz.info(buffer).shape == field.shape
        del buffers, buffer


def test_a_stream_is_like_bytes(stream: ferrosz.Stream) -> None:
    data = bytes(stream)
    assert len(stream) == len(data) == stream.info.stream_bytes
    assert stream == data and stream == ferrosz.Stream(data) and stream != data[:-1]
    assert stream != "text" and stream is not None
    assert hash(stream) == hash(data) and {stream: 1}[ferrosz.Stream(data)] == 1
    assert pickle.loads(pickle.dumps(stream)) == stream
    assert copy.copy(stream) == copy.deepcopy(stream) == stream
    view = memoryview(stream)
    assert view.readonly and view.format == "B" and view.nbytes == len(data)
    assert "float32" in repr(stream) and "ratio" in repr(stream)


def test_a_view_keeps_the_stream(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=0.1)
    array = np.frombuffer(stream, "uint8")
    alive, expected = weakref.ref(stream), bytes(stream)
    del stream
    gc.collect()
    assert alive() is not None and array.tobytes() == expected
    del array
    gc.collect()
    assert alive() is None


def test_a_result_owns_its_memory(stream: ferrosz.Stream) -> None:
    first = ferrosz.decompress(stream)
    first[:] = 0
    assert first.flags.writeable and ferrosz.decompress(stream).any()


BOXES = [
    np.s_[:],
    np.s_[...],
    np.s_[3],
    np.s_[-1, ..., -1],
    np.s_[3:7, :, 10:20],
    np.s_[5:2],
    np.s_[..., 100:200],
    np.s_[:100, 7:8, -5:],
    np.s_[1, 2, 3],
    np.s_[2:3, ..., 4:5],
    np.s_[np.int64(4), np.uint8(5)],
    (),
]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "interp"])
def test_a_box_is_the_part_of_the_array(box: object, codec: str, field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=0.01, codec=codec)
    expected = ferrosz.decompress(stream)[box]
    found = ferrosz.decompress(stream, box=box)
    assert found.shape == expected.shape and np.array_equal(found, expected)
    out = np.zeros(expected.shape, "float32")
    assert ferrosz.decompress(stream, box=box, out=out) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    "box", [np.s_[40], np.s_[-41], np.s_[::2], np.s_[::-1], np.s_[0, 0, 0, 0], (..., ...), "x", 1.5, None, [1, 2]]
)
def test_other_boxes_are_refused(box: object, stream: ferrosz.Stream) -> None:
    if box is None:
        box = np.newaxis, 1
    with pytest.raises(ferrosz.ArgumentError, match="box"):
        ferrosz.decompress(stream, box=box)


def test_out_is_checked(stream: ferrosz.Stream, field: np.ndarray) -> None:
    locked = np.empty_like(field)
    locked.flags.writeable = False
    wrong = [
        (np.empty(field.shape, "float64"), "elements are float64"),
        (np.empty(field.shape, ">f4"), "elements are"),
        (np.empty(field.size, "float32"), "shape"),
        (np.asfortranarray(field), "C order"),
        (np.empty((80, 50, 60), "float32")[::2], "C order"),
        (locked, "read-only"),
        (bytearray(field.nbytes), "not a NumPy array"),
    ]
    for out, message in wrong:
        with pytest.raises(ferrosz.ArgumentError, match=f"out: .*{message}"):
            ferrosz.decompress(stream, out=out)


@pytest.mark.parametrize("codec", ["plain", "fixed", "lorenzo", "lorenzo+rans", "interp", "stencil+bitplane"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int16", "uint32"])
def test_no_stream_is_longer_than_its_room(codec: str, dtype: str) -> None:
    compressor = ferrosz.Compressor(abs=0, codec=codec)
    noise = np.random.default_rng(5).integers(0, 256, 30 * 40 * 50 * 8, dtype="uint8")
    for shape in [(30, 40, 50), (1000,), 1000, (), (0, 5)]:
        room = compressor.max_stream_bytes(shape, dtype)
        if dtype != "bfloat16":
            array = noise.view(dtype)[: int(np.prod(shape))].reshape(shape)
            assert len(compressor.compress(array)) <= room
            assert room == compressor.max_stream_bytes(shape, np.dtype(dtype))
    ferrosz.release_memory()


def test_out_of_a_compression_is_for_gpus(field: np.ndarray) -> None:
    compressor = ferrosz.Compressor(abs=1, codec="plain")
    with pytest.raises(ferrosz.ArgumentError, match="out: .* GPU"):
        compressor.compress(field, out=np.empty(compressor.max_stream_bytes(field.shape, field.dtype), "uint8"))
    with pytest.raises(ferrosz.ArgumentError, match="chosen"):
        ferrosz.Compressor(abs=1).max_stream_bytes(field.shape, field.dtype)
    with pytest.raises(ferrosz.ArgumentError):
        compressor.max_stream_bytes((2**40, 2**40), "float32")
    with pytest.raises(ferrosz.UnsupportedType):
        compressor.max_stream_bytes(field.shape, "complex256")


def test_what_a_stream_says(field: np.ndarray) -> None:
    info = ferrosz.info(ferrosz.compress(field, range=1e-3, codec="interp", fill=None))
    assert (info.dtype, info.shape, info.codec, info.mode, info.bound) == ("float32", field.shape, "interp", "range", 1e-3)
    assert (info.size, info.array_bytes) == (field.size, field.nbytes)
    assert info.ratio == field.nbytes / info.stream_bytes
    assert info.bits_per_value == 8 * info.stream_bytes / field.size
    assert info.absolute_error <= 1e-3 * (float(field.max()) - float(field.min()))
    assert not info.lossless and info.fill == [] and info.update_bytes == 0 and info.mask_bytes == 0
    for part in ("(40, 50, 60)", "float32", "interp", "range = 1e-3", "absolute error"):
        assert part in repr(info)


def test_partial_streams_have_every_box(field: np.ndarray) -> None:
    for codec in ("plain", "lorenzo+rans", "interp"):
        file = bytes(ferrosz.compress(field, abs=1e-3, codec=codec))
        whole = ferrosz.decompress(file)
        stream = ferrosz.PartialStream(file[:2000])
        assert stream.shape == field.shape
        for box in BOXES:
            rounds = 0
            while missing := stream.missing(box):
                rounds += 1
                for start, stop in missing:
                    assert 0 <= start < stop <= len(file)
                    stream.put(start, file[start:stop])
            assert rounds <= 2
            assert np.array_equal(stream.decompress(box), whole[box])


def test_unknown_bytes_are_damage(field: np.ndarray) -> None:
    file = bytes(ferrosz.compress(field, abs=1e-3, codec="plain"))
    stream = ferrosz.PartialStream(file[:2000])
    with pytest.raises(ferrosz.DamagedStream):
        stream.decompress(np.s_[20:30])
    with pytest.raises(ferrosz.DamagedStream):
        stream.put(len(file), b"x")
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.PartialStream(file[:100])
    assert error.value.kind == "truncated"
