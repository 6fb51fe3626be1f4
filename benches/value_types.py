"""Ratio and speed of half precision and integers on generated fields, beside the same numbers as f32, and beside zstd.

python benches/value_types.py --command target/release/ferrosz --out docs/measurements/types.md

Needs NumPy and the command zstd. The fields are made from a fixed seed.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

REPEAT = 5


def bits_of_bf16(values):
    """The bits of the nearest bfloat16, ties to even, of finite numbers."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def smooth(rng, shape):
    """Noise with a spectrum that falls as that of weather fields."""
    spectrum = np.fft.rfftn(rng.standard_normal(shape))
    grid = np.meshgrid(*[np.fft.fftfreq(n) for n in shape[:-1]], np.fft.rfftfreq(shape[-1]), indexing="ij")
    k = np.sqrt(sum(axis**2 for axis in grid)) + 1.0 / max(shape)
    field = np.fft.irfftn(spectrum / k**2.5, s=shape, axes=range(len(shape)))
    return field / field.std()


def fields():
    """Names, arrays of f32, whether they are integers, and bounds."""
    rng = np.random.default_rng(7)
    yield "weights", rng.normal(0, 0.02, (1024, 2048)), "halves", [("--abs", "0"), ("--abs", "1e-3"), ("--range", "1e-3")]
    before = smooth(rng, (1024, 2048)) + 0.5 * rng.standard_normal((1024, 2048))
    yield "ReLU", np.maximum(before, 0), "halves", [("--abs", "0"), ("--abs", "0.01"), ("--range", "1e-3")]
    gelu = 0.5 * before * (1 + np.tanh(np.sqrt(2 / np.pi) * (before + 0.044715 * before**3)))
    yield "GELU", gelu, "halves", [("--abs", "0"), ("--abs", "0.01"), ("--range", "1e-3")]
    yield "weather", 280 + 12 * smooth(rng, (8, 512, 512)), "halves", [("--abs", "0"), ("--abs", "0.1"), ("--abs", "0.5")]
    background = 40 * np.exp(0.5 * smooth(rng, (1024, 2048)))
    peaks = np.zeros_like(background)
    for y, x, height in zip(rng.integers(8, 1016, 800), rng.integers(8, 2040, 800), rng.exponential(3000, 800)):
        dy, dx = np.mgrid[-6:7, -6:7]
        peaks[y - 6 : y + 7, x - 6 : x + 7] += height * np.exp(-(dy**2 + dx**2) / 5)
    yield "detector", np.minimum(rng.poisson(background + peaks), 65535), "counts", [("--abs", "0"), ("--abs", "1"), ("--abs", "4")]


def arrays(values, kind):
    """The array in each type: name, bytes."""
    if kind == "counts":
        return [("u16", values.astype("<u2")), ("u32", values.astype("<u4")), ("f32", values.astype("<f4"))]
    single = values.astype("<f4")
    half = single.astype("<f2")
    return [("f16", half), ("bf16", bits_of_bf16(single)), ("f32", half.astype("<f4"))]


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rows(command, folder):
    for name, values, kind, bounds in fields():
        for dtype, array in arrays(values, kind):
            path = folder / "field.raw"
            path.write_bytes(array.tobytes())
            dims = ",".join(map(str, array.shape))
            packed = len(subprocess.run(["zstd", "-19", "-c", path], check=True, capture_output=True).stdout)
            for flag, value in bounds:
                report = json.loads(run([
                    command, "bench", path, "--dtype", dtype, "--dims", dims, flag, value,
                    "--repeat", str(REPEAT), "--device", "cpu", "--json",
                ]))
                for row in report["rows"]:
                    if not row["kept"]:
                        raise ValueError(f"{name} {dtype} {flag} {value}: bound not kept")
                    yield [
                        name, dtype, f"{flag[2:]} {value}", row["preset"], row["codec"],
                        f"{8 * row['stream_bytes'] / array.size:.2f}",
                        f"{array.nbytes / row['stream_bytes']:.2f}",
                        f"{array.nbytes / packed:.2f}" if value == "0" else "",
                        f"{row['compress_megabytes_per_second']:.0f}",
                        f"{row['decompress_megabytes_per_second']:.0f}",
                    ]


HEAD = """# Half precision and integers

`python benches/value_types.py --command target/release/ferrosz --out docs/measurements/types.md`, 2026-11-23, on two cores with AVX2.

Generated fields: *weights*, normal with sigma 0.02, 1024 x 2048; *ReLU* and *GELU* of a smooth field with noise, 1024 x 2048; *weather*, a smooth field around 280 with a
standard deviation of 12, 8 x 512 x 512; *detector*, Poisson counts around a smooth background with 800 peaks, 1024 x 2048. Rows of `f32` hold the same numbers as
the first type of the field, as `f32`. Speeds are megabytes of the array in its own type, of whole calls, the choice of the codec included; medians of 5. All
values of all rows were judged. zstd is the command with level 19 on the same bytes.

* Lossless, an array is shortest in its own type. The same numbers as `f32` have a ratio near 1 with `--abs 0`, as the codecs do not see that they are halves
  or integers.
* Lossless, `small` is ahead of zstd on smooth fields of `f16` and on integers, level on `f16` weights, and behind where few different values come again and again: `bf16`
  weather, ReLU, and `bf16` weights.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="target/release/ferrosz")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    heading = ["field", "type", "bound", "preset", "codec", "bits a value", "ratio", "ratio of zstd", "compress MB/s", "decompress MB/s"]
    with tempfile.TemporaryDirectory() as folder:
        table = [heading, ["---"] * len(heading), *rows(str(Path(arguments.command).resolve()), Path(folder))]
    lines = [f"| {' | '.join(row)} |" for row in table]
    Path(arguments.out).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
