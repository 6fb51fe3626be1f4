"""ferrosz and others, each called in the same way: an absolute error in, a stream's length and the decoded field out.

    python3 -m venv compare-venv
    compare-venv/bin/pip install numpy pysz zfpy pcodec h5py hdf5plugin
    cargo build --release --package ferrosz-cli --package ferrosz-lab

SZ3 is pysz's, SPERR the HDF5 filter of hdf5plugin, zfp zfpy's. The scripts that compare import this module.
"""
import argparse
import csv
import dataclasses
import hashlib
import importlib.metadata
import io
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "pysz", "hdf5plugin", "zfpy", "pcodec")
# Seconds after which a compressor is not timed once more.
PATIENCE = 3.0


@dataclasses.dataclass
class Field:
    name: str
    values: typing.Any
    path: pathlib.Path

    @property
    def dims(self):
        return ",".join(map(str, self.values.shape))

    @property
    def rank(self):
        """The rank of tiles: dimensions of a few elements do not make a smooth axis."""
        return sum(length > 4 for length in self.values.shape)

    @property
    def extent(self):
        return float(self.values.max().astype(numpy.float64) - self.values.min().astype(numpy.float64))

    def ratio(self, stream_bytes):
        return self.values.nbytes / stream_bytes

    def bits(self, stream_bytes):
        return 8 * stream_bytes / self.values.size

    def psnr(self, decoded):
        error = self.values.astype(numpy.float64) - decoded.astype(numpy.float64)
        mean = float(numpy.mean(error * error))
        return math.inf if mean == 0 else 20 * math.log10(self.extent) - 10 * math.log10(mean)

    def largest_error(self, decoded):
        return float(numpy.abs(self.values.astype(numpy.float64) - decoded.astype(numpy.float64)).max())


@dataclasses.dataclass
class Result:
    """What a compressor made of a field; seconds are medians."""
    name: str
    stream_bytes: int
    compress: float
    decompress: float
    decoded: typing.Any


class Ferrosz:
    """The commands, run in a folder of their own; `lab` is the one that measures codecs."""

    def __init__(self, command, folder, lab=None, repeat=1):
        self.command, self.folder, self.lab, self.repeat = command, folder, lab, repeat

    def run(self, command, *arguments):
        line = [command, *map(str, arguments), "--device", "cpu", "--quiet"]
        return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout

    def compress(self, field, error, *options):
        """What `ferrosz compress` says, and what comes back."""
        stream, back = self.folder / "stream.fsz", self.folder / "back.f32"
        said = json.loads(self.run(self.command, "compress", field.path, stream, "--dtype", "f32", "--dims", field.dims,
                                   "--abs", error, "--no-stats", "--json", "--force", *options))
        self.run(self.command, "decompress", "--force", stream, back)
        if said["stream_bytes"] != stream.stat().st_size:
            raise RuntimeError("the stream has another length than compress says")
        return said, numpy.fromfile(back, "<f4").reshape(field.values.shape)

    def bench(self, command, field, error, *options):
        """The rows of `bench`, which times whole calls of the presets or calls of a codec."""
        return json.loads(self.run(command, "bench", field.path, "--dtype", "f32", "--dims", field.dims, "--abs", error,
                                   "--repeat", self.repeat, "--json", *options))["rows"]

    def codec(self, field, error, codec, rank):
        """One codec and rank, timed."""
        options = "--codec", codec, "--rank", rank
        said, decoded = self.compress(field, error, *options)
        row, = self.bench(self.lab, field, error, *options)
        seconds = [1e-6 * row[call]["us"] for call in ("compress", "decompress")]
        return self.result(f"ferrosz {codec} {rank}", said, row, seconds, decoded)

    def small(self, field, error):
        """The preset `small`, timed with its choice. It keeps no zeros, as no other does; `bench` keeps those that are not rare."""
        said, decoded = self.compress(field, error, "--small", "--keep", "none")
        rows = self.bench(self.command, field, error)
        row = next(row for row in rows if row["preset"] == "small")
        seconds = [row[f"{call}_seconds"] for call in ("compress", "decompress")]
        chosen = f"{said['codec']} {said['rank']}"
        return Result(f"ferrosz --small: {chosen}", said["stream_bytes"], *seconds, decoded)

    def result(self, name, said, row, seconds, decoded):
        if row["stream_bytes"] != said["stream_bytes"]:
            raise RuntimeError("bench and compress made different streams")
        return Result(name, said["stream_bytes"], *seconds, decoded)


