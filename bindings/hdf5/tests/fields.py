"""Fields of every type, the parameters of the filter, and checks with NumPy's arithmetic."""

import struct
import unittest

import h5py
import numpy as np

FILTER = 46657
ABS, PWREL = 0, 3
CODECS = {"small": 0, "balanced": 1, "fast": 2, "plain": 2 << 8 | 1, "lorenzo+rans": 16 << 8 | 16, "interp": 19 << 8 | 16}

TYPES = ["f4", "f8", "f2", "i2", "u2", "i4", "u4", "i1", "u1", "i8", "u8", "c8", "c16"]


def words(value):
    """A number as two words, the low one first."""
    return struct.unpack("<II", struct.pack("<d", value))


def parameters(bound, codec="small", mode=ABS, rank=0, fill="auto", once=None):
    """`cd_values` as docs/book/hdf5.md defines them: an example for users of h5py."""
    fill_mode = {"auto": 0, "none": 1}.get(fill, 2)
    given = words(fill) if fill_mode == 2 else ()
    # Splines are for chunks that are written once.
    once = codec == "interp" if once is None else once
    return (1 | mode << 8 | fill_mode << 16 | once << 24, CODECS[codec], rank, *words(bound), *given)


def field(dtype, shape=(50, 70)):
    """A smooth field with noise."""
    at = np.arange(np.prod(shape, dtype=int))
    values = 500 + 300 * np.sin(at * 0.01) + at * 2654435761 % 100 / 50
    if np.dtype(dtype).kind == "c":
        values = values + 1j * (100 + 90 * np.cos(at * 0.013) + at * 40503 % 100 / 50)
    # 20 to 90 fit in 8 bits.
    return (values / 10 if np.dtype(dtype).itemsize == 1 else values).reshape(shape).astype(dtype)


def create(file, name, values, bound=4.0, chunks=(16, 33), dtype=None, fillvalue=None, flags=0, **request):
    """A dataset whose filter is mandatory, so that no failure is silent. h5py's `create_dataset` makes it optional."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    properties.set_filter(FILTER, flags, parameters(bound, **request))
    if fillvalue is not None:
        properties.set_fill_value(np.array(fillvalue, dtype=values.dtype))
    datatype = dtype or h5py.h5t.py_create(values.dtype)
    space = h5py.h5s.create_simple(values.shape)
    dataset = h5py.Dataset(h5py.h5d.create(file.id, name.encode(), datatype, space, properties))
    if dataset.size:
        dataset[...] = values
    return dataset


class FieldTest(unittest.TestCase):
    """A test that compares fields."""

    def assert_within(self, decoded, values, bound, mode=ABS):
        self.assertEqual(decoded.shape, values.shape)
        if values.dtype.kind == "c":
            # Each part is within the bound.
            self.assert_within(decoded.imag, values.imag, bound, mode)
            decoded, values = decoded.real, values.real
        exact = values.astype(np.longdouble)
        allowed = bound * np.abs(exact) if mode == PWREL else np.longdouble(bound)
        error = np.abs(decoded.astype(np.longdouble) - exact)
        self.assertLessEqual((error - allowed).max(initial=-1), 0)

    def assert_lossy(self, decoded, values, bound, mode=ABS):
        """Within the bound, and not the same: the filter was applied."""
        self.assert_within(decoded, values, bound, mode)
        self.assertTrue((decoded != values).any())
