"""Files in the shape of those of ERA5, CMIP6, NEMO and WRF by `ferrosz compress` and back, and beside other filters of HDF5.

    pip install hdf5plugin
    python benches/archive_shapes.py DIR [--range 1e-3]

It needs the package ferrosz with the extra `archive`, hdf5plugin, and ncdump of netcdf-bin. Files of `shapes.py` of the
package's tests become small by the command, in NetCDF and in Zarr, and plain again; `same.py`, which asks nothing of ferrosz,
judges all four. Then a table is printed: the bytes of the files, and CPU seconds (user and system) of a whole process that
writes the file from the plain one, and of one that reads all of its variables by h5py.

All others code the same variables at the same absolute bound in the same chunks, and have all else by zlib, as ferrosz has it:

zlib: level 4 after a shuffle, without loss.
zstd: level 3 after a shuffle, of rounded values. Each value keeps as many bits of its mantissa as its exponent needs for the
bound: it becomes the nearest multiple of the largest power of two that is not larger than twice the bound. Packed integers
are rounded likewise.
SZ3: the filter of hdf5plugin with that absolute bound. It knows no missing values, and may crash on NaN: these are the mean
of the others, and a mask of bits by zlib is beside. Valid values may become the one of missing elements; how many do is
printed.

With --variables rows of the coded variables follow that of their file, with MB of each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bindings" / "python" / "tests"))

OTHERS = ("zlib", "zstd", "sz3")
MASK = "missing_"
TITLES = ("zlib 4", "zstd, rounded", "SZ3", "ferrosz")


def cpu_seconds(*words: object) -> float:
    """Of a process that runs these words."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([sys.executable, "-W", "ignore", *map(str, words)], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{words}: {run.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rounded(values: np.ndarray, missing: np.ndarray, bound: float) -> np.ndarray:
    """Multiples of a power of two; what is missing stays as it is."""
    step = 2.0 ** np.floor(np.log2(2 * bound))
    near = np.where(missing, 0, np.rint(values.astype("f8") / step) * step)
    if values.dtype.kind == "i":
        limits = np.iinfo(values.dtype)
        near = np.clip(near, limits.min, limits.max)
    return np.where(missing, values, near.astype(values.dtype))


def filter_of(name: str, bound: float | None) -> dict[str, Any]:
    import hdf5plugin

    if bound is None or name == "zlib":
        return {"compression": "gzip", "compression_opts": 4, "shuffle": True}
    if name == "zstd":
        return {**hdf5plugin.Zstd(clevel=3), "shuffle": True}
    return dict(hdf5plugin.SZ3(absolute=bound))


def write(name: str, source: str, target: str, settings: str) -> None:
    """The variables of a file, by this filter; `settings` are the bound and the chunks of each that is coded."""
    import h5py
    import netCDF4
    from same import stored_of

    known: Mapping[str, tuple[float, list[int]]] = json.loads(settings)
    with netCDF4.Dataset(source) as plain, h5py.File(target, "w") as file:
        for each in plain.variables:
            variable = stored_of(plain, each)
            values, (bound, chunks) = variable.values, known.get(each, (None, True))
            if bound is not None and name == "zstd":
                values = rounded(values, variable.missing, bound)
            if bound is not None and name == "sz3" and variable.missing.any():
                values = np.where(variable.missing, values[~variable.missing].mean(dtype="f8").astype(values.dtype), values)
                file.create_dataset(f"{MASK}{each}", data=np.packbits(variable.missing), **filter_of("zlib", None))
            if values.dtype.kind in "OU" or not values.shape:
                file[each] = values.astype(object) if values.shape else values
            else:
                file.create_dataset(each, data=values, chunks=tuple(chunks) if bound is not None else True, **filter_of(name, bound))


def read(path: str) -> None:
    """All variables by h5py."""
    import h5py
    import hdf5plugin  # noqa: F401

    import ferrosz.hdf5  # noqa: F401

    with h5py.File(path) as file:
        for variable in file.values():
            variable[...]


