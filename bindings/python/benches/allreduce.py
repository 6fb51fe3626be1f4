"""Sums of arrays over the ranks of MPI: `ferrosz.mpi.allreduce` beside `Allreduce` of the engine.

    mpiexec -n 4 python -m mpi4py benches/allreduce.py [--presets fast balanced] [--range 1e-3] [--repeat 5]

The array of each rank is 128 x 256 x 256 float32, a random walk along the last axis. The bound is relative to the range of the
sum. A row has medians of the slowest rank, the ratio of the parts that travel, and the rate of a link for each rank, in MB/s,
below which the compressed sum would be faster: the bytes that are saved over the seconds that it takes longer, if links are
all that takes the engine's time there.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

import ferrosz._allreduce
import ferrosz.mpi

SHAPE = (128, 256, 256)

comm = MPI.COMM_WORLD


def median(call: Callable[[], object], repeat: int) -> float:
    """Seconds of the slowest rank, after a call that is not timed."""
    times = []
    for _ in range(repeat + 1):
        comm.Barrier()
        start = time.perf_counter()
        call()
        times.append(comm.allreduce(time.perf_counter() - start, MPI.MAX))
    return statistics.median(times[1:])


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--presets", nargs="+", default=["fast", "balanced"])
    arguments.add_argument("--range", type=float, default=1e-3)
    arguments.add_argument("--repeat", type=int, default=5)
    given = arguments.parse_args()
    own = np.cumsum(np.random.default_rng(comm.rank).normal(0, 1, SHAPE), axis=2).astype("float32")
    total = np.empty_like(own)
    raw = median(lambda: comm.Allreduce(own, total), given.repeat)
    bound = given.range * float(np.ptp(total))
    for preset in given.presets:
        call = lambda: ferrosz.mpi.allreduce(own, comm, abs=bound, preset=preset)
        seconds = median(call, given.repeat)
        input_bound, _ = ferrosz._allreduce.bounds(bound, comm.size, "sum")
        ratio = ferrosz.compress(own, abs=input_bound, preset=preset).info.ratio
        travels = 2 * (comm.size - 1) / comm.size * own.nbytes
        link = travels * (1 - 1 / ratio) / (seconds - raw) / 1e6
        if comm.rank == 0:
            print(
                f"{comm.size} ranks, {preset}: Allreduce {raw:.3f} s, allreduce {seconds:.3f} s, ratio {ratio:.1f}, "
                f"faster below {link:.0f} MB/s",
                flush=True,
            )


if __name__ == "__main__":
    main()
