"""Datasets of every kind through h5py."""

import multiprocessing
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import h5py
import netCDF4
import numpy as np
from fields import ABS, FILTER, PWREL, TYPES, FieldTest, create, field, parameters, words


def read_in_child(path):
    with h5py.File(path) as file:
        return file["x"][...]


class Datasets(FieldTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = str(self.folder / "a.h5")

    def write(self, values, path=None, **request):
        with h5py.File(path or self.path, "w") as file:
            create(file, "x", values, **request)

    def read(self):
        with h5py.File(self.path) as file:
            return file["x"][...]

    def test_every_type_in_both_byte_orders(self):
        for name in TYPES:
            for codec in ["small", "plain"]:
                for order in "<>":
                    with self.subTest(type=order + name, codec=codec):
                        values = field(order + name)
                        self.write(values, codec=codec)
                        decoded = self.read()
                        self.assertEqual(decoded.dtype, values.dtype)
                        self.assert_lossy(decoded, values, 4.0)
                        # Both byte orders have the same stream of the same numbers.
                        with h5py.File(self.path) as file:
                            stream = file["x"].id.read_direct_chunk((0, 0))[1]
                        if order == "<":
                            first = stream
                        self.assertEqual(stream, first)

    def test_bfloat16(self):
        # NumPy has no such type: HDF5 converts.
        bfloat16 = h5py.h5t.IEEE_F16LE.copy()
        bfloat16.set_fields(15, 7, 8, 0, 7)
        bfloat16.set_ebias(127)
        values = field("f4")
        with h5py.File(self.path, "w") as file:
            dataset = create(file, "x", values, dtype=bfloat16)
            decoded = np.zeros_like(values)
            dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, decoded, h5py.h5t.NATIVE_FLOAT)
            _, _, stored, _ = dataset.id.get_create_plist().get_filter(0)
            self.assertEqual(stored[7] & 0xFF, 4)
        # A value of the type is within 2 of a number below 1024.
        self.assert_lossy(decoded, values, 4.0 + 2.0)

    def test_compounds_and_types_of_complex_numbers(self):
        """Each name of the parts, and the type that HDF5 has from 2.0 on, give the chunks that h5py's compound gives."""
        values = field("c8")
        self.write(values)
        with h5py.File(self.path) as file:
            expected = file["x"].id.read_direct_chunk((16, 33))[1]
        for names in [("re", "im"), ("real", "imag"), None]:
            with self.subTest(names=names), h5py.File(self.path, "w") as file:
                kind = h5py.h5t.COMPLEX_IEEE_F32LE
                if names:
                    kind = h5py.h5t.py_create(np.dtype([(name, "f4") for name in names]))
                properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                properties.set_chunk((16, 33))
                properties.set_filter(FILTER, 0, parameters(4.0))
                space = h5py.h5s.create_simple(values.shape)
                dataset = h5py.h5d.create(file.id, b"x", kind, space, properties)
                dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
                file.flush()
                self.assertEqual(dataset.read_direct_chunk((16, 33))[1], expected)
                decoded = np.empty_like(values)
                dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, decoded, kind)
                self.assert_lossy(decoded, values, 4.0)

    def test_complex_fill_values(self):
        values = field("c16")
        values[10:20] = 1e20 - 7.25j
        self.write(values, fillvalue=1e20 - 7.25j, bound=0.5)
        decoded = self.read()
        np.testing.assert_array_equal(decoded[10:20], values[10:20])
        self.assert_lossy(np.delete(decoded, range(10, 20), 0), np.delete(values, range(10, 20), 0), 0.5)
        with h5py.File(self.path) as file:
            stored = file["x"].id.get_create_plist().get_filter(0)[2]
        self.assertEqual(stored[7:], (1 << 12 | 1 << 9 | 2, *words(1e20), *words(-7.25), 16, 33, 2))
        values[3, :9] = complex(np.nan, 1), *[complex(2, np.inf)] * 8
        self.write(values, bound=0.5)
        decoded = self.read()
        self.assertTrue(np.isnan(decoded[3, 0].real) and abs(decoded[3, 0].imag - 1) <= 0.5)
        self.assertTrue((np.isinf(decoded[3, 1:9].imag) & (abs(decoded[3, 1:9].real - 2) <= 0.5)).all())

    def test_bound_of_each_value(self):
        for name in ["f4", "f8", "c8", "c16"]:
            values = field(name) - 600
            values[3, :9] = 0
            self.write(values, bound=0.01, mode=PWREL)
            decoded = self.read()
            self.assert_lossy(decoded, values, 0.01, PWREL)
            self.assertTrue((decoded[3, :9] == 0).all())

    def test_lossless(self):
        for name in TYPES:
            values = field(name)
            self.write(values, bound=0.0)
            np.testing.assert_array_equal(self.read(), values)

    def test_shapes(self):
        for shape, chunks in [
            ((1,), (1,)),
            ((7,), (7,)),
            ((1000,), (64,)),
            ((5, 1, 9), (2, 1, 9)),
            ((3, 4, 5, 6), (3, 4, 5, 6)),
            ((2,) * 8, (2,) * 8),
            ((2, 1, 2, 1, 2, 1, 2, 1, 3, 2), (2, 1, 2, 1, 2, 1, 2, 1, 3, 2)),
        ]:
            with self.subTest(shape=shape):
                values = field("f4", shape)
                self.write(values, bound=0.25, chunks=chunks)
                self.assert_within(self.read(), values, 0.25)

    def test_no_elements(self):
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", (0, 5), "f4", chunks=(4, 5), maxshape=(None, 5), compression=FILTER,
                                compression_opts=parameters(0.5))
            self.assertEqual(file["x"][...].shape, (0, 5))
            file["x"].resize((9, 5))
            values = field("f4", (9, 5))
            file["x"][...] = values
        self.assert_within(self.read(), values, 0.5)
        # HDF5 has no chunks of a scalar, so h5py refuses every filter.
        with h5py.File(self.path, "w") as file, self.assertRaises(TypeError):
            file.create_dataset("x", data=np.float32(1), compression=FILTER, compression_opts=parameters(0.5))

    def test_fill_values(self):
        values = field("f4")
        values[10:20] = 1e20
        valid = values < 1e19
        for fill, fillvalue in [("auto", 1e20), ("auto", None), (1e20, None)]:
            with self.subTest(fill=fill, fillvalue=fillvalue):
                self.write(values, fill=fill, fillvalue=fillvalue, bound=0.5)
                decoded = self.read()
                np.testing.assert_array_equal(decoded[~valid], values[~valid])
                self.assert_lossy(decoded[valid], values[valid], 0.5)
        # A part that was never written has the fill value, also in chunks that are stored.
        with h5py.File(self.path, "w") as file:
            create(file, "x", np.full((50, 70), -7.25, "f4"), fillvalue=-7.25, bound=2.0)
        with h5py.File(self.path, "r+") as file:
            # A dataset that is opened, not created.
            file["x"][20:22] = 3
        decoded = self.read()
        self.assertTrue((decoded[:20] == np.float32(-7.25)).all() and (decoded[22:] == np.float32(-7.25)).all())
        # Without it as a fill value, it is a value like others.
        self.write(np.full((50, 70), -7.25, "f4") + field("f4") / 100, fill="none", bound=2.0)
        with h5py.File(self.path) as file:
            self.assertEqual(file["x"]._filters[str(FILTER)][0], 1 | 1 << 16)

    def test_nans(self):
        values = field("f8")
        values[::3, ::2] = np.nan
        values[0, 1], values[0, 3] = np.inf, -np.inf
        self.write(values, bound=1e-3)
        decoded = self.read()
        finite = np.isfinite(values)
        np.testing.assert_array_equal(decoded[~finite], values[~finite])
        self.assert_lossy(decoded[finite], values[finite], 1e-3)

    def test_the_command_reads_chunks(self):
        """A chunk is a stream of ferrosz: the command decodes it to the same values."""
        values = field("f4", (32, 66))
        self.write(values, fillvalue=1e20)
        with h5py.File(self.path) as file:
            stream = file["x"].id.read_direct_chunk((16, 33))[1]
        (self.folder / "chunk.fsz").write_bytes(stream)
        command = os.environ["FERROSZ"]
        subprocess.run([command, "decompress", "chunk.fsz", "chunk.npy", "--quiet"], cwd=self.folder, check=True)
        np.testing.assert_array_equal(np.load(self.folder / "chunk.npy"), self.read()[16:, 33:])

    def test_refusals(self):
        """What cannot be compressed is refused with a reason; an optional filter is left away."""
        cases = [
            (np.zeros((4, 4), [("r", "f4"), ("i", "f8")]), {}, "of 12 bytes, is none of f32"),
            (np.zeros((4, 4), [("r", "i4"), ("i", "i4")]), {}, "of 8 bytes, is none of f32"),
            (np.zeros((4, 4), [("x", "f4"), ("y", "f4")]), {}, "nor complex numbers"),
            (np.zeros((4, 4), "?"), {}, "of 1 bytes"),
            (np.zeros((4, 4), "i4"), {"codec": "interp", "once": False}, "has splines"),
            (np.zeros((4, 4), "S4"), {}, "is none of f32"),
            (np.zeros((4, 4), "i2"), {"mode": PWREL}, "relative to each value"),
            (np.zeros((4, 4), "i2"), {"fill": 1e20}, "the fill value 1e20 is no i16"),
            (np.zeros((4, 4), "f4"), {"mode": 1}, "mode 1 of the bound"),
            (np.zeros((4, 4), "f4"), {"bound": -1.0}, "the error bound -1 is negative"),
            (np.zeros((4, 4), "f4"), {"rank": 4}, "the rank must be 0 to 3"),
        ]
        for values, request, reason in cases:
            with self.subTest(reason=reason):
                with self.assertRaisesRegex(ValueError, "ferrosz: .*" + reason):
                    self.write(values, chunks=(4, 4), **request)
                self.write(values, chunks=(4, 4), flags=h5py.h5z.FLAG_OPTIONAL, **request)
                self.assertTrue((self.read() == values).all())

    def test_integers_of_8_and_64_bits_have_their_limits(self):
        for name, low, high in [("i1", -128, 127), ("u1", 0, 255), ("i8", -(2**31), 2**31 - 1), ("u8", 0, 2**32 - 1)]:
            for order in "<>":
                with self.subTest(type=order + name):
                    values = np.array([low, high] * 500, order + name).reshape(20, 50)
                    # A bound could lead beyond the limits of 8 bits.
                    self.write(values, chunks=(16, 33), bound=5.0)
                    decoded = self.read()
                    self.assertEqual(decoded.dtype, values.dtype)
                    self.assert_within(decoded, values, 5.0)
        for wrong in (2**31, -(2**31) - 1):
            # Without a cache a failure is that of the write, not of the end of the file.
            with h5py.File(self.path, "w", rdcc_nbytes=0) as file, self.assertRaises(OSError):
                create(file, "x", np.full((20, 50), wrong), chunks=(16, 33))
        # An optional filter leaves such chunks as they are.
        values = np.full((20, 50), 2**40)
        self.write(values, chunks=(16, 33), flags=h5py.h5z.FLAG_OPTIONAL)
        np.testing.assert_array_equal(self.read(), values)

    def test_a_chunk_is_written_again(self):
        """Splines are for chunks that are written once; without them a chunk may be written any number of times."""
        values = field("f4")
        with h5py.File(self.path, "w", rdcc_nbytes=0) as file:
            dataset = create(file, "x", values, chunks=(50, 70))
            for row in range(50):
                dataset[row] = values[row]
        self.assert_lossy(self.read(), values, 4.0)

    def test_other_filters(self):
        values = field("f4")
        with h5py.File(self.path, "w") as file:
            # Behind ferrosz, a checksum is allowed.
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((16, 33))
            properties.set_filter(FILTER, 0, parameters(4.0))
            properties.set_fletcher32()
            space = h5py.h5s.create_simple(values.shape)
            dataset = h5py.Dataset(h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_FLOAT, space, properties))
            dataset[...] = values
        self.assert_lossy(self.read(), values, 4.0)
        with h5py.File(self.path, "w") as file:
            # Before it, a filter would change what the bound is for.
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((16, 33))
            properties.set_shuffle()
            properties.set_filter(FILTER, 0, parameters(4.0))
            with self.assertRaisesRegex(ValueError, "another filter comes before"):
                h5py.h5d.create(file.id, b"y", h5py.h5t.NATIVE_FLOAT, space, properties)

    def test_damage(self):
        values = field("f4")
        self.write(values)
        with h5py.File(self.path) as file:
            info = file["x"].id.get_chunk_info(1)
            place, size = info.byte_offset, info.size
        whole = Path(self.path).read_bytes()
        for at in range(0, size, 7):
            changed = bytearray(whole)
            changed[place + at] ^= 4
            Path(self.path).write_bytes(changed)
            with h5py.File(self.path) as file:
                # HDF5 2 drops the text of a filter here.
                with self.assertRaisesRegex(OSError, "filter returned failure"):
                    file["x"][...]
                # The other chunks are there.
                self.assert_within(file["x"][:16, :33], values[:16, :33], 4.0)

    def test_streams_of_other_chunks(self):
        self.write(field("f4", (32, 66)))
        with h5py.File(self.path, "r+") as file:
            stream = file["x"].id.read_direct_chunk((0, 0))[1]
            create(file, "small", field("f4", (8, 33)), chunks=(8, 33))
            file.flush()
            other = file["small"].id.read_direct_chunk((0, 0))[1]
        for wrong in [stream[: len(stream) // 2], stream[:-1], b"x", other]:
            with h5py.File(self.path, "r+") as file:
                file["x"].id.write_direct_chunk((0, 0), wrong)
            with self.assertRaisesRegex(OSError, "filter returned failure"):
                self.read()

    def test_threads(self):
        """h5py has a lock, so the threads alternate."""
        values = field("f4")
        paths = [str(self.folder / f"{i}.h5") for i in range(16)]
        threads = [threading.Thread(target=self.write, args=(values, path)) for path in paths]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        chunks = []
        for path in paths:
            with h5py.File(path) as file:
                chunks.append(file["x"].id.read_direct_chunk((16, 33))[1])
                self.assert_lossy(file["x"][...], values, 4.0)
        self.assertEqual(len(set(chunks)), 1)

    def test_forked_processes(self):
        """The workers of multiprocessing and PyTorch are forked from a process that has used the filter."""
        values = field("f4")
        self.write(values)
        expected = self.read()
        with multiprocessing.get_context("fork").Pool(4) as pool:
            results = pool.map_async(read_in_child, [self.path] * 8).get(timeout=60)
        for result in results:
            np.testing.assert_array_equal(result, expected)

    def test_two_libraries_in_a_process(self):
        """The identifiers of one HDF5 mean nothing to the other."""
        self.assertNotEqual(h5py.version.hdf5_version, netCDF4.__hdf5libversion__)
        values = field("f4")
        self.write(values)
        expected = self.read()
        with netCDF4.Dataset(self.path) as file:
            np.testing.assert_array_equal(file["x"][...], expected)
        with h5py.File(self.path) as file:
            np.testing.assert_array_equal(file["x"][...], expected)


if __name__ == "__main__":
    unittest.main()
