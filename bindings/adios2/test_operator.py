"""Variables through ADIOS2's BP5 files with the operator, checked with NumPy's arithmetic."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import adios2
import numpy as np

BOUND = 0.5
TYPES = ["f4", "f8", "i2", "u2", "i4", "u4"]


def field(dtype, shape=(20, 30, 40)):
    """A smooth field with noise."""
    at = np.arange(np.prod(shape))
    values = 500 + 300 * np.sin(at * 0.01) + at * 2654435761 % 100 / 50
    return values.reshape(shape).astype(dtype)


def variable(io, values, parameters):
    """The variable x, with the operator."""
    x = io.define_variable("x", values, values.shape, [0] * values.ndim, values.shape)
    x.add_operation_string("plugin", {"PluginName": "Ferrosz", "PluginLibrary": "FerroszOperator", **parameters})
    return x


def write(path, steps, **parameters):
    """Writes arrays as the steps of a variable x."""
    adios = adios2.Adios()
    io = adios.declare_io("write")
    x = variable(io, steps[0], parameters)
    with adios2.Stream(io, str(path), "w") as stream:
        for _, values in zip(stream.steps(len(steps)), steps):
            stream.write(x, values)


def read(path, *selection):
    adios = adios2.Adios()
    io = adios.declare_io("read")
    with adios2.Stream(io, str(path), "r") as stream:
        return [stream.read("x", *selection) for _ in stream.steps()]


class Operator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "x.bp"

    def stored(self):
        return sum(file.stat().st_size for file in self.path.glob("data.*"))

    def assert_within(self, decoded, values, bound):
        self.assertEqual((decoded.shape, decoded.dtype), (values.shape, values.dtype))
        exact = values.astype(np.longdouble)
        self.assertTrue((np.abs(decoded.astype(np.longdouble) - exact) <= bound).all())

    def test_every_type(self):
        for name in TYPES:
            with self.subTest(type=name):
                steps = [field(name), field(name)[::-1].copy()]
                bound = 4 if name[0] in "iu" else BOUND
                write(self.path, steps, abs=str(bound))
                for decoded, values in zip(read(self.path), steps, strict=True):
                    self.assert_within(decoded, values, bound)
                    self.assertTrue((decoded != values).any(), "the operator was not applied")
                self.assertLess(self.stored(), sum(step.nbytes for step in steps))

    def test_codecs(self):
        sizes = {}
        for codec in ["small", "fast", "plain", "interp"]:
            write(self.path, [field("f4")], abs=str(BOUND), codec=codec)
            self.assert_within(read(self.path)[0], field("f4"), BOUND)
            sizes[codec] = self.stored()
        self.assertLessEqual(sizes["small"], sizes["fast"])
        self.assertNotEqual(sizes["plain"], sizes["interp"])

    def test_boxes(self):
        write(self.path, [field("f8")], abs=str(BOUND))
        whole = read(self.path)[0]
        np.testing.assert_array_equal(read(self.path, [3, 4, 5], [6, 7, 8])[0], whole[3:9, 4:11, 5:13])

    def test_shapes(self):
        for shape in [(1,), (7,), (1000,), (3, 1, 5), (2,) * 9]:
            with self.subTest(shape=shape):
                write(self.path, [field("f4", shape)], abs=str(BOUND))
                self.assert_within(read(self.path)[0], field("f4", shape), BOUND)

    def test_bound_of_each_value(self):
        values = field("f4") - 600
        values[0] = 0
        write(self.path, [values], pwrel="0.01")
        self.assert_within(read(self.path)[0], values, 0.01 * np.abs(values.astype(np.longdouble)))

    def test_fill_values(self):
        values = field("f4")
        values[5:9] = 1e20
        for fill in ["auto", "1e20"]:
            write(self.path, [values], abs=str(BOUND), fill=fill)
            decoded = read(self.path)[0]
            np.testing.assert_array_equal(decoded[5:9], values[5:9])
            self.assert_within(decoded[9:], values[9:], BOUND)

    def test_blocks_without_order(self):
        """Random bits do not become shorter, and must not exceed the room that ADIOS2 allocates."""
        bits = np.random.default_rng(1).integers(0, 1 << 32, (20, 30, 40), "u4")
        # Many chunks that are cut off by the edges: their table is longer than that of a line.
        cut = np.random.default_rng(2).integers(0, 1 << 32, (40, 40, 33), "u4").view("f4")
        write(self.path, [cut], abs="0", codec="plain", fill="none")
        self.assertEqual(read(self.path)[0].tobytes(), cut.tobytes())
        for values in [bits, bits.view("f4"), bits.view("i4"), bits.view("u2"), bits.view("f8")]:
            for shape in [values.shape, (values.size, 1, 1), (1, values.size // 2, 2)]:
                values = np.ascontiguousarray(values.reshape(shape))
                write(self.path, [values], abs="0")
                self.assertEqual(read(self.path)[0].tobytes(), values.tobytes())

    def test_wrong_parameters(self):
        for parameters, reason in [
            ({}, "give one of the parameters abs and pwrel"),
            ({"abs": "1", "pwrel": "1"}, "give one of the parameters"),
            ({"abs": "much"}, "abs='much' is not a number"),
            ({"abs": "1e"}, "is not a number"),
            ({"abs": "-1"}, "the error bound -1 is negative"),
            ({"abs": "1", "codec": "zip"}, "'zip' is neither a preset"),
            ({"abs": "1", "fill": "x"}, "fill='x' is not a number"),
            ({"range": "1e-3"}, "range='1e-3' is none of"),
        ]:
            with self.subTest(reason=reason):
                done = subprocess.run([sys.executable, __file__, "put", str(self.path), json.dumps(parameters)],
                                      capture_output=True, timeout=60, text=True)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(reason, done.stdout)
                self.assertIn(reason, done.stderr)

    def test_types_that_cannot_be_compressed(self):
        """ADIOS2 asks the operator for the type, and leaves it away."""
        values = field("f8").astype("i8")
        write(self.path, [values], abs="4")
        np.testing.assert_array_equal(read(self.path)[0], values)

    def test_damage(self):
        """An error, in a process of its own, so that a crash is seen."""
        write(self.path, [field("f4")], abs=str(BOUND))
        [data] = self.path.glob("data.*")
        whole = data.read_bytes()
        start = whole.index(b"FERROSZ") if b"FERROSZ" in whole else len(whole) // 4
        for at in [start, start + 20, len(whole) // 2, len(whole) * 3 // 4]:
            damaged = bytearray(whole)
            damaged[at] ^= 4
            data.write_bytes(damaged)
            done = subprocess.run([sys.executable, __file__, "read", str(self.path)], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr.decode())


def put(path, parameters):
    """Puts a variable into a file that is not closed."""
    adios = adios2.Adios()
    io = adios.declare_io("put")
    values = field("f4")
    x = variable(io, values, json.loads(parameters))
    stream = adios2.Stream(io, path, "w")
    stream.begin_step()
    try:
        stream.write(x, values)
    except Exception as error:
        print(error, flush=True)
        # ADIOS2 2.12.1 crashes when this file is closed.
        os._exit(3)


def read_file(path):
    try:
        read(path)
    except Exception as error:
        print(error, file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["put"]:
        put(*sys.argv[2:])
    elif sys.argv[1:2] == ["read"]:
        read_file(*sys.argv[2:])
    else:
        unittest.main()
