"""As field.c, in Python: mpiexec -n 4 python -m mpi4py field.py field.fsz"""

import sys

import numpy as np
from mpi4py import MPI

import ferrosz.mpi

SHAPE = (60, 80, 100)
path, comm = sys.argv[1], MPI.COMM_WORLD

# 1. The box of this rank, cut along the first two axes, and its values.
parts = MPI.Compute_dims(comm.size, 2)
places = divmod(comm.rank, parts[1])
box = tuple(slice(n * at // of, n * (at + 1) // of) for n, at, of in zip(SHAPE, places, parts))
z, y, x = np.ogrid[(*box, slice(SHAPE[2]))]
field = (0.25 * ((z * y + x) % 1000)).astype("float32")

# 2. All ranks write the file.
length = ferrosz.mpi.compress_part(field, comm, path, box=box, shape=SHAPE, codec="interp", range=1e-3)

# 3. Each reads its box. The bound is a thousandth of the range of the whole field.
decoded = ferrosz.decompress(np.memmap(path, "uint8", mode="r"), box=box)
assert abs(decoded - field).max(initial=0) <= 1e-3 * 249.75
if comm.rank == 0:
    print(f"{4 * np.prod(SHAPE)} bytes became {length}")
