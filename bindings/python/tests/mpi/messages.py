"""Compressed messages between two ranks, in one part and in several."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

import ferrosz._messages
import ferrosz.mpi

comm = MPI.COMM_WORLD
assert comm.size == 2
rng = np.random.default_rng(19)
walk = np.cumsum(rng.normal(0, 1, (20, 30, 40)), axis=2)
ARRAYS = [
    (walk, {"range": 1e-3}),
    (walk.astype("float32"), {"abs": 0.01, "codec": "interp"}),
    (walk.astype("float32")[:, ::2], {"abs": 0.01, "preset": "fast"}),
    (walk.astype("float16"), {"abs": 0.1}),
    ((100 * walk).astype("int16"), {"abs": 2}),
    (walk.astype(">f8"), {"pwrel": 1e-3}),
    (np.ma.masked_less(walk, 0), {"abs": 0.01}),
    (np.float32(5), {"abs": 0.01}),
    (np.empty((0, 5)), {"abs": 0.01}),
]

most = ferrosz._messages.MOST_BYTES
for parts_of in (most, 1000, len(ferrosz.compress(*ARRAYS[0][:1], **ARRAYS[0][1]))):
    ferrosz._messages.MOST_BYTES = parts_of
    for tag, (array, settings) in enumerate(ARRAYS):
        compressor = ferrosz.Compressor(**settings)
        stream = compressor.compress(array)
        if comm.rank == 0:
            assert ferrosz.mpi.send(array, comm, 1, compressor, tag=tag) == len(stream)
            continue
        status = MPI.Status()
        received = ferrosz.mpi.recv(comm, tag=tag if tag % 2 else None, status=status)
        assert (status.Get_source(), status.Get_tag()) == (0, tag)
        wanted = ferrosz.decompress(stream)
        assert received.dtype == wanted.dtype and received.shape == wanted.shape and received.tobytes() == wanted.tobytes()
ferrosz._messages.MOST_BYTES = most

compressor = ferrosz.Compressor(abs=0.01)
stream = compressor.compress(walk)
out = np.empty_like(walk)
if comm.rank == 0:
    # A message is a stream, in both directions.
    ferrosz.mpi.send(walk, comm, 1, compressor)
    comm.Send([memoryview(stream), MPI.BYTE], 1)
    ferrosz.mpi.send(walk, comm, 1, compressor)
    # What is none, and what does not fit, are errors; the next message comes.
    comm.Send([b"no stream", MPI.BYTE], 1)
    ferrosz.mpi.send(walk, comm, 1, compressor)
    ferrosz.mpi.send(walk, comm, 1, compressor)
    try:
        ferrosz.mpi.send(np.array(["text"]), comm, 1, compressor)
    except ferrosz.UnsupportedType:
        pass
    else:
        raise AssertionError("text was sent")
    comm.Send([b"", MPI.BYTE], 1, 9)
else:
    found = np.empty(len(stream), "uint8")
    comm.Recv([found, MPI.BYTE], 0)
    assert found.tobytes() == bytes(stream)
    assert ferrosz.mpi.recv(comm, 0, out=out) is out and abs(out - walk).max() <= 0.01
    assert (ferrosz.mpi.recv(comm, 0) == out).all()
    for wrong, kind in ((None, ferrosz.DamagedStream), (np.empty(7), ferrosz.ArgumentError)):
        try:
            ferrosz.mpi.recv(comm, 0, out=wrong)
        except kind:
            pass
        else:
            raise AssertionError(f"no {kind}")
    assert (ferrosz.mpi.recv(comm, 0) == out).all()
    # Text was not sent.
    comm.Recv([bytearray(1), MPI.BYTE], 0, MPI.ANY_TAG, status := MPI.Status())
    assert status.Get_tag() == 9
    print("all came")
