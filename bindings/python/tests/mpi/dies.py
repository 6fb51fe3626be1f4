"""A rank of three ends itself by SIGKILL at one of its calls. Arguments: the file, the rank, the number of the call, and how the
file is written. With a number that is never reached, the first rank prints the number of its calls."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

import ferrosz.mpi

path, mortal, last, writes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


class Mortal:
    """The ranks, with a count of calls."""

    calls = 0

    def __init__(self, ranks: ferrosz.mpi.Ranks) -> None:
        self._ranks = ranks

    def __getattr__(self, name: str) -> Any:
        if name not in ("rank", "size"):
            if self.calls == last and self._ranks.rank == mortal:
                os.kill(os.getpid(), signal.SIGKILL)
            self.calls += 1
        return getattr(self._ranks, name)


comm = MPI.COMM_WORLD
field = np.random.default_rng(17).normal(0, 1, (40, 50, 60)).cumsum(axis=0)
own = slice(40 * comm.rank // comm.size, 40 * (comm.rank + 1) // comm.size)
ranks = ferrosz.mpi.Ranks(comm, path, collective=writes == "collective")
group = Mortal(ranks)
ferrosz.compress_part(field[own], group, box=own, shape=field.shape, codec="interp", range=1e-3)
ranks.close()
if comm.rank == 0:
    print(group.calls)
