"""Errors of one rank of three are errors of all. Argument: a folder."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI

import ferrosz.mpi

folder = Path(sys.argv[1])
comm = MPI.COMM_WORLD
field = np.random.default_rng(18).normal(0, 1, (40, 50, 60))
own = np.s_[40 * comm.rank // comm.size : 40 * (comm.rank + 1) // comm.size]
settings = {"box": own, "shape": field.shape, "codec": "plain", "abs": 1e-3}


def expect(call: Callable[[], object], failing: set[int], kind: type[Exception], text: str) -> None:
    """Ranks that fail raise an error of this kind; the others a `GroupError` with their number."""
    try:
        call()
    except Exception as error:
        found = error
    else:
        raise AssertionError(f"rank {comm.rank}: no error instead of {text}")
    if comm.rank not in failing:
        kind, text = ferrosz.errors.GroupError, f"{len(failing)} of {comm.size} members failed"
    assert isinstance(found, kind) and text in str(found), f"rank {comm.rank}: {found!r} instead of {text}"
    comm.Barrier()


ALL = set(range(comm.size))
kept = folder / "kept"
if comm.rank == 0:
    kept.write_bytes(b"kept")
comm.Barrier()

short = field[own][1:] if comm.rank == 1 else field[own]
expect(lambda: ferrosz.mpi.compress_part(short, comm, kept, **settings), {1}, ferrosz.ArgumentError, "array: its shape is")
words = np.array(["a"]) if comm.rank == 2 else field[own]
expect(lambda: ferrosz.mpi.compress_part(words, comm, kept, **settings), {2}, ferrosz.UnsupportedType, "float32")
twice = {**settings, "box": np.s_[:20]}
expect(lambda: ferrosz.mpi.compress_part(field[:20], comm, kept, **twice), ALL, ferrosz.ArgumentError, "overlap")
by_value = ferrosz.Compressor(pwrel=1e-3, fill=None)
ranks = ferrosz.mpi.Ranks(comm, kept)
expect(
    lambda: by_value.compress_part(field[own], ranks, box=own, shape=field.shape), ALL, ferrosz.ArgumentError, "each value"
)
ranks.close()
assert kept.read_bytes() == b"kept", "a wrong argument changed the file"

nowhere = folder / "no folder" / "file"
for collective, kind in ((True, MPI.Exception), (False, OSError)):
    call = lambda: ferrosz.mpi.compress_part(field[own], comm, nowhere, collective=collective, **settings)
    expect(call, ALL, kind, "")


class Broken(ferrosz.mpi.Ranks):
    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        if self.rank == 2:
            raise RuntimeError("the disk is broken")


ranks = Broken(comm, kept)
expect(lambda: ferrosz.compress_part(field[own], ranks, **settings), {2}, RuntimeError, "the disk is broken")
ranks.close()

if comm.rank == 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
full = folder / "full"
expect(
    lambda: ferrosz.mpi.compress_part(field[own], comm, full, collective=False, **settings), {1}, OSError, "File too large"
)
try:
    ferrosz.info(full.read_bytes())
except ferrosz.DamagedStream:
    pass
else:
    raise AssertionError("a file without all chunks is a stream")
if comm.rank == 0:
    print("all failed")
