"""Long calls: threads, progress, signals; and `verify`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import ferrosz


def test_sixteen_threads_make_equal_bytes(field: np.ndarray) -> None:
    expected = bytes(ferrosz.compress(field, range=1e-3))
    whole = ferrosz.decompress(expected)
    compressor, decompressor = ferrosz.Compressor(range=1e-3), ferrosz.Decompressor()
    partial = ferrosz.PartialStream(expected)

    def work(number: int) -> bool:
        stream = compressor.compress(field) if number % 2 else ferrosz.compress(field, range=1e-3)
        box = np.s_[number % 40, ..., number : number + 9]
        return (
            stream == expected
            and np.array_equal(decompressor.decompress(stream), whole)
            and np.array_equal(partial.decompress(box), whole[box])
        )

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(48)))


def _in_child(stream: bytes) -> tuple[bytes, bytes]:
    array = ferrosz.decompress(stream)
    return array.tobytes(), bytes(ferrosz.compress(array, abs=0, progress=lambda more: None))


def _in_grandchild(stream: bytes) -> tuple[bytes, bytes]:
    first = _in_child(stream)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(_in_child, [stream]).get(timeout=30) == [first]
    return first


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forked_processes_make_equal_bytes(field: np.ndarray) -> None:
    """None of the threads that this process has started is there in a child, as those of multiprocessing are."""
    stream = bytes(ferrosz.compress(field, range=1e-3))
    expected = _in_child(stream)
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:
        assert pool.map_async(_in_child, [stream] * 8).get(timeout=60) == [expected] * 8
    with ProcessPoolExecutor(1, mp_context=fork) as pool:
        assert pool.submit(_in_grandchild, stream).result(timeout=60) == expected


def _longest_gap(large: np.ndarray) -> float:
    """The longest time in which another thread did not run, as a share of a call."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    ferrosz.compress(large, abs=0.1)
    seconds = time.perf_counter() - start
    done.set()
    thread.join()
    during = [at for at in ticks if start <= at <= start + seconds]
    return float(np.diff([start, *during, start + seconds]).max() / seconds)


def test_other_threads_go_on(large: np.ndarray) -> None:
    # A busy machine may stop the other thread for a while, but not in each call. With the lock held it is 1 in each.
    assert min(_longest_gap(large) for _ in range(3)) < 0.5


def test_progress_counts_every_element(large: np.ndarray) -> None:
    threads, done = set(), []

    def progress(more: int) -> None:
        threads.add(threading.get_ident())
        done.append(more)

    stream = ferrosz.compress(large, abs=0.1, codec="plain", progress=progress)
    assert sum(done) == large.size and min(done) > 0
    done.clear()
    ferrosz.decompress(stream, progress=progress)
    assert sum(done) == large.size
    done.clear()
    ferrosz.decompress(stream, out=np.empty_like(large), progress=progress)
    assert sum(done) == large.size
    done.clear()
    ferrosz.decompress(stream, box=np.s_[3:9], progress=progress)
    assert sum(done) == large[3:9].size
    assert threads == {threading.get_ident()}


def test_an_error_of_progress_ends_the_call(large: np.ndarray) -> None:
    def progress(more: int) -> None:
        raise ZeroDivisionError

    stream = ferrosz.compress(large[:64], abs=0.1, codec="plain")
    with pytest.raises(ZeroDivisionError):
        ferrosz.compress(large, abs=0.1, codec="plain", progress=progress)
    out = np.empty_like(large[:64])
    with pytest.raises(ZeroDivisionError):
        ferrosz.decompress(stream, out=out, progress=progress)
    kept = out.copy()
    time.sleep(0.2)
    assert np.array_equal(out, kept), "nothing is written after the error"


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_keyboard_interrupt_is_heard(tmp_path) -> None:
    program = tmp_path / "long.py"
    program.write_text(
        textwrap.dedent(
            """
            import signal, time, numpy, ferrosz
            # Whoever runs the tests may ignore interrupts, and Python would, too.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            array = numpy.random.default_rng(1).normal(size=(512, 512, 256)).astype("float32")
            print("begin", flush=True)
            start = time.perf_counter()
            try:
                ferrosz.compress(array, ratio=3.0, codec="stencil")
                print("not interrupted")
            except KeyboardInterrupt:
                print("interrupted", time.perf_counter() - start)
            """
        )
    )
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begin\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output = process.stdout.read().split()
    assert output[0] == "interrupted" and float(output[1]) < 1.5
    assert process.returncode == 0


def test_verify_has_the_figures_of_numpy(field: np.ndarray) -> None:
    array = field.astype("float64")
    array[0, 0, :5] = [0, 0, np.nan, np.inf, -np.inf]
    array[3, :20] = -9999
    stream = ferrosz.compress(array, abs=0.01, codec="interp")
    back = ferrosz.decompress(stream)
    found = ferrosz.verify(array, stream)
    valid = np.isfinite(array) & (array != -9999)
    x, y = array[valid], back[valid]
    error = np.abs(x - y)
    assert found and found.kept and found.over_limit == found.over_promised == 0
    assert found.largest_error == error.max() <= found.limit == 0.01
    at = np.unravel_index(found.largest_error_at, array.shape)
    assert np.abs(array[at] - back[at]) == error.max()
    assert found.size == array.size
    assert (found.not_finite, found.not_finite_changed) == (3, 0)
    assert (found.fill_elements, found.fill_elements_kept) == (20 * 60, 20 * 60)
    assert found.range == np.ptp(x)
    assert found.rmse == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-12)
    assert found.nrmse == pytest.approx(found.rmse / np.ptp(x), rel=1e-12)
    assert found.psnr == pytest.approx(20 * np.log10(np.ptp(x) / found.rmse), rel=1e-12)
    assert found.largest_relative_error == np.max(error[x != 0] / np.abs(x[x != 0]))
    assert found.zeros == (x == 0).sum() and found.zeros_kept == ((x == 0) & (y == 0)).sum()
    assert found.signs_flipped == (x * y < 0).sum()
    assert found.ratio == array.nbytes / len(stream)
    assert "bound kept" in repr(found)


def test_verify_finds_another_array(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=0.01)
    other = field.copy()
    other[3, 4, 5] += 1
    found = ferrosz.verify(other, stream)
    assert not found and found.over_limit == 1 and "NOT KEPT" in repr(found)
    assert found.largest_error_at == (3 * 50 + 4) * 60 + 5


@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts threads on Linux")
def test_where_no_thread_can_start_the_calling_one_works() -> None:
    program = """
import os, resource
import numpy as np
import ferrosz
if os.getuid() == 0:
    # The administrator has no limit.
    os.setgid(65534)
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
array = np.linspace(0, 9, 300_000, dtype="f4").reshape(30, 100, 100)
for codec in ("auto", "plain", "interp"):
    stream = ferrosz.compress(array, codec=None if codec == "auto" else codec, abs=1e-3, device="cpu")
    assert abs(ferrosz.decompress(stream, device="cpu") - array).max() <= 1e-3
    print(len(stream))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, len(done.stdout.split())) == (0, 3), done.stderr
