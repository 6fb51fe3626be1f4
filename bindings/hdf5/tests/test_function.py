"""The plugin's functions, called as HDF5 calls them, but from many threads at the same time and with damaged lists."""

import ctypes
import os
import random
import threading
import unittest
from pathlib import Path

import numpy as np
from fields import FILTER, FieldTest, field, parameters

REVERSE = 0x100
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.free.argtypes = [ctypes.c_void_p]
Function = ctypes.CFUNCTYPE(
    ctypes.c_size_t, ctypes.c_uint, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_void_p))


class FilterClass(ctypes.Structure):
    """`H5Z_class2_t`."""

    _fields_ = [
        ("version", ctypes.c_int), ("id", ctypes.c_int), ("encoder", ctypes.c_uint), ("decoder", ctypes.c_uint),
        ("name", ctypes.c_char_p), ("can_apply", ctypes.c_void_p), ("set_local", ctypes.c_void_p), ("filter", Function)]


[PLUGIN] = Path(os.environ["HDF5_PLUGIN_PATH"]).glob("*.so")
LIBRARY = ctypes.CDLL(str(PLUGIN))
LIBRARY.H5PLget_plugin_info.restype = ctypes.POINTER(FilterClass)
CLASS = LIBRARY.H5PLget_plugin_info().contents


def call(flags, words, data):
    """The new contents of a buffer; None after a failure, which must leave the old ones."""
    buffer = ctypes.c_void_p(LIBC.malloc(max(len(data), 1)))
    ctypes.memmove(buffer, data, len(data))
    before, room = buffer.value, ctypes.c_size_t(len(data))
    length = CLASS.filter(flags, len(words), (ctypes.c_uint * len(words))(*words), len(data), room, buffer)
    contents = ctypes.string_at(buffer, length)
    if length == 0:
        assert (buffer.value, room.value) == (before, len(data)), "the buffer was changed"
        assert ctypes.string_at(buffer, len(data)) == data, "the contents were changed"
    else:
        assert room.value == length
    LIBC.free(buffer)
    return contents or None


VALUES = field("f4", (60, 100))
# What set_local adds: type f32, no fill value, extents.
WORDS = (*parameters(0.5), 0, 0, 1, 0, 0, 60, 100)


class TheFunction(FieldTest):
    def test_class(self):
        self.assertEqual(LIBRARY.H5PLget_plugin_type(), 0)
        self.assertEqual((CLASS.version, CLASS.id, CLASS.encoder, CLASS.decoder), (1, FILTER, 1, 1))
        self.assertIn(b"ferrosz", CLASS.name)

    def test_there_and_back(self):
        stream = call(0, WORDS, VALUES.tobytes())
        decoded = np.frombuffer(call(REVERSE, WORDS, stream), "f4").reshape(VALUES.shape)
        self.assert_lossy(decoded, VALUES, 0.5)

    def test_threads(self):
        results = [None] * 16

        def work(i):
            # ctypes releases Python's lock, so these calls run at the same time.
            streams = {call(0, WORDS, VALUES.tobytes()) for _ in range(20)}
            results[i] = streams | {call(REVERSE, WORDS, next(iter(streams)))}

        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results[0]), 2)
        self.assertTrue(all(result == results[0] for result in results))

    def test_damaged_streams(self):
        stream = call(0, WORDS, VALUES.tobytes())
        for at in range(len(stream)):
            damaged = bytearray(stream)
            damaged[at] ^= 1 << at % 8
            self.assertIsNone(call(REVERSE, WORDS, bytes(damaged)), at)
        for length in range(0, len(stream), 11):
            self.assertIsNone(call(REVERSE, WORDS, stream[:length]))

    def test_damaged_lists(self):
        stream = call(0, WORDS, VALUES.tobytes())
        for length in range(10):
            self.assertIsNone(call(0, WORDS[:length], VALUES.tobytes()))
            self.assertIsNone(call(REVERSE, WORDS[:length], stream))
        # Without extents the chunk is a line.
        self.assertIsNotNone(call(0, WORDS[:10], VALUES.tobytes()))
        chance = random.Random(1)
        for _ in range(2000):
            words = list(WORDS)
            for _ in range(chance.randint(1, 3)):
                words[chance.randrange(len(words))] = chance.choice([0, 1, 2, 7, 300, 1 << 31, chance.getrandbits(32)])
            call(0, words, VALUES.tobytes()[: 4 * chance.choice([0, 1, 6000, 5999])])
            call(REVERSE, words, stream)


if __name__ == "__main__":
    unittest.main()
