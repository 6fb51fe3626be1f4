"""CPU time of compressing arrays with each preset, and with what it chose, beside SZ3 on one thread.

    RAYON_NUM_THREADS=1 python benches/against_sz3.py ARRAY.npy ... [--range 1e-3] [--repeat 7]

SZ3 is that of `pysz` (INTERP_LORENZO), with the same absolute bound. Times are process times, the least of the repeats, and
those of presets and of codecs are times SZ3's. Needs pysz.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode

import ferrosz

PRESETS = ("fast", "balanced", "small")


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """The least CPU time, of calls that together take at least 10 ms."""
    count, least = 1, float("inf")
    while True:
        begin = time.process_time()
        for _ in range(count):
            call()
        taken = time.process_time() - begin
        if taken >= 0.01:
            break
        count *= 2
    for _ in range(repeat):
        begin = time.process_time()
        for _ in range(count):
            call()
        least = min(least, (time.process_time() - begin) / count)
    return least


def of_sz3(array: np.ndarray, error: float) -> Callable[[], Any]:
    config = szConfig(*array.shape)
    config.errorBoundMode = szErrorBoundMode.ABS
    config.absErrorBound = error
    config.cmprAlgo = szAlgorithm.INTERP_LORENZO
    config.openmp = False
    return lambda: sz.compress(array, config)


def row(path: Path, bound: float, repeat: int) -> str:
    array = np.ascontiguousarray(np.load(path))
    finite = array[np.isfinite(array)].astype(np.float64)
    call = of_sz3(array, bound * float(finite.max() - finite.min()))
    packed, _ = call()
    sz3 = seconds(call, repeat)
    cells = [path.stem, f"{array.nbytes / 2**20:.3g}", f"{1e3 * sz3:.2f}", f"{array.nbytes / packed.nbytes:.2f}"]
    for preset in PRESETS:
        compressor = ferrosz.Compressor(range=bound, preset=preset, device="cpu")
        stream = compressor.compress(array)
        info = ferrosz.info(stream)
        named = {"codec": info.codec, "rank": info.rank, "axes": info.axes, "chunk_tiles": info.chunk_tiles}
        of_codec = ferrosz.Compressor(range=bound, device="cpu", **{k: v for k, v in named.items() if v is not None})
        times = [seconds(lambda c=c: c.compress(array), repeat) for c in (compressor, of_codec)]
        cells.append(f"{info.codec} {info.rank}, {array.nbytes / len(stream):.2f}")
        cells.append(" / ".join(f"{taken / sz3:.2f}" for taken in times))
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arrays", type=Path, nargs="+")
    parser.add_argument("--range", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    if os.environ.get("RAYON_NUM_THREADS") != "1":
        print("note: RAYON_NUM_THREADS is not 1, so that threads that wait may count")
    heads = ["field", "MiB", "SZ3, ms", "its ratio"] + [cell for preset in PRESETS for cell in (preset, "times SZ3, then by name")]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for path in arguments.arrays:
        print(row(path, arguments.range, arguments.repeat), flush=True)


if __name__ == "__main__":
    main()
