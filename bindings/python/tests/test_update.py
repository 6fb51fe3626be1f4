"""Updates: the array that NumPy makes by the same assignment, in a new stream, a `bytearray` and a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact import beyond

import ferrosz

BOXES = [np.s_[3], np.s_[..., 7], np.s_[5:9, 10:40, 20:], np.s_[-1, -1, -1], np.s_[2:2], np.s_[...]]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("codec", ["plain", "outlier", "layered", "fixed"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_an_update_is_an_assignment(box: Any, codec: str, dtype: str, field: np.ndarray) -> None:
    array = (100 * field).astype(dtype)
    stream = ferrosz.compress(array, abs=0.75, codec=codec)
    before = ferrosz.decompress(stream)
    values = np.random.default_rng(3).normal(0, 50, array[box].shape).astype(dtype)
    updated = ferrosz.update(stream, values, box=box)
    after = ferrosz.decompress(updated)
    assert beyond(values, after[box], 0.75) == 0
    after[box] = before[box]
    assert after.tobytes() == before.tobytes()
    assert ferrosz.decompress(stream).tobytes() == before.tobytes()
    assert updated.info.stream_bytes == len(updated)


def test_missing_values_are_replaced_and_become_missing(field: np.ndarray) -> None:
    array = field.copy()
    array[:, :5] = -9999
    stream = ferrosz.compress(array, abs=0.01, codec="plain", fill=-9999)
    values = np.full((40, 60), 2.5, "float32")
    values[7] = -9999
    back = ferrosz.decompress(ferrosz.update(stream, values, box=np.s_[:, 3]))
    assert ((back[:, 3] == -9999) == (values == -9999)).all()
    assert beyond(values, back[:, 3], 0.01) == 0 and (back[:, [0, 1, 2, 4]] == -9999).all()


def test_in_place_there_are_the_same_bytes(field: np.ndarray, tmp_path: Path) -> None:
    stream = ferrosz.compress(field, range=1e-3, preset="fast")
    in_memory, path = bytearray(stream), tmp_path / "t.fsz"
    path.write_bytes(stream)
    for number in range(3):
        values = np.full((50, 60), number, "float32")
        stream = ferrosz.update(stream, values, box=np.s_[number])
        appended = ferrosz.update_in_place(in_memory, values, box=np.s_[number])
        assert ferrosz.update_in_place(path if number else str(path), values, box=np.s_[number]) == appended > 0
        assert in_memory == bytes(stream) == path.read_bytes()


def test_an_update_reads_few_bytes_of_a_file(tmp_path: Path) -> None:
    field = np.random.default_rng(5).normal(0, 100, 1_000_000).astype("float32")
    stream = ferrosz.compress(field, abs=0.01, codec="plain")
    path = tmp_path / "t.fsz"
    path.write_bytes(stream)
    counts = Path("/proc/self/io")
    if not counts.exists():
        pytest.skip("the system does not count bytes that are read")

    def read() -> int:
        return int(counts.read_text().split()[1])

    before = read()
    ferrosz.update_in_place(path, np.ones(10, "float32"), box=np.s_[500_000:500_010])
    assert 5 * (read() - before) < len(stream)
    assert beyond(np.ones(10), ferrosz.decompress(path.read_bytes(), box=np.s_[500_000:500_010]), 0.01) == 0


def test_what_was_replaced_is_removed(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=0.01, codec="plain")
    assert ferrosz.compact(stream) == stream
    updated = ferrosz.update(ferrosz.update(stream, field[0], box=3), -field[1], box=3)
    compacted = ferrosz.compact(bytearray(updated))
    assert len(compacted) < len(updated) and compacted.info.update_bytes == 0
    assert ferrosz.decompress(compacted).tobytes() == ferrosz.decompress(updated).tobytes()
    with pytest.raises(ferrosz.DamagedStream):
        ferrosz.compact(bytes(updated)[:-1])
    with pytest.raises(ferrosz.UnsupportedType):
        ferrosz.compact(3)


def test_other_bytes_behind_a_stream_are_not_overwritten(field: np.ndarray, tmp_path: Path) -> None:
    stream, path = bytes(ferrosz.compress(field, abs=0.01, codec="plain")), tmp_path / "t.fsz"
    for wrong in (stream + b"other", stream[:-1], b"", bytes(300)):
        path.write_bytes(wrong)
        for target in (bytearray(wrong), path):
            with pytest.raises(ferrosz.DamagedStream):
                ferrosz.update_in_place(target, field[0], box=0)
        assert path.read_bytes() == wrong


def test_what_an_interrupted_update_left_goes(field: np.ndarray, tmp_path: Path) -> None:
    stream = bytes(ferrosz.compress(field, abs=0.01, codec="plain"))
    updated = bytes(ferrosz.update(stream, field[:30], box=np.s_[1:31]))
    # The header is written last.
    interrupted, path = bytearray(stream[:160] + updated[160:]), tmp_path / "t.fsz"
    assert ferrosz.decompress(interrupted).tobytes() == ferrosz.decompress(stream).tobytes()
    path.write_bytes(interrupted)
    ferrosz.update_in_place(interrupted, field[0], box=np.s_[9])
    ferrosz.update_in_place(path, field[0], box=np.s_[9])
    assert interrupted == path.read_bytes() == bytes(ferrosz.update(stream, field[0], box=np.s_[9]))


def test_faults_are_typed_and_change_nothing(field: np.ndarray, tmp_path: Path) -> None:
    stream = bytearray(ferrosz.compress(field, abs=0.01, codec="plain"))
    before = bytes(stream)
    with pytest.raises(ferrosz.ArgumentError, match=r"values: they have the shape \[60\] of float32, and the box \[50, 60\]"):
        ferrosz.update_in_place(stream, field[0, 0], box=np.s_[0])
    with pytest.raises(ferrosz.ArgumentError, match="values: .* of float64"):
        ferrosz.update_in_place(stream, field[0].astype("f8"), box=np.s_[0])
    with pytest.raises(ferrosz.ArgumentError, match="box: 40 is outside axis 0"):
        ferrosz.update_in_place(stream, field[0], box=np.s_[40])
    with pytest.raises(ferrosz.ArgumentError, match="target: .* is neither a bytearray nor the path"):
        ferrosz.update_in_place(before, field[0], box=np.s_[0])  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        ferrosz.update_in_place(tmp_path / "none.fsz", field[0], box=np.s_[0])
    assert stream == before
    with pytest.raises(ferrosz.ArgumentError, match="tiles"):
        ferrosz.update(ferrosz.compress(field, abs=0.01, codec="interp"), field[0], box=np.s_[0])
    stream[-1] ^= 1
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.update(stream, field[-1], box=np.s_[-1])
    assert error.value.chunk is not None
    with pytest.raises(ferrosz.DamagedStream):
        ferrosz.update(stream[:100], field[0], box=np.s_[0])
