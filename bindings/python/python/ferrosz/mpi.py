"""The ranks of MPI: one array and one file, to which each compresses its part; arrays that travel compressed; sums of arrays. It
needs the package mpi4py."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import Compressor
from ._allreduce import allreduce
from ._messages import MOST_BYTES, exchange, recv, send

if TYPE_CHECKING:
    from mpi4py import MPI

    from ._types import Box, Preset

__all__ = ["Ranks", "allreduce", "compress_part", "recv", "send"]

# The highest bit. Open MPI 4.1.4 compares unsigned numbers as signed ones. With this bit flipped, the order of signed numbers is
# that of unsigned ones.
HIGHEST = np.uint64(1 << 63)


def compress_part(
    array: Any,
    comm: MPI.Intracomm,
    path: str | os.PathLike[str],
    *,
    box: Box,
    shape: int | Sequence[int],
    codec: str | None = None,
    preset: Preset | None = None,
    abs: float | None = None,
    range: float | None = None,
    max: float | None = None,
    rank: Literal[1, 2, 3] | None = None,
    axes: str | None = None,
    device: str = "auto",
    collective: bool = True,
) -> int:
    """Compresses the part of an array that this rank has. All ranks of the communicator call it, and together they write one
    file, with the bytes of `ferrosz.compress(..., fill=None)` of the whole array.

    array, box, shape, codec, preset, abs, range, max, rank, axes, device
        As those of `ferrosz.compress_part`.
    comm
        A communicator of mpi4py.
    path
        The file. It is opened, and emptied, when all ranks have compressed their parts.
    collective
        Write by collective calls of MPI-IO. Otherwise each rank writes its pieces by `pwrite`, to a file system that all share.

    Returns the length of the stream. The header is written last: if a rank dies, the file is no stream.

    An error of one rank is an error of all. Only an exception of MPI itself on one rank leaves the others waiting: run programs
    by `python -m mpi4py`, which then ends all.

    >>> from mpi4py import MPI
    >>> field = np.sin(np.arange(60000, dtype="float32") / 1000).reshape(30, 40, 50)
    >>> comm = MPI.COMM_WORLD
    >>> own = np.s_[30 * comm.rank // comm.size : 30 * (comm.rank + 1) // comm.size]
    >>> length = ferrosz.mpi.compress_part(
    ...     field[own], comm, folder / "field.fsz", box=own, shape=field.shape, codec="interp", range=1e-3)
    >>> (folder / "field.fsz").read_bytes() == bytes(ferrosz.compress(field, codec="interp", range=1e-3, fill=None))
    True
    """
    # Arguments that all ranks have wrong are an error of all before they meet.
    compressor = Compressor(
        codec=codec,
        preset=preset,
        abs=abs,
        range=range,
        max=max,
        rank=rank,
        axes=axes,
        fill=None,
        device=device,
    )
    ranks = Ranks(comm, path, collective=collective)
    try:
        return compressor.compress_part(array, ranks, box=box, shape=shape)
    finally:
        ranks.close()


class Ranks:
    """The ranks of a communicator of mpi4py as a `ferrosz.Group`, which write a stream to a file. It has a communicator of
    its own: all ranks must call `close` in the end."""

    def __init__(self, comm: MPI.Intracomm, path: str | os.PathLike[str], *, collective: bool = True) -> None:
        self._comm = comm.Dup()
        self._path = os.fspath(path)
        self._open = _SharedFile if collective else _OwnFile
        self._file: _SharedFile | _OwnFile | None = None

    @property
    def rank(self) -> int:
        """The rank."""
        return self._comm.rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._comm.size

    def max(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """As `ferrosz.Group.max`."""
        from mpi4py import MPI

        signed = self._reduced((numbers ^ HIGHEST).view("int64"), MPI.MAX)
        return signed.view("uint64") ^ HIGHEST

    def sum(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """As `ferrosz.Group.sum`."""
        from mpi4py import MPI

        return self._reduced(numbers, MPI.SUM)

    def _reduced(self, numbers: npt.NDArray[Any], operation: MPI.Op) -> npt.NDArray[Any]:
        found = np.empty_like(numbers)
        self._comm.Allreduce(numbers, found, operation)
        return found

    def sum_before(self, number: int) -> int:
        """As `ferrosz.Group.sum_before`."""
        from mpi4py import MPI

        found = np.zeros(1, "uint64")
        self._comm.Exscan(np.array([number], "uint64"), found, MPI.SUM)
        # What the first rank gets is undefined.
        return int(found[0]) if self.rank > 0 else 0

    def exchange(self, messages: list[tuple[int, bytes]]) -> list[tuple[int, bytearray]]:
        """As `ferrosz.Group.exchange`."""
        return exchange(self._comm, messages)

    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        """As `ferrosz.Group.write`."""
        if self._file is None:
            self._file = self._open(self._comm, self._path)
        self._file.write(pieces)

    def barrier(self) -> None:
        """As `ferrosz.Group.barrier`. What was written is in the file system."""
        if self._file is not None:
            self._file.flush()
        self._comm.Barrier()

    def close(self) -> None:
        """Closes the file and frees the communicator. All ranks call it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._comm.Free()


class _SharedFile:
    """A file that the ranks write by collective calls of MPI-IO."""

    def __init__(self, comm: MPI.Intracomm, path: str) -> None:
        from mpi4py import MPI

        self._comm = comm
        failure: MPI.Exception | None = None
        try:
            self._file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        except MPI.Exception as error:
            failure = error
        _agree(comm, path, failure)
        self._file.Set_size(0)

    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        from mpi4py import MPI

        rounds = list(_rounds(pieces))
        failed: MPI.Exception | None = None
        # All ranks call as often as the one with the most rounds.
        for number in range(self._comm.allreduce(len(rounds), MPI.MAX)):
            try:
                self._write_round(rounds[number] if number < len(rounds) else [])
            except MPI.Exception as exception:
                failed = failed or exception
        if failed is not None:
            raise failed

    def _write_round(self, pieces: list[tuple[int, memoryview]]) -> None:
        """Writes all pieces in one call: the view of the file has their places alone."""
        from mpi4py import MPI

        if not pieces:
            self._file.Set_view(0, MPI.BYTE, MPI.BYTE)
            self._file.Write_all([b"", MPI.BYTE])
            return
        places = MPI.BYTE.Create_hindexed([len(part) for _, part in pieces], [start for start, _ in pieces]).Commit()
        try:
            self._file.Set_view(0, MPI.BYTE, places)
            self._file.Write_all([b"".join(part for _, part in pieces), MPI.BYTE])
        finally:
            places.Free()

    def flush(self) -> None:
        self._file.Sync()

    def close(self) -> None:
        self._file.Close()


class _OwnFile:
    """A file that each rank opens by itself, and writes by `pwrite`."""

    def __init__(self, comm: MPI.Intracomm, path: str) -> None:
        failure: OSError | None = None
        # The first rank makes the file, which the others then find.
        for makes in (True, False):
            if makes == (comm.rank == 0):
                flags = os.O_WRONLY | os.O_CLOEXEC | (os.O_CREAT | os.O_TRUNC if makes else 0)
                try:
                    self._file = os.open(path, flags, 0o666)
                except OSError as error:
                    failure = error
            _agree(comm, path, failure)

    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        for start, piece in pieces:
            left = memoryview(piece)
            while left:
                written = os.pwrite(self._file, left, start)
                start, left = start + written, left[written:]

    def flush(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _agree(comm: MPI.Intracomm, path: str, failure: Exception | None) -> None:
    """Raises on all ranks if the file could not be opened on one."""
    failed = comm.allreduce(int(failure is not None))
    if failure is not None:
        raise failure
    if failed:
        raise OSError(f"{failed} of {comm.size} ranks cannot open {path}")


def _rounds(pieces: list[tuple[int, bytes]]) -> Iterator[list[tuple[int, memoryview]]]:
    """Parts of pieces in ascending order of their places, as many at a time as a call can write."""
    found: list[tuple[int, memoryview]] = []
    left = MOST_BYTES
    for start, piece in sorted(pieces):
        whole = memoryview(piece)
        while whole:
            part, whole = whole[:left], whole[left:]
            found.append((start, part))
            start, left = start + len(part), left - len(part)
            if left == 0:
                yield found
                found, left = [], MOST_BYTES
    if found:
        yield found
