"""Streams as messages of MPI: from one rank to another, and between all ranks of a communicator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._device import cupy
from ._ferrosz import Decompressor, DeviceArray, info
from .errors import GroupError

if TYPE_CHECKING:
    from mpi4py import MPI

    from ._ferrosz import Compressor, Stream

Bytes = bytes | bytearray | memoryview

# Counts of MPI are ints, and engines differ in how they take larger ones: messages and writes are cut into parts of this many
# bytes. A rank needs as much memory for a write, beside the pieces.
MOST_BYTES = 256 << 20


def send(array: Any, comm: MPI.Comm, dest: int, compressor: Compressor, *, tag: int = 0) -> int:
    """Compresses an array and sends it to another rank, which calls `recv`. Returns the bytes that travelled.

    array
        As `ferrosz.compress` takes it. An array on a GPU is compressed there; CuPy brings its stream to the host, from which
        it travels.
    comm, dest, tag
        As those of `Send` of mpi4py. The message is the stream; one of more than 256 MiB comes in parts, each of this
        length but the last.
    compressor
        The settings: the bound, and the codec or preset.

    The call returns when `array` may be changed. As with `Send`, two ranks that send to each other first may wait for ever.

    Raises what `Compressor.compress` raises; nothing was sent then.

    >>> from mpi4py import MPI
    >>> field = np.sin(np.arange(60000, dtype="float32") / 1000).reshape(30, 40, 50)
    >>> comm = MPI.COMM_SELF
    >>> from threading import Thread
    >>> sender = Thread(target=ferrosz.mpi.send, args=(field, comm, 0, ferrosz.Compressor(abs=1e-3)))
    >>> sender.start()
    >>> received = ferrosz.mpi.recv(comm)
    >>> sender.join()
    >>> received.shape, bool(abs(received - field).max() <= 1e-3)
    ((30, 40, 50), True)
    """
    from mpi4py import MPI

    stream = on_host(compressor.compress(array))
    for part in parts(stream):
        comm.Send([part, MPI.BYTE], dest, tag)
    return len(stream)


def recv(
    comm: MPI.Comm,
    source: int | None = None,
    *,
    tag: int | None = None,
    out: npt.NDArray[Any] | None = None,
    device: str = "auto",
    status: MPI.Status | None = None,
) -> npt.NDArray[Any]:
    """Receives an array that a rank has sent by `send`, as an array of NumPy.

    comm, source, tag, status
        As those of `Recv` of mpi4py; without them any rank and any tag.
    out, device
        As those of `ferrosz.decompress`.

    Raises what `ferrosz.decompress` raises: `DamagedStream` if the message is no stream, `ArgumentError` if `out` has another
    shape or type. The message is received then.
    """
    from mpi4py import MPI

    status = MPI.Status() if status is None else status
    any_source, any_tag = MPI.ANY_SOURCE, MPI.ANY_TAG
    message = comm.Mprobe(any_source if source is None else source, any_tag if tag is None else tag, status)
    stream = np.empty(status.Get_count(MPI.BYTE), "uint8")
    message.Recv([stream, MPI.BYTE])
    if len(stream) == MOST_BYTES:
        first, stream = stream, np.empty(info(stream).stream_bytes, "uint8")
        stream[:MOST_BYTES] = first
        # Messages of a rank do not overtake each other.
        for part in list(parts(stream.data))[1:]:
            comm.Recv([part, MPI.BYTE], status.Get_source(), status.Get_tag())
    found: npt.NDArray[Any] = Decompressor(device=device).decompress(stream, out=out)
    return found


def on_host(stream: Stream | DeviceArray) -> memoryview:
    """The bytes of a stream, in host memory."""
    if isinstance(stream, DeviceArray):
        return memoryview(cupy().asarray(stream).get())
    return memoryview(stream)


def parts(buffer: Bytes) -> Iterator[memoryview]:
    """A buffer in parts that MPI can count."""
    whole = memoryview(buffer)
    return (whole[start : start + MOST_BYTES] for start in range(0, len(whole), MOST_BYTES))


def exchange(comm: MPI.Intracomm, messages: Sequence[tuple[int, Bytes]]) -> list[tuple[int, bytearray]]:
    """Sends messages, each with the rank that it is for, at most one to each and none empty. Returns those for this rank, each
    with the rank that it came from. All ranks call it."""
    from mpi4py import MPI

    lengths = np.zeros(comm.size, "uint64")
    for rank, message in messages:
        lengths[rank] = len(message)
    coming = np.empty_like(lengths)
    comm.Alltoall(lengths, coming)
    got = [(rank, bytearray(int(length))) for rank, length in enumerate(coming) if length > 0]
    # Messages between two ranks do not overtake each other, so the parts come in their order.
    requests = [comm.Irecv([part, MPI.BYTE], rank) for rank, buffer in got for part in parts(buffer)]
    requests += [comm.Isend([part, MPI.BYTE], rank) for rank, message in messages for part in parts(message)]
    MPI.Request.Waitall(requests)
    return got


def exchange_all(comm: MPI.Intracomm, make: Callable[[], Sequence[tuple[int, Bytes]]]) -> dict[int, bytearray]:
    """Each rank has a message for each other one, which `make` gives. What it raises on one rank is raised there when all have
    met, and the others raise `GroupError`."""
    failure: Exception | None = None
    messages: Sequence[tuple[int, Bytes]] = []
    try:
        messages = make()
    except Exception as error:
        failure = error
    got = dict(exchange(comm, messages))
    if failure is not None:
        raise failure
    failed = comm.size - 1 - len(got)
    if failed:
        raise GroupError(f"{failed} of {comm.size} ranks failed, and nobody has a result")
    return got
