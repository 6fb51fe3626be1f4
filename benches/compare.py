#!/usr/bin/env python3
"""ferrosz beside SZ3, zfp and pco on the CPU: same fields, same absolute bounds, same threads.

    python3 -m venv compare-venv
    compare-venv/bin/pip install numpy pysz zfpy pcodec
    cargo build --release --package ferrosz-cli --package ferrosz-lab
    compare-venv/bin/python benches/compare.py --out docs/measurements/compare-cpu.md FIELD.f32:Z,Y,X ...

Fields are raw little-endian float32, without NaN. A bound is a share of a field's range; the absolute error
that it comes to is what every compressor gets. Ratios are bytes of the field over bytes of the stream;
rates are medians, in 10^9 bytes of the field a second; the largest error is taken by NumPy in float64.
ferrosz is timed by `ferrosz-lab bench --device cpu`, the others around their calls from Python. PSNR is
20 log10(range / root mean square error), in float64.
"""
import argparse
import dataclasses
import functools
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUNDS = (1e-2, 1e-3, 1e-4)
PACKAGES = ("numpy", "pysz", "zfpy", "pcodec")


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

    def psnr(self, decoded):
        error = self.values.astype(numpy.float64) - decoded.astype(numpy.float64)
        mean = float(numpy.mean(error * error))
        return math.inf if mean == 0 else 20 * math.log10(self.extent) - 10 * math.log10(mean)

    def bits(self, stream_bytes):
        return 8 * stream_bytes / self.values.size


@dataclasses.dataclass
class Result:
    """What a compressor made of a field; seconds are medians."""
    name: str
    stream_bytes: int
    compress: float
    decompress: float
    decoded: typing.Any


class Ferrosz:
    """The commands, run in a folder of their own; `lab` is the one that measures."""

    def __init__(self, command, folder, lab=None, repeat=1):
        self.command, self.folder, self.lab, self.repeat = command, folder, lab, repeat

    def run(self, command, *arguments):
        line = [command, *map(str, arguments), "--device", "cpu", "--quiet"]
        return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout

    def compress(self, field, error, codec, rank):
        """One codec and rank; `auto` chooses both. What `ferrosz compress` says, and what comes back."""
        stream, back = self.folder / "stream.fsz", self.folder / "back.f32"
        chosen = json.loads(self.run(
            self.command, "compress", field.path, stream, "--dtype", "f32", "--dims", field.dims, "--abs", error, "--codec", codec,
            "--json", *(("--rank", rank) if rank else ())))
        self.run(self.command, "decompress", stream, back)
        if chosen["stream_bytes"] != stream.stat().st_size:
            raise RuntimeError("the stream has another length than compress says")
        return chosen, numpy.fromfile(back, "<f4").reshape(field.values.shape)

    def measure(self, field, error, codec, rank):
        """One codec and rank, timed."""
        chosen, decoded = self.compress(field, error, codec, rank)
        bench = json.loads(self.run(
            self.lab, "bench", field.path, "--dtype", "f32", "--dims", field.dims, "--abs", error, "--repeat", self.repeat,
            "--json", "--codec", chosen["codec"], "--rank", chosen["rank"]))
        row, = bench["rows"]
        if row["stream_bytes"] != chosen["stream_bytes"]:
            raise RuntimeError("bench and compress made different streams")
        label = f"ferrosz {chosen['codec']} {chosen['rank']}"
        return Result(f"{label} (auto)" if codec == "auto" else label, row["stream_bytes"],
                      1e-6 * row["compress"]["us"], 1e-6 * row["decompress"]["us"], decoded)


def median_time(work, repeat):
    """Median seconds of some runs after one that does not count, and the last result."""
    result, seconds = work(), []
    for _ in range(repeat):
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


def row(field, result, share, error):
    """A line of the table; the largest error is in units of the bound."""
    values = field.values.astype(numpy.float64)
    largest = numpy.abs(values - result.decoded.astype(numpy.float64)).max()
    if error is None:
        bound, kept = "-", "0" if largest == 0 else f"{largest:.3g} absolute"
    else:
        bound = f"{share:.0e}"
        over = largest / error
        kept = f"{over:.4f}" if over <= 1 else f"**{over:.8g}**"
    rate = lambda seconds: f"{1e-9 * field.values.nbytes / seconds:.3f}"
    ratio = field.values.nbytes / result.stream_bytes
    return (f"| {field.name} | {bound} | {result.name} | {ratio:.2f} | {field.bits(result.stream_bytes):.3f} "
            f"| {field.psnr(result.decoded):.2f} | {rate(result.compress)} | {rate(result.decompress)} | {kept} |")


