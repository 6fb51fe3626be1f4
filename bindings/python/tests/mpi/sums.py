"""Random sums and means over 1, 2, 3, 4 and 7 ranks, judged by rational numbers; all ranks have the same bits. Errors of one
rank are errors of all. Argument: the number of cases for each number of ranks."""

from __future__ import annotations

import random
import sys
from fractions import Fraction

import numpy as np
from mpi4py import MPI

import ferrosz._allreduce
import ferrosz.mpi

CODINGS = [{}, {"preset": "small"}, {"preset": "balanced"}, {"codec": "plain"}, {"codec": "interp"}, {"codec": "lorenzo+rans"}]
SHAPES = [(), (1,), (3,), (500,), (0,), (4, 0), (2, 300), (17, 40), (9, 8, 11), (1, 2, 3, 100)]
SIZES = (1, 2, 3, 4, 7)


def array_of(rng: random.Random, seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """A walk whose size differs from rank to rank."""
    own = np.random.default_rng(seed)
    walk = np.cumsum(own.normal(0, 10.0 ** own.integers(-3, 3), shape), axis=-1 if shape else None)
    return walk.reshape(shape).astype(dtype)


def allowed(values: list[Fraction], exact: Fraction, bound: float, op: str, dtype: str) -> Fraction:
    """The bound, and what rounding adds."""
    ranks = len(values)
    if ranks == 1:
        return Fraction(0)
    ulp = Fraction(1, 2**53)
    rounded = (ranks - 1) * ulp * sum(map(abs, values)) * (1 + ranks * ulp)
    if op == "mean":
        rounded = rounded / ranks * (1 + ulp) + ulp * abs(exact)
    if dtype == "float32":
        # Half an ulp of what is rounded, which the compressed inputs have changed.
        rounded += Fraction(1, 2**24) * (abs(exact) + Fraction(bound) + rounded) + Fraction(1, 2**150)
    return Fraction(bound) + rounded


def check_case(comm: MPI.Intracomm, rng: random.Random) -> None:
    shape, dtype, op = rng.choice(SHAPES), rng.choice(["float32", "float64"]), rng.choice(["sum", "mean"])
    bound = rng.choice([0.0, 10.0 ** rng.uniform(-6, 1)])
    seed, coding = rng.randrange(1 << 30), rng.choice(CODINGS)
    own = array_of(rng, seed + comm.rank, shape, dtype)
    result = ferrosz.mpi.allreduce(own, comm, abs=bound, op=op, **coding)
    assert result.shape == shape and result.dtype == own.dtype
    assert result.tobytes() == comm.bcast(result.tobytes()), f"rank {comm.rank} has other bits"
    arrays = comm.gather(own)
    if arrays is None:
        return
    for i, found in enumerate(result.flat):
        values = [Fraction(float(array.flat[i])) for array in arrays]
        exact = sum(values) / (comm.size if op == "mean" else 1)
        error, most = abs(Fraction(float(found)) - exact), allowed(values, exact, bound, op, dtype)
        context = f"{comm.size} ranks, {shape} {dtype}, {op}, abs {bound}, {coding}, element {i}"
        assert error <= most, f"{context}: {float(error)} instead of {float(most)}"


def check_not_finite(comm: MPI.Intracomm) -> None:
    own = np.ones((8, 100), "float32")
    own[comm.rank, 3] = np.nan
    own[7, comm.rank] = np.inf * (1 if comm.rank % 2 else -1)
    own[6, 5] = np.inf * (-1) ** comm.rank
    result = ferrosz.mpi.allreduce(own, comm, abs=1e-3)
    assert np.isnan(result[: comm.size, 3]).all()
    assert (np.isinf(result[7, : comm.size])).all() and np.isnan(result[6, 5]) == (comm.size > 1)
    others = np.isfinite(result)
    assert abs(result[others] - comm.size).max() <= 1e-3


def expect(comm: MPI.Intracomm, call, failing: set[int], kind: type[Exception], text: str) -> None:
    """Ranks that fail raise an error of this kind, the others `GroupError`."""
    wanted = (kind, text) if comm.rank in failing else (ferrosz.GroupError, f"{len(failing)} of {comm.size}")
    try:
        call()
    except Exception as error:
        assert isinstance(error, wanted[0]) and wanted[1] in str(error), f"rank {comm.rank}: {error!r}"
    else:
        raise AssertionError(f"rank {comm.rank}: no error instead of {text}")


def check_errors(comm: MPI.Intracomm) -> None:
    first, last = comm.rank == 0, comm.size - 1
    every = set(range(comm.size))
    ones = np.ones(1000, "float32")
    reduce = ferrosz.mpi.allreduce
    expect(comm, lambda: reduce(np.ones(5, "int32") if first else ones, comm, abs=1), {0}, ferrosz.UnsupportedType, "int32")
    expect(comm, lambda: reduce(ones, comm, abs=float("nan") if first else 1), {0}, ferrosz.ArgumentError, "abs: nan")
    expect(comm, lambda: reduce(ones, comm, abs=1, op="max" if first else "sum"), {0}, ferrosz.ArgumentError, "'max'")
    expect(comm, lambda: reduce(ones[comm.rank :], comm, abs=1), every, ferrosz.ArgumentError, "differ")
    expect(comm, lambda: reduce(ones, comm, abs=1, codec="none such"), every, ferrosz.ArgumentError, "none such")
    whole = ferrosz._allreduce.Compressor
    for failing_call in (1, 2):
        calls = 0

        def broken(**settings: object) -> ferrosz.Compressor:
            nonlocal calls
            calls += 1
            if calls == failing_call and comm.rank == last:
                raise MemoryError("no memory")
            return whole(**settings)

        ferrosz._allreduce.Compressor = broken
        expect(comm, lambda: reduce(ones, comm, abs=1e-3), {last}, MemoryError, "no memory")
        ferrosz._allreduce.Compressor = whole
        # Nothing is left on its way.
        assert abs(reduce(ones, comm, abs=1e-3) - comm.size).max() <= 1e-3


cases = int(sys.argv[1])
for size in SIZES:
    comm = MPI.COMM_WORLD.Split(0 if MPI.COMM_WORLD.rank < size else MPI.UNDEFINED)
    if comm == MPI.COMM_NULL:
        continue
    rng = random.Random(size)
    for _ in range(cases):
        check_case(comm, rng)
    check_not_finite(comm)
    if size > 1:
        check_errors(comm)
    if comm.rank == 0:
        print(f"{size} ranks: {cases} cases", flush=True)
    comm.Free()
