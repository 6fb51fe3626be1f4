"""Ratio of bounds relative to each value, beside SZ 2 and a model of PFPL.

python benches/pwrel.py --command target/release/ferrosz --fields DIR --out FILE

DIR has raw fields, NAME.f32 or NAME.f64, and manifest.json with the dimensions of each: {"fields": [{"name", "file", "dtype", "dims"}]}.
Needs NumPy, h5py and hdf5plugin, which contains SZ 2.1.

PFPL is modelled, not run: its published quantiser, differences as negabinary numbers, bit planes of 32 words, and the removal of zero bytes by
a bitmap that is shortened in the same way, for chunks of 16 KiB of f32 (github.com/burtscher/PFPL, f32_rel_comp_cpu). The model gives the length only.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np

BOUNDS = ["1e-2", "1e-3", "1e-4"]
PFPL_CHUNK = 4096


def judge(bound, original, decoded):
    """The number of finite values that break |x - x'| <= E |x|, in f64, which is exact enough for f32 at these bounds."""
    wide, found = original.astype("f8"), decoded.astype("f8")
    finite = np.isfinite(wide)
    broken = np.abs(wide - found) > float(bound) * np.abs(wide)
    return int(np.count_nonzero(broken & finite)) + int(np.count_nonzero(~finite & (original.view(f"u{original.itemsize}") != decoded.view(f"u{original.itemsize}"))))


def ferrosz(command, path, dtype, dims, bound, preset, folder):
    stream = folder / "stream.fsz"
    arguments = [command, "compress", path, stream, "--dtype", dtype, "--dims", ",".join(map(str, dims)), "--pwrel", bound, f"--{preset}", "--force", "--quiet"]
    subprocess.run(arguments, check=True)
    subprocess.run([command, "decompress", stream, folder / "out.raw", "--force", "--quiet"], check=True)
    return stream.stat().st_size, np.fromfile(folder / "out.raw", f"<f{int(dtype[1:]) // 8}")


def sz2(array, bound, folder):
    """SZ 2.1 in its HDF5 filter, one chunk."""
    path = folder / "sz.h5"
    with h5py.File(path, "w") as file:
        compression = hdf5plugin.SZ(pointwise_relative=float(bound))
        data = file.create_dataset("x", data=array, chunks=array.shape, compression=compression)
        length = data.id.get_storage_size()
    with h5py.File(path) as file:
        return length, file["x"][...].reshape(-1)


def log2_of(x):
    """PFPL's approximation: the exponent, and the mantissa instead of its logarithm."""
    bits = x.view(np.int32)
    exponent = bits >> 23 & 0xFF
    mantissa = (bits & 0x7FFFFF | 127 << 23).view(np.float32)
    return mantissa + (exponent - 128).astype(np.float32)


def power_of(y):
    biased = y + np.float32(127)
    exponent = biased.astype(np.int32)
    fraction = (biased - (exponent - 1).astype(np.float32)).view(np.int32)
    return (exponent << 23 | fraction & 0x7FFFFF).view(np.float32)


def pfpl_codes(x, bound):
    """The words that PFPL codes; and which values it stores as they are."""
    bits = x.view(np.int32)
    magnitude = (bits & 0x7FFFFFFF).view(np.float32)
    one = np.float32(1)
    step = np.float32(2) * log2_of(np.array([one + bound], np.float32))[0]
    code = np.round(log2_of(magnitude) * (one / step)).astype(np.int32)
    back = power_of(code.astype(np.float32) * step)
    most = (1 << 21) - 1
    kept = (np.abs(code) < most) & (back >= magnitude / (one + bound)) & (back <= magnitude * (one + bound)) & (back != 0) & np.isfinite(back)
    exponent = bits >> 23 & 0xFF
    normal = (exponent > 0) & (exponent < 255)
    folded = ((code << 1 ^ code >> 31) + 1 << 1) | (bits < 0)
    top = np.int32(-1 << 23)
    words = np.where(normal & kept, top | folded, np.where(bits & 0x7FFFFFFF == 0, top | 1, bits))
    return ((words ^ top) - 1).astype(np.int32).view(np.uint32)


def without_repeats(bitmap):
    """Bytes that a bitmap takes up, of which only bytes that differ from the one before are stored, for three levels."""
    length = 0
    for _ in range(2):
        differs = np.diff(bitmap, prepend=np.uint8(0)) != 0
        length += int(np.count_nonzero(differs))
        bitmap = np.packbits(differs)
    return length + bitmap.size


def pfpl(array, bound):
    """The length of PFPL's stream of an array of f32."""
    words = pfpl_codes(array.reshape(-1), np.float32(bound))
    length = 16 + 2 * -(-words.size // PFPL_CHUNK)
    for first in range(0, words.size, PFPL_CHUNK):
        chunk = words[first : first + PFPL_CHUNK]
        difference = np.diff(chunk, prepend=np.uint32(0))
        negabinary = (difference + np.uint32(0xAAAAAAAA)) ^ np.uint32(0xAAAAAAAA)
        whole = negabinary.size // 32 * 32
        planes = np.unpackbits(negabinary[:whole].astype(">u4").view(np.uint8)).reshape(-1, 32).T
        data = np.concatenate([np.packbits(planes.reshape(-1)), negabinary[whole:].view(np.uint8)])
        coded = int(np.count_nonzero(data)) + without_repeats(np.packbits(data != 0))
        length += min(coded, 4 * chunk.size)
    return length


def rows(command, fields):
    described = json.loads((fields / "manifest.json").read_text())["fields"]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for field in described:
            dtype, dims, path = field["dtype"], field["dims"], fields / field["file"]
            array = np.fromfile(path, f"<f{int(dtype[1:]) // 8}")
            for bound in BOUNDS:
                row = [field["name"], dtype, bound]
                for preset in ["small", "fast"]:
                    length, decoded = ferrosz(command, path, dtype, dims, bound, preset, folder)
                    if judge(bound, array, decoded):
                        raise ValueError(f"{field['name']} {bound}: not kept")
                    row.append(f"{array.nbytes / length:.2f}")
                length, decoded = sz2(array.reshape(dims), bound, folder)
                broken = judge(bound, array, decoded)
                row += [f"{array.nbytes / length:.2f}", str(broken)]
                row.append(f"{array.nbytes / pfpl(array, bound):.2f}" if dtype == "f32" else "")
                yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="target/release/ferrosz")
    parser.add_argument("--fields", type=Path, required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    heading = ["field", "type", "bound", "ferrosz small", "ferrosz fast", "SZ 2.1", "values that SZ breaks", "PFPL (model)"]
    table = [heading, ["---"] * len(heading), *rows(str(Path(arguments.command).resolve()), arguments.fields)]
    Path(arguments.out).write_text("\n".join(f"| {' | '.join(row)} |" for row in table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