def median_time(work, repeat):
    """Median seconds of some runs after one that does not count, and the last result. A slow one is run once."""
    start = time.perf_counter()
    result, seconds = work(), []
    first = time.perf_counter() - start
    if first > PATIENCE:
        return first, result
    while len(seconds) < repeat and sum(seconds) < PATIENCE:
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def measure(name, repeat, compress, decompress, size=len):
    compress_seconds, stream = median_time(compress, repeat)
    decompress_seconds, decoded = median_time(lambda: decompress(stream), repeat)
    return Result(name, size(stream), compress_seconds, decompress_seconds, decoded)


def sz3(field, error, algorithm, threads, repeat):
    config = pysz.szConfig(field.values.shape)
    config.errorBoundMode = pysz.szErrorBoundMode.ABS
    config.absErrorBound = error
    config.cmprAlgo = getattr(pysz.szAlgorithm, algorithm)
    config.openmp = threads > 1
    return measure(f"SZ3 {algorithm}", repeat,
                   lambda: pysz.sz.compress(field.values, config)[0],
                   lambda stream: pysz.sz.decompress(stream, numpy.float32, field.values.shape)[0],
                   size=lambda stream: stream.nbytes)


def sperr(field, error, repeat):
    """SPERR with the field as one chunk of an HDF5 file in memory."""
    # Without `swap` the filter takes the first dimension for the fastest.
    options = hdf5plugin.Sperr(absolute=error, swap=True)

    def compress():
        file = io.BytesIO()
        with h5py.File(file, "w") as target:
            target.create_dataset("field", data=field.values, chunks=field.values.shape, compression=options)
        return file

    def in_file(file, work):
        with h5py.File(file) as source:
            return work(source["field"])

    return measure("SPERR", repeat, compress, lambda file: in_file(file, lambda stored: stored[...]),
                   size=lambda file: in_file(file, lambda stored: stored.id.get_storage_size()))


def zfp(field, error, repeat):
    return measure("zfp fixed accuracy", repeat,
                   lambda: zfpy.compress_numpy(field.values, tolerance=error), zfpy.decompress_numpy)


def pco_values(field, repeat):
    return measure("pco, lossless", repeat,
                   lambda: pcodec.standalone.simple_compress(field.values.ravel(), pcodec.ChunkConfig()),
                   lambda stream: pcodec.standalone.simple_decompress(stream).reshape(field.values.shape))


def pco_codes(field, error, repeat):
    """pco of rint(x / 2e), which NumPy makes in float64 and turns back; both are in the times."""
    def compress():
        codes = numpy.rint(field.values.ravel() / (2.0 * numpy.float64(error))).astype(numpy.int32)
        return pcodec.standalone.simple_compress(codes, pcodec.ChunkConfig())

    def decompress(stream):
        codes = pcodec.standalone.simple_decompress(stream)
        return (codes * (2.0 * numpy.float64(error))).astype(numpy.float32).reshape(field.values.shape)

    return measure("NumPy quantised, pco", repeat, compress, decompress)


class Hpez:
    """Ratios that were measured once, of fields with these bytes: HPEZ has no package for Python."""
    WAYS = ("q1", "q3", "q4")

    def __init__(self, path=ROOT / "benches/hpez.csv"):
        lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
        self.rows = {(row["sha256"], float(row["bound"])): row for row in csv.DictReader(lines)}

    def ratios(self, field, share):
        """By way; empty if this field was not measured."""
        row = self.rows.get((hashlib.sha256(field.values).hexdigest()[:16], share))
        return {f"HPEZ {way}": float(row[way]) for way in self.WAYS} if row else {}


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return f"{os.cpu_count()} cores, {name}, {platform.machine()}"


def circumstances(args, packages=PACKAGES):
    """When, where, and with which versions."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    command = subprocess.run([args.ferrosz, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return f"{args.date}. {processor()}{args.note and ', ' + args.note}. {command}, {versions}."


def read(argument):
    path, _, dims = argument.rpartition(":")
    shape = tuple(map(int, dims.split(",")))
    values = numpy.fromfile(path, "<f4").reshape(shape)
    if not numpy.isfinite(values).all():
        sys.exit(f"{path}: not all values are finite, which zfp cannot take")
    return Field(pathlib.Path(path).stem, values, pathlib.Path(path).resolve())


def parser(description):
    """The arguments that all comparisons have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("fields", nargs="+", metavar="FIELD.f32:Z,Y,X")
    parser.add_argument("--out", type=pathlib.Path, help="Markdown to write; else it is printed only")
    parser.add_argument("--ferrosz", default=str(ROOT / "target/release/ferrosz"), help="the command")
    parser.add_argument("--threads", type=int, default=1, help="of ferrosz and SZ3; the others have one")
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--note", default="", help="what else is to be said of the machine")
    return parser


def load(threads):
    """Imports the libraries, which read these when they start."""
    global h5py, hdf5plugin, numpy, pcodec, pysz, zfpy
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    import h5py
    import hdf5plugin
    import numpy
    import pcodec
    import pysz
    import zfpy
