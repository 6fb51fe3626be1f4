"""Random decompositions of random arrays, by 1, 2, 3, 4 and 7 ranks: the file has the bytes of one process. Each rank reads its
own box back. Arguments: the folder of the file, and the number of cases for each number of ranks."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import ferrosz.mpi

CODECS = ["plain", "interp", "lorenzo", "stencil", "outlier", "slices", "layered", "lorenzo+rans", "stencil+bitplane"]
SIZES = (1, 2, 3, 4, 7)


def decomposition(shape: tuple[int, ...], members: int, rng: random.Random) -> list[tuple[slice, ...]]:
    """As many boxes, by cuts at any places, in any order; some may be empty."""
    boxes = [tuple(slice(0, length) for length in shape)]
    while len(boxes) < members:
        cut = boxes.pop(rng.randrange(len(boxes)))
        axis = rng.randrange(len(shape))
        start, stop = cut[axis].start, cut[axis].stop
        at = rng.randint(start, stop)
        boxes += [cut[:axis] + (part,) + cut[axis + 1 :] for part in (slice(start, at), slice(at, stop))]
    rng.shuffle(boxes)
    return boxes


def field_of(rng: random.Random) -> np.ndarray:
    """A walk along the last axis, in one to four dimensions."""
    shape = rng.choice(
        [
            (rng.randint(0, 60_000),),
            (rng.randint(1, 300), rng.randint(1, 200)),
            tuple(rng.randint(1, 45) for _ in range(3)),
            (rng.randint(1, 4), rng.randint(1, 20), rng.randint(1, 20), rng.randint(1, 90)),
        ]
    )
    steps = np.random.default_rng(rng.randrange(2**32)).normal(0, 1, shape)
    return steps.cumsum(axis=-1).astype(rng.choice(["float32", "float64"]))


def check(comm: MPI.Intracomm, path: Path, case: int) -> None:
    # All ranks draw the same numbers.
    rng = random.Random(1000 * comm.size + case)
    field = field_of(rng)
    codec = CODECS[case % len(CODECS)]
    bound = rng.choice([{"abs": 1e-2}, {"range": 1e-3}, {"max": 1e-4}, {"abs": 0.0}])
    boxes = decomposition(field.shape, comm.size, rng)
    # Pieces and messages in one part or in many.
    ferrosz.mpi.MOST_BYTES = rng.choice([256 << 20, 1000])
    box = boxes[comm.rank]
    length = ferrosz.mpi.compress_part(
        field[box], comm, path, box=box, shape=field.shape, codec=codec, collective=bool(case % 2), **bound
    )
    stream = path.read_bytes()
    what = f"case {case} of {comm.size} ranks: {codec} {field.dtype} {field.shape} {bound} {boxes}"
    assert len(stream) == length, what
    assert stream == bytes(ferrosz.compress(field, codec=codec, fill=None, **bound)), what
    own = ferrosz.decompress(stream, box=box)
    assert own.shape == field[box].shape, what
    assert own.size == 0 or abs(own - field[box]).max() <= ferrosz.info(stream).absolute_error, what
    comm.Barrier()


folder, cases = Path(sys.argv[1]), int(sys.argv[2])
world = MPI.COMM_WORLD
assert world.size == max(SIZES)
for size in SIZES:
    comm = world.Split(0 if world.rank < size else MPI.UNDEFINED)
    if comm == MPI.COMM_NULL:
        continue
    for case in range(cases):
        check(comm, folder / f"{size}.fsz", case)
    if comm.rank == 0:
        print(f"{size} ranks: {cases} cases", flush=True)
