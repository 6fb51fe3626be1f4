"""Compresses variables of NetCDF and HDF5 files that are larger than the memory that the command may use, and judges them.

    python benches/large_variables.py DIR [--edge 860] [--memory-mib 256]

It needs h5py and netCDF4. DIR needs room for eight fields. Limit and peak are those of `benches/large.py`. Each stream is compared with
that of the same values in a raw file, but for packed integers, whose values are others.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import netCDF4
import numpy as np
from large import ROOT, digest, run

SCALE = np.float32(1e-4)


def slabs(field: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Parts of the field that fit in memory."""
    for start in range(0, len(field), 16):
        place = slice(start, start + 16)
        yield place, np.asarray(field[place])


def write(folder: Path, field: np.ndarray) -> list[tuple[str, str]]:
    """Files with the field as `t`, and how they store it."""
    for name, options in {
        "contiguous.h5": {},
        "deflate.h5": {"chunks": (32, 128, 128), "compression": "gzip", "compression_opts": 1, "shuffle": True},
    }.items():
        with h5py.File(folder / name, "w") as file:
            data = file.create_dataset("t", field.shape, "<f4", **options)
            for place, part in slabs(field):
                data[place] = part
    with netCDF4.Dataset(folder / "classic.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        for axis, length in zip("zyx", field.shape, strict=True):
            file.createDimension(axis, length)
        data = file.createVariable("t", "f4", tuple("zyx"))
        for place, part in slabs(field):
            data[place] = part
    with h5py.File(folder / "packed.h5", "w") as file:
        data = file.create_dataset("t", field.shape, "<i2")
        data.attrs["scale_factor"] = SCALE
        for place, part in slabs(field):
            data[place] = np.round(part / SCALE).astype("<i2")
    return [
        ("contiguous.h5", "HDF5, contiguous"),
        ("deflate.h5", "HDF5, chunks of 32 x 128 x 128 with shuffle and deflate"),
        ("classic.nc", "NetCDF classic, 64-bit offsets"),
        ("packed.h5", "HDF5, integers of 16 bits with `scale_factor`"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edge", type=int, default=860)
    parser.add_argument("--memory-mib", type=int, default=256)
    args = parser.parse_args()
    shape = (args.edge,) * 3
    raw = args.folder / "field.f32"
    if not raw.exists():
        subprocess.run([sys.executable, ROOT / "benches/make_large_field.py", raw, *map(str, shape)], check=True)
    field = np.memmap(raw, "<f4", "r", shape=shape)
    options = "--codec interp --range 1e-3 --fill none --force"
    dims = ",".join(map(str, shape))
    run(f"compress field.f32 raw.fsz --dtype f32 --dims {dims} {options}", args.folder, None)
    print("| file | command | seconds | GB/s | peak, MiB |\n| --- | --- | --- | --- | --- |", flush=True)
    for name, kind in write(args.folder, field):
        for command, line in [
            ("compress", f"compress {name}:t limited.fsz {options}"),
            ("verify", f"verify {name}:t limited.fsz --json >verified.json"),
        ]:
            seconds, peak = run(line, args.folder, args.memory_mib)
            print(f"| {kind} | {command} | {seconds:.1f} | {field.nbytes / seconds / 1e9:.2f} | {peak} |", flush=True)
        if name != "packed.h5" and digest(args.folder / "limited.fsz") != digest(args.folder / "raw.fsz"):
            sys.exit(f"{name}: the streams differ")


main()