def rows(field, ferrosz, args):
    ways = [("plain", 1), ("lorenzo+huffman", field.rank), ("lorenzo+rans", field.rank), ("interp", field.rank),
            ("auto", None)]
    for share in BOUNDS:
        error = share * field.extent
        runs = [functools.partial(ferrosz.measure, field, error, *way) for way in ways]
        runs += [functools.partial(sz3, field, error, name, args.threads, args.repeat)
                 for name in ("INTERP_LORENZO", "INTERP", "LORENZO_REG", "NOPRED")]
        runs += [functools.partial(zfp, field, error, args.repeat),
                 functools.partial(pco_codes, field, error, args.repeat)]
        for run in runs:
            yield row(field, run(), share, error)
    yield row(field, pco_values(field, args.repeat), None, None)


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


def heading(args, fields):
    names = " ".join(f"{field.name}.f32:{field.dims}" for field in fields)
    return f"""# Beside SZ3, zfp and pco, on the CPU

{circumstances(args)} Made by

```sh
python benches/compare.py --threads {args.threads} --repeat {args.repeat} --out docs/measurements/compare-cpu.md \\
    {names}
```

Bound: share of the field's range; the absolute error that it comes to is what each compressor got. Ratio: bytes of the field over bytes
of the stream. Bits: of the stream, a value. PSNR: 20 log10(range / root mean square error), in dB. Rates: medians of {args.repeat}, 10^9 bytes of the field a second. Threads: {args.threads} for ferrosz and SZ3, one for zfp and
pco. Error: the largest |x - x'| over the bound, in float64; more than 1 is in bold. ferrosz is timed by `ferrosz-lab bench` with the
absolute bound, checksums on; the others around their Python calls, so with what these copy. `(auto)`: codec and rank are what
`--codec auto` chose; the choice itself is not in the time. pco is lossless and takes no bound; *NumPy quantised, pco* is pco of
rint(x / 2e) in order, times with NumPy's arithmetic: what entropy coding of the codes gives; where it is over the bound, its result was
rounded to float32. Fields are those of [ratios](ratios.md).

All rows of a field are from one run, on a machine that others used at the same time: compare rates within a field, and take them as
rough.

| field | bound | compressor | ratio | bits | PSNR | compress | decompress | error / bound |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def read(argument):
    path, _, dims = argument.rpartition(":")
    shape = tuple(map(int, dims.split(",")))
    values = numpy.fromfile(path, "<f4").reshape(shape)
    if not numpy.isfinite(values).all():
        sys.exit(f"{path}: not all values are finite, which zfp cannot take")
    path = pathlib.Path(path).resolve()
    return Field(pathlib.Path(argument.rpartition(":")[0]).stem, values, path)


def parser(description):
    """The arguments that all comparisons have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("fields", nargs="+", metavar="FIELD.f32:Z,Y,X")
    parser.add_argument("--out", type=pathlib.Path, help="Markdown to write; else it is printed only")
    parser.add_argument("--ferrosz", default=str(ROOT / "target/release/ferrosz"), help="the command")
    parser.add_argument("--threads", type=int, default=1, help="of ferrosz and SZ3; zfp and pco have one")
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--note", default="", help="what else is to be said of the machine")
    return parser


def load(threads):
    """Imports the libraries, which read these when they start."""
    global numpy, pcodec, pysz, zfpy
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    import numpy
    import pcodec
    import pysz
    import zfpy


def arguments():
    of_times = parser(__doc__)
    of_times.add_argument("--lab", default=str(ROOT / "target/release/ferrosz-lab"), help="the command that measures")
    of_times.add_argument("--repeat", type=int, default=5)
    return of_times.parse_args()


def main(args):
    fields = [read(argument) for argument in args.fields]
    text = heading(args, fields)
    print(text, end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        ferrosz = Ferrosz(args.ferrosz, pathlib.Path(folder), args.lab, args.repeat)
        for field in fields:
            for line in rows(field, ferrosz, args):
                print(line, flush=True)
                text += line + "\n"
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    parsed = arguments()
    load(parsed.threads)
    main(parsed)
