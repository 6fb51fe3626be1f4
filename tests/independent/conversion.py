"""Conversion of decoded elements to values (section 24)."""

import struct

import numpy as np

WIDENED, ORDERED, SHIFTED = 0, 1, 2

F16, BF16, I16, U16, I32, U32 = 3, 4, 5, 6, 7, 8

# The types of values: bytes of an element, and the type of the decoded array. bfloat16 has no type in NumPy: its values
# are their bits.
ELEMENT_BYTES = {1: 4, 2: 8, F16: 4, BF16: 4, I16: 4, U16: 4, I32: 8, U32: 8}
INTEGERS = {I16: "<i2", U16: "<u2", I32: "<i4", U32: "<u4"}
# Bits of the significand, and of infinity.
HALVES = {F16: (10, 0x7C00), BF16: (7, 0x7F80)}


def check_kind(kind, value_type):
    if kind not in (WIDENED, ORDERED, SHIFTED):
        raise ValueError(f"conversion {kind} is unknown")
    if kind == ORDERED and value_type not in HALVES or kind == SHIFTED and value_type not in (I32, U32):
        raise ValueError(f"value type {value_type} has no conversion {kind}")


def read_record(records, value_type, kind):
    """The offset of a conversion, by the records `CONV`."""
    if value_type <= 2:
        if records:
            raise ValueError("record CONV: the values are coded as they are")
        return 0
    if len(records) != 1:
        raise ValueError(f"record CONV: there are {len(records)}, not one")
    if len(records[0]) != (16 if kind == SHIFTED else 8):
        raise ValueError(f"record CONV: {len(records[0])} bytes")
    (error,) = struct.unpack_from("<d", records[0], 0)
    if not np.isfinite(error) or np.signbit(error):
        raise ValueError("record CONV: the error is not finite or has its sign bit set")
    offset = struct.unpack_from("<q", records[0], 8)[0] if kind == SHIFTED else 0
    if abs(offset) > 1 << 32:
        raise ValueError("record CONV: the offset is too large")
    return offset


def to_values(elements, value_type, kind, offset):
    if value_type <= 2:
        return elements
    if value_type in INTEGERS:
        return integers(elements, np.dtype(INTEGERS[value_type]), offset)
    bits = by_order(elements, value_type) if kind == ORDERED else halves(elements, value_type)
    return bits.view("<f2") if value_type == F16 else bits


def integers(elements, dtype, offset):
    limits = np.iinfo(dtype)
    numbers = np.clip(np.nan_to_num(elements.astype("<f8"), nan=0.0, posinf=2.0**40, neginf=-(2.0**40)), -(2.0**40), 2.0**40)
    whole = np.rint(numbers).astype(np.int64) + offset
    values = np.clip(whole, limits.min, limits.max)
    return np.where(np.isnan(elements), 0, values).astype(dtype)


def by_order(elements, value_type):
    significand, infinity = HALVES[value_type]
    numbers = np.clip(np.nan_to_num(elements.astype("<f8"), nan=0.0, posinf=32767.0, neginf=-32768.0), -32768.0, 32767.0)
    order = np.rint(numbers).astype(np.int64)
    bits = np.where(order < 0, 0x8000 + (-1 - order), order)
    return np.where(np.isnan(elements), infinity | 1 << (significand - 1), bits).astype("<u2")


def halves(elements, value_type):
    """The bits of the nearest values, by search among all of them."""
    significand, infinity = HALVES[value_type]
    all_bits = np.arange(infinity, dtype=np.int64)
    numbers = number_of(all_bits, significand, infinity)
    raw = elements.view("<u4").astype(np.int64)
    sign = raw >> 31 << 15
    magnitude = np.abs(elements.astype("<f8"))
    above = np.clip(np.searchsorted(numbers, magnitude), 1, infinity - 1)
    # Differences and halves of these numbers are exact.
    middle = (numbers[above - 1] + numbers[above]) / 2
    is_up = (magnitude > middle) | (magnitude == middle) & (above % 2 == 0)
    bits = np.where(is_up, above, above - 1)
    payload = (raw & 0x7FFFFF) >> (23 - significand)
    payload = np.where(payload == 0, 1 << (significand - 1), payload)
    bits = np.where(np.isinf(elements), infinity, bits)
    bits = np.where(np.isnan(elements), infinity | payload, bits)
    return (sign | bits).astype("<u2")


def number_of(bits, significand, infinity):
    exponent = bits >> significand
    fraction = (bits & (1 << significand) - 1).astype("<f8")
    bias = (infinity >> significand) // 2
    whole = np.where(exponent == 0, 0.0, 2.0**significand)
    return np.ldexp(whole + fraction, np.maximum(exponent, 1) - bias - significand)
