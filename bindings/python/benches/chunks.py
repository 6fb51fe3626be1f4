"""CPU time of writing an array in chunks, through Zarr and HDF5, beside one call for the whole array.

    RAYON_NUM_THREADS=1 python benches/chunks.py ARRAY.npy [--chunks 64,64,64] [--range 1e-3] [--repeat 4]

Times are process times in seconds, the least of the repeats. After each way stands its time less that of the container with
chunks as they are, as a multiple of the whole array's. All have the same absolute bound. Needs zarr and h5py.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

import ferrosz
from ferrosz.hdf5 import Ferrosz, write
from ferrosz.zarr import FerroszCodec


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """The least CPU time of a call."""
    least = float("inf")
    for _ in range(repeat):
        begin = time.process_time()
        call()
        least = min(least, time.process_time() - begin)
    return least


class Ways:
    """Ways to write an array in chunks into a folder."""

    def __init__(self, array: Any, chunks: tuple[int, ...], folder: Path) -> None:
        self.array, self.chunks, self.folder = array, chunks, folder

    def zarr(self, codec: Any = None) -> None:
        serializer = {} if codec is None else {"serializer": codec}
        shape, dtype = self.array.shape, self.array.dtype
        path = str(self.folder / "array.zarr")
        settings = {"chunks": self.chunks, "compressors": None, "overwrite": True, **serializer}
        zarr.create_array(path, shape=shape, dtype=dtype, **settings)[:] = self.array

    def h5py(self, **settings: Any) -> None:
        with h5py.File(self.folder / "array.h5", "w") as file:
            file.create_dataset("array", data=self.array, chunks=self.chunks, **settings)

    def write(self, **settings: Any) -> None:
        with h5py.File(self.folder / "array.h5", "w") as file:
            write(file, "array", self.array, chunks=self.chunks, **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("array", type=Path)
    parser.add_argument("--chunks", type=lambda text: tuple(map(int, text.split(","))), default=(64, 64, 64))
    parser.add_argument("--range", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=4)
    options = parser.parse_args()
    array, repeat = np.load(options.array), options.repeat
    bound = options.range * float(array.max() - array.min())
    warnings.simplefilter("ignore", ferrosz.TestNumber)
    print("| preset | whole | Zarr | filter of h5py | `ferrosz.hdf5.write` |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(array, options.chunks, Path(folder))
        of_zarr, of_h5py = seconds(ways.zarr, repeat), seconds(ways.h5py, repeat)
        for preset in ("fast", "balanced"):
            given: dict[str, Any] = {"abs": bound, "preset": preset}
            compressor = ferrosz.Compressor(**given)
            whole = seconds(lambda compressor=compressor: compressor.compress(array), repeat)

            def cell(call: Callable[[], None], alone: float, whole: float = whole) -> str:
                taken = seconds(call, repeat)
                return f"{taken:.3f}: {(taken - alone) / whole:.2f}"

            cells = [
                cell(lambda given=given: ways.zarr(FerroszCodec(**given)), of_zarr),
                cell(lambda given=given: ways.h5py(**Ferrosz(**given)), of_h5py),
                cell(lambda given=given: ways.write(**given), of_h5py),
            ]
            print(f"| {preset} | {whole:.3f} | {' | '.join(cells)} |")
    print(f"Chunks as they are: Zarr {of_zarr:.3f}, h5py {of_h5py:.3f}")


if __name__ == "__main__":
    main()
