"""Tests of the decoder with streams made here: python -m unittest test_self

The streams are made by small encoders that write some valid stream, not that of ferrosz.
"""

import itertools
import random
import struct
import unittest
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace as Namespace

import numpy as np

import container
import entropy
import grid
import interp
import lines
import lorenzo
import logarithm
import masks
import slices
import statistics_section as statistics
import wavelet
from container import MAGIC, UPDATE_MAGIC, VERSION, ceil_to, checksum, chunk_seed, mix, read_header
from decode import decode, decode_level

F32, F64 = np.dtype("<f4"), np.dtype("<f8")


def pad(data, multiple=16):
    return data + bytes(-len(data) % multiple)


def entry(form, start, data, seed, length=None):
    low = form | start // 16 << 4 | (len(data) if length is None else length) // 16 << 48
    return struct.pack("<QQ", low, checksum(data, seed))


def make_header(dtype, codec, extents, error, entries, records, payload_bytes, shape=0, update_bytes=0, roles=0,
                classes=0, value_type=None, conversion=0, version=VERSION, apart=0):
    predictor, coder = codec
    value_type = value_type or (1 if dtype == F32 else 2)
    head = MAGIC + struct.pack("<H6B", version, value_type, predictor, coder, 0, len(extents), shape)
    head += struct.pack("<8Q", *(tuple(extents) + (1,) * (8 - len(extents))))
    head += struct.pack("<d", float(error)) + np.array([error], dtype=dtype).tobytes().ljust(8, b"\0")
    head += struct.pack("<IHBB", (65536 if predictor >= 16 else 8192) | apart << 24, roles, classes, conversion)
    head += struct.pack("<QQQ", entries, len(records), checksum(records, 0))
    identity = mix(checksum(head, 0))
    head += struct.pack("<QQQ", identity, payload_bytes, update_bytes)
    return head + struct.pack("<Q", checksum(head, 0)), identity


def make_stream(dtype, codec, extents, error, chunks, shape=0, records=b"", prologue=None, **more):
    """chunks: (form, contents without padding). With codecs of tiles the prologue is one more."""
    chunks = [(form, pad(data)) for form, data in chunks]
    if prologue is not None:
        chunks.insert(0, (1, pad(prologue)))
    payload = b"".join(data for _, data in chunks)
    header, identity = make_header(dtype, codec, extents, error, len(chunks), records, len(payload), shape, **more)
    table, start = b"", 0
    for number, (form, data) in enumerate(chunks):
        is_prologue = prologue is not None and number == 0
        table += entry(form, start, data, chunk_seed(identity, number, form), 0 if is_prologue else None)
        start += len(data)
    return header + records + table + payload


def make_update(identity, chunks):
    """chunks: (number, form, contents without padding)."""
    entries, data = b"", b""
    for number, form, contents in chunks:
        entries += struct.pack("<QQ", number, 0)
        entries += entry(form, len(data), pad(contents), chunk_seed(identity, number, form))
        data += pad(contents)
    head = UPDATE_MAGIC + struct.pack("<QQ", len(chunks), len(data))
    return head + struct.pack("<Q", checksum(entries, checksum(head, identity))) + entries + data


def with_updates(stream, updates):
    """The stream with updates behind it and a header that counts them."""
    head = stream[:144] + struct.pack("<Q", len(updates))
    return head + struct.pack("<Q", checksum(head, 0)) + stream[160:] + updates


def with_header_field(stream, at, field):
    """The stream with other bytes in the header, whose identity and checksum fit."""
    head = bytearray(stream[:160])
    head[at : at + len(field)] = field
    head[128:136] = struct.pack("<Q", mix(checksum(bytes(head[:128]), 0)))
    head[152:160] = struct.pack("<Q", checksum(bytes(head[:152]), 0))
    return bytes(head) + stream[160:]


def identity_of(stream):
    return struct.unpack_from("<Q", stream, 128)[0]


FIXED, PLAIN, OUTLIER, LORENZO, LAYERED = (1, 1), (2, 1), (2, 2), (3, 2), (4, 1)

# Codes 1, 3, 3, 2, -1: differences 1, 2, 0, -1, -3. One block of rate 2: the sign row has bits 3
# and 4, plane 0 has 0, 3 and 4, plane 1 has 1 and 4 (section 4).
FIVE = bytes.fromhex("02000000 18000000 98000000 48000000")


