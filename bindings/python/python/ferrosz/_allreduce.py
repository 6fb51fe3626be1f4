"""Sums of arrays over the ranks of MPI, whose parts travel compressed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ._ferrosz import Compressor, Decompressor
from ._messages import exchange_all
from .errors import ArgumentError, GroupError, UnsupportedType

if TYPE_CHECKING:
    from mpi4py import MPI

    from ._types import Preset

Operation = Literal["sum", "mean"]


def allreduce(
    array: npt.ArrayLike,
    comm: MPI.Intracomm,
    *,
    abs: float,
    op: Operation = "sum",
    preset: Preset | None = None,
    codec: str | None = None,
    device: str = "auto",
) -> npt.NDArray[Any]:
    """The sum or the mean of the arrays of all ranks, within an error bound. All ranks call it with the same arguments and
    arrays of one shape and type, and get the same bits.

    array
        float32 or float64. NaNs and infinities are summed as NumPy does.
    abs
        The bound of the result: it differs from the exact sum or mean by at most `abs`, and by what rounding adds (below). 0
        is lossless.
    preset, codec
        How parts are compressed: a preset, `"fast"` unless a codec is given, or a codec.
    device
        Where they are compressed.

    Each rank owns a part of the result. It gets this part of every other rank's array, compressed within an error e, adds
    what it decodes to its own values, which are exact, in float64, and sends the sum to all, compressed once more within an
    error of its own, `abs` / 2. With P ranks the P - 1 inputs that were compressed add (P - 1) e, so that e is `abs` / 2 /
    (P - 1) for a sum, and P times that for a mean.

    Rounding adds, in an element whose values have the magnitudes m, at most (P - 1) 2^-53 sum(m), for a mean divided by P and
    with one more rounding. If the array is float32, the result is rounded to it: half an ulp more. One rank alone gets a copy
    of its array.

    An error of one rank is an error of all: the others raise `GroupError`. Only an exception of MPI itself on one rank leaves
    the others waiting: run programs by `python -m mpi4py`, which then ends all.

    >>> from mpi4py import MPI
    >>> gradient = np.sin(np.arange(60000, dtype="float32") / 1000)
    >>> comm = MPI.COMM_WORLD
    >>> total = ferrosz.mpi.allreduce(gradient, comm, abs=1e-3)
    >>> bool(abs(total - comm.size * gradient).max() <= 1e-3)
    True
    """
    own = _checked(array, comm, abs, op)
    if comm.size == 1:
        return own.copy()
    input_bound, result_bound = bounds(abs, comm.size, op)
    if preset is None and codec is None:
        preset = "fast"
    settings: dict[str, Any] = {"preset": preset, "codec": codec, "fill": None, "device": device}
    decompressor = Decompressor(device=device)
    pieces = _pieces(own, comm.size)
    others = [rank for rank in range(comm.size) if rank != comm.rank]

    def to_owners() -> list[tuple[int, memoryview]]:
        compressor = Compressor(abs=input_bound, **settings)
        return [(rank, memoryview(compressor.compress(pieces[rank]))) for rank in others]

    inputs: dict[int, Any] = dict(exchange_all(comm, to_owners))
    reduced: memoryview | None = None

    def to_all() -> list[tuple[int, memoryview]]:
        nonlocal reduced
        total = np.zeros(pieces[comm.rank].shape, "float64")
        with np.errstate(all="ignore"):
            # In the order of the ranks.
            for rank in range(comm.size):
                total += pieces[rank] if rank == comm.rank else decompressor.decompress(inputs.pop(rank))
            if op == "mean":
                total /= comm.size
            total = total.astype(own.dtype)
        reduced = memoryview(Compressor(abs=result_bound, **settings).compress(total))
        return [(rank, reduced) for rank in others]

    results: dict[int, Any] = dict(exchange_all(comm, to_all))
    # Not the sum itself: the others do not have it.
    results[comm.rank] = reduced
    result = np.empty_like(own)
    for rank, piece in enumerate(_pieces(result, comm.size)):
        decompressor.decompress(results[rank], out=piece)
    return result


def bounds(abs: float, ranks: int, op: Operation) -> tuple[float, float]:
    """The bounds of each compressed input and of the compressed result, with which the result is within `abs`."""
    share = abs / 2
    each = share / (ranks - 1) * (ranks if op == "mean" else 1)
    # The quotient may be rounded up, in two steps.
    for _ in range(2):
        each = math.nextafter(each, 0.0)
    return each, share


def _pieces(array: npt.NDArray[Any], ranks: int) -> list[npt.NDArray[Any]]:
    """The parts of an array in C order that the ranks own: slabs of the first axis, or of all values if it is shorter."""
    whole = array if array.ndim > 0 and len(array) >= ranks else array.reshape(-1)
    cuts = [len(whole) * rank // ranks for rank in range(ranks + 1)]
    return [whole[start:stop] for start, stop in zip(cuts, cuts[1:], strict=False)]


def _checked(array: npt.ArrayLike, comm: MPI.Intracomm, bound: float, op: str) -> npt.NDArray[Any]:
    """The array in C order. An argument that is wrong on one rank, or differs, is an error of all."""
    own, wrong = np.empty(0), None
    try:
        own = _array(array)
        if not (math.isfinite(bound) and bound >= 0):
            raise ArgumentError(f"abs: {bound} is no finite number from 0 on")
        if op not in ("sum", "mean"):
            raise ArgumentError(f"op: {op!r} is neither 'sum' nor 'mean'")
    except Exception as error:
        wrong = error
    called = comm.allgather((str(own.dtype), own.shape, bound, op, wrong is not None))
    if wrong is not None:
        raise wrong
    failed = sum(other[-1] for other in called)
    if failed:
        raise GroupError(f"the arguments of {failed} of {comm.size} ranks are wrong")
    for rank, other in enumerate(called):
        if other != called[comm.rank]:
            raise ArgumentError(
                f"type, shape, abs and op differ: {called[comm.rank][:-1]} on rank {comm.rank}, {other[:-1]} on rank {rank}"
            )
    return own


def _array(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """The array in C order."""
    found = np.asarray(array, order="C")
    if found.dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise UnsupportedType(f"array: its elements are {found.dtype}, and float32 and float64 are summed")
    return found
