"""Section 31: the statistics of a field, compared with its decoded values."""

import struct

import numpy as np

import conversion
import grid
import safeguards
from container import PWREL


def numbers_of(elements, stream):
    """The user's values of elements, as binary64."""
    header = stream.header
    with np.errstate(all="ignore"):
        values = conversion.to_values(elements, header.value_type, header.conversion, stream.offset)
    return safeguards.number_of(values, header.value_type)


def fill_values(stream):
    """The fill values, as numbers: those of the classes, but for kept zeros, the neighbours of fill values, and NaN where
    values are integers."""
    header = stream.header
    bits = stream.classes[: header.classes]
    zeros = {0, 1 << 8 * header.width - 1}
    if zeros <= set(bits):
        bits = [one for one in bits if one not in zeros]
    elements = np.array(bits, dtype=f"<u{header.width}").view(header.dtype)
    if header.value_type in conversion.INTEGERS:
        elements = elements[~np.isnan(elements)]
    numbers = numbers_of(elements, stream)
    return [
        number
        for at, number in enumerate(numbers)
        if not any(is_next(number, other, header.value_type) for other in numbers[:at])
    ]


def is_next(number, other, value_type):
    """Whether a number is the next one of the type to another."""
    if np.isnan(number) or np.isnan(other):
        return False
    if value_type in conversion.INTEGERS:
        return abs(number - other) == 1
    if value_type == conversion.BF16:
        bits = [int(np.float32(one).view("<u4")) >> 16 for one in (number, other)]
        places = [-(one & 0x7FFF) if one >> 15 else one for one in bits]
        return abs(places[0] - places[1]) == 1
    dtype = {1: "<f4", 2: "<f8", conversion.F16: "<f2"}[value_type]
    other = np.array(other).astype(dtype)[()]
    return number in (np.nextafter(other, other.dtype.type(end)) for end in (np.inf, -np.inf))


def units_of_chunks(header):
    """For each chunk of the field, the boxes of its units."""
    if not header.is_tiles:
        blocks = grid.BlockGrid(header.field, header.shape, header.slices)
        return [[blocks.box(number)] for number in range(blocks.chunk_count)]
    tiles = grid.TileGrid(header.field, header.shape, None, header.slices, header.tiles)
    return [[tiles.box(tile) for tile in tiles.tiles_of_chunk(chunk)] for chunk in range(tiles.chunk_count)]


def sum_of_unit(values):
    """The sum in the order of the text; NaN is missing."""
    padded = np.zeros(grid.ceil_div(values.size, 256) * 256)
    padded[: values.size] = np.where(np.isnan(values), 0, values)
    lanes = np.zeros(256)
    for row in padded.reshape(-1, 256):
        lanes = lanes + row
    while lanes.size > 1:
        lanes = lanes[: lanes.size // 2] + lanes[lanes.size // 2 :]
    return lanes[0]


def read(contents, header, chunks):
    """The chunks of a group; means, counts or None, minima and maxima."""
    log, has_counts, zeros, groups = struct.unpack_from("<BB6sQ", contents)
    if log > 63 or has_counts > 1 or any(zeros) or groups != grid.ceil_div(chunks, 1 << log):
        raise ValueError("the statistics do not belong to the stream")
    if len(contents) != 16 + groups * (8 + 8 * has_counts + 2 * header.width):
        raise ValueError("the statistics have another length")
    at, columns = 16, []
    for dtype in ["<f8"] + ["<u8"] * has_counts + [header.dtype] * 2:
        columns.append(np.frombuffer(contents, dtype=dtype, count=groups, offset=at))
        at += columns[-1].nbytes
    means, *counts, minima, maxima = columns
    return 1 << log, means, counts[0] if counts else None, minima, maxima


def check(stream, values):
    """Compares the statistics with the user's values, which have the order of the coded field. Those of a lossless stream
    are the same numbers, the means in every bit."""
    header = stream.header
    chunks = units_of_chunks(header) if header.n else []
    of_group, means, counts, minima, maxima = read(stream.sections[b"stat"], header, len(chunks))
    if header.update_bytes:
        return
    numbers = safeguards.number_of(values, header.value_type).reshape(header.whole)
    for fill in fill_values(stream):
        numbers[numbers.view("<u8") == np.float64(fill).view("<u8")] = np.nan
    for group in range(len(means)):
        check_group(
            stream,
            [[numbers[box.slices].ravel() for box in chunk] for chunk in chunks[of_group * group :][:of_group]],
            (means[group], None if counts is None else counts[group], minima[group], maxima[group]),
        )


def check_group(stream, chunks, stored):
    mean, count, smallest, largest = stored
    values = np.concatenate([unit for chunk in chunks for unit in chunk])
    found = values[~np.isnan(values)]
    if found.size != (values.size if count is None else count):
        raise ValueError("the statistics have another number of values")
    if not found.size:
        return
    relative, off = bound(stream)
    lowest, highest = np.float64(smallest), np.float64(largest)
    off = off if not relative else off * max(abs(lowest), abs(highest))
    if found.min() < lowest - off * (1 + 1e-9) or found.max() > highest + off * (1 + 1e-9):
        raise ValueError("a decoded value is not between the ends of its group")
    with np.errstate(all="ignore"):
        total = sum_in_order(sum_in_order(sum_of_unit(unit) for unit in chunk) for chunk in chunks)
    if off == 0:
        exact = (found.min(), found.max(), total / found.size)
        if any(a != b and not (np.isnan(a) and np.isnan(b)) for a, b in zip(exact, (lowest, highest, mean))):
            raise ValueError("the statistics are not those of the values")
    elif np.isfinite(mean) and abs(total / found.size - mean) > off * (1 + 1e-9):
        raise ValueError("the mean of a group is too far from that of its decoded values")


def sum_in_order(numbers):
    first, *others = numbers
    for number in others:
        first = first + number
    return first


def bound(stream):
    """Whether the bound is relative to each value, and the bound of values."""
    header = stream.header
    if header.bound_mode == PWREL and header.error != 0:
        return True, header.bound
    return False, stream.value_error
