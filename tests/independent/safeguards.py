"""Safeguards, and streams with wavelets (section 30): from decoded values to the values of a stream."""

import struct
from dataclasses import dataclass

import numpy as np

import conversion

SIDE, LIMITS, LOG, EXP, SQUARE, ORDER, BOUNDS, EXEMPT = range(1, 9)
MOST = {SIDE: 8, EXEMPT: 15}


@dataclass
class Safeguards:
    """The limits, the bits of the exempt values, and the step: an error, and whether it is relative."""

    limits: tuple
    exempt: list


def read_record(records):
    """The safeguards of the records `SAFE`; none if there are none."""
    if not records:
        return None
    if len(records) > 1:
        raise ValueError("record SAFE: there are two")
    contents = records[0]
    if len(contents) % 24:
        raise ValueError("record SAFE: an item is cut off")
    limits, exempt, counts = (-np.inf, np.inf), [], {}
    for at in range(0, len(contents), 24):
        kind, bits, _ = struct.unpack_from("<3Q", contents, at)
        p, q = struct.unpack_from("<2d", contents, at + 8)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] > MOST.get(kind, 1) or not SIDE <= kind <= EXEMPT:
            raise ValueError(f"record SAFE: item of kind {kind}")
        if kind != LIMITS and struct.unpack_from("<Q", contents, at + 16) != (0,):
            raise ValueError("record SAFE: a second number that has no meaning")
        is_bound = np.isfinite(p) and p >= 0
        is_possible = {
            SIDE: np.isfinite(p), LIMITS: p <= q, LOG: is_bound, EXP: is_bound, SQUARE: is_bound,
            ORDER: p in range(8), BOUNDS: bits == 0, EXEMPT: True,
        }
        if not is_possible[kind]:
            raise ValueError(f"record SAFE: an impossible number of kind {kind}")
        if kind == LIMITS:
            limits = (p, q)
        if kind == EXEMPT:
            exempt.append(bits)
    if not any(kind != EXEMPT for kind in counts):
        raise ValueError("record SAFE: no safeguard")
    return Safeguards(limits, exempt)


def mend(stream, decoded, error, is_relative, decode):
    """The values of a stream, given what was decoded of it, the error of values, and a decoder of the corrections."""
    own = stream.safeguards or Safeguards((-np.inf, np.inf), [])
    value_type = stream.header.value_type
    numbers = number_of(decoded, value_type)
    bits = bits_of(decoded)
    is_free = ~np.isfinite(numbers) | np.isin(bits, np.array(own.exempt, dtype=np.uint64))
    limited = np.clip(numbers, *own.limits) if numbers.size else numbers
    values = np.where(limited != numbers, rounded(limited, value_type), decoded)
    corrections = np.zeros(numbers.shape, dtype=np.int64)
    if b"CORR" in stream.sections:
        corrections = decode(stream.sections[b"CORR"], stream.header.identity).astype(np.int64)
        if corrections.shape != numbers.shape:
            raise ValueError("section CORR has other extents")
    limited = number_of(values, value_type)
    step = error * np.abs(limited) if is_relative else error
    distance = step * fraction(np.abs(corrections))
    mended = np.where(corrections < 0, limited - distance, limited + distance)
    values = np.where(corrections != 0, rounded(mended, value_type), values)
    values = np.where(is_free, decoded, values).astype(decoded.dtype)
    if b"EXAC" in stream.sections:
        values = replace(values, stream.sections[b"EXAC"])
    return values


def number_of(values, value_type):
    if value_type == conversion.BF16:
        return (values.astype("<u4") << 16).view("<f4").astype("<f8")
    return values.astype("<f8")


def bits_of(values):
    whole = np.ascontiguousarray(values)
    unsigned = {2: "<u2", 4: "<u4", 8: "<u8"}[whole.dtype.itemsize]
    return whole.view(unsigned).astype(np.uint64).reshape(values.shape)


def rounded(numbers, value_type):
    elements = numbers.astype(f"<f{conversion.ELEMENT_BYTES[value_type]}")
    return conversion.to_values(elements, value_type, conversion.WIDENED, 0)


def fraction(magnitude):
    above = np.maximum(magnitude - 1, 1)
    level = np.floor(np.log2(above + 0.5)).astype(np.int64)
    parts = 2 * (above - (1 << level)) + 1
    return np.where(magnitude > 1, parts / (2 << level), 1.0)


def replace(values, contents):
    width = values.dtype.itemsize
    if len(contents) < 16:
        raise ValueError("section EXAC is cut off")
    runs, count = struct.unpack_from("<QQ", contents)
    if len(contents) != 16 + 16 * runs + width * count:
        raise ValueError("section EXAC has another length")
    starts = np.frombuffer(contents, "<u8", 2 * runs, 16).reshape(runs, 2)
    exact = np.frombuffer(contents, values.dtype, count, 16 + 16 * runs)
    flat, end = values.reshape(-1).copy(), 0
    for at, (place, number) in enumerate(starts.astype(object)):
        after = starts[at + 1][1] if at + 1 < runs else count
        length = int(after) - number
        if length <= 0 or place < end or place + length > flat.size or at == 0 and number:
            raise ValueError("section EXAC has impossible runs")
        flat[place : place + length] = exact[number : number + length]
        end = place + length
    return flat.reshape(values.shape)
