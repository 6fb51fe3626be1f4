"""Files of frames: their bytes by a reader of the tests' own, made from codec/FRAMES.md; damage; files of Python."""

from __future__ import annotations

import io
import os
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ferrosz
import ferrosz.frames

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "independent"))
from container import checksum  # noqa: E402

COMPRESSOR = ferrosz.Compressor(abs=0.01, preset="balanced")


def frame(number: int) -> np.ndarray:
    y, x = np.mgrid[:30, :40]
    return (np.sin(x / 9 + number) * np.cos(y / 7) + number).astype("float32")


def records(file: bytes) -> Iterator[tuple[int, bytes, int, bytes]]:
    """The position, the kind, the number a and the content of each record."""
    at = 0
    while at < len(file):
        magic, a, size, found = struct.unpack_from("<8s3Q", file, at)
        assert magic[:3] + magic[4:] == b"\x89FS\r\n\x1a\n" and found == checksum(file[at : at + 24], 0)
        kind = magic[3:4]
        content = b"" if kind in b"Fe" else file[at + 32 : at + 32 + size]
        assert kind == b"e" or kind == b"F" or len(content) == size
        yield at, kind, a, content
        at += 32 + len(content)


def written(count: int) -> bytes:
    file = io.BytesIO()
    with ferrosz.frames.FrameWriter(file, COMPRESSOR) as writer:
        writer.write(frame(0))
        writer.write_all(frame(number) for number in range(1, count))
    assert writer.frames == count
    return file.getvalue()


def test_the_bytes_are_those_of_the_format() -> None:
    file = written(5)
    found = list(records(file))
    assert [(kind, a) for _, kind, a, _ in found] == [
        (b"F", 1),
        *[(b"f", number) for number in range(5)],
        (b"i", 5),
        (b"e", 5),
    ]
    of_first = ferrosz.compress(frame(0), abs=0.01, preset="balanced").info
    single = ferrosz.Compressor(
        abs=0.01, codec=of_first.codec, rank=of_first.rank, axes=of_first.axes, chunk_tiles=of_first.chunk_tiles
    )
    for number, (_, _, _, content) in enumerate(found[1:6]):
        assert content == bytes(single.compress(frame(number)))
    at, _, _, index = found[6]
    of_index, before, *positions = struct.unpack(f"<{len(index) // 8}Q", index)
    assert of_index == checksum(index[8:], 5) and before == 0
    assert positions == [position for position, *_ in found[1:6]]
    assert struct.unpack_from("<Q", file, len(file) - 16) == (at,)


@pytest.mark.parametrize("count", [0, 1, 20])
def test_frames_come_back(count: int, tmp_path: Path) -> None:
    path = tmp_path / "run.fsf"
    with ferrosz.frames.FrameWriter(path, COMPRESSOR) as writer:
        for number in range(count):
            writer.write(frame(number))
    assert path.read_bytes() == (written(count) if count else path.read_bytes())
    for source in (path, str(path), path.read_bytes()):
        frames = ferrosz.frames.Frames(source)
        assert len(frames) == count and frames.end == "indexed"
        assert sum(1 for _ in frames) == count
        for number in range(-count, count):
            assert abs(frames[number] - frame(number % max(count, 1))).max() <= 0.01
            assert (ferrosz.decompress(frames.stream(number)) == frames[number]).all()
        for outside in (count, -count - 1):
            with pytest.raises(IndexError, match=f"only {count} frames"):
                frames[outside]
    with path.open("rb") as file:
        reader = ferrosz.frames.FrameReader(file)
        assert [bytes(stream) for stream in reader] == [bytes(frames.stream(number)) for number in range(count)]
        assert reader.has_ended


def test_a_frame_leaves_before_the_next_one_comes() -> None:
    source, sink = os.pipe()
    got: list[int] = []
    step = threading.Semaphore(0)

    def read() -> None:
        with os.fdopen(source, "rb", buffering=0) as file:
            for stream in ferrosz.frames.FrameReader(file):
                got.append(int(ferrosz.decompress(stream).mean().round()))
                step.release()

    thread = threading.Thread(target=read)
    with os.fdopen(sink, "wb") as file:
        with ferrosz.frames.FrameWriter(file, COMPRESSOR) as writer:
            writer.write(frame(0))
            thread.start()
            for number in range(1, 5):
                assert step.acquire(timeout=60) and len(got) == number
                writer.write(frame(number))
    thread.join()
    assert got == [0, 1, 2, 3, 4]


