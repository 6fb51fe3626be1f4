"""Arrays that Python wrote are read by zarrs, and the other way round; the chunks of both have the same bytes.

COPY_ARRAYS is the program of `examples/copy_arrays.rs`.
"""

import json
import math
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import zarr
from ferrosz.zarr import FerroszCodec, codec_for
from zarr.codecs import Crc32cCodec


def field(dtype, shape):
    """A smooth field with noise."""
    at = np.arange(np.prod(shape, dtype=int))
    values = 500 + 300 * np.sin(at * 0.01) + at * 2654435761 % 100 / 50
    return values.reshape(shape).astype(dtype)


def with_missing(values, missing):
    """A tenth of the values is missing."""
    values = values.copy()
    values.reshape(-1)[values.size // 5 : values.size // 5 + values.size // 10] = missing
    return values


def nans(values):
    """Values with NaNs of both signs and with a payload."""
    values = with_missing(values, np.nan)
    bits = values.reshape(-1).view("u4")
    bits[100:130] = 0xFFC00000
    bits[200] = 0x7FC01234
    return values


SMALL, CUBE, WIDE = (37, 45), (24, 40, 50), (64, 128, 128)
ABS = FerroszCodec(abs=0.5)
SPLINES = FerroszCodec(abs=9, codec="interp", keep_sign=True, keep_zero=True, written_once=True)

# Values, the codec, and the options of `zarr.create_array`.
CASES = {
    **{name: (field(name, SMALL), FerroszCodec(abs=2), {"chunks": (16, 20)}) for name in
       ["float32", "float64", "float16", "int16", "uint16", "int32", "uint32"]},
    "line": (field("f4", (5000,)), ABS, {"chunks": (1234,)}),
    "five-axes": (field("f8", (3, 4, 5, 6, 7)), ABS, {"chunks": (2, 4, 3, 6, 7)}),
    "no-axes": (field("f8", ()), ABS, {}),
    "fill": (with_missing(field("f4", CUBE), -9999), ABS, {"chunks": (16, 16, 16), "fill_value": -9999}),
    "fill-of-integers": (with_missing(field("i2", CUBE), -32768), ABS, {"chunks": (16, 16, 16), "fill_value": -32768}),
    "fill-nan": (nans(field("f4", CUBE)), ABS, {"chunks": (16, 16, 16), "fill_value": float("nan")}),
    "fill-found": (with_missing(field("f4", CUBE), 1e20), ABS, {"chunks": (16, 16, 16), "fill_value": 1}),
    "nans-found": (nans(field("f4", CUBE)), ABS, {"chunks": CUBE}),
    "pwrel": (field("f4", CUBE) - 500, FerroszCodec(pwrel=0.01), {"chunks": CUBE}),
    "lossless": (field("f4", CUBE), FerroszCodec(abs=0), {"chunks": CUBE}),
    "preset": (field("f4", CUBE), FerroszCodec(abs=0.5, preset="fast"), {"chunks": CUBE}),
    "axes": (field("f4", CUBE), FerroszCodec(abs=0.5, codec="plain", rank=2, axes="s,y,x"), {"chunks": CUBE}),
    "kept": (field("f4", CUBE) - 500, SPLINES, {"chunks": CUBE}),
    "range": (field("f4", CUBE), codec_for(field("f4", CUBE), range=1e-3), {"chunks": CUBE}),
    "wide": (field("f4", WIDE), FerroszCodec(abs=0.01, codec="lorenzo+rans"), {"chunks": WIDE}),
    "summed": (field("f4", WIDE), FerroszCodec(abs=0.01, codec="plain"), {"chunks": WIDE, "compressors": Crc32cCodec()}),
    "shards": (field("f4", WIDE), ABS, {"chunks": (32, 64, 64), "shards": WIDE}),
    "shards-fill": (
        with_missing(field("f4", (60, 100)), -1), ABS,
        {"chunks": (16, 20), "shards": (32, 40), "fill_value": -1},
    ),
}


def streams(folder, name):
    """The streams of an array by the paths of its chunks; a list of those of the inner chunks if the chunks are shards."""
    files = [path for path in (folder / name).rglob("*") if path.is_file() and path.name != "zarr.json"]
    chunks = {path.relative_to(folder): path.read_bytes() for path in files}
    options = CASES[name][2]
    if "shards" not in options:
        return chunks
    count = math.prod(shard // inner for shard, inner in zip(options["shards"], options["chunks"], strict=True))
    return {path: inner_chunks(shard, count) for path, shard in chunks.items()}


def inner_chunks(shard, count):
    """The inner chunks of a shard by its index, which stands behind them. Their order is each writer's own."""
    index = struct.unpack(f"<{2 * count}Q", shard[-16 * count - 4 : -4])
    places = zip(index[::2], index[1::2], strict=True)
    return [None if start == 2**64 - 1 else shard[start : start + length] for start, length in places]


class BothWays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.python, cls.rust = Path(folder.name, "python"), Path(folder.name, "rust")
        for name, (values, codec, options) in CASES.items():
            options = {"compressors": None, "serializer": codec, **options}
            array = zarr.create_array(cls.python / name, shape=values.shape, dtype=values.dtype, **options)
            array[...] = values
            (cls.python / f"{name}.values").write_bytes(values.tobytes())
        subprocess.run([os.environ["COPY_ARRAYS"], cls.python, cls.rust], check=True)
        # zarrs writes codecs without a configuration as names alone, which zarr-python 3.1 does not read.
        for name in CASES:
            path = cls.rust / name / "zarr.json"
            metadata = json.loads(path.read_text())
            metadata["codecs"] = [{"name": codec} if isinstance(codec, str) else codec for codec in metadata["codecs"]]
            path.write_text(json.dumps(metadata))

    def decoded(self, folder, name):
        return zarr.open_array(folder / name, mode="r")[...]

    def test_zarrs_reads_what_python_wrote(self):
        for name, (values, codec, _) in CASES.items():
            with self.subTest(name):
                found = np.frombuffer((self.rust / f"{name}.all").read_bytes(), values.dtype).reshape(values.shape)
                expected = np.asarray(self.decoded(self.python, name))
                self.assertEqual(found.tobytes(), expected.tobytes())
                exact, found = values.astype("f8"), found.astype("f8")
                bound = codec.abs if codec.pwrel is None else codec.pwrel * np.abs(exact)
                self.assertTrue(((np.abs(exact - found) <= bound) | (np.isnan(exact) & np.isnan(found))).all())
                middle = tuple(slice(length // 4, length - length // 4) for length in values.shape)
                part = (self.rust / f"{name}.part").read_bytes()
                self.assertEqual(part, expected[middle].tobytes())

    def test_python_reads_what_zarrs_wrote(self):
        for name, (values, _, _) in CASES.items():
            with self.subTest(name):
                found = np.asarray(self.decoded(self.rust, name))
                self.assertEqual((found.dtype, found.shape), (values.dtype, values.shape))
                self.assertEqual(found.tobytes(), np.asarray(self.decoded(self.python, name)).tobytes())

    def test_the_metadata_of_both_name_the_same_codec(self):
        for name in CASES:
            with self.subTest(name):
                python, rust = (json.loads((folder / name / "zarr.json").read_text()) for folder in (self.python, self.rust))
                for key in ("codecs", "data_type", "fill_value", "shape", "chunk_grid"):
                    self.assertEqual(python[key], rust[key])

    def test_the_chunks_of_both_have_the_same_bytes(self):
        for name in CASES:
            with self.subTest(name):
                python, rust = streams(self.python, name), streams(self.rust, name)
                self.assertEqual(python.keys(), rust.keys())
                different = [str(path) for path in python if python[path] != rust[path]]
                self.assertTrue(python and not different, different)

    def test_missing_values_come_back_bit_for_bit(self):
        for name in ["fill", "fill-of-integers", "fill-nan", "fill-found", "nans-found", "shards-fill"]:
            with self.subTest(name):
                values, _, options = CASES[name]
                fill = {"fill-found": 1e20}.get(name, options.get("fill_value", float("nan")))
                missing = np.isnan(values) if np.isnan(fill) else values == values.dtype.type(fill)
                self.assertTrue(missing.any())
                found = np.frombuffer((self.rust / f"{name}.all").read_bytes(), values.dtype).reshape(values.shape)
                self.assertEqual(found[missing].tobytes(), values[missing].tobytes())


if __name__ == "__main__":
    unittest.main(verbosity=2)
