"""Wavelets: from the coefficients of a stream to the elements of its coded field (section 35)."""

import itertools
import struct

import numpy as np

from grid import ceil_div, product

# The factors of steps 1 to 4.
FACTORS = (-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971)
K = 1.149604398860241
J = 1 / K

SHORTEST = 8  # the positions of the shortest line that is lifted
REST = float("inf")  # counts as a level above all others


def read_record(records, is_direct):
    """The absolute error of the elements, and whether levels are by turns, by the records `WAVE`; None without them."""
    if not records:
        return None
    if len(records) > 1:
        raise ValueError("record WAVE: there are two")
    if not is_direct:
        raise ValueError("record WAVE: the codec is not direct+rans")
    if len(records[0]) != 8:
        raise ValueError(f"record WAVE: {len(records[0])} bytes")
    (error,) = struct.unpack("<d", records[0])
    if not np.isfinite(error):
        raise ValueError("record WAVE: the error is not finite")
    return abs(error), bool(np.signbit(error))


def elements(coefficients, extents, by_turns):
    """The elements of a field of these extents, in C order, as an array of its dimensions (Z, Y, X)."""
    field = dimensions(extents)
    result = np.empty(field, dtype=coefficients.dtype)
    flat, begin = coefficients.ravel(), 0
    for box in boxes(field):
        here = result[box]
        here[...] = in_space(flat[begin : begin + here.size], here.shape, by_turns)
        unlift_box(here, by_turns)
        begin += here.size
    return result


# Boxes.


def dimensions(extents):
    """Those of section 2 for cubes; 1 where there are too few."""
    counted = [1, 1] + [extent for extent in extents if extent != 1]
    return product(counted[:-2]), counted[-2], counted[-1]


def boxes(field):
    """The boxes of a field, as slices along its dimensions."""
    edge = 320 if field[0] > 1 else 4096 if field[1] > 1 else 4_194_304
    return itertools.product(*(cut(length, edge) for length in field))


def cut(length, edge):
    """The parts of a dimension."""
    count = ceil_div(length, edge)
    begin, result = 0, []
    for i in range(count):
        end = begin + length // count + (i < length % count)
        result.append(slice(begin, end))
        begin = end
    return result


# Lifting.


def levels(n):
    """L(n)."""
    return 0 if n < SHORTEST else 1 + levels(ceil_div(n, 2))


def extent(n, level):
    """The first positions of a line of n that a level lifts; those of the rest from L(n) on: y(m) and x(m)."""
    return ceil_div(n, 1 << min(level, levels(n)))


def unlift_box(box, by_turns):
    """The transform of a box (z, y, x) in reverse, in place."""
    z, y, x = box.shape
    if by_turns:
        for m in reversed(range(max(levels(z), levels(y), levels(x)))):
            here = box[: extent(z, m), : extent(y, m), : extent(x, m)]
            for axis in (2, 1, 0):
                if m < levels(box.shape[axis]):
                    unlift(here, axis)
        return
    for m in reversed(range(max(levels(y), levels(x)))):
        here = box[:, : extent(y, m), : extent(x, m)]
        if m < levels(x):
            unlift(here, 2)
        if m < levels(y):
            unlift(here, 1)
    for level in reversed(range(levels(z))):
        unlift(box[: extent(z, level)], 0)


def unlift(lines, axis):
    """All lines along an axis, in place. Arithmetic is that of their type."""
    T = lines.dtype.type
    along = np.moveaxis(lines, axis, 0)
    half = ceil_div(len(along), 2)
    s, d = along[:half] * T(J), along[half:] * T(K)
    s = s + T(-FACTORS[3]) * around_even(d, half)
    d = d + T(-FACTORS[2]) * around_odd(s, len(d))
    s = s + T(-FACTORS[1]) * around_even(d, half)
    d = d + T(-FACTORS[0]) * around_odd(s, len(d))
    along[0::2], along[1::2] = s, d


def around_even(d, count):
    """d(i - 1) + d(i), for all s(i): `count` of them."""
    behind = np.concatenate([d[:1], d])[:count]
    ahead = np.concatenate([d, d[-1:]])[:count]
    return behind + ahead


def around_odd(s, count):
    """s(i) + s(i + 1), for all d(i): `count` of them."""
    ahead = np.concatenate([s, s[-1:]])[1 : count + 1]
    return s[:count] + ahead


# Bands, and the order of coefficients.


def bands(box, by_turns):
    """The bands of a box (z, y, x) in their order, as slices along its dimensions."""
    z, y, x = box
    if by_turns:
        return [(of_z, of_y, of_x) for _, (of_y, of_x, of_z) in parts((y, x, z))]
    found = list(itertools.product(parts((z,)), parts((y, x))))
    found.sort(key=lambda pair: -min(level for level, _ in pair))  # equally coarse ones keep their order
    return [of_z + of_plane for (_, of_z), (_, of_plane) in found]


def parts(lengths):
    """The parts of axes in their order: level and positions. The axes are z, or y and x, and z behind these."""
    most = max(levels(n) for n in lengths)
    result = [(REST, tuple(slice(0, extent(n, most)) for n in lengths))]
    for m in reversed(range(most)):
        for number in range(1, 1 << len(lengths)):
            odd = [number >> i & 1 for i in range(len(lengths))]
            if any(is_odd and m >= levels(n) for is_odd, n in zip(odd, lengths)):
                continue
            ends = [(extent(n, m + 1), extent(n, m)) if is_odd else (0, extent(n, m + 1))
                    for is_odd, n in zip(odd, lengths)]
            result.append((m, tuple(slice(*pair) for pair in ends)))
    return result


def in_space(coefficients, box, by_turns):
    """The coefficients of a box at their positions."""
    z, y, _ = box
    block = (8, 8, 8) if z > 1 else (1, 16, 32) if y > 1 else (1, 1, 512)
    result, begin = np.empty(box, dtype=coefficients.dtype), 0
    for band in bands(box, by_turns):
        there = result[band]
        places = places_by_block(there.shape, block)
        of_band = np.empty(there.size, dtype=coefficients.dtype)
        of_band[places] = coefficients[begin : begin + there.size]
        there[...] = of_band.reshape(there.shape)
        begin += there.size
    return result


def places_by_block(band, block):
    """The places of a band, numbered in C order, in the order of its blocks."""
    counts = [ceil_div(length, edge) for length, edge in zip(band, block)]
    whole = np.full([count * edge for count, edge in zip(counts, block)], -1, dtype=np.int64)
    whole[tuple(slice(0, length) for length in band)] = np.arange(product(band)).reshape(band)
    (cz, cy, cx), (bz, by, bx) = counts, block
    in_order = whole.reshape(cz, bz, cy, by, cx, bx).transpose(0, 2, 4, 1, 3, 5).ravel()
    return in_order[in_order >= 0]