def check_others(source: Path, target: Path, bounds: Mapping[str, float]) -> None:
    """A filter that does not keep the bound would be no comparison."""
    import h5py
    import hdf5plugin  # noqa: F401
    import netCDF4
    from exact import beyond
    from same import stored_of

    with netCDF4.Dataset(source) as plain, h5py.File(target) as file:
        for name, bound in bounds.items():
            variable = stored_of(plain, name)
            back, counts = file[name][...], ~variable.missing
            if f"{MASK}{name}" in file:
                is_same = (np.unpackbits(file[f"{MASK}{name}"][...])[: counts.size].reshape(counts.shape) == ~counts).all()
            else:
                is_same = back[~counts].tobytes() == variable.values[~counts].tobytes()
            if beyond(variable.values[counts], back[counts], bound) or not is_same:
                sys.exit(f"{target}: {name} is not within the bound, or what is missing has changed")
            lost = int(replace(variable, values=back).missing[counts].sum())
            if lost:
                print(f"{target}: {lost} valid values of {name} are that of missing elements", file=sys.stderr)


def bytes_of(path: Path, name: str) -> int:
    """Of a variable in a file, with the mask beside it."""
    import h5py

    with h5py.File(path) as file:
        return sum(file[each].id.get_storage_size() for each in (name, f"{MASK}{name}") if each in file)


def round_trip(folder: Path, bounds: Mapping[str, float], share: float) -> float:
    """`out.nc`, `out.zarr` and both plain again; the seconds of the first."""
    from same import faults_of_archive, faults_of_file, ncdump

    source = folder / "in.nc"
    seconds = cpu_seconds("-m", "ferrosz", "compress", source, folder / "out.nc", "--range", share)
    cpu_seconds("-m", "ferrosz", "compress", source, folder / "out.zarr", "--range", share)
    for kind in ("nc", "zarr"):
        cpu_seconds("-m", "ferrosz", "decompress", folder / f"out.{kind}", folder / f"of_{kind}.nc")
    faults = [
        *faults_of_file(source, folder / "out.nc", bounds),
        *faults_of_file(source, folder / "of_nc.nc", bounds),
        *faults_of_archive(source, folder / "out.zarr", bounds),
        *faults_of_file(source, folder / "of_zarr.nc", bounds, by_archive=True),
    ]
    faults += [f"ncdump: {path.name}" for path in (folder / "out.nc", folder / "of_nc.nc") if ncdump(path) != ncdump(source)]
    if faults:
        sys.exit("\n".join([f"{folder}:", *faults]))
    return seconds


def rows(name: str, folder: Path, share: float, by_variable: bool) -> list[str]:
    """The row of a shape, and those of its variables."""
    import h5py
    from same import bounds_of
    from shapes import SHAPES

    shape, source = SHAPES[name], folder / "in.nc"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shape.write(source, shape.large)
    bounds = bounds_of(source, share, shape.coded)
    writing = [round_trip(folder, bounds, share)]
    with h5py.File(folder / "out.nc") as file:
        settings = json.dumps({each: (bounds[each], file[each].chunks) for each in shape.coded})
    for other in reversed(OTHERS):
        writing.insert(0, cpu_seconds(__file__, "write", other, source, folder / f"{other}.h5", settings))
        check_others(source, folder / f"{other}.h5", bounds)
    files = [*(folder / f"{other}.h5" for other in OTHERS), folder / "out.nc"]
    cells = [
        f"{file.stat().st_size / 1e6:.2f}; {seconds:.1f}, {cpu_seconds(__file__, 'read', file):.1f}"
        for file, seconds in zip(files, writing, strict=True)
    ]
    found = [f"| {name} | {source.stat().st_size / 1e6:.2f} | {' | '.join(cells)} |"]
    for each in shape.coded if by_variable else ():
        found.append(f"| {name}: {each} | | {' | '.join(f'{bytes_of(file, each) / 1e6:.3f}' for file in files)} |")
    return found


def main() -> None:
    if sys.argv[1:2] == ["write"]:
        return write(*sys.argv[2:])
    if sys.argv[1:2] == ["read"]:
        return read(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--range", type=float, default=1e-3)
    parser.add_argument("--shape", action="append", help="one of these alone; may be repeated")
    parser.add_argument("--variables", action="store_true", help="rows of the variables that are coded, too")
    given = parser.parse_args()
    # Of the filter, and of ncdump.
    from shapes import SHAPES

    import ferrosz.hdf5

    os.environ["HDF5_PLUGIN_PATH"] = ferrosz.hdf5.PLUGIN_PATH
    print(f"| shape | plain, MB | {' | '.join(f'{title}: MB; s to write, to read' for title in TITLES)} |")
    print("| --- |" + " --- |" * (len(TITLES) + 1))
    for name in given.shape or SHAPES:
        folder = given.folder / name.replace(", ", "-").replace(" ", "-")
        print("\n".join(rows(name, folder, given.range, given.variables)), flush=True)
    return None


if __name__ == "__main__":
    main()