def test_a_file_that_ends_early_has_its_whole_frames() -> None:
    file = written(6)
    ends = [at + 32 + len(content) for at, kind, _, content in records(file) if kind == b"f"]
    for length in range(32, len(file), 97):
        frames = ferrosz.frames.Frames(file[:length])
        assert frames.end == "stopped" and len(frames) == sum(end <= length for end in ends)
    reader = ferrosz.frames.FrameReader(io.BytesIO(file[: ends[3] - 1]))
    assert [next(reader).info.shape for _ in range(3)] == [(30, 40)] * 3
    with pytest.raises(ferrosz.DamagedStream, match="cut off behind 3 whole ones") as error:
        next(reader)
    assert error.value.kind == "bad_frames" and list(reader) == [] and not reader.has_ended


def test_damage_costs_its_frame_alone() -> None:
    file = bytearray(written(6))
    places = [at for at, kind, _, _ in records(bytes(file)) if kind == b"f"]
    file[places[2] + 9] ^= 1
    file[places[4] + 300] ^= 1
    frames = ferrosz.frames.Frames(file)
    for number in (0, 1, 3, 5):
        assert abs(frames[number] - frame(number)).max() <= 0.01
    for number in (2, 4):
        with pytest.raises(ferrosz.DamagedStream):
            frames[number]
    file[-32] ^= 1
    again = ferrosz.frames.Frames(file)
    assert again.end == "stopped" and len(again) == 6 and (again[5] == frames[5]).all()
    for start in (b"", b"\x93NUMPY", bytes(file[:31])):
        with pytest.raises(ferrosz.DamagedStream, match="frames"):
            ferrosz.frames.Frames(start)
        with pytest.raises(ferrosz.DamagedStream, match="frames"):
            ferrosz.frames.FrameReader(io.BytesIO(start))


class Full:
    """A file for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room, self.bytes = room, b""

    def write(self, data: bytes) -> int:
        if len(self.bytes) + len(data) > self.room:
            raise OSError(28, "the disk is full")
        # A part alone, as a pipe may take it.
        self.bytes += data[:1000]
        return min(len(data), 1000)


def test_the_exception_of_a_file_comes_back() -> None:
    file = Full(5000)
    writer = ferrosz.frames.FrameWriter(file, ferrosz.Compressor(abs=1e-6, codec="plain"))
    with pytest.raises(OSError, match="the disk is full") as error:
        for number in range(10):
            writer.write(frame(number))
    assert error.value.errno == 28
    frames = ferrosz.frames.Frames(file.bytes)
    assert len(frames) == writer.frames >= 1 and abs(frames[0] - frame(0)).max() <= 1e-6
    file.room = 0
    with pytest.raises(OSError, match="the disk is full"):
        writer.close()


def test_frames_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(ferrosz.ArgumentError, match="compressor: psnr is searched for"):
        ferrosz.frames.FrameWriter(io.BytesIO(), ferrosz.Compressor(psnr=60))
    with pytest.raises(FileNotFoundError):
        ferrosz.frames.FrameWriter(tmp_path / "none" / "run.fsf", COMPRESSOR)
    file = io.BytesIO()
    with ferrosz.frames.FrameWriter(file, COMPRESSOR) as writer:
        with pytest.raises(ferrosz.ArgumentError, match="without values"):
            writer.write(np.zeros((3, 0)))
        writer.write(frame(0))
        others: list[Any] = [frame(0).T, frame(0).astype("f8"), frame(0)[:-1]]
        for other in others:
            with pytest.raises(ferrosz.ArgumentError, match="frame: it has the shape"):
                writer.write(other)
        with pytest.raises(ferrosz.UnsupportedType):
            writer.write(frame(0) > 0)
        with pytest.raises(ferrosz.UnsupportedType, match="mask"):
            writer.write(np.ma.masked_less(frame(0), 0))
    with pytest.raises(ferrosz.ArgumentError, match="closed"):
        writer.write(frame(1))
    writer.close()
    assert len(ferrosz.frames.Frames(file.getvalue())) == 1 and not file.closed


def test_fill_values_are_those_of_the_first_frame() -> None:
    first, second = frame(0), frame(1)
    first[:20], second[:3] = 1e20, 1e20
    file = io.BytesIO()
    with ferrosz.frames.FrameWriter(file, COMPRESSOR) as writer:
        writer.write_all([first, second])
    frames = ferrosz.frames.Frames(file.getvalue())
    assert frames.stream(1).info.fill[0] == np.float32(1e20)
    assert (frames[1][:3] == np.float32(1e20)).all() and abs(frames[1][3:] - second[3:]).max() <= 0.01
