"""Arrays in files, paths in place of streams, arrays that anything has decoded, and numbers of threads."""

from __future__ import annotations

import os
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact import beyond

import ferrosz


def test_an_array_goes_to_a_file_and_back(field: np.ndarray, tmp_path: Path) -> None:
    for path in (tmp_path / "t.fsz", str(tmp_path / "u.fsz")):
        saved = ferrosz.save(path, field, range=1e-3, preset="fast")
        assert Path(path).read_bytes() == bytes(ferrosz.compress(field, range=1e-3, preset="fast"))
        assert saved == ferrosz.info(path) == ferrosz.info(Path(path).read_bytes())
        back = ferrosz.load(path)
        assert beyond(field, back, saved.absolute_error) == 0
        assert (ferrosz.load(path, box=np.s_[3, ..., 7]) == back[3, ..., 7]).all()
        assert (ferrosz.decompress(path) == back).all()
        assert ferrosz.verify(field, path) == ferrosz.verify(field, Path(path).read_bytes())
        assert [level for level, _ in ferrosz.levels(path, 1)] == [1, 0]
    assert {found.name for found in tmp_path.iterdir()} == {"t.fsz", "u.fsz"}


def test_an_error_leaves_the_old_file(field: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.fsz"
    ferrosz.save(path, field, abs=0.1)
    before = path.read_bytes()
    with pytest.raises(ferrosz.ArgumentError):
        ferrosz.save(path, field, abs=-1)

    def fail(*_: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        ferrosz.save(path, field, abs=0.5)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["t.fsz"]


def test_no_stream_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("no stream" * 100)
    for name in ("empty", "text"):
        for call in (ferrosz.info, ferrosz.load, ferrosz.decompress):
            with pytest.raises(ferrosz.DamagedStream):
                call(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        ferrosz.load(tmp_path / "nothing")


@pytest.mark.parametrize("mode, bound", [("abs", 0.01), ("range", 1e-3), ("max", 1e-3), ("pwrel", 0.01)])
def test_any_two_arrays_are_compared(field: np.ndarray, mode: str, bound: float) -> None:
    """The figures are those of NumPy, and the judgement is exact."""
    original = field.astype("float64")
    original[0, 0, :3] = np.nan, np.inf, -np.inf
    finite = np.isfinite(original)
    values = original[finite]
    limit = {"abs": 1.0, "range": np.ptp(values), "max": abs(values).max(), "pwrel": abs(values)}[mode] * bound
    noise = np.random.default_rng(3).uniform(-0.99, 0.99, values.size) * limit
    decoded = original.copy()
    decoded[finite] += noise
    found = ferrosz.verify(original, decoded, **{mode: bound}, stream_bytes=1000)
    assert found and found.over_limit == 0 and found.not_finite == 3
    errors = abs(decoded[finite] - values)
    assert found.largest_error == errors.max()
    assert found.rmse == pytest.approx(np.sqrt((errors**2).mean()))
    assert found.psnr == pytest.approx(20 * np.log10(np.ptp(values) / found.rmse))
    assert found.ratio == original.nbytes / 1000
    if mode != "pwrel":
        assert found.limit == found.absolute_error == pytest.approx(limit)
        assert found.largest_over_promised == pytest.approx(errors.max() / limit)
    # One value beyond the bound, and a NaN that is lost.
    decoded[1, 2, 3] = original[1, 2, 3] + 1.01 * np.max(limit)
    assert ferrosz.verify(original, decoded, **{mode: bound}).over_limit == 1
    decoded[0, 0, 0] = 0
    worse = ferrosz.verify(original, decoded, **{mode: bound})
    assert not worse and worse.not_finite_changed == 1
    assert pickle.loads(pickle.dumps(worse)) == worse


def test_without_a_bound_errors_are_measured(field: np.ndarray) -> None:
    found = ferrosz.verify(field, field.astype("float16").astype("float32"))
    assert found and found.limit == found.absolute_error == np.inf and np.isnan(found.ratio)
    assert found.largest_error == abs(field.astype("float16").astype("float64") - field).max()
    lost = field.copy()
    lost[4, 5, 6] = np.nan
    assert not ferrosz.verify(field, lost)


def test_masked_elements_are_missing_in_both() -> None:
    values = np.ma.masked_array(np.arange(1000.0), mask=np.arange(1000) % 7 == 0, fill_value=-9999)
    found = ferrosz.verify(values, values + 0.25, abs=0.25)
    assert found and found.limit == 0.25 and found.range == 998 and found.fill_elements == found.fill_elements_kept == 143


def test_other_arrays_are_refused(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=0.1)
    with pytest.raises(ferrosz.ArgumentError, match="shape"):
        ferrosz.verify(field, field[1:])
    with pytest.raises(ferrosz.ArgumentError, match="float64"):
        ferrosz.verify(field, field.astype("float64"))
    with pytest.raises(ferrosz.ArgumentError, match="only one"):
        ferrosz.verify(field, field, abs=1, range=1)
    with pytest.raises(ferrosz.ArgumentError, match="abs: a stream has a bound"):
        ferrosz.verify(field, stream, abs=1)
    with pytest.raises(ferrosz.ArgumentError, match="stream_bytes"):
        ferrosz.verify(field, stream, stream_bytes=7)


@pytest.mark.parametrize("codec", ["plain", "lorenzo+rans", "stencil"])
def test_threads_change_no_byte(large: np.ndarray, codec: str) -> None:
    part = large[:32]
    stream = ferrosz.compress(part, abs=0.01, codec=codec)
    for threads in (1, 3):
        assert ferrosz.compress(part, abs=0.01, codec=codec, threads=threads) == stream
        assert (ferrosz.decompress(stream, threads=threads) == ferrosz.decompress(stream)).all()
    compressor, decompressor = ferrosz.Compressor(abs=0.01, threads=2), ferrosz.Decompressor(threads=2)
    assert repr(pickle.loads(pickle.dumps(compressor))) == "ferrosz.Compressor(abs=0.01, threads=2)"
    assert pickle.loads(pickle.dumps(decompressor)) == decompressor != ferrosz.Decompressor()
    rows = ferrosz.compress_batch(list(part), compressor)
    assert all(beyond(row, back, 0.01) == 0 for row, back in zip(part, ferrosz.decompress_batch(rows, decompressor)))
    for call in (ferrosz.Compressor, ferrosz.Decompressor):
        with pytest.raises(ferrosz.ArgumentError, match="threads"):
            call(**{"threads": 0, **({"abs": 1} if call is ferrosz.Compressor else {})})


def test_so_many_threads_work(large: np.ndarray) -> None:
    """While a call on five threads goes on, the process has five more of them than before, and one that waits."""
    ferrosz.compress(large[:8], abs=0.01)
    before, most = len(os.listdir("/proc/self/task")), 0
    work = threading.Thread(target=ferrosz.compress, args=(large,), kwargs={"abs": 0.01, "threads": 5})
    work.start()
    while work.is_alive():
        most = max(most, len(os.listdir("/proc/self/task")))
    assert before + 5 <= most <= before + 7
    # They end with the call, and on a busy machine some milliseconds behind it.
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/task")) > before + 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= before + 1