class Container(unittest.TestCase):
    def refuse(self, data, reason):
        with self.assertRaisesRegex(ValueError, reason):
            decode(data)

    def five(self, **more):
        return make_stream(F32, PLAIN, (5,), 0.5, [(1, FIVE)], **more)

    def test_checksum(self):
        words = [7, 0, 0xFFFFFFFF]
        total = 5
        for i, v in enumerate(words):
            g = (i + 1) * 0x9E3779B1 % 2**32
            total += v * ((g ^ g >> 15) | 1)
        self.assertEqual(checksum(struct.pack("<3I", *words), 5), total % 2**64)
        self.assertEqual(checksum(b"", 3), 3)

    def test_coded_chunk(self):
        np.testing.assert_array_equal(decode(self.five()), np.array([1, 3, 3, 2, -1], dtype="<f4"))

    def test_extents_and_type(self):
        field = decode(make_stream(F64, PLAIN, (1, 5, 1), 0.5, [(1, FIVE)]))
        self.assertEqual((field.shape, field.dtype), ((1, 5, 1), F64))

    def test_no_elements(self):
        stream = make_stream(F32, PLAIN, (3, 0), 0.5, [])
        self.assertEqual(decode(stream).shape, (3, 0))
        self.assertEqual(len(stream), 160)

    def test_damage(self):
        stream = self.five()
        for at, reason in ((30, "header"), (160, "chunk 0 ends|form|raw|checksum of chunk"), (180, "chunk 0")):
            damaged = bytearray(stream)
            damaged[at] ^= 0x80
            self.refuse(bytes(damaged), reason)
        self.refuse(stream[:-1], "bytes of")

    def test_records(self):
        skipped = pad(b"note" + struct.pack("<I", 9) + b"123456789")
        self.assertEqual(len(decode(self.five(records=skipped))), 5)
        self.refuse(self.five(records=skipped + pad(b"Mask" + struct.pack("<I", 0))), "Mask")
        unknown = bytearray(self.five(records=pad(b"Mask" + struct.pack("<I", 0))))
        unknown[161] ^= 1  # the checksum is checked before the kinds
        self.refuse(bytes(unknown), "checksum of the records")
        self.refuse(self.five(records=pad(b"n0te" + struct.pack("<I", 0))), "four letters")
        self.refuse(self.five(records=pad(b"note" + struct.pack("<I", 9))), "ends behind")
        damaged = bytearray(self.five(records=skipped))
        damaged[170] ^= 1
        self.refuse(bytes(damaged), "checksum of the records")

    def test_versions(self):
        small, capital = (pad(kind + struct.pack("<I", 0)) for kind in (b"note", b"Mask"))
        for version in (VERSION + 1, VERSION | 255):
            need = f"needs format {version >> 8}.{version & 255}, and this decoder"
            later = self.five(version=version, records=small)
            self.assertEqual(decode(later).tolist(), decode(self.five()).tolist())
            self.refuse(self.five(version=version, records=capital), f"Mask.*{need}")
            for at, number, name in (
                (10, 9, "value type"), (11, 77, "predictor"), (12, 99, "coder"), (13, 4, "bound mode"), (15, 3, "shape"),
                (100, 255, "roles"), (102, 16, "classes"), (103, 3, "conversion"),
            ):
                self.refuse(with_header_field(later, at, bytes([number])), f"{name}.*{need}")
        for version in (0, VERSION - 1, VERSION + 256, VERSION ^ 0x8000, 0xFFFF):
            reason = f"has format {version >> 8}.{version & 255}, .* format {VERSION >> 8}.{VERSION & 255}$"
            self.refuse(self.five(version=version), reason)

    def test_tail(self):
        stream = self.five()
        for tail in (bytes(1), bytes(100), UPDATE_MAGIC[:3], UPDATE_MAGIC, UPDATE_MAGIC + b"anything"):
            self.assertEqual(len(decode(stream + tail)), 5)
        for tail in (b"\0\1", bytes(99) + b"\1", UPDATE_MAGIC[:3] + bytes(5), UPDATE_MAGIC[:7] + b"\1", MAGIC):
            self.refuse(stream + tail, "behind the end")
        # It is the same behind a stream that can have no updates.
        empty = make_stream(F32, PLAIN, (0,), 0.5, [])
        self.assertEqual(len(decode(empty + UPDATE_MAGIC[:5])), 0)
        self.refuse(empty + b"x", "behind the end")

    def test_updates(self):
        stream = make_stream(F32, PLAIN, (8192 + 5,), 0.5, [(0, b""), (1, FIVE)])
        first = make_update(identity_of(stream), [(0, 4, struct.pack("<f", 7)), (1, 0, b"")])
        second = make_update(identity_of(stream), [(1, 3, struct.pack("<5f", 1, 2, 3, 4, 5))])
        field = decode(with_updates(stream, first + second))
        self.assertTrue((field[:8192] == 7).all())
        self.assertEqual(list(field[8192:]), [1, 2, 3, 4, 5])
        # Not yet counted by the header: only what is left of an update that was not finished.
        self.assertEqual(field[0], 7)
        self.assertEqual(decode(stream + first)[0], 0)

        wrong_order = make_update(identity_of(stream), [(1, 0, b""), (0, 0, b"")])
        self.refuse(with_updates(stream, wrong_order), "ascending")
        too_long = make_update(identity_of(stream), [(1, 3, bytes(48))])
        self.refuse(with_updates(stream, too_long), "longer than its raw form")
        damaged = bytearray(first)
        damaged[40] ^= 1
        self.refuse(with_updates(stream, bytes(damaged)), "checksum of an update")
        identity = identity_of(stream)
        twice = make_update(identity, [(1, 0, b""), (1, 0, b"")])
        self.refuse(with_updates(stream, twice), "ascending")
        self.refuse(with_updates(stream, make_update(identity, [(2, 0, b"")])), "ascending")
        self.refuse(with_updates(stream, first[:-16]), "ends behind the updates")
        self.refuse(with_updates(stream, bytes(32)), "magic of an update")
        self.refuse(with_updates(stream, first + UPDATE_MAGIC + bytes(8)), "cut off")
        gap = UPDATE_MAGIC + struct.pack("<QQ", 0, 16)  # no entry, but 16 bytes of chunks
        gap += struct.pack("<Q", checksum(gap, identity)) + bytes(16)
        self.refuse(with_updates(stream, gap), "do not end where it does")
        # The seed is that of the chunk that is replaced, not that of another number.
        moved = make_update(identity, [(0, 4, struct.pack("<f", 7))])
        entries = struct.pack("<Q", 1) + moved[40:64]
        head = moved[:24] + struct.pack("<Q", checksum(entries, checksum(moved[:24], identity)))
        self.refuse(with_updates(stream, head + entries + moved[64:]), "checksum of chunk 1")
        # Of several entries for a chunk only the last counts: another may be damaged.
        damaged_chunk = first[:-1] + b"\1"
        self.refuse(with_updates(stream, damaged_chunk), "checksum of chunk 0")
        replaced = make_update(identity, [(0, 0, b"")])
        self.assertEqual(decode(with_updates(stream, damaged_chunk + replaced))[0], 0)

    def test_error(self):
        """Section 1: the error's bits, and how large it is."""
        stream = self.five()
        half = np.finfo(F32).max / np.float32(2)
        largest = make_stream(F32, PLAIN, (5,), half, [(1, FIVE)])
        self.assertEqual(decode(largest)[0], np.finfo(F32).max)
        half64 = np.finfo(F64).max / np.float64(2)
        self.assertEqual(decode(make_stream(F64, PLAIN, (5,), half64, [(1, FIVE)]))[0], np.finfo(F64).max)
        # The step's inverse is infinite: section 5.
        tiny = make_stream(F32, PLAIN, (5,), np.float32(1e-39), [(1, FIVE)])
        self.assertEqual(decode(tiny)[0], 0)
        above = np.nextafter(half, np.float32(np.inf)).tobytes()
        self.refuse(with_header_field(stream, 88, above), "half of the largest")
        self.refuse(with_header_field(stream, 88, struct.pack("<f", np.inf)), "error is not finite")
        self.refuse(with_header_field(stream, 88, struct.pack("<f", -0.0)), "sign bit")
        self.refuse(with_header_field(stream, 92, b"\1"), "above the element type")
        self.refuse(with_header_field(stream, 80, struct.pack("<d", -0.0)), "bound")
        self.refuse(with_header_field(stream, 80, struct.pack("<d", np.nan)), "bound")

    def test_header_fields(self):
        stream = self.five()
        for at, field, reason in (
            (0, b"\x88", "magic"), (9, b"\x40", "has format 64"), (10, b"\x09", "value type"), (12, b"\2\4", "bound mode"),
            (14, b"\0", "rank"), (14, b"\x09", "rank"), (15, b"\3", "shape"), (24, b"\2", "beyond the rank"),
            (96, b"\1", "most elements"), (100, b"\1", "no x"), (100, b"\3", "is a line"), (103, b"\1", "no conversion"),
            (102, b"\x08", "-1 classes"), (102, b"\x10", "16 classes"), (13, b"\3", "logarithms"),
            (100, b"\x0f", "beyond the rank"), (104, b"\2", "entries"),
            (112, b"\1", "multiple of 16"), (136, b"\4", "multiple of 16"), (136, b"\2", "there is none"), (144, b"\1", "multiple of 16"),
        ):
            with self.subTest(at=at):
                self.refuse(with_header_field(stream, at, field), reason)
        self.refuse(stream[:128] + bytes(8) + stream[136:], "header")
        tiles = make_stream(F32, (16, 18), (5,), 0.5, [(0, b"")], prologue=bytes(4))
        self.assertEqual(len(decode(tiles)), 5)
        self.refuse(with_header_field(tiles, 144, b"\x20") + bytes(32), "tiles has updates")

    def test_roles(self):
        # Section 22: bits, rank, and the reason of the refusal or the roles.
        for bits, rank, wanted in (
            (0b11100100, 4, [0, 1, 2, 3]), (0b11, 1, [3]), (0b1110, 2, [2, 3]), (0b11000000, 4, [0, 0, 0, 3]),
            (0b1011, 2, "fall"), (0b1101, 2, "without a y"), (0b10, 1, "no x"), (0b1111, 1, "beyond the rank"),
        ):
            with self.subTest(bits=bits):
                if isinstance(wanted, str):
                    with self.assertRaisesRegex(ValueError, wanted):
                        container.read_roles(bits, rank)
                else:
                    self.assertEqual(container.read_roles(bits, rank), wanted)
        roles = [0, 1, 2, 3]
        self.assertEqual(grid.field_extents((6, 10, 20, 30), grid.CUBE, roles), (10, 20, 30))
        self.assertEqual(grid.slice_count((6, 10, 20, 30), grid.CUBE, roles), 6)
        self.assertTrue(grid.is_default((20, 30, 70), grid.PLANE, [0, 2, 3]))
        self.assertFalse(grid.is_default((6, 10, 20, 30), grid.CUBE, roles))
        self.assertEqual(grid.field_extents((6, 10, 20, 30), grid.PLANE, roles), (60, 20, 30))
        chunks = grid.BlockGrid((10, 20, 30), grid.CUBE, 6)
        self.assertEqual(chunks.box(chunks.chunk_count // 6).begin, (10, 0, 0))

    def test_order(self):
        def stream(order):
            return self.five(records=pad(b"AXES" + struct.pack("<I", len(order)) + bytes(order)))

        for order in ([0], [1], [0, 1], []):
            self.refuse(stream(order), "AXES")
        twice = pad(b"AXES" + struct.pack("<I", 1) + b"\1")
        self.refuse(self.five(records=twice + twice), "there are two")
        self.assertEqual(container.read_order(b"\2\0\1", 3), [2, 0, 1])

    def test_complex_numbers(self):
        """Section 28: pairs along the last axis of the user's field, wherever it is in the coded field."""
        values = np.arange(12, dtype="<f8")
        record = pad(b"CPLX" + struct.pack("<I", 0))
        turned = pad(b"AXES" + struct.pack("<I", 2) + b"\1\0")

        def stream(dtype, extents, records):
            return make_stream(dtype, PLAIN, extents, 0.5, [(container.RAW, values.astype(dtype).tobytes())],
                               records=records)

        for dtype, wanted in ((F32, "<c8"), (F64, "<c16")):
            found = decode(stream(dtype, (3, 2, 2), record))
            self.assertEqual((found.dtype, found.shape), (np.dtype(wanted), (3, 2)))
            np.testing.assert_array_equal(found.ravel(), values[::2] + 1j * values[1::2])
            found = decode(stream(dtype, (2, 6), turned + record))
            np.testing.assert_array_equal(found, values[:6] + 1j * values[6:])
        with self.assertRaisesRegex(ValueError, "levels of the parts"):
            decode_level(stream(F32, (6, 2), record), 1)
        for extents, records in (((6, 2), turned + record), ((2, 6), record), ((12,), record),
                                 ((6, 2), record + record), ((6, 2), pad(b"CPLX" + struct.pack("<I", 4) + bytes(4)))):
            self.refuse(stream(F32, extents, records), "CPLX")

    def test_header_is_checked(self):
        self.refuse(make_stream(F32, (1, 2), (5,), 0.5, [(1, FIVE)]), "no codec")
        self.refuse(make_stream(F32, PLAIN, (5,), -0.5, [(1, FIVE)]), "bound")
        self.refuse(make_stream(F32, PLAIN, (5,), 0.5, [(1, FIVE)], shape=1), "dimensions")
        self.refuse(make_stream(F32, LAYERED, (5, 5), 0.5, [(1, FIVE)], shape=1), "layered")
        self.refuse(make_stream(F32, PLAIN, (5,), 0.5, [(1, FIVE), (1, FIVE)]), "entries")
        self.refuse(make_stream(F32, PLAIN, (2**47,), 0.5, []), "longest chunk table")
        # 2^46 elements of 4 bytes alone would fit, but not the table with them.
        self.refuse(make_stream(F32, PLAIN, (2**46,), 0.5, []), "longest chunk table")
        self.refuse(make_stream(F32, (16, 18), (2**46,), 0.5, []), "longest chunk table")
        self.refuse(make_stream(F32, PLAIN, (2**45,), 0.5, []), "entries")
        # Section 19: the longest payload; its begin is all that is read.
        five = self.five()
        self.assertEqual(len(decode(with_header_field(five, 136, b"\x20") + bytes(16))), 5)
        self.refuse(with_header_field(five, 136, b"\x30") + bytes(32), "longest one for the extents")
        # The product is taken in order of the extents (section 19).
        self.assertEqual(read_header(make_stream(F32, PLAIN, (0, 2**40, 2**40), 0.5, [])).n, 0)
        self.refuse(make_stream(F32, PLAIN, (2**40, 2**40, 0), 0.5, []), "product of the extents")
        self.refuse(make_stream(F32, PLAIN, (0, 2, 2), 0.5, [], shape=1), "dimensions")

    def test_levels_apart(self):
        """Sections 1 and 34: byte 99 is at most the level of anchors, and 0 without levels."""
        cases = [
            # predictor, coder, extents, shape, most levels
            (17, 17, (5000,), 0, 9),
            (20, 16, (50, 60), 1, 4),
            (17, 17, (20, 30, 40), 2, 3),
            (18, 18, (20, 30, 40), 2, 4),
            (21, 16, (20, 30, 40), 2, 4),
            (16, 16, (5000,), 0, 0),
            (2, 1, (5000,), 0, 0),
        ]
        for predictor, coder, extents, shape, most in cases:
            for apart in (0, 1, most, most + 1, 255):
                stream = make_stream(F32, (predictor, coder), extents, 0.5, [], shape=shape, apart=apart)
                self.refuse(stream, "entries" if apart <= most else "levels apart")
        # The lines of a field without bound are counted, not listed.
        stream = make_stream(F32, (19, 16), (2**40,), 0.5, [], apart=9)
        self.refuse(stream, "entries")


class Blocks(unittest.TestCase):
    def refuse(self, codec, chunk, reason, extents=(100,), dtype=F32):
        with self.assertRaisesRegex(ValueError, reason):
            decode(make_stream(dtype, codec, extents, 0.5, [chunk]))

    def test_forms(self):
        nan = bytes.fromhex("0100807f")  # a signalling NaN has to come back bit for bit
        self.assertEqual(decode(make_stream(F32, PLAIN, (9,), 0.5, [(4, nan)])).tobytes(), nan * 9)
        self.assertEqual(decode(make_stream(F32, PLAIN, (2,), 0.5, [(3, nan * 2)])).tobytes(), nan * 2)
        self.assertEqual(decode(make_stream(F64, PLAIN, (2,), 0.5, [(0, b"")])).tobytes(), bytes(16))
        self.refuse(PLAIN, (0, bytes(16)), "need 0")
        self.refuse(PLAIN, (3, bytes(16)), "need 400")
        self.refuse(PLAIN, (5, b""), "form 5")
        self.refuse(PLAIN, (4, bytes(32)), "need 16")
        two = make_stream(F32, PLAIN, (8192 + 100,), 0.5, [(0, b""), (1, bytes(416))])
        with self.assertRaisesRegex(ValueError, "longer than its raw form"):
            decode(two)
        self.refuse(PLAIN, (1, bytes(32)), "need 16")  # four rate bytes, all 0

    def test_differences_outside(self):
        """Section 5: differences of places that hold nothing count as others do."""
        # 33 elements: of the second block, places 0 and 1 have difference 1, and place 1 holds nothing.
        body = bytes.fromhex("00010000 00000000 c0000000")
        self.assertEqual(list(decode(make_stream(F32, PLAIN, (33,), 0.5, [(1, body)]))), [0] * 32 + [1])
        # An exception whose difference is 1: the codes behind it have it, too.
        body = bytes.fromhex("01000000 00000000 80000000") + struct.pack("<2Id", 1, 1, 7)
        self.assertEqual(list(decode(make_stream(F64, PLAIN, (9,), 0.5, [(2, body)]))), [7] + [1] * 8)

    def test_exceptions(self):
        # 100 elements: 4 groups, of which the second has exceptions at places 0 and 31.
        masks = struct.pack("<2I", 0b0010, 0x80000001)
        body = bytes.fromhex("00010000 00000000 80000000")
        values = struct.pack("<2f", np.inf, -7.25)
        field = decode(make_stream(F32, PLAIN, (100,), 0.5, [(2, body + masks + values)]))
        expected = np.zeros(100, dtype="<f4")
        expected[32:64] = 1
        expected[32], expected[63] = np.inf, -7.25
        np.testing.assert_array_equal(field, expected)
        self.refuse(PLAIN, (2, body + struct.pack("<2I", 0b10000, 1) + values), "behind the last group")
        # A group's mask may be 0 if another one is not.
        masks = struct.pack("<3I", 0b0011, 0, 0x80000001)
        again = decode(make_stream(F32, PLAIN, (100,), 0.5, [(2, body + masks + values)]))
        np.testing.assert_array_equal(again, expected)
        self.refuse(PLAIN, (2, body + struct.pack("<2I", 0b1, 0)), "no exception")
        self.refuse(PLAIN, (2, body + struct.pack("<I", 0)), "no exception")
        self.refuse(PLAIN, (2, body + struct.pack("<2I", 0b1000, 16) + values[:4]), "holds nothing")

    def test_rates(self):
        self.refuse(PLAIN, (1, b"\x20\0\0\0"), "rate byte 32")
        self.refuse(LAYERED, (1, b"\x80\0\0\0" + bytes(4)), "rate byte 128")
        self.refuse(LORENZO, (1, b"\x21\0\0\0"), "rate byte 33")
        self.refuse(PLAIN, (1, b"\x05\0\0\0"), "end behind")

    def test_outlier(self):
        # b = 2: magnitude 0x1234 of difference 0, negative; plane 0: difference 1.
        body = bytes.fromhex("a1000000 3412 80000000 40000000")
        field = decode(make_stream(F32, OUTLIER, (9,), 0.5, [(1, body)]))
        self.assertEqual(list(field), [-0x1234] + [-0x1233] * 8)

    def test_layered(self):
        # The initial code is 10; both blocks add 1 at their first element.
        body = bytes.fromhex("01010000 0a000000 00000000 80000000 00000000 80000000")
        field = decode(make_stream(F64, LAYERED, (40,), 1.0, [(1, body)]))
        self.assertEqual(list(field), [22.0] * 32 + [24.0] * 8)

    def encode(self, codec, codes, shape):
        """A coded chunk with rate 8 everywhere, of codes of which no difference is above 255."""
        codes = np.asarray(codes)
        bz, by, bx = grid.BLOCK[shape]
        whole = np.zeros([ceil_to(b, e) for b, e in zip((bz, by, bx), codes.shape)], dtype=int)
        bodies, count = b"", 0
        origins = itertools.product(*(range(0, e, b) for e, b in zip(whole.shape, (bz, by, bx))))
        for z0, y0, x0 in origins:
            differences = []
            for z, y, x in itertools.product(range(bz), range(by), range(bx)):
                def k(*place):
                    if min(place) < 0:
                        return 0
                    place = tuple(p + o for p, o in zip(place, (z0, y0, x0)))
                    inside = all(p < e for p, e in zip(place, codes.shape))
                    if inside:
                        whole[place] = codes[place]
                    return whole[place]

                if codec == FIXED:
                    p = 0
                elif codec == PLAIN:
                    p = k(z, y, x - 1) if x else k(z, y - 1, 0) if y else k(z - 1, 0, 0)
                else:
                    p = (k(z, y, x - 1) + k(z, y - 1, x) + k(z - 1, y, x) - k(z, y - 1, x - 1)
                         - k(z - 1, y, x - 1) - k(z - 1, y - 1, x) + k(z - 1, y - 1, x - 1))
                place = (z + z0, y + y0, x + x0)
                if all(c < e for c, e in zip(place, codes.shape)):
                    differences.append(int(codes[place] - p))
                else:
                    whole[place] = p
                    differences.append(0)
            rows = [[d < 0 for d in differences]] + [[abs(d) >> p & 1 for d in differences] for p in range(8)]
            bodies += np.packbits(np.array(rows, dtype=np.uint8), axis=1).tobytes()
            count += 1
        return pad(bytes([8]) * count, 4) + bodies

    def test_blocks_in_space(self):
        random.seed(1)
        for codec, (shape, extents) in itertools.product(
            (FIXED, PLAIN, LORENZO), ((0, (1, 1, 300)), (1, (2, 19, 30)), (2, (7, 9, 13)))
        ):
            with self.subTest(codec=codec, shape=shape):
                codes = np.array([random.randrange(-15, 15) for _ in range(grid.product(extents))]).reshape(extents)
                chunk = self.encode(codec, codes, shape)
                field = decode(make_stream(F64, codec, extents, 0.5, [(1, chunk)], shape=shape))
                np.testing.assert_array_equal(field, codes)

    def test_chunk_extents(self):
        self.assertEqual(grid.whole_chunk((1, 1000, 1000), grid.PLANE), (1, 64, 128))
        self.assertEqual(grid.whole_chunk((100, 1000, 1000), grid.PLANE), (16, 16, 32))
        self.assertEqual(grid.whole_chunk((1000, 1000, 1000), grid.CUBE), (16, 16, 32))
        self.assertEqual(grid.whole_chunk((5, 1000, 1000), grid.CUBE), (8, 32, 32))
        self.assertEqual(grid.whole_chunk((2, 5, 6), grid.CUBE), (4, 8, 256))
        self.assertEqual(grid.field_extents((2, 1, 3, 4, 1, 5), grid.CUBE), (6, 4, 5))
        self.assertEqual(grid.field_extents((2, 1, 3), grid.PLANE), (1, 2, 3))


# Codecs of tiles: encoders.


def tokens_of(z, shares):
    """Token, number of extra bits and these, of a code z (section 11)."""
    if z < 16:
        token, n, extra = z, 0, 0
    else:
        n = z.bit_length() - 4
        token, extra = 8 * n + (z >> n), z & (1 << n) - 1
    if token > 110 or (shares is not None and shares[token] == 0):
        return entropy.ESCAPE, 16, z
    return token, n, extra


def class_of(codes, group):
    """Any class above 0 does for a group with codes other than 0; here it follows the group."""
    return 1 + group % 5 if codes.any() else 0


def tile_classes(z, active, groups, has_levels):
    count = 37 if has_levels else 32
    return [class_of(z[active & (groups == g)], g) for g in range(count)]


def make_shares(counts, huffman):
    """Shares for the symbols counted; some of them."""
    used = [t for t, count in enumerate(counts) if count]
    shares = [0] * len(counts)
    if not used:
        return shares
    if huffman:
        k = (len(used) - 1).bit_length()
        for i, t in enumerate(used):
            shares[t] = 4096 >> (k - 1 if i < 2**k - len(used) else k)
    else:
        for t in used:
            shares[t] = 1 + (4096 - len(used)) * counts[t] // sum(counts)
        shares[used[0]] += 4096 - sum(shares)
    return shares


def write_shares(all_shares, huffman):
    heads, bodies = [], b""
    for shares in all_shares:
        used = [t for t, share in enumerate(shares) if share]
        bits = ""  # the lowest bit first
        first = count = 0
        if used:
            first, count = used[0], used[-1] - used[0] + 1
            of_context = shares[first : first + count]
            bits = "".join(f"{share.bit_length():04b}"[::-1] for share in of_context)
            if not huffman:
                bits += "".join(f"{share:b}"[:0:-1] for share in of_context if share)
        body = int("0" + bits[::-1], 2).to_bytes(4 * -(-len(bits) // 32), "little")
        bodies += body
        heads.append(first | count << 7 | len(bodies) // 4 << 14)
    return pad(struct.pack("<16I", *heads) + bodies)


def context_of(tile_grid, word, step, lane, class_):
    """Sections 26 and 27, for a place of a tile whose group has this class."""
    if tile_grid.distance is None or class_ == 0:
        return class_
    row, x = step // 2, 2 * lane + step % 2
    place = {
        grid.LINE: (64 * row + x,), grid.PLANE: (row, x), grid.CUBE: (row // 16, row % 16, x),
    }[tile_grid.shape]
    first = tile_grid.in_slices and place[0] == 0
    place = place[1:] if tile_grid.in_slices else place
    for level in range(2):
        odd = sum(c >> level & 1 for c in place)
        if odd:
            odd = 3 if first else odd
            shift = (word >> 12 * level + 4 * (odd - 1) & 15 ^ 8) - 8
            return min(max(class_ + shift, 1), 15)
    return class_


def lane_operations(tiles, tile_grid, word, shares=None):
    """All pops of a chunk in order: each a list of (lane, context, symbol or None, n, extra bits).

    `word` has the shifts of contexts."""
    groups, has_levels = tile_grid.groups(), tile_grid.distance is not None
    for z, active in tiles:
        classes = tile_classes(z, active, groups, has_levels)
        yield [(lane, 0, classes[lane], 0, 0) for lane in range(32)]
        if has_levels:
            yield [(lane, 0, classes[32 + lane], 0, 0) for lane in range(5)]
        for step in range(512):
            first, second = [], []
            for lane in range(32):
                context = 0
                if active[step, lane]:
                    context = context_of(tile_grid, word, step, lane, classes[groups[step, lane]])
                if context:
                    code = int(z[step, lane])
                    token, n, extra = tokens_of(code, shares and shares[context])
                    if n <= 4:
                        first.append((lane, context, token, n, extra))
                    else:
                        first.append((lane, context, token, 0, 0))
                        second.append((lane, context, None, n, extra))
            yield first
            yield second


def push(x, symbol, shares, n, extra, huffman):
    x = x << n | extra
    if symbol is None:
        return x
    if huffman:
        order = sorted((t for t in range(len(shares)) if shares[t]), key=lambda t: (-shares[t], t))
        start = sum(shares[t] for t in order[: order.index(symbol)])
        length = 13 - shares[symbol].bit_length()
        return x << length | int(f"{start:012b}"[:length][::-1] or "0", 2)
    start = sum(shares[:symbol])
    return 4096 * (x // shares[symbol]) + x % shares[symbol] + start


def encode_lane_stacks(tiles, tile_grid, word, shares, huffman):
    states, words = [65536] * 32, []  # words: the last one is taken first
    for operation in reversed(list(lane_operations(tiles, tile_grid, word, shares))):
        for lane, context, symbol, n, extra in reversed(operation):
            x = states[lane]
            if push(x, symbol, shares[context], n, extra, huffman) >= 1 << 32:
                words.append(x & 65535)
                x >>= 16
            states[lane] = push(x, symbol, shares[context], n, extra, huffman)
    lengths = [x.bit_length() - 17 for x in states]
    data = struct.pack("<I", len(words))
    data += bytes(lengths[2 * i] | lengths[2 * i + 1] << 4 for i in range(16))
    bits = "".join(f"{x:b}"[:0:-1] for x in states)
    data += int(bits[::-1], 2).to_bytes(4 * -(-len(bits) // 32), "little")
    return data + pad(b"".join(struct.pack("<H", word) for word in reversed(words)), 4)


def encode_bit_planes(tiles):
    words = []
    for z, _ in tiles:
        z = np.where(z == 65535, 32768, np.where(z == 32768, 65535, z))
        for p, b, lane in itertools.product(range(16), range(16), range(32)):
            bits = (z[32 * b : 32 * b + 32, lane] >> p & 1).astype(np.uint8)
            words.append(np.packbits(bits).tobytes())
    levels = [words]
    for _ in range(2):
        below = levels[0]
        masks = []
        for j in range(0, len(below), 32):
            mask = sum(1 << i for i, word in enumerate(below[j : j + 32]) if any(word))
            masks.append(struct.pack("<I", mask))
        levels.insert(0, masks)
    tops, masks, words = levels
    return b"".join(tops) + b"".join(w for w in masks + words if any(w))


def encode_tiles(field_z, field_raw_values, tiles, coder, word, shares):
    """The chunks of a field with codes z. Without shares: the pops of all chunks instead.

    A chunk that would be longer than its raw form becomes raw, and so do its codes in field_z.
    """
    huffman = coder == 17
    chunks = []
    for chunk in range(tiles.chunk_count):
        of_chunk, values, raw_form = [], [], []
        for number in tiles.tiles_of_chunk(chunk):
            box = tiles.box(number)
            cut = tuple(slice(0, e) for e in box.extents)
            z = np.zeros(tiles.tile, dtype=int)
            stored = np.zeros(tiles.tile, dtype=field_raw_values.dtype)
            z[cut], stored[cut] = field_z[box.slices], field_raw_values[box.slices]
            active = tiles.active(number)
            z, stored = grid.tile_to_steps(z), grid.tile_to_steps(stored)
            z = np.where(active, z, 0)
            of_chunk.append((z, active))
            values.append(stored[z == 65535].tobytes())
            raw_form.append(stored[active].tobytes())
        if shares is None:
            chunks.extend(lane_operations(of_chunk, tiles, word))
            continue
        if coder == 18:
            data = encode_bit_planes(of_chunk)
        else:
            data = encode_lane_stacks(of_chunk, tiles, word, shares, huffman)
        coded, raw = data + b"".join(values), b"".join(raw_form)
        if len(pad(coded)) <= len(pad(raw)):
            chunks.append((1, coded))
        else:
            chunks.append((3, raw))
            for number in tiles.tiles_of_chunk(chunk):
                field_z[tiles.box(number).slices] = 65535
    return chunks


def encode_fields(fields, coder, drop_tokens=False, word=0):
    """Shares as stored, and the chunks of all fields, each of (z, stored values, tile grid); `word` has the shifts."""
    if coder == 18:
        return b"", [c for field in fields for c in encode_tiles(*field, coder, word, [])]
    counts = [[0] * 16] + [[0] * 112 for _ in range(15)]
    for field in fields:
        for operation in encode_tiles(*field, coder, word, None):
            for _, context, symbol, _, _ in operation:
                if symbol is not None:
                    counts[context][symbol] += 1
    if drop_tokens:  # these are then written by the escape
        for context in range(1, 16):
            if any(counts[context]):
                counts[context][3] = 0
                counts[context][20] = 0
                counts[context][111] += 1
    shares = [make_shares(c, coder == 17) for c in counts]
    chunks = [c for field in fields for c in encode_tiles(*field, coder, word, shares)]
    return write_shares(shares, coder == 17), chunks


def random_codes(rng, extents, raw_share=0.01):
    """Codes z with a few large ones, some raw, and a part of the field where all are 0."""
    magnitude = np.where(rng.random(extents) < 0.02, 40000, 9)
    z = (rng.random(extents) ** 2 * magnitude).astype(int)
    z[rng.random(extents) < raw_share] = 65535
    if z.size > 40:
        z.reshape(-1)[7], z.reshape(-1)[39] = 65534, 32768
    z[..., extents[2] // 2 :][z[..., extents[2] // 2 :] != 65535] //= 5
    return z


def quantisation_code(z):
    return z // 2 if z % 2 == 0 else -(z + 1) // 2


class Tiles(unittest.TestCase):
    def test_numbers_of_the_text(self):
        self.assertEqual(list(entropy.FIRST_CODE[[15, 16, 23, 24, 110]]), [15, 16, 30, 32, 57344])
        self.assertEqual(list(entropy.EXTRA_BITS[[15, 16, 23, 24, 110, 111]]), [0, 1, 1, 2, 12, 16])
        by_step = np.arange(512 * 32).reshape(512, 32)
        tile = grid.steps_to_tile(by_step, grid.CUBE)
        self.assertEqual(tile[2, 3, 7], by_step[2 * (16 * 2 + 3) + 1, 3])
        np.testing.assert_array_equal(grid.tile_to_steps(tile), by_step)
        self.assertEqual(grid.coarse_extents((5, 33, 32), grid.PLANE, 16), (5, 3, 2))
        self.assertEqual(grid.coarse_extents((1, 1, 513), grid.LINE, 512), (1, 1, 2))
        self.assertEqual(int(grid.active_places(grid.CUBE, 8, (16, 16, 64)).sum()), 16384 - 2 * 2 * 8)

    def test_chunks_of_the_coarse_field(self):
        """Sections 9 and 15: each field's last chunk has the tiles that are left."""
        # 5 slices of one tile each in the coarse field, of 2 x 2 tiles each in the field.
        field = (5, 300, 100)
        coarse = grid.TileGrid(grid.coarse_extents(field, grid.PLANE, 16), grid.PLANE, 16)
        self.assertEqual([list(coarse.tiles_of_chunk(c)) for c in range(coarse.chunk_count)], [[0, 1, 2, 3], [4]])
        self.assertEqual(grid.TileGrid(field, grid.PLANE, 16).chunk_count, 5)
        elements = 5 * (300 * 100 + 19 * 7 + 2 * 1)
        self.assertEqual(grid.longest_tiles(8, field, grid.PLANE, 16, 8), 32 * 8 + 8 * elements + 2316)

    def test_shares(self):
        shares = [[0] * 16] + [[0] * 112 for _ in range(15)]
        shares[0][2], shares[0][5] = 4095, 1
        shares[9][111] = 4096
        data = write_shares(shares, False)
        self.assertEqual([list(s) for s in entropy.read_shares(data, False)], shares)
        for at, change in ((0, 16), (3, 0x40), (64, 1), (len(data) - 1, 1)):
            wrong = bytearray(data)
            wrong[at] ^= change
            with self.assertRaises(ValueError):
                entropy.read_shares(bytes(wrong), False)
        with self.assertRaises(ValueError):
            entropy.read_shares(data + bytes(16), False)

    def lorenzo(self, z, stored, shape, error):
        """Section 17 place by place."""
        T = error.dtype.type
        values = np.zeros(z.shape, dtype=error.dtype)
        q = {}
        tile = grid.TILE[shape]
        for place in itertools.product(*map(range, z.shape)):
            first = tuple(c - c % t for c, t in zip(place, tile))
            p = 0
            for back in itertools.product(*((0, 1) if d in grid.AXES[shape] else (0,) for d in range(3))):
                neighbour = tuple(c - b for c, b in zip(place, back))
                if any(back) and all(c >= f for c, f in zip(neighbour, first)):
                    p += q[neighbour] if sum(back) % 2 else -q[neighbour]
            k = quantisation_code(int(z[place]))
            q[place] = (p + k + 2**31) % 2**32 - 2**31
            values[place] = T(q[place]) * (T(2) * error)
            if z[place] == 65535:
                values[place] = stored[place]
                q[place] = (p + 2**31) % 2**32 - 2**31
                if place == first:
                    q[place] = lorenzo.code_of_value(stored[place], error) or 0
        return values

    def test_lorenzo(self):
        rng = np.random.default_rng(2)
        cases = (
            (0, (1, 1, 16500)), (1, (2, 258, 20)), (2, (17, 5, 66)),
            (0, (1, 1, 3000)), (1, (1, 19, 130)), (2, (3, 18, 66)),
        )
        for (shape, extents), coder in zip(cases, (16, 17, 18, 17, 18, 16)):
            with self.subTest(shape=shape, coder=coder):
                error = np.float32(0.25)
                z = random_codes(rng, extents)
                z[0, 0, 0] = 65535
                stored = rng.normal(size=extents).astype(F32) * np.float32(100)
                fields = [(z, stored, grid.TileGrid(extents, shape, None))]
                shares, chunks = encode_fields(fields, coder, drop_tokens=True)
                prologue = struct.pack("<I", len(shares) // 4) + shares
                stream = make_stream(F32, (16, coder), extents, error, chunks, shape=shape, prologue=prologue)
                self.assertEqual(decode(stream).tobytes(), self.lorenzo(z, stored, shape, error).tobytes())

    def test_raw_and_zero_chunks(self):
        extents = (70000,)
        stored = np.arange(70000, dtype=F64)
        tiles = grid.TileGrid((1, 1, 70000), 0, None)
        in_order = stored[65536:].copy()
        padded = np.zeros(16384)
        padded[: len(in_order)] = in_order
        by_step = grid.tile_to_steps(padded.reshape(1, 1, -1))[tiles.active(4)]
        chunks = [(0, b""), (3, by_step.tobytes())]
        field = decode(make_stream(F64, (16, 18), extents, 0.5, chunks, prologue=bytes(4)))
        self.assertTrue((field[:65536] == 0).all())
        np.testing.assert_array_equal(field[65536:], in_order)
        with self.assertRaisesRegex(ValueError, "form 4"):
            decode(make_stream(F64, (16, 18), extents, 0.5, [(4, bytes(8)), chunks[1]], prologue=bytes(4)))

    def test_lane_stacks_are_checked(self):
        z = np.zeros((1, 1, 16384), dtype=int)
        z[0, 0, :100] = 5
        shares, chunks = encode_fields([(z, z.astype(F32), grid.TileGrid(z.shape, 0, None))], 16)
        intervals = entropy.Intervals(entropy.read_shares(shares, False), False)
        tiles = grid.TileGrid(z.shape, 0, None)
        active = tiles.active(0)[None]
        data = chunks[0][1]
        no_shifts = np.zeros((512, 32), dtype=int)
        codes, end = entropy.decode_lane_stacks(data, intervals, active, tiles.groups(), no_shifts, False)
        self.assertEqual(end, len(data))
        np.testing.assert_array_equal(grid.steps_to_tile(codes[0], 0), z)
        wrong = bytearray(data)
        wrong[21] ^= 1
        with self.assertRaises(ValueError):
            entropy.decode_lane_stacks(bytes(wrong), intervals, active, tiles.groups(), no_shifts, False)

    def test_bit_planes_are_checked(self):
        tiles = grid.TileGrid((1, 1, 10), 0, None)
        active = tiles.active(0)[None]
        z = np.where(tiles.active(0), 65535, 0)
        data = encode_bit_planes([(z, None)])
        np.testing.assert_array_equal(entropy.decode_bit_planes(data, active)[0][0], z)
        outside = encode_bit_planes([(np.full((512, 32), 1), None)])
        with self.assertRaisesRegex(ValueError, "not active"):
            entropy.decode_bit_planes(outside, active)
        tops = np.frombuffer(data, dtype="<u4", count=8)
        self.assertEqual(np.flatnonzero(tops).tolist(), [7])  # only plane 15 has bits
        with self.assertRaisesRegex(ValueError, "stored"):
            entropy.decode_bit_planes(data[:32] + bytes(4) + data[36:], active)

    def test_code_of_value(self):
        error = np.float64(0.5)
        self.assertEqual(lorenzo.code_of_value(np.float64(7.25), error), 7)
        # x is halfway: the fast way has difference 0.5, not below error; the slow one takes it.
        self.assertEqual(lorenzo.code_of_value(np.float64(2.5), error), 3)
        self.assertEqual(lorenzo.code_of_value(np.float64(-2.5), error), -3)
        self.assertIsNone(lorenzo.code_of_value(np.float64(2.0**30), error))
        self.assertIsNone(lorenzo.code_of_value(np.float64(np.nan), error))
        self.assertEqual(lorenzo.code_of_value(np.float32(0.0), np.float32(0)), 0)
        self.assertIsNone(lorenzo.code_of_value(np.float32(-0.0), np.float32(0)))
        # Above 2^22 only the slow way is left for f32.
        self.assertEqual(lorenzo.code_of_value(np.float32(2.0**23 + 1), np.float32(0.5)), 2**23 + 1)

    def test_at_most(self):
        # 1 - (-2^-60) is rounded to 1, but it is more than 1.
        x, q = np.array([1.0, 1.0, 1.0]), np.array([-(2.0**-60), 2.0**-60, 0.0])
        self.assertEqual(lorenzo.at_most(x, q, np.float64(1)).tolist(), [False, True, True])
        self.assertEqual(lorenzo.at_most(-x, -q, np.float64(1)).tolist(), [False, True, True])
        self.assertFalse(lorenzo.at_most(np.array([np.inf]), np.array([1.0]), np.float64(1))[0])


# Interpolation.


def make_parameters(rng, dtype, geometry, error, flags, shifts=0):
    T = dtype.type
    number = lambda value: np.array([value], dtype=dtype).tobytes().ljust(8, b"\0")
    steps = [T(2) * error * T(0.8) ** T(level) for level in range(10)]
    inverses = [T(1) / step for step in steps]
    packed = sum(f << 3 * level for level, f in enumerate(flags))
    data = struct.pack("<II2d", geometry, packed, 1.25, 2.0) + number(error)
    return data + b"".join(map(number, steps + inverses)) + struct.pack("<II", 32768, shifts)


class Reference:
    """Section 16 place by place: what a place needs is computed when it is asked for."""

    def __init__(self, z, stored, anchors, shape, geometry, distance, data, dtype, coarse_level=None):
        self.z, self.stored, self.anchors, self.distance = z, stored, anchors, distance
        self.axes, self.extents = grid.AXES[shape], z.shape
        self.T = dtype.type
        self.windows = interp.WINDOW[shape][geometry]
        number = lambda word: np.frombuffer(data, dtype=dtype, count=1, offset=4 * word)[0]
        self.error = number(6)
        self.flags = [struct.unpack_from("<I", data, 4)[0] >> 3 * level & 7 for level in range(9)]
        self.step = lambda level: number(8 + 2 * (coarse_level or level))
        self.inverse = lambda level: number(28 + 2 * (coarse_level or level))
        self.known = lru_cache(maxsize=None)(self.find)
        self.values = np.zeros(z.shape, dtype=dtype)

    def find(self, place):
        at = [place[axis] for axis in self.axes]
        if all(c % self.distance == 0 for c in at):
            anchor = tuple(c // self.distance if d in self.axes else c for d, c in enumerate(place))
            self.values[place] = self.anchors[anchor]
            return self.anchors[anchor]
        level = 0
        while all(c % (2 << level) == 0 for c in at):
            level += 1
        u = 1 << level
        odd = [axis for axis in self.axes if place[axis] % (2 * u)]
        flags = self.flags[level]
        if not flags & 1:
            odd = [odd[0] if flags & 2 else odd[-1]]
        return self.take(place, self.predict(place, odd, u, flags & 4), level)

    def take(self, place, p, level):
        T = self.T
        p = p if np.isfinite(p) else T(0)
        z = int(self.z[place])
        if z != 65535:
            self.values[place] = p + T(quantisation_code(z)) * self.step(level)
            return self.values[place]
        x = self.values[place] = self.stored[place]
        s = (abs(x - p) * self.inverse(level) + T(1)) * T(0.5)
        if s < 32768:
            k = int(s) if x - p >= 0 else -int(s)
            q = p + T(k) * self.step(level)
            if np.isfinite(q) and lorenzo.at_most(x, q, self.error):
                return q
        return x

    def predict(self, place, odd, u, natural):
        found = [self.along(place, axis, u, natural) for axis in odd]
        if len(found) == 1:
            return found[0][0]
        T = self.T
        if len(found) == 2:
            (p, r), (q, s) = found
            if r != s:
                return p if r > s else q
            if r == 0:
                behind = tuple(c - u if d in odd else c for d, c in enumerate(place))
                return (p + q) - self.known(behind)
            return (p + q) * T(0.5)
        cubic = [p for p, rank in reversed(found) if rank == 3]  # x first
        if len(cubic) == 3:
            return ((cubic[0] + cubic[1]) + cubic[2]) / T(3)
        if len(cubic) == 2:
            return (cubic[0] + cubic[1]) * T(0.5)
        return cubic[0] if cubic else found[2][0]

    def along(self, place, axis, u, natural):
        T, c, n, W = self.T, place[axis], self.extents[axis], self.windows[axis]
        i = c % W
        known = lambda way: self.known(place[:axis] + (c + way * u,) + place[axis + 1 :])
        if c + u >= n:
            return known(-1), 0
        b, d = known(-1), known(1)
        is_ahead = i + 3 * u <= W and c + 3 * u < n
        if i >= 3 * u and is_ahead:
            a, e = known(-3), known(3)
            if natural:
                return (T(23) * (b + d) - T(3) * (a + e)) / T(5) / T(8), 3
            return (T(9) * (b + d) - (a + e)) * T(1 / 16), 3
        if i >= 3 * u:
            return ((T(6) * b + T(3) * d) - known(-3)) * T(1 / 8), 2
        if is_ahead:
            return ((T(3) * b + T(6) * d) - known(3)) * T(1 / 8), 2
        return (b + d) * T(1 / 2), 1


def places_in_order(extents, shape, distance, in_slices):
    """Section 34 place by place: (level, place) of all codes of a field, in the order of their tiles, levels, sets of
    odd axes, and places."""
    axes, tile = (1, 2) if in_slices else grid.AXES[shape], grid.TILE[shape]
    keys = []
    for place in itertools.product(*map(range, extents)):
        level = 0
        while 2 << level <= distance and all(place[axis] % (2 << level) == 0 for axis in axes):
            level += 1
        if all(place[axis] % distance == 0 for axis in grid.AXES[shape]):
            continue
        is_top = 1 << level == distance
        odd = 0 if is_top else sum(2**axis for axis in axes if place[axis] % (2 << level))
        keys.append((tuple(c // t for c, t in zip(place, tile)), -level, odd, place))
    return [(-level, place) for _, level, _, place in sorted(keys)]


class SliceReference(Reference):
    """Section 27 place by place."""

    def __init__(self, coefficients, *arguments):
        super().__init__(*arguments)
        self.coefficients = coefficients  # 134 numbers of 16 bits
        self.base_and_terms = lru_cache(maxsize=None)(self.find_base_and_terms)

    def find(self, place):
        z, y, x = place
        level = 0
        while level < 4 and y % (2 << level) == 0 and x % (2 << level) == 0:
            level += 1
        if level == 4 and z % 16 == 0:
            return super().find(place)
        there = [(max(z - r, z // 16 * 16), y, x) for r in range(4)]
        T, v = self.T, [None, *map(self.known, there[1:])] if z % 16 else []
        if level == 4:
            base, terms, first = v[1], [v[1] - v[2], v[1] - v[3]], 132
        else:
            base, terms = self.base_and_terms(place, level)
            # 8 coefficients of slice 0 and 25 of the others, by level. 0: odd along y, 1: along x, 2: along both.
            odd = 2 * (x % (2 << level) > 0) + (y % (2 << level) > 0) - 1
            first = 33 * level + ((8, 15, 22) if z % 16 else (0, 2, 4))[odd]
            if z % 16:
                bases, terms_there = zip(*(self.base_and_terms(p, level) for p in there[1:]))
                terms = [*terms, v[1] - bases[0], *terms_there[0], v[2] - bases[1], v[3] - bases[2]]
        total = None
        for c, term in zip(self.coefficients[first:], terms):
            product = T(int(c) / 2048) * term
            total = product if total is None else total + product
        return self.take(place, base + total, level)

    def find_base_and_terms(self, place, level):
        T, u = self.T, 1 << level
        z, y, x = place
        v = lambda dy, dx: self.known((z, y + dy * u, x + dx * u))
        ahead = [False] + [place[axis] + u < self.extents[axis] for axis in (1, 2)]
        odd = [axis for axis in (1, 2) if place[axis] % (2 * u)]
        near, far = {}, {}
        for axis in odd:
            to = lambda way: v(way, 0) if axis == 1 else v(0, way)
            near[axis], far[axis] = to(-1), T(0)
            if ahead[axis]:
                near[axis] = (to(-1) + to(1)) / T(2)
                rank = self.along(place, axis, u, False)[1]
                if rank == 3:
                    far[axis] = (to(-3) + to(3)) / T(2) - near[axis]
                elif rank == 2 and place[axis] % self.windows[axis] >= 3 * u:
                    far[axis] = (to(-3) + to(1)) - (to(-1) + to(-1))
                elif rank == 2:
                    far[axis] = (to(3) + to(-1)) - (to(1) + to(1))
        if len(odd) == 2:
            both = ahead[1] and ahead[2]
            base = near[1] if ahead[1] else near[2]
            if ahead[1] == ahead[2]:
                base = (near[1] + near[2]) / T(2)
            corners = ((v(-1, -1) + v(-1, 1)) + (v(1, -1) + v(1, 1))) / T(4) - base if both else T(0)
            return base, [near[1] - near[2] if both else T(0), far[1], far[2], corners]
        (axis,) = odd
        other = 3 - axis
        beside, i = T(0), place[other] % self.windows[other]
        if ahead[axis] and 2 * u <= i <= self.windows[other] - 2 * u and place[other] + 2 * u < self.extents[other]:
            if axis == 1:
                beside = ((v(-1, -2) + v(-1, 2)) + (v(1, -2) + v(1, 2))) / T(4) - near[axis]
            else:
                beside = ((v(-2, -1) + v(2, -1)) + (v(-2, 1) + v(2, 1))) / T(4) - near[axis]
        return near[axis], [far[axis], beside]


class Interpolation(unittest.TestCase):
    def test_streams(self):
        rng = np.random.default_rng(3)
        random.seed(3)
        self.forms = []  # of each coarse field: form of its last chunk, number of its tiles
        cases = [
            # shape, extents, predictor, element type, coder
            (0, (1, 1, 2600), 17, F32, 17),
            (0, (1, 1, 17500), 19, F64, 16),
            (1, (2, 40, 53), 18, F32, 18),
            (1, (1, 270, 70), 19, F32, 16),
            (2, (18, 20, 41), 17, F32, 17),
            (2, (18, 20, 41), 18, F64, 18),
            (2, (18, 17, 67), 19, F32, 16),
            (2, (17, 33, 34), 17, F64, 17),
            (1, (5, 65, 49), 18, F64, 16),
        ]
        for shape, extents, predictor, dtype, coder in cases:
            with self.subTest(shape=shape, extents=extents, predictor=predictor), np.errstate(all="ignore"):
                self.check(rng, shape, extents, predictor, dtype, coder)
        # Some coarse fields were not stored raw: one of one tile, and one of five in two chunks.
        self.assertLessEqual({(1, 1), (1, 5)}, set(self.forms))

    def test_shifts(self):
        """Section 26, without a level that has coefficients."""
        rng = np.random.default_rng(7)
        random.seed(7)
        self.forms = []
        cases = [
            (0, (1, 1, 17500), F32, 16, 0x00_500E),
            (1, (2, 40, 53), F64, 17, 0x08_70F3),
            (2, (18, 17, 67), F32, 16, 0x7F_2A8E),
            (2, (18, 17, 67), F64, 18, 0x12_3456),
        ]
        for shape, extents, dtype, coder, word in cases:
            with self.subTest(shape=shape, coder=coder), np.errstate(all="ignore"):
                self.check(rng, shape, extents, 20, dtype, coder, word)

    def test_shifts_are_checked(self):
        """Only stencils and slices have them, and only for as many odd axes as the shape has."""
        rng = np.random.default_rng(8)
        allowed = {(0, 20): 0x00_F00F, (1, 20): 0x0F_F0FF, (2, 20): 0xFF_FFFF, (2, 19): 0, (2, 21): 0xFF_FFFF}
        for (shape, predictor), bits in allowed.items():
            header = Namespace(predictor=predictor, shape=shape, dtype=F32, error=np.float32(0.5))
            for bit in range(32):
                data = make_parameters(rng, F32, 2, header.error, [0] * 9, 1 << bit)
                if bits >> bit & 1:
                    self.assertEqual(interp.read_parameters(data, header).shifts, 1 << bit)
                else:
                    with self.assertRaisesRegex(ValueError, "word 49"):
                        interp.read_parameters(data, header)

    def test_contexts_are_checked(self):
        """Shifts may lead to a context that is not used; the class itself may be one if no place has it."""
        tiles = grid.TileGrid((16, 16, 64), grid.CUBE, 16)
        z = np.ones(tiles.tile, dtype=int)
        word = 0x11_1111
        shares, chunks = encode_fields([(z, z.astype(F32), tiles)], 16, word=word)
        intervals = entropy.Intervals(entropy.read_shares(shares, False), False)
        self.assertEqual(intervals.used.tolist(), [c in (0, 2, 3, 4, 5, 6) for c in range(16)])
        active = tiles.active(0)[None]
        read = lambda word: entropy.decode_lane_stacks(
            chunks[0][1], intervals, active, tiles.groups(), tiles.shifts(word), True
        )
        np.testing.assert_array_equal(read(word)[0], active)
        with self.assertRaisesRegex(ValueError, "a place has a context that is not used"):
            read(0)

    def test_slices(self):
        """Section 27."""
        rng = np.random.default_rng(9)
        random.seed(9)
        self.forms = []
        cases = [
            # extents, element type, shifts
            ((18, 20, 41), F32, 0x7F_2A8E),
            ((35, 19, 34), F64, 0x08_70F3),
            ((17, 17, 67), F32, 0x12_3456),
            ((2, 34, 132), F64, 0xE1_1E1E),
            ((20, 2, 2), F32, 0),
            ((49, 33, 33), F64, 0x12_34E1),
        ]
        for extents, dtype, word in cases:
            with self.subTest(extents=extents), np.errstate(all="ignore"):
                self.check(rng, grid.CUBE, extents, 21, dtype, 16, word)
        # The last coarse field has more than one slice, and is not stored raw.
        self.assertEqual(self.forms[-1], (1, 1))

    def test_slices_of_a_tile(self):
        """Section 27, levels: which places have a code, their zones, and their shifts."""
        tiles = grid.TileGrid((16, 16, 64), grid.CUBE, 16, in_slices=True)
        active, zones, shifts = (
            grid.steps_to_tile(a, grid.CUBE) for a in (tiles.active(0), tiles.groups(), tiles.shifts(0x32_1765))
        )
        self.assertEqual(int(active.sum()), 16384 - 4)
        self.assertTrue(active[1:].all())
        self.assertEqual(zones[3, 0, [0, 16, 48]].tolist(), [36] * 3)
        self.assertEqual(zones[3, [2, 0, 2], [0, 6, 2]].tolist(), [32] * 3)
        self.assertEqual(zones[9, 9, [0, 63]].tolist(), [24, 31])
        # Levels 0, 0, 0, 1, 1, 1, 2.
        ys, xs = [1, 0, 3, 2, 0, 2, 4], [0, 1, 3, 0, 6, 2, 0]
        self.assertEqual(shifts[5, ys, xs].tolist(), [5, 5, 6, 1, 1, 2, 0])
        self.assertEqual(shifts[0, ys, xs].tolist(), [7, 7, 7, 3, 3, 3, 0])

    def test_coefficients_of_slices(self):
        numbers = np.arange(134)
        numbers[0] = -32768
        found = slices.read_coefficients(numbers.astype("<i2").tobytes(), F32)
        self.assertEqual(found[0, (1,), False], [-16, 1 / 2048])
        self.assertEqual([2048 * c for c in found[1, (2,), True]], list(range(33 + 15, 33 + 22)))
        self.assertEqual([2048 * c for c in found[3, (1, 2), True]], list(range(121, 132)))
        self.assertEqual([2048 * c for c in found[4, (), True]], [132, 133])
        self.assertEqual({c.dtype for of_set in found.values() for c in of_set}, {F32})

    def test_slices_are_checked(self):
        data = make_parameters(np.random.default_rng(10), F32, 2, np.float32(0.5), [0] * 9)
        codec, zero = (21, 16), [(0, b""), (0, b"")]
        shares = write_shares([[0] * 112] * 16, huffman=False)
        make = lambda prologue, extents=(2, 3, 4), shape=2: make_stream(
            F32, codec, extents, 0.5, zero, shape=shape, prologue=prologue
        )
        prologue = data + struct.pack("<I", len(shares) // 4) + shares + bytes(4 + 268)
        self.assertTrue((decode(make(prologue)) == 0).all())
        with self.assertRaisesRegex(ValueError, "it ends behind the payload"):
            decode(make(prologue[:-268]))
        for extents, shape in (((2, 3, 4), 1), ((2, 3, 4), 0), ((0, 3, 4), 0)):
            with self.assertRaisesRegex(ValueError, "slices have cubes only"):
                decode(make(prologue, extents, shape))

    def test_levels_apart(self):
        """Section 34: streams, and the levels of their fields."""
        rng = np.random.default_rng(11)
        random.seed(11)
        cases = [
            # shape, extents, predictor, element type, coder, shifts, levels apart
            (0, (1, 1, 17500), 20, F64, 16, 0x00_500E, 9),
            (0, (1, 1, 2600), 17, F32, 17, 0, 3),
            (1, (2, 270, 70), 18, F32, 18, 0, 4),
            (1, (5, 65, 49), 19, F64, 16, 0, 1),
            (2, (18, 20, 41), 17, F32, 17, 0, 3),
            (2, (18, 17, 67), 20, F64, 18, 0, 2),
            (2, (18, 20, 70), 21, F32, 16, 0x7F_2A8E, 4),
            (2, (35, 19, 34), 21, F64, 16, 0, 2),
        ]
        for shape, extents, predictor, dtype, coder, word, apart in cases:
            self.forms = []
            with self.subTest(shape=shape, extents=extents, predictor=predictor), np.errstate(all="ignore"):
                self.check(rng, shape, extents, predictor, dtype, coder, word, apart)

    def test_lines(self):
        """Section 34: each code is in exactly one line, and in its place there."""
        for shape, extents, predictor in ((0, (1, 1, 40000), 19), (1, (3, 300, 70), 18), (2, (20, 18, 70), 17),
                                          (2, (20, 18, 70), 20), (2, (20, 18, 70), 21), (2, (1, 1, 1), 21)):
            distance = grid.anchor_distance(shape, container.GEOMETRY[predictor])
            tiles = grid.TileGrid(extents, shape, distance, in_slices=predictor == 21)
            expected = places_in_order(extents, shape, distance, predictor == 21)
            for apart in range(1, distance.bit_length()):
                found = lines.places(tiles, apart)
                self.assertEqual(lines.code_counts(tiles, apart), [len(line) for line in found])
                for number, line in enumerate(found):
                    of_line = [place for level, place in expected if min(level, apart) == number]
                    self.assertEqual(list(zip(*np.unravel_index(line, extents))), of_line)

    def check(self, rng, shape, extents, predictor, dtype, coder, word=0, apart=0):
        geometry = container.GEOMETRY[predictor]
        distance = grid.anchor_distance(shape, geometry)
        error = dtype.type(0.1)
        # With stencils MULTI and REVERSE together are for coefficients.
        flags = [random.choice((0, 1, 2, 4, 5, 6)) if predictor == 20 else random.randrange(8) for _ in range(9)]
        data = make_parameters(rng, dtype, geometry, error, flags, word)
        coarse_extents = grid.coarse_extents(extents, shape, distance)
        anchor_extents = grid.coarse_extents(coarse_extents, shape, distance)
        anchors = rng.normal(size=anchor_extents).astype(dtype) * dtype.type(100)

        fields = []
        for of_field in (coarse_extents, extents):
            z = random_codes(rng, of_field, raw_share=0.05)
            if not fields:  # the coarse one: few codes other than 0, so that a small field is not raw altogether
                z[(z < 65535) & (rng.random(of_field) < 0.8)] = 0
                z[z < 65535] %= 8
            stored = rng.normal(size=of_field).astype(dtype) * dtype.type(20)
            stored[rng.random(of_field) < 0.03] = np.inf
            # Chunks of the coarse field have one tile, but for bit planes.
            tiles = 1 if not fields and coder != 18 else 4
            tiles = grid.TileGrid(of_field, shape, distance, tiles=tiles, in_slices=predictor == 21)
            fields.append((z, stored, tiles))
        coded = fields[:1] + self.lines_of(fields[1], apart) if apart else fields
        shares, chunks = encode_fields(coded, coder, word=word)
        if apart:
            for (line, _, _), places in zip(reversed(coded[1:]), lines.places(fields[1][2], apart)):
                fields[1][0].ravel()[places] = line.ravel()  # whole chunks may have become raw
        prologue = data + struct.pack("<I", len(shares) // 4) + shares + anchors.tobytes()
        if predictor == 21:
            coefficients = rng.integers(-500, 500, size=134).astype("<i2")
            coefficients[rng.random(134) < 0.02] = -32768
            prologue += coefficients.tobytes()
        codec = (predictor, coder)
        stream = make_stream(dtype, codec, extents, error, chunks, shape=shape, prologue=prologue, apart=apart)
        coarse = fields[0][2]
        self.forms.append((chunks[coarse.chunk_count - 1][0], coarse.tile_count))

        known = anchors
        for (z, stored, tiles), level in zip(fields, (distance.bit_length() - 1, None)):
            arguments = z, stored, known, shape, geometry, distance, data, dtype, level
            in_slices = predictor == 21 and level is None
            reference = SliceReference(coefficients, *arguments) if in_slices else Reference(*arguments)
            known = np.zeros(z.shape, dtype=dtype)
            for place in itertools.product(*map(range, z.shape)):
                known[place] = reference.known(place)
        found = decode(stream).reshape(extents)
        self.assertEqual(found.tobytes(), reference.values.tobytes())
        if apart:
            counts = [tiles.chunk_count for _, _, tiles in coded]
            self.check_levels(rng, stream, found, counts, distance.bit_length() - 1)

    def lines_of(self, field, apart):
        """The fields that are coded in place of a field with levels apart."""
        z, stored, tiles = field
        result = []
        for places in reversed(lines.places(tiles, apart)):
            of_line = (1, 1, len(places))
            of_values = [array.ravel()[places].reshape(of_line) for array in (z, stored)]
            result.append((*of_values, grid.TileGrid(of_line, grid.LINE, None)))
        return result

    def check_levels(self, rng, stream, field, counts, top_level):
        """Each level is the same if the chunks of finer lines are random; `counts` has the chunks of the coarse field
        and of the lines."""
        apart, table = len(counts) - 2, 160
        for level in range(top_level + 2):
            needed = 2 + apart - min(level, apart) if level < top_level else 1
            entries = range(1 + sum(counts[:needed]), 1 + sum(counts))
            damaged = bytearray(stream)
            payload = table + 16 * (1 + sum(counts))
            for number in entries:
                entry = container.unpack_entry(stream, table + 16 * number)
                at = payload + entry.start
                damaged[at : at + entry.length] = rng.bytes(entry.length)
            wanted = field[:: 1 << level, :: 1 << level, :: 1 << level]
            self.assertEqual(decode_level(bytes(damaged), level).tobytes(), wanted.tobytes())
            if damaged != stream:
                with self.assertRaisesRegex(ValueError, "checksum of chunk"):
                    decode(bytes(damaged))

    def test_parameters_are_checked(self):
        rng = np.random.default_rng(4)
        data = make_parameters(rng, F32, 1, np.float32(0.5), [0] * 9)
        make = lambda d: make_stream(F32, (18, 18), (20,), 0.5, [(0, b""), (0, b"")], prologue=d + bytes(4 + 4))
        self.assertTrue((decode(make(data)) == 0).all())
        with self.assertRaisesRegex(ValueError, "parameters: the error is not the header's"):
            decode(make(data[:24] + struct.pack("<f", 0.25) + data[28:]))
        changes = ((0, 1), (7, 0x80), (15, 0x80), (27, 0x80), (28, 1), (35, 0x80), (115, 0x80), (192, 1), (196, 1))
        for at, change in changes:
            wrong = bytearray(data)
            wrong[at] ^= change
            with self.assertRaisesRegex(ValueError, "parameters"):
                decode(make(bytes(wrong)))
        minus_zero = data[:32] + struct.pack("<f", -0.0) + data[36:]
        with self.assertRaisesRegex(ValueError, "sign bit"):
            decode(make(minus_zero))

    def test_prologue_is_checked(self):
        data = make_parameters(np.random.default_rng(5), F32, 1, np.float32(0.5), [0] * 9)
        stream = make_stream(F32, (18, 18), (20,), 0.5, [(0, b""), (0, b"")], prologue=data + bytes(4 + 4))
        self.assertEqual(len(decode(stream)), 20)
        for at, change in ((160, 1), (160, 0x10), (166, 1)):  # form, start, length of its entry
            wrong = bytearray(stream)
            wrong[at] ^= change
            with self.assertRaisesRegex(ValueError, "prologue: form, start or length"):
                decode(bytes(wrong))
        wrong = bytearray(stream)
        wrong[-1] ^= 1  # the checksum covers the padding
        with self.assertRaisesRegex(ValueError, "checksum of chunk 0"):
            decode(bytes(wrong))

    def test_chunk_without_codes(self):
        """A coarse field of anchors only: m = 0, and what is coded is longer than the raw form."""
        data = make_parameters(np.random.default_rng(6), F32, 1, np.float32(0.5), [0] * 9)
        make = lambda *chunk: make_stream(F32, (18, 18), (20,), 0.5, [chunk, (0, b"")], prologue=data + bytes(4 + 4))
        self.assertEqual(len(decode(make(0, b""))), 20)
        self.assertEqual(len(decode(make(3, b""))), 20)
        with self.assertRaisesRegex(ValueError, "longer than its raw form"):
            decode(make(1, bytes(32)))


class BitEncoder:
    """Section 23: the reverse of the decoder, with as many bytes of `low` as it needs."""

    def __init__(self):
        self.low, self.range, self.bytes = 0, 2**32 - 1, 4
        self.models = {}  # by name and index: p, s

    def bit(self, name, index, bit):
        p, s = self.models.get((name, index), (32768, 0))
        length = len(f"{s + 1:b}")
        b = self.range // 65536 * p
        if bit:
            self.range = b
            p += (65504 - p) // 2**length
        else:
            self.low += b
            self.range -= b
            p -= (p - 32) // 2**length
        self.models[name, index] = p, min(s + 1, 63)
        while self.range < 2**24:
            self.low, self.range, self.bytes = self.low * 256, self.range * 256, self.bytes + 1
        return bit

    def finish(self):
        """Of the numbers that decode to the bits the one that ends in the most zero bits."""
        for zeros in range(8 * self.bytes, -1, -1):
            number = ceil_to(2**zeros, self.low)
            if number < self.low + self.range:
                return number.to_bytes(self.bytes, "big").rstrip(b"\0")


def encode_part(part, classes):
    """part: by (z, y, x) the number of the class, or -1. Looks at each element alone."""
    _, h, w = part.shape
    s = h * w
    flat = part.reshape(-1).tolist()
    encoder = BitEncoder()
    flags = [0, 0]
    last_class = 0
    for f in range(0, len(flat), 32):
        places = range(f, min(f + 32, len(flat)))
        at = lambda e: int(0 <= e < f and flat[e] >= 0)
        before = at(f - 1)
        above = {e: at(e - w) if f >= w else before for e in places}
        word = {e: int(flat[e] >= 0) for e in places}
        u = len(set(above.values())) == 1
        same = encoder.bit("flag", 4 * u + 2 * flags[-2] + flags[-1], int(word == above))
        flags.append(same)
        a = before
        for e in () if same else places:
            b = above[e]
            c = at(e - s) if f >= s else b
            right = at(e - w + 1) if f >= w else before
            j = (at(e - w - 1) if f >= w else before) + right
            j += at(e - s + 1) + at(e - s + w) if f >= s else right + b
            a = encoder.bit("bit", 8 * (4 * a + 2 * b + c) + j, word[e])
        members = [flat[e] for e in places if flat[e] >= 0]
        if classes == 1 or not members:
            continue
        if encoder.bit("all", int(len(members) == 1), int(set(members) == {last_class})):
            continue
        for number in members:
            for n in range(min(number + 1, classes - 1)):
                encoder.bit(f"step {n}", int(n == last_class), int(n < number))
            last_class = number
    return encoder.finish()


def raw_part(part, classes):
    """The words of plane 0 and of the planes of the class numbers."""
    flat = part.reshape(-1)
    planes = [flat >= 0] + [flat >> p & 1 for p in range(len(f"{classes - 1:b}") if classes > 1 else 0)]
    return b"".join(pad(np.packbits(plane, bitorder="little").tobytes(), 4) for plane in planes)


def mask_chunk(parts):
    """A chunk of form 1. parts: None for an empty part, ("raw", bytes) or ("coded", bytes)."""
    heads = [0 if part is None else 65535 if part[0] == "raw" else len(part[1]) + 1 for part in parts]
    contents = b"".join(part[1] for part in parts if part is not None)
    return 1, struct.pack("<8H", *heads + [0] * (8 - len(heads))) + contents


def mask_record(values, dtype, one=1, zero=0):
    contents = b"".join(
        struct.pack("<II", one, zero) + np.array(value, dtype=dtype).tobytes().ljust(8, b"\0") for value in values
    )
    return pad(b"MASK" + struct.pack("<I", len(contents)) + contents)


def blobs(rng, extents, classes):
    """A few boxes of classes, and some elements alone."""
    part = np.full(extents, -1)
    for _ in range(4):
        box = tuple(slice(*np.sort(rng.integers(0, e + 1, 2))) for e in extents)
        part[box] = rng.integers(-1, classes)
    alone = rng.random(extents) < 0.02
    part[alone] = rng.integers(-1, classes, alone.sum())
    return part


class Masks(unittest.TestCase):
    NAN = np.frombuffer(bytes.fromhex("0100807f"), dtype=F32)[0]  # a signalling one
    ZEROS = (0, b"")

    def stream(self, mask, values, extents=(5,), chunks=((1, FIVE),), shape=0, dtype=F32, **more):
        records = more.pop("records", None)
        if records is None:
            records = mask_record(values, dtype)
        more.setdefault("classes", len(values))
        return make_stream(dtype, PLAIN, extents, 0.5, list(chunks) + mask, shape=shape, records=records, **more)

    def refuse(self, data, reason):
        with self.assertRaisesRegex(ValueError, reason):
            decode(data)

    def expect(self, mask, values, wanted, **more):
        field = decode(self.stream(mask, values, **more))
        self.assertEqual(field.tobytes(), np.array(wanted, dtype=field.dtype).tobytes())

    def test_raw_part(self):
        # Elements 0 and 3, of classes 0 and 1; the number of element 1, in no class, does not count.
        # Nor do bits behind the last element.
        raw = mask_chunk([("raw", struct.pack("<2I", 0b111001001, 0b101010))])
        self.expect([raw], (self.NAN, -0.0), [self.NAN, 3, 3, -0.0, -1])
        # One class: plane 0 alone. Three: a class of 3 is read as 2.
        self.expect([mask_chunk([("raw", struct.pack("<I", 0b10))])], (9,), [1, 9, 3, 2, -1])
        raw = mask_chunk([("raw", struct.pack("<3I", 0b111, 0b110, 0b101))])
        self.expect([raw], (7, 8, 9), [9, 8, 9, 2, -1])

    def test_empty(self):
        self.expect([self.ZEROS], (9,), [1, 3, 3, 2, -1])
        # A chunk of form 1, but without members.
        self.expect([mask_chunk([None])], (9,), [1, 3, 3, 2, -1])
        self.assertEqual(decode(self.stream([], (9,), (3, 0), [])).shape, (3, 0))

    def test_coded_part(self):
        for members, classes in (([0, -1, -1, -1, 0], 1), ([-1, 2, 1, -1, 1], 3), ([6, -1, -1, 0, 6], 7)):
            part = np.array(members).reshape(1, 1, 5)
            mask = mask_chunk([("coded", encode_part(part, classes))])
            values = [10.0 + n for n in range(classes)]
            self.expect([mask], values, [k if m < 0 else 10 + m for m, k in zip(members, (1, 3, 3, 2, -1))])

    def test_coded_by_hand(self):
        """A part without bytes, and one of the highest byte alone: the first bits are 0, then 1."""
        # Code 0 is below every border: the first bit, `same`, is 1, and the word is the row, which is 0.
        self.expect([mask_chunk([("coded", b"")])], (9,), [1, 3, 3, 2, -1])
        # `same` with p = 32768: b = 65535 * 32768 = 0x7FFF8000. From it on, the bit is 0, and element 0 follows
        # with the rest: range 0x80007FFF, b = 0x40000000, and the bit is 1.
        decoder = masks.BitDecoder(bytes.fromhex("7fff8000"))
        models = masks.Models(2)
        self.assertEqual([decoder.bit(models, 0), decoder.bit(models, 1)], [0, 1])
        self.assertEqual((decoder.range, decoder.code), (0x40000000, 0))
        self.assertEqual((models.p, models.s), ([32768 - (32736 >> 1), 32768 + (32736 >> 1)], [1, 1]))

    def test_parts_in_space(self):
        """Fields of several parts: of slices, of which the last ones are cut off, and of mask chunks."""
        rng = np.random.default_rng(7)
        for extents, classes, kinds in (
            ((30, 40, 50), 2, ("raw", "coded", "empty")), ((7, 33, 61), 5, ("coded",)),
            ((130, 100), 3, ("coded", "raw")),
            ((1, 260, 33), 1, ("coded",)), ((70000,), 4, ("coded", "raw")), ((3, 3, 1), 7, ("coded",)),
        ):
            with self.subTest(extents=extents):
                shape = min(sum(e > 1 for e in extents) - 1, 2)
                field = grid.field_extents(extents, shape)
                parts = grid.BlockGrid(field, shape)
                wanted = np.full(field, -1)
                made = []
                for number in range(parts.chunk_count):
                    kind = kinds[number % len(kinds)]
                    box = parts.box(number)
                    part = blobs(rng, box.extents, classes)
                    encode = raw_part if kind == "raw" else encode_part
                    made.append(None if kind == "empty" else (kind, encode(part, classes)))
                    if kind != "empty":
                        wanted[box.slices] = part
                mask = [mask_chunk(made[i : i + 8]) for i in range(0, len(made), 8)]
                # The shape of the parts does not follow from that of the blocks: lines.
                chunks = [self.ZEROS] * grid.BlockGrid((1, 1, wanted.size), 0).chunk_count
                self.expect(mask, range(10, 10 + classes), np.where(wanted < 0, 0, 10 + wanted), extents=extents,
                            chunks=chunks, dtype=F64)

    def test_slices_and_order(self):
        """Section 22: parts begin anew in each slice, and the mask is that of the coded field."""
        rng = np.random.default_rng(8)
        coded = np.stack([blobs(rng, (2, 3, 5), 2) for _ in range(3)])
        mask = mask_chunk([("coded", encode_part(part, 2)) for part in coded])
        axes = pad(b"AXES" + struct.pack("<I", 4) + b"\2\0\1\3")
        stream = self.stream([mask], (10, 11), (3, 2, 3, 5), [self.ZEROS] * 3, shape=2, roles=0b11100100,
                             records=mask_record((10, 11), F32) + axes)
        np.testing.assert_array_equal(decode(stream), np.where(coded < 0, 0, coded + 10).transpose(1, 2, 0, 3))

    def test_parts_with_roles(self):
        """Extents and roles, and the shape and first part of the mask: cubes as far as z, y and x allow them."""
        for extents, roles, slices, whole in (
            ((3, 5, 30, 70, 2), [0, 1, 2, 3, 3], 3, (8, 32, 32)), ((2, 30, 70, 2), [0, 2, 3, 3], 1, (2, 32, 128)),
            ((3, 4, 700), [2, 2, 3], 1, (1, 16, 512)),
            ((40, 300, 2), None, 1, (32, 64, 4)), ((40, 300, 1), None, 1, (1, 64, 128)),
        ):
            with self.subTest(extents=extents):
                boxes = grid.PartGrid(extents, roles).boxes
                self.assertEqual((boxes.slices, boxes.chunk), (slices, whole))

    def test_longest_payload(self):
        """Section 19: 48 bytes for the entry of the mask chunk, and four planes of a word."""
        stream = self.stream([self.ZEROS], range(7), chunks=[self.ZEROS])
        self.assertEqual(len(decode(with_header_field(stream, 136, b"\x50") + bytes(80))), 5)
        self.refuse(with_header_field(stream, 136, b"\x60") + bytes(96), "longest one for the extents")

    def test_tiles(self):
        """Mask chunks lie behind all entries of the field, the prologue's among them."""
        mask = mask_chunk([("raw", struct.pack("<I", 0b10))])
        stream = make_stream(F32, (16, 18), (5,), 0.5, [self.ZEROS, mask], prologue=bytes(4),
                             records=mask_record((9,), F32), classes=1)
        self.assertEqual(list(decode(stream)), [0, 9, 0, 0, 0])

    def test_updates(self):
        stream = self.stream([self.ZEROS], (9,))
        one = mask_chunk([("raw", struct.pack("<I", 1))])
        field = decode(with_updates(stream, make_update(identity_of(stream), [(1, *one)])))
        self.assertEqual(list(field), [9, 3, 3, 2, -1])
        long = make_update(identity_of(stream), [(1, 1, bytes(48))])
        self.refuse(with_updates(stream, long), "longer than its raw form")

    def test_records(self):
        two = mask_record((8, 9), F32)
        good = self.stream([self.ZEROS], (8, 9))
        self.assertEqual(len(decode(good)), 5)
        make = lambda records, classes=2, dtype=F32: self.stream(
            [self.ZEROS] if classes else [], (8, 9), records=records, classes=classes, dtype=dtype)
        self.refuse(make(b""), "there are 0, not one")
        self.refuse(make(two + two), "there are 2, not one")
        self.refuse(make(two, classes=0), "has no classes")
        self.refuse(make(two, classes=3), "not those of 3")
        self.refuse(make(two, classes=1), "not those of 1")
        self.refuse(make(two, classes=8), "-1 classes")
        self.refuse(make(two, classes=10), "header disagrees")
        self.refuse(make(mask_record((0,), F32, one=2), classes=1), "header disagrees")
        self.refuse(make(two + b"", classes=16), "16 classes")
        self.refuse(make(pad(two[:4] + struct.pack("<I", 28) + two[8:36])), "28 bytes")
        self.refuse(make(mask_record((9, 9), F32)), "same bits")
        self.assertEqual(len(decode(make(mask_record((0.0, -0.0), F32)))), 5)
        self.refuse(make(mask_record((8, 9), F32, one=2)), "unknown kind")
        self.refuse(make(mask_record((8, 9), F32, zero=1)), "unknown kind")
        self.refuse(make(mask_record((8, 9), F64)), "above the element type")

    def test_chunks(self):
        refuse = lambda chunk, reason: self.refuse(self.stream([chunk], (9,)), reason)
        self.refuse(self.stream([], (9,)), "entries")
        self.refuse(self.stream([self.ZEROS] * 2, (9,)), "entries")
        refuse((0, bytes(16)), "there is nothing")
        refuse((3, bytes(16)), "form 3")
        refuse((1, b""), "heads end behind")
        for raw in (mask_chunk([None, ("coded", b"")]), mask_chunk([None] * 7 + [("raw", bytes(4))])):
            refuse(raw, "does not exist")
        raw = struct.pack("<I", 1)
        refuse(mask_chunk([("raw", raw * 5)]), "need 32")
        refuse(mask_chunk([("raw", b"")]), "need 32")
        refuse((1, struct.pack("<8H", 18, *[0] * 7) + bytes(16)), "need 48")
        refuse((1, struct.pack("<8H", *[0] * 8) + bytes(16)), "need 16")
        damaged = bytearray(self.stream([mask_chunk([("raw", raw)])], (9,)))
        damaged[-16] ^= 1
        self.refuse(bytes(damaged), "checksum of chunk 1")


def brick_place(at, extents):
    """The place of an element: the bits of its coordinates, written from the lowest one on."""
    digits = [[f"{a:b}".zfill(32)[-1 - i] for i in range(e.bit_length() - 1)] for a, e in zip(at, extents)]
    z, y, x = digits
    turns = itertools.zip_longest(x, y, z, fillvalue="")
    return int("".join(digit for turn in turns for digit in turn)[::-1] or "0", 2)


def encode_signs(part, is_bricks=False):
    """part: by (z, y, x) whether the element is negative. The words of its differences."""
    places = sorted(np.ndindex(part.shape), key=lambda at: brick_place(at, part.shape)) if is_bricks else None
    bits = [int(part[at]) for at in places] if is_bricks else part.reshape(-1).astype(int).tolist()
    changes = [a ^ b for a, b in zip([0] + bits, bits)] + [0] * (8192 - len(bits))
    number = lambda flags: sum(bool(flag) << i for i, flag in enumerate(flags))
    units = lambda size: [changes[i : i + size] for i in range(0, 8192, size)]
    data = struct.pack("<I", number(any(unit) for unit in units(256)))
    for size in (32, 4):
        for unit in filter(any, units(8 * size)):
            data += bytes([number(any(unit[i : i + size]) for i in range(0, 8 * size, size))])
    nibbles = [number(unit) for unit in units(4) if any(unit)]
    data += bytes(a + 16 * b for a, b in itertools.zip_longest(nibbles[::2], nibbles[1::2], fillvalue=0))
    return pad(data, 4)


def sign_chunk(signs, parts=()):
    """A chunk of form 1. signs: (kind, words) for each part; parts: as for a chunk without signs."""
    heads = [kind + 8 * (len(data) // 4 if kind > 2 else 0) for kind, data in signs]
    _, chunk = mask_chunk(parts)
    return 1, chunk[:16] + struct.pack("<8H", *heads + [0] * (8 - len(heads))) + b"".join(
        data for _, data in signs) + chunk[16:]


class Signs(unittest.TestCase):
    """Section 23: elements that are negative."""

    ZEROS, stream, refuse = Masks.ZEROS, Masks.stream, Masks.refuse

    NEGATIVE = struct.pack("<IIQ", 2, 0, 0)

    def signed(self, mask, values=(), dtype=F32, **more):
        record = mask_record(values, dtype)[8 : 8 + 16 * len(values)] + self.NEGATIVE
        record = pad(b"MASK" + struct.pack("<I", len(record)) + record)
        return self.stream(mask, values, records=record, classes=len(values) + 1 | 8, dtype=dtype, **more)

    def expect_signed(self, mask, wanted, values=(), **more):
        field = decode(self.signed(mask, values, **more))
        self.assertEqual(field.tobytes(), np.array(wanted, dtype=field.dtype).tobytes())

    def test_kinds(self):
        # The coded field is 1, 3, 3, 2, -1; its own sign is not that of the element.
        self.expect_signed([self.ZEROS], [1, 3, 3, 2, 1])
        self.expect_signed([sign_chunk([(0, b"")])], [1, 3, 3, 2, 1])
        self.expect_signed([sign_chunk([(1, b"")])], [-1, -3, -3, -2, -1])
        raw = struct.pack("<I", 0b11101001)
        self.expect_signed([sign_chunk([(2, raw)])], [-1, 3, 3, -2, 1])
        # A class with a value goes before a sign, and 0 is no class if there is none.
        fill = mask_chunk([("raw", struct.pack("<I", 0b10001))])[1]
        part = [("raw", fill[16:20])]
        self.expect_signed([sign_chunk([(2, raw)], part)], [9, 3, 3, -2, 9], values=(9,))
        self.expect_signed([sign_chunk([(2, raw)], part)], [-1, 3, 3, -2, 1])

    def test_differences(self):
        rng = np.random.default_rng(11)
        for extents, kind in (((16, 16, 32), 3), ((16, 16, 32), 4), ((64, 128), 4), ((8192,), 4), ((8192,), 3),
                              ((16, 16, 31), 3), ((9, 300), 3), ((2, 5, 6), 3), ((8, 16, 64), 4)):
            field = grid.field_extents(extents, min(len(extents) - 1, 2))
            parts = grid.PartGrid(extents, None)
            wanted = np.zeros(field, dtype=bool)
            signs = []
            for number in range(parts.part_count):
                box = parts.box(number)
                part = blobs(rng, box.extents, 1) >= 0
                whole = kind if box.size == 8192 else 3
                signs.append((whole, encode_signs(part, whole == 4)))
                wanted[box.slices] = part
                if len(signs[-1][1]) >= 4 * -(-box.size // 32):
                    signs[-1] = 2, pad(np.packbits(part.reshape(-1), bitorder="little").tobytes(), 4)
            chunks = [self.ZEROS] * grid.BlockGrid((1, 1, wanted.size), 0).chunk_count
            with self.subTest(extents=extents, kind=kind):
                mask = [sign_chunk(signs[i : i + 8]) for i in range(0, len(signs), 8)]
                zeros = np.where(wanted, -0.0, 0.0).reshape(extents)
                self.expect_signed(mask, zeros, extents=extents, chunks=chunks)

    def test_bytes_behind_the_end_are_zeros(self):
        # The top says that there are groups, units and nibbles, but there are none.
        chunks = [self.ZEROS]
        mask = [sign_chunk([(3, bytes([255] * 12))])]
        field = decode(self.signed(mask, extents=(4096,), chunks=chunks))
        self.assertEqual(field.shape, (4096,))

    def test_heads(self):
        refuse = lambda signs, reason: self.refuse(self.signed([sign_chunk(signs)]), reason)
        refuse([(5, b"")], "kind 5")
        refuse([(4, bytes(4))], "kind 4")
        refuse([(3, bytes(4))], "kind 3 in 1 words")
        refuse([(3, b"")], "kind 3 in 0 words")
        refuse([(0, b""), (1, b"")], "does not exist")
        refuse([(2, b"")], "need 48")
        self.refuse(self.signed([(1, struct.pack("<16H", *[0] * 8, 9, *[0] * 7))]), "kind 1 in 1 words")
        self.refuse(self.signed([(1, bytes(16))]), "heads end behind")

    def test_longest_payload(self):
        """Section 19: 16 bytes more for each mask chunk, and a word of signs."""
        raw = [sign_chunk([(2, bytes(4))])]
        stream = self.signed([self.ZEROS], chunks=[self.ZEROS])
        self.assertEqual(len(decode(self.signed(raw, chunks=[self.ZEROS]))), 5)
        self.assertEqual(len(decode(with_header_field(stream, 136, b"\x50") + bytes(80))), 5)
        self.refuse(with_header_field(stream, 136, b"\x60") + bytes(96), "longest one for the extents")


class Vectors(unittest.TestCase):
    """The streams of codec/VECTORS.md."""

    def test_they_decode(self):
        page = (Path(__file__).resolve().parents[2] / "codec" / "VECTORS.md").read_text(encoding="utf-8")
        vectors = page.split("```text\n")[1:]
        self.assertGreater(len(vectors), 5)
        for vector in vectors:
            lines = vector.split("```")[0].splitlines()
            stream = bytes.fromhex("".join(line[7:30] for line in lines if line.startswith(" ")))
            given, wanted = (
                np.array([float(n) for line in lines if line.startswith(name) for n in line.split()[1:]])
                for name in ("input ", "decoded ")
            )
            found = decode(stream).astype("<f8").ravel()
            self.assertEqual(found.tobytes(), wanted.tobytes(), vector)
            header = read_header(stream)
            scale = np.abs(given) if header.bound_mode == container.PWREL else 1
            self.assertTrue(np.all(np.abs(given - found) <= header.bound * scale), vector)


class Conversions(unittest.TestCase):
    def stream(self, value_type, elements, conversion=0, offset=None, records=None):
        dtype = F64 if value_type in (7, 8) else F32
        contents = struct.pack("<d", 1.0) + (b"" if offset is None else struct.pack("<q", offset))
        record = pad(b"CONV" + struct.pack("<I", len(contents)) + contents)
        return make_stream(
            dtype, PLAIN, (len(elements),), 0.5, [(3, np.array(elements, dtype=dtype).tobytes())],
            records=record if records is None else records, value_type=value_type, conversion=conversion,
        )

    def expect(self, value_type, elements, wanted, **more):
        field = decode(self.stream(value_type, elements, **more))
        self.assertEqual(field.view(f"u{field.itemsize}").tolist(), np.array(wanted, field.dtype).view(f"u{field.itemsize}").tolist())

    def refuse(self, reason, *arguments, **more):
        with self.assertRaisesRegex(ValueError, reason):
            decode(self.stream(*arguments, **more))

    def test_integers(self):
        nan, inf = np.nan, np.inf
        self.expect(5, [0.5, 1.5, -2.5, 4e4, -inf, nan], [0, 2, -2, 32767, -32768, 0])
        self.expect(6, [65535.4, 7e4, -3, 0.49999997], [65535, 65535, 0, 0])
        self.expect(7, [0.5 - 2**-54, -1.5, nan], [1 << 30, (1 << 30) - 2, 0], conversion=2, offset=1 << 30)
        self.expect(8, [2.0**33, -2.0**33, 4294967294.5], [4294967295, 0, 4294967294])

    def test_halves(self):
        # All values come back, NumPy being the judge of f16.
        bits = np.arange(1 << 16, dtype="<u2")
        finite = bits[np.isfinite(bits.view("<f2"))]
        for part in np.array_split(finite, 8):
            self.assertEqual(decode(self.stream(3, part.view("<f2").astype("<f4"))).tobytes(), part.tobytes())
        rng = np.random.default_rng(3)
        numbers = (rng.standard_normal(8000) * 10.0 ** rng.integers(-9, 5, 8000)).astype("<f4")
        numbers = numbers[np.abs(numbers) < 65504]
        self.assertEqual(decode(self.stream(3, numbers)).tobytes(), numbers.astype("<f2").tobytes())
        self.assertEqual(decode(self.stream(3, [1e9, -np.inf, -0.0])).tolist()[:2], [65504.0, -np.inf])
        # bfloat16 is the upper half of a binary32; 1.5 and 2.5 units above 1 are ties.
        upper = np.array([0x3F808000, 0x3F818000, 0xFF7FFFFF, 0x7F800001, 0xFFC10000, 0x00008001], dtype="<u4").view("<f4")
        self.assertEqual(decode(self.stream(4, upper)).tolist(), [0x3F80, 0x3F82, 0xFF7F, 0x7FC0, 0xFFC1, 0x0001])

    def test_order(self):
        values = decode(self.stream(3, [0, -1, 1.4, -2.6, 32767.6, -np.inf, np.nan], conversion=1)).view("<u2")
        self.assertEqual(values.tolist(), [0, 0x8000, 1, 0x8002, 0x7FFF, 0xFFFF, 0x7E00])

    def test_headers_and_records(self):
        self.refuse("value type 9", 9, [1.0])
        self.refuse("conversion 3 is unknown", 3, [1.0], conversion=3)
        self.refuse("no conversion 1", 5, [1.0], conversion=1)
        self.refuse("no conversion 2", 6, [1.0], conversion=2, offset=1)
        self.refuse("there are 0", 5, [1.0], records=b"")
        self.refuse("16 bytes", 7, [1.0], offset=5)
        self.refuse("8 bytes", 7, [1.0], conversion=2)
        self.refuse("offset is too large", 7, [1.0], conversion=2, offset=(1 << 32) + 1)
        self.refuse("coded as they are", 1, [1.0])
        bad = pad(b"CONV" + struct.pack("<Id", 8, -1.0))
        self.refuse("sign bit", 5, [1.0], records=bad)
        self.refuse("there are 2", 5, [1.0], records=pad(b"CONV" + struct.pack("<Id", 8, 1.0)) * 2)


class Logarithm(unittest.TestCase):
    """Section 25, by powers that are known, and by NumPy's own."""

    def test_powers_of_two(self):
        for dtype, least, most in ((np.float32, -126, 127), (np.float64, -1022, 1023)):
            y = np.array([0, 1, -1, 10, least, most, least - 5, most + 1, 1e9, -1e9], dtype=dtype)
            tiny, largest = np.finfo(dtype).tiny, np.finfo(dtype).max
            wanted = [1, 2, 0.5, 1024, tiny, 2.0**most, tiny, largest, largest, tiny]
            self.assertEqual(logarithm.magnitudes(y).tolist(), wanted)

    def test_other_powers(self):
        y = np.random.default_rng(1).uniform(-100, 100, 10_000)
        self.assertTrue(np.allclose(logarithm.magnitudes(y), np.exp2(y), rtol=1e-15, atol=0))
        y = y.astype(np.float32)
        exact = np.exp2(y.astype(np.float64))
        self.assertTrue(np.allclose(logarithm.magnitudes(y), exact, rtol=2.4e-7, atol=0))

    def test_values_without_a_logarithm(self):
        y = np.array([0x7FC00001, 0xFF800000, 0x7F000007, 0x7F000000, 0xFF000001], dtype="<u4")
        elements = logarithm.magnitudes(y.view("<f4")).view("<u4").tolist()
        self.assertEqual(elements, [0x7FC00001, 0xFF800000, 7, 0, 1])


LIFTS = (-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971)


def lift(line, back=False):
    """Section 35, lifting, value by value: the coefficients of a line, or with `back` the values of coefficients."""
    T, m = line.dtype.type, len(line)
    even, odd = T(1.149604398860241), T(1 / 1.149604398860241)
    values = [None] * m
    if back:
        values[0::2] = [c * odd for c in line[: -(-m // 2)]]
        values[1::2] = [c * even for c in line[-(-m // 2) :]]
    else:
        values = list(line)
    for step in range(4)[:: -1 if back else 1]:
        for i in range(1 - step % 2, m, 2):
            behind = values[i - 1] if i > 0 else values[1]
            ahead = values[i + 1] if i + 1 < m else values[m - 2]
            values[i] = values[i] + T(-LIFTS[step] if back else LIFTS[step]) * (behind + ahead)
    if not back:
        values = [c * even for c in values[0::2]] + [c * odd for c in values[1::2]]
    return np.array(values, dtype=line.dtype)


def wave_levels(n):
    count = 0
    while n >= 8:
        count, n = count + 1, -(-n // 2)
    return count


def wave_transform(box, by_turns, back=False):
    """Section 35, transform of a box: a list of axes, lengths along it, and extents across it, taken in order."""
    z, y, x = box.shape
    to = lambda n, m: -(-n // 2 ** min(m, wave_levels(n)))
    steps = [(0, (to(z, level), y, x)) for level in range(wave_levels(z))]
    if by_turns:
        turns = itertools.product(range(10), enumerate(box.shape))
        steps = [(axis, (to(z, m), to(y, m), to(x, m))) for m, (axis, n) in turns if m < wave_levels(n)]
    for m in range(0) if by_turns else range(max(wave_levels(y), wave_levels(x))):
        for axis, n in ((1, y), (2, x)):
            if m < wave_levels(n):
                steps.append((axis, (z, to(y, m), to(x, m))))
    result = box.copy()
    for axis, extents in steps[:: -1 if back else 1]:
        here = tuple(slice(0, e) for e in extents)
        result[here] = np.apply_along_axis(lift, axis, result[here], back)
    return result


def wave_order(box, by_turns):
    """Section 35, parts, bands and order, position by position: the positions of a box in the order of coefficients."""
    to = lambda n, l: -(-n // 2 ** min(l, wave_levels(n)))
    block = (8, 8, 8) if box[0] > 1 else (1, 16, 32) if box[1] > 1 else (1, 1, 512)
    keys, first = {}, {}
    for z, y, x in np.ndindex(*box):
        # A position is of the first level whose next one does not have it.
        of_z = next((l for l in range(wave_levels(box[0])) if z >= to(box[0], l + 1)), 99)
        most = max(wave_levels(box[1]), wave_levels(box[2]))
        of_plane = next((m for m in range(most) if y >= to(box[1], m + 1) or x >= to(box[2], m + 1)), 99)
        part = 0
        if of_plane != 99:
            part = (y >= to(box[1], of_plane + 1)) + 2 * (x >= to(box[2], of_plane + 1))  # a, b, c are 1, 2, 3
        band = -min(of_z, of_plane), -of_z, -of_plane, part
        if by_turns:
            # The first level that makes the position odd along an axis, and the axes.
            odd = lambda l: [c >= to(n, l + 1) for c, n in zip((z, y, x), box)]
            level = next((l for l in range(max(map(wave_levels, box))) if any(odd(l))), 99)
            band = -level, 0 if level == 99 else np.dot(odd(level), (4, 1, 2))
        keys[z, y, x] = band
        first.setdefault(band, (z, y, x))  # in C order the first one is the least along all dimensions

    def key(place):
        at = tuple(c - f for c, f in zip(place, first[keys[place]]))
        return keys[place], tuple(a // b for a, b in zip(at, block)), at

    return sorted(keys, key=key)


def wave_record(*numbers):
    contents = struct.pack(f"<{len(numbers)}d", *numbers)
    return pad(b"WAVE" + struct.pack("<I", len(contents)) + contents)


def with_sections(stream, sections):
    """Section 29: the stream with sections, which a reader must understand, behind its payload."""
    behind = b""
    for kind, contents in sections:
        head = kind + struct.pack("<IQQ", 0, len(contents), checksum(pad(contents), identity_of(stream)))
        behind += head + struct.pack("<Q", checksum(head, identity_of(stream))) + pad(contents)
    (payload,) = struct.unpack_from("<Q", stream, 136)
    return with_header_field(stream, 136, struct.pack("<Q", payload + len(behind) + 3)) + behind


class Wavelets(unittest.TestCase):
    """Sections 17 (without prediction), 30 and 35."""

    def coded(self, z, values, extents, records=b"", mask=(), **more):
        """A stream of these codes and values, which are lines: the values count where a code is raw."""
        z, values = (array.reshape(1, 1, -1).copy() for array in (z, values))
        shares, chunks = encode_fields([(z, values, grid.TileGrid(z.shape, grid.LINE, None))], 16)
        prologue = struct.pack("<I", len(shares) // 4) + shares
        return make_stream(
            values.dtype, (22, 16), extents, 0.25, [*chunks, *mask], prologue=prologue, records=records, **more
        )

    def random(self, dtype, extents):
        """Codes, and the values of all positions, as lines."""
        rng = np.random.default_rng(12)
        z = random_codes(rng, (1, 1, grid.product(extents))).ravel()
        stored = rng.normal(size=z.size).astype(dtype) * dtype.type(100)
        return z, np.where(z == 65535, stored, self.of_codes(z, dtype))

    def of_codes(self, z, dtype):
        """The values of codes whose error is 0.25."""
        return np.array([quantisation_code(int(code)) for code in z]).astype(dtype) * dtype.type(0.5)

    def test_direct(self):
        for dtype, extents in ((F32, (17000,)), (F64, (3, 5, 7))):
            z, values = self.random(dtype, extents)
            found = decode(self.coded(z, values, extents))
            self.assertEqual((found.shape, found.tobytes()), (extents, values.tobytes()))
        zeros, prologue = [(0, b"")], bytes(4)
        for shape in (1, 2):
            with self.assertRaisesRegex(ValueError, "direct has lines only"):
                decode(make_stream(F32, (22, 16), (3, 5, 7), 0.5, zeros, shape=shape, prologue=prologue))
        for coder in (1, 17, 18):
            with self.assertRaisesRegex(ValueError, "no codec"):
                decode(make_stream(F32, (22, coder), (9,), 0.5, zeros, prologue=prologue))
        with self.assertRaisesRegex(ValueError, "1 levels apart"):
            decode(make_stream(F32, (22, 16), (9,), 0.5, zeros, prologue=prologue, apart=1))

    def test_lifting(self):
        rng = np.random.default_rng(13)
        for dtype, m in itertools.product((F32, F64), (8, 9, 10, 13, 40, 41)):
            values = rng.normal(size=(m, 3)).astype(dtype)
            coefficients = np.apply_along_axis(lift, 0, values)
            found = coefficients.copy()
            wavelet.unlift(found, 0)
            self.assertEqual(found.dtype, dtype)
            np.testing.assert_allclose(found, values, atol=20 * np.finfo(dtype).eps)
            self.assertEqual(found.tobytes(), np.apply_along_axis(lift, 0, coefficients, True).tobytes())
        # A straight line has no details but at its ends.
        coefficients = lift(np.arange(40.0))
        self.assertLess(np.abs(coefficients[22:38]).max(), 1e-12)

    def test_levels(self):
        self.assertEqual([wavelet.levels(n) for n in (1, 7, 8, 9, 14, 15, 16, 64, 320)], [0, 0, 1, 1, 1, 2, 2, 4, 6])
        self.assertEqual([wavelet.extent(33, level) for level in range(6)], [33, 17, 9, 5, 5, 5])

    def test_boxes(self):
        lengths = lambda n, edge: [part.stop - part.start for part in wavelet.cut(n, edge)]
        self.assertEqual(lengths(320, 320), [320])
        self.assertEqual(lengths(321, 320), [161, 160])
        self.assertEqual(lengths(962, 320), [241, 241, 240, 240])
        self.assertEqual([wavelet.dimensions(e) for e in ((), (1, 9), (5, 1, 9), (2, 3, 1, 5, 7))],
                         [(1, 1, 1), (1, 1, 9), (1, 5, 9), (6, 5, 7)])
        for field, count in (((2, 400, 700), 6), ((1, 400, 8193), 3), ((1, 1, 5_000_000), 2)):
            found = list(wavelet.boxes(field))
            self.assertEqual(len(found), count)
            self.assertEqual([box[0] for box in found], [slice(0, field[0])] * count)
            self.assertEqual(found, sorted(found, key=lambda box: [part.start for part in box]))
            self.assertEqual([part.stop for part in found[-1]], list(field))

    def test_order(self):
        for box in ((1, 1, 1), (1, 1, 1700), (1, 40, 77), (1, 5, 130), (9, 20, 33), (20, 3, 40), (2, 2, 2), (33, 30, 7),
                    (16, 8, 64)):
            for by_turns in (False, True):
                with self.subTest(box=box, by_turns=by_turns):
                    numbers = wavelet.in_space(np.arange(grid.product(box)), box, by_turns)
                    found = np.stack(np.unravel_index(np.argsort(numbers.ravel()), box), axis=1)
                    self.assertEqual(list(map(tuple, found.tolist())), wave_order(box, by_turns))

    def test_bands(self):
        """Along z and in planes: the bands of a box take all positions once, the coarsest first."""
        for box in ((1, 1, 7), (1, 70, 9), (16, 16, 16), (5, 100, 31), (70, 8, 6)):
            for by_turns in (False, True):
                taken = np.zeros(box, dtype=int)
                for band in wavelet.bands(box, by_turns):
                    self.assertGreater(taken[band].size, 0)
                    taken[band] += 1
                self.assertTrue((taken == 1).all())
        # L is 2 along z and 1 in planes: level 1 along z with the rest of planes is coarser than all with level 0.
        begins = lambda by_turns: [tuple(part.start for part in band) for band in wavelet.bands((16, 8, 7), by_turns)]
        self.assertEqual(begins(False), [(0, 0, 0), (4, 0, 0), (0, 4, 0), (4, 4, 0), (8, 0, 0), (8, 4, 0)])
        self.assertEqual(begins(True), [(0, 0, 0), (4, 0, 0), (0, 4, 0), (8, 0, 0), (8, 4, 0)])

    def test_fields(self):
        """Streams: the elements are those of the values that the same stream has without the record."""
        for dtype, extents in ((F32, (300,)), (F64, (7,)), (F32, (45, 38)), (F64, (9, 1, 70)), (F32, (12, 20, 1, 19)),
                               (F64, (2, 9, 15, 10)), (F32, (6, 5, 4))):
            for by_turns in (False, True):
                z, values = self.random(dtype, extents)
                box = wavelet.dimensions(extents)
                coefficients = np.empty(box, dtype=dtype)
                for place, value in zip(wave_order(box, by_turns), values):
                    coefficients[place] = value
                found = decode(self.coded(z, values, extents, wave_record(-0.5 if by_turns else 0.5)))
                self.assertEqual((found.dtype, found.shape), (dtype, extents))
                self.assertEqual(found.tobytes(), wave_transform(coefficients, by_turns, back=True).tobytes())
                again = wave_transform(found.reshape(box), by_turns)
                atol = 1e3 * np.finfo(dtype).eps * np.abs(values).max()
                np.testing.assert_allclose(again, coefficients, rtol=0, atol=atol)

    def test_boxes_of_a_field(self):
        """Each box has its own coefficients, in the order of boxes."""
        extents = (2, 330, 3)
        z, values = self.random(F64, extents)
        found = decode(self.coded(z, values, extents, wave_record(0.5)))
        for at, begin in enumerate((0, 165)):
            of_box = values[990 * at : 990 * (at + 1)]
            wanted = wavelet.elements(of_box, (2, 165, 3), False)
            self.assertEqual(found[:, begin : begin + 165].tobytes(), wanted.tobytes())

    def test_order_of_axes(self):
        """The dimensions are those of the coded field."""
        extents = (20, 9, 10)
        z, values = self.random(F32, extents)
        axes = pad(b"AXES" + struct.pack("<I", 3) + b"\2\0\1")
        found = decode(self.coded(z, values, extents, wave_record(0.5) + axes))
        np.testing.assert_array_equal(found, wavelet.elements(values, extents, False).transpose(1, 2, 0))

    def test_logarithms_and_masks(self):
        """Elements come first: then powers of two, then the mask."""
        extents = (40,)
        z = np.arange(40) % 5
        values = self.of_codes(z, F64)
        records = mask_record((9,), F64) + wave_record(0.5)
        mask = [mask_chunk([("raw", struct.pack("<2I", 0b10, 0))])]
        stream = self.coded(z, values, extents, records, mask, classes=1)
        wanted = wavelet.elements(values, extents, False).ravel()
        wanted[1] = 9
        self.assertEqual(decode(stream).tobytes(), wanted.tobytes())
        # The mode of the bound changes the identity, and so the seeds of all chunks.
        stream = self.with_identity_of(with_header_field(stream, 13, bytes([container.PWREL])), stream)
        wanted = logarithm.magnitudes(wavelet.elements(values, extents, False).ravel())
        wanted[1] = 9
        self.assertEqual(decode(stream).tobytes(), wanted.tobytes())

    def with_identity_of(self, stream, old):
        """The stream, whose chunks have the checksums of an old header, with those of its own one."""
        header, result = read_header(stream), bytearray(stream)
        for number in range(header.entries):
            at = 160 + header.record_bytes + 16 * number
            low, checked = struct.unpack_from("<QQ", stream, at)
            before, after = (chunk_seed(identity_of(one), number, low & 15) for one in (old, stream))
            struct.pack_into("<Q", result, at + 8, (checked - before + after) % 2**64)
        return bytes(result)

    def test_corrections(self):
        """Section 30: steps of the record's error, without the record SAFE; then exact values."""
        extents = (30,)
        z = np.arange(30) % 7
        values = self.of_codes(z, F32)
        stream = self.coded(z, values, extents, wave_record(0.3))
        own = decode(stream)
        numbers = np.zeros(30)
        numbers[[3, 4, 5, 6]] = 1, -1, 2, -4
        conversion = pad(b"CONV" + struct.pack("<Id", 8, 0.0))

        def corrections(identity):
            outer = pad(b"CORR" + struct.pack("<IQ", 8, identity))
            return make_stream(F32, PLAIN, extents, 0, [(3, numbers.astype(F32).tobytes())], value_type=5,
                               records=outer + conversion)

        exact = struct.pack("<QQ", 1, 2) + struct.pack("<QQ", 6, 0) + struct.pack("<2f", np.inf, 77)
        wanted = own.copy()
        for at, part in ((3, 1), (4, -1), (5, 0.5), (6, -0.75)):
            wanted[at] = float(own[at]) + 0.3 * part
        mended = with_sections(stream, [(b"CORR", corrections(identity_of(stream)))])
        self.assertEqual(decode(mended).tobytes(), wanted.tobytes())
        wanted[6], wanted[7] = np.inf, 77
        mended = with_sections(stream, [(b"CORR", corrections(identity_of(stream))), (b"EXAC", exact)])
        self.assertEqual(decode(mended).tobytes(), wanted.tobytes())
        with self.assertRaisesRegex(ValueError, "of another stream"):
            decode(with_sections(stream, [(b"CORR", corrections(1))]))
        # Without the record the sections are not used.
        plain = self.coded(z, values, extents)
        mended = with_sections(plain, [(b"CORR", corrections(identity_of(plain))), (b"EXAC", exact)])
        self.assertEqual(decode(mended).tobytes(), values.tobytes())

    def test_statistics(self):
        """Section 31: those of the user's values, within the record's error."""
        z = np.arange(30) % 7
        stream = self.coded(z, self.of_codes(z, F32), (30,), wave_record(0.3))
        values = decode(stream).astype(F64)
        values[6] = 77
        exact = struct.pack("<QQ", 1, 1) + struct.pack("<QQf", 6, 0, 77)
        section = lambda off: struct.pack("<BB6xQd2f", 0, 0, 1, values.mean() + off, values.min() + off, 77 - off)
        for off, is_good in ((0, True), (0.29, True), (0.31, False)):
            made = with_sections(stream, [(b"EXAC", exact), (b"stat", section(off))])
            if is_good:
                self.assertEqual(decode(made)[6], 77)
            else:
                with self.assertRaisesRegex(ValueError, "between the ends of its group"):
                    decode(made)
        with self.assertRaisesRegex(ValueError, "mean"):
            decode(with_sections(stream, [(b"stat", section(0))]))

    def test_error_of_values(self):
        """Section 30: that of a record `CONV` goes before that of a record `WAVE`, and that before the header's."""
        z, conversion = np.zeros(9, dtype=int), pad(b"CONV" + struct.pack("<Id", 8, 3.0))
        stream = lambda records, **more: container.Stream(self.coded(z, z.astype(F32), (9,), records, **more))
        self.assertEqual(stream(b"").value_error, 0.25)
        self.assertEqual(stream(wave_record(0.3)).value_error, 0.3)
        self.assertEqual(stream(wave_record(0.0)).value_error, 0)
        self.assertEqual(stream(conversion + wave_record(0.3), value_type=5).value_error, 3)

    def test_no_elements(self):
        stream = make_stream(F32, (22, 16), (3, 0), 0.5, [], records=wave_record(0.5))
        self.assertEqual(decode(stream).shape, (3, 0))

    def test_records(self):
        z = np.zeros(9, dtype=int)
        refuse = lambda records, reason: self.assertRaisesRegex(
            ValueError, f"record WAVE: {reason}", decode, self.coded(z, z.astype(F32), (9,), records))
        for error in (0.0, -0.0):
            self.assertEqual(decode(self.coded(z, z.astype(F32), (9,), wave_record(error))).tolist(), [0] * 9)
        refuse(wave_record(), "0 bytes")
        refuse(wave_record(0.5, 0.5), "16 bytes")
        refuse(pad(b"WAVE" + struct.pack("<I", 4) + bytes(4)), "4 bytes")
        refuse(wave_record(0.5) + wave_record(0.5), "there are two")
        for error in (np.inf, -np.inf, np.nan):
            refuse(wave_record(error), "the error is not finite")
        for codec, more in ((PLAIN, {}), ((16, 18), {"prologue": bytes(4)})):
            stream = make_stream(F32, codec, (9,), 0.5, [(0, b"")], records=wave_record(0.5), **more)
            with self.assertRaisesRegex(ValueError, r"record WAVE: the codec is not direct\+rans"):
                decode(stream)


class Statistics(unittest.TestCase):
    """Section 30: a lossless stream of one chunk of blocks, whose section is made here."""

    def stream(self, column=None, step=0.0):
        """A stream of 5000 values and its elements; a step is added to a column of the section."""
        values = np.random.default_rng(3).normal(size=5000)
        lanes = [0.0] * 256
        for at, value in enumerate(values.tolist()):
            lanes[at % 256] += value
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [lanes[lane] + lanes[lane + half] for lane in range(half)]
        numbers = [lanes[0] / 5000, float(values.min()), float(values.max())]
        if column is not None:
            numbers[column] += step
        header = Namespace(
            n=5000, is_tiles=False, field=(1, 1, 5000), shape=grid.LINE, slices=1, whole=(1, 1, 5000), width=8, dtype=F64,
            value_type=2, conversion=0, update_bytes=0, classes=0, bound_mode=0, error=0.0,
        )
        section = struct.pack("<BB6xQddd", 0, 0, 1, *numbers)
        return Namespace(header=header, sections={b"stat": section}, classes=[], value_error=0.0, offset=0), values

    def test_statistics_are_those_of_the_values(self):
        statistics.check(*self.stream())

    def test_others_are_refused(self):
        for column, step in ((0, 1e-15), (0, 1.0), (1, -1e-9), (1, 1e-9), (2, -1e-9), (2, 1.0)):
            with self.assertRaises(ValueError):
                statistics.check(*self.stream(column, step))
        stream, values = self.stream()
        for contents in (b"", stream.sections[b"stat"] + b"0", b"\1" * 40):
            stream.sections[b"stat"] = contents
            with self.assertRaises((ValueError, struct.error)):
                statistics.check(stream, values)


if __name__ == "__main__":
    unittest.main()
