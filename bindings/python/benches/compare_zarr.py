"""ferrosz in Zarr and HDF5 beside Blosc with Zstandard, zfp and SZ3, through the same tools, at the same absolute bound.

    python3 -m venv compare-venv
    compare-venv/bin/pip install numpy h5py hdf5plugin zarr numcodecs zfpy==1.0.1 WHEEL_OF_FERROSZ
    compare-venv/bin/python bindings/python/benches/compare_zarr.py --out FILE.md

The field is a generated one of 1 GiB by default: isotropic turbulence, with the power spectrum k^-11/3 of Kolmogorov. A bound
is a share of its range. Rates are 10^6 bytes of the field a second, and the best of the repeats: the time in which the tool
writes the whole array to new files, and reads it from them; the files are in the system's cache. All tools have the same chunks.
The largest error is taken by NumPy in float64.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import math
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import zarr
import zarr.codecs
import zarr.codecs.numcodecs

import ferrosz.hdf5
from ferrosz.zarr import FerroszCodec, codec_for

PACKAGES = ("numpy", "zarr", "numcodecs", "zfpy", "h5py", "hdf5plugin", "ferrosz")

# Of zfp: the mode of an absolute tolerance.
FIXED_ACCURACY = 4

Array = np.ndarray
Way = tuple[str, str, Callable[[Path, Array], None], Callable[[Path], Array]]


def turbulence(shape: tuple[int, ...]) -> Array:
    """A random field with the spectrum of turbulence."""
    rng = np.random.default_rng(2026)
    spectrum = np.fft.rfftn(rng.standard_normal(shape, dtype="float32"))
    axes = [np.fft.fftfreq(length).astype("float32") for length in shape[:-1]]
    axes.append(np.fft.rfftfreq(shape[-1]).astype("float32"))
    squared = functools.reduce(np.add.outer, [axis**2 for axis in axes])
    squared[(0,) * len(shape)] = 1
    # The power k^-11/3 is an amplitude of (k^2)^-11/12.
    spectrum *= squared ** np.float32(-11 / 12)
    spectrum[(0,) * len(shape)] = 0
    field = np.fft.irfftn(spectrum, shape, axes=range(len(shape))).astype("float32")
    return np.ascontiguousarray(280 + 12 * field / field.std(dtype="float64")).astype("float32")


def write_zarr(chunks: tuple[int, ...], options: dict[str, object], path: Path, field: Array) -> None:
    array = zarr.create_array(path, shape=field.shape, chunks=chunks, dtype=field.dtype, **options)
    array[...] = field


def read_zarr(path: Path) -> Array:
    return zarr.open_array(path, mode="r")[...]


def write_h5py(chunks: tuple[int, ...], options: object, path: Path, field: Array) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("field", data=field, chunks=chunks, **options)


def write_zarr_chosen(chunks: tuple[int, ...], settings: dict[str, object], path: Path, field: Array) -> None:
    """With a codec that is chosen once, which is timed."""
    codec = codec_for(field, chunks=chunks, written_once=True, **settings)
    write_zarr(chunks, {"serializer": codec, "compressors": None}, path, field)


def write_h5py_chosen(chunks: tuple[int, ...], settings: dict[str, object], path: Path, field: Array) -> None:
    chosen = ferrosz.hdf5.filter_for(field, chunks=chunks, written_once=True, **settings)
    write_h5py(chunks, chosen, path, field)


def read_h5py(path: Path) -> Array:
    with h5py.File(path) as file:
        return file["field"][...]


def write_ferrosz(chunks: tuple[int, ...], settings: dict[str, object], path: Path, field: Array) -> None:
    with h5py.File(path, "w") as file:
        ferrosz.hdf5.write(file, "field", field, chunks=chunks, **settings)


def read_ferrosz(path: Path) -> Array:
    with h5py.File(path) as file:
        return ferrosz.hdf5.read(file["field"])


def ways(bound: float, share: float, chunks: tuple[int, ...]) -> Iterator[Way]:
    """All ways: their names, what is used by them, and how they write and read. The bound is this share of the range."""
    blosc = zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle")
    zfp = zarr.codecs.numcodecs.ZFPY(mode=FIXED_ACCURACY, tolerance=bound)
    in_zarr = {
        "Blosc, Zstandard (lossless)": {"compressors": [blosc]},
        "zfp": {"serializer": zfp, "compressors": None},
    }
    in_h5py = {
        "zfp": hdf5plugin.Zfp(accuracy=bound),
        "SZ3": hdf5plugin.SZ3(absolute=bound),
    }
    presets = ("small", "balanced", "fast")
    for preset in presets:
        codec = FerroszCodec(abs=bound, preset=preset, written_once=True)
        in_zarr[f"ferrosz, {preset}"] = {"serializer": codec, "compressors": None}
        in_h5py[f"ferrosz, {preset}"] = ferrosz.hdf5.Ferrosz(abs=bound, preset=preset, written_once=True)
    for name, options in in_zarr.items():
        yield "Zarr", name, functools.partial(write_zarr, chunks, options), read_zarr
    for name, options in in_h5py.items():
        yield "h5py", name, functools.partial(write_h5py, chunks, options), read_h5py
    for preset in presets:
        settings = {"range": share, "preset": preset}
        name = f"ferrosz, {preset}, chosen once"
        yield "Zarr", name, functools.partial(write_zarr_chosen, chunks, settings), read_zarr
        yield "h5py", name, functools.partial(write_h5py_chosen, chunks, settings), read_h5py
        yield "ferrosz.hdf5", name, functools.partial(write_ferrosz, chunks, settings), read_ferrosz


@dataclass
class Row:
    tool: str
    name: str
    ratio: float
    write: float
    read: float
    error: float


def measured(way: Way, field: Array, repeats: int, folder: Path) -> Row:
    """The row of a way."""
    tool, name, write, read = way
    writes, reads = [], []
    for _ in range(repeats):
        path = folder / "field"
        start = time.perf_counter()
        write(path, field)
        writes.append(time.perf_counter() - start)
        start = time.perf_counter()
        back = read(path)
        reads.append(time.perf_counter() - start)
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        stored = sum(file.stat().st_size for file in files)
        path.unlink() if path.is_file() else shutil.rmtree(path)
    error = max(float(np.abs(x.astype("float64") - y).max()) for x, y in zip(field, back, strict=True))
    rate = field.nbytes / 1e6
    return Row(tool, name, field.nbytes / stored, rate / min(writes), rate / min(reads), error)


def by(extents: tuple[int, ...]) -> str:
    return " x ".join(map(str, extents))


def report(field: Array, bound: float, share: float, chunks: tuple[int, ...], rows: list[Row]) -> str:
    """The table in Markdown."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    lines = [
        f"Field: {by(field.shape)} float32, {field.nbytes / 1e6:.0f} MB, chunks {by(chunks)}. "
        f"Bound: {share:g} of the range, {bound:.6g}.",
        f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}; Python {platform.python_version()}; {versions}.",
        "",
        "| tool | compressor | ratio | write, MB/s | read, MB/s | largest error over the bound |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        numbers = f"{row.ratio:.2f} | {row.write:.0f} | {row.read:.0f} | {row.error / bound:.4f}"
        lines.append(f"| {row.tool} | {row.name} | {numbers} |")
    return "\n".join(lines) + "\n"


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=numbers, default=(256, 1024, 1024), help="of the field; 256,1024,1024 is 1 GiB")
    parser.add_argument("--chunks", type=numbers, default=(64, 256, 256), help="64,256,256 are 16 MiB")
    parser.add_argument("--bound", type=float, nargs="+", default=[1e-3], help="as shares of the range")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are written; a temporary one by default")
    parser.add_argument("--out", type=Path, help="the file of the tables; also printed")
    arguments = parser.parse_args()

    field = turbulence(arguments.shape)
    range_ = float(field.max()) - float(field.min())
    tables = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for share in arguments.bound:
            bound = share * range_
            rows = []
            for way in ways(bound, share, arguments.chunks):
                rows.append(measured(way, field, arguments.repeats, Path(folder)))
                print(rows[-1], file=sys.stderr, flush=True)
                assert not math.isnan(rows[-1].error)
            tables.append(report(field, bound, share, arguments.chunks, rows))
    text = "\n".join(tables)
    print(text)
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
