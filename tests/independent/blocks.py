"""Codecs of blocks: sections 2 to 6."""

import numpy as np

from container import CODED, CONSTANT, EXCEPTIONS, RAW, ZERO, ceil_to
from grid import BlockGrid, product


def values_of_codes(codes, step):
    """Section 5: T(k) * step, both rounded to nearest even."""
    return codes.astype(step.dtype) * step


def decode_field(stream):
    header = stream.header
    blocks = BlockGrid(header.field, header.shape, header.slices)
    field = np.empty(header.whole, dtype=header.dtype)
    for number in range(blocks.chunk_count):
        box = blocks.box(number)
        form, data = stream.chunk(number)
        try:
            field[box.slices] = decode_chunk(header, blocks, box, form, data)
        except ValueError as reason:
            raise ValueError(f"chunk {number}: {reason}") from None
    return field


def decode_chunk(header, blocks, box, form, data):
    """The elements of a chunk, an array of the box's extents (section 3)."""
    m, w = box.size, header.width
    raw_length = ceil_to(16, m * w)
    if len(data) > raw_length:
        raise ValueError("longer than its raw form")
    if form == ZERO:
        check_length(data, 0)
        return np.zeros(box.extents, dtype=header.dtype)
    if form == RAW:
        check_length(data, m * w)
        return np.frombuffer(data, dtype=header.dtype, count=m).reshape(box.extents)
    if form == CONSTANT:
        check_length(data, w)
        return np.repeat(np.frombuffer(data, dtype=header.dtype, count=1), m).reshape(box.extents)
    if form in (CODED, EXCEPTIONS):
        return decode_coded(header, blocks, box, form, data)
    raise ValueError(f"form {form} is unknown")


def check_length(data, contents):
    if len(data) != ceil_to(16, contents):
        raise ValueError(f"{len(data)} bytes, but the contents need {ceil_to(16, contents)}")


def take(data, at, length):
    """`length` bytes from `at` on, and where they end."""
    if at + length > len(data):
        raise ValueError("the contents end behind the chunk")
    return data[at : at + length], at + length


def decode_coded(header, blocks, box, form, data):
    """Sections 4 and 5."""
    counts = blocks.block_counts(box)
    block_count = product(counts)  # B
    places = product(blocks.block)
    rates, at = take(data, 0, ceil_to(4, block_count))
    initial = 0
    if header.codec == "layered":
        word, at = take(data, at, 4)
        initial = int.from_bytes(word, "little")
    bodies_at = at
    differences = np.zeros((block_count, places), dtype=np.uint32)
    for i in range(block_count):
        if rates[i]:
            at = decode_body(header.codec, rates[i], data, at, differences[i])
    at = bodies_at + ceil_to(4, at - bodies_at)

    codes = codes_of_differences(header.codec, differences, initial, blocks.block)
    step = header.dtype.type(2) * header.error
    values = values_of_codes(codes.view(np.int32), step)  # by block and place
    if form == EXCEPTIONS:
        held = places_held(blocks, box, counts)
        at = put_exceptions(data, at, values, held)
    check_length(data, at)
    whole = unblock(values, counts, blocks.block)
    return whole[tuple(slice(0, e) for e in box.extents)]


def decode_body(codec, rate, data, at, differences):
    """Reads the body of one block; returns where it ends. `differences` are modulo 2^32."""
    row = len(differences) // 8  # S
    outlier_bytes = 0
    if 1 <= rate <= (32 if codec == "lorenzo" else 31):
        r = rate
    elif rate >= 128 and codec in ("outlier", "lorenzo"):
        outlier_bytes = (rate - 128) // 32 + 1
        r = rate % 32
    else:
        raise ValueError(f"rate byte {rate} is invalid")
    first, at = take(data, at, outlier_bytes)
    body, at = take(data, at, row * (1 + r))
    # Difference e is bit 7 - e mod 8 of byte e div 8, the order of unpackbits.
    bits = np.unpackbits(np.frombuffer(body, dtype=np.uint8)).reshape(1 + r, -1).astype(np.uint32)
    magnitude = np.zeros(len(differences), dtype=np.uint32)
    for p in range(r):
        magnitude |= bits[1 + p] << np.uint32(p)
    if outlier_bytes:
        magnitude[0] = int.from_bytes(first, "little")
    differences[:] = np.where(bits[0] == 1, np.uint32(0) - magnitude, magnitude)
    return at


def codes_of_differences(codec, differences, initial, block):
    """The codes, modulo 2^32, by block and place (section 5)."""
    if codec == "fixed":
        return differences
    if codec == "layered":
        through = np.cumsum(differences.reshape(-1), dtype=np.uint32) + np.uint32(initial)
        return through.reshape(differences.shape)
    d = differences.reshape((-1,) + block)
    if codec == "lorenzo":
        for axis in (1, 2, 3):
            d = np.cumsum(d, axis=axis, dtype=np.uint32)
    else:  # plain, outlier: along x; the first of each row along y; the first of each slice along z
        d = d.copy()
        d[:, :, 0, 0] = np.cumsum(d[:, :, 0, 0], axis=1, dtype=np.uint32)
        d[:, :, :, 0] = np.cumsum(d[:, :, :, 0], axis=2, dtype=np.uint32)
        d = np.cumsum(d, axis=3, dtype=np.uint32)
    return d.reshape(differences.shape)


def places_held(blocks, box, counts):
    """By block and place: is the place in the field?"""
    whole = np.zeros(tuple(c * b for c, b in zip(counts, blocks.block)), dtype=bool)
    whole[tuple(slice(0, e) for e in box.extents)] = True
    cz, cy, cx = counts
    bz, by, bx = blocks.block
    split = whole.reshape(cz, bz, cy, by, cx, bx).transpose(0, 2, 4, 1, 3, 5)
    return split.reshape(product(counts), -1)


def unblock(values, counts, block):
    """From by block and place to (z, y, x) of the chunk, blocks not cut off."""
    (cz, cy, cx), (bz, by, bx) = counts, block
    split = values.reshape(cz, cy, cx, bz, by, bx).transpose(0, 3, 1, 4, 2, 5)
    return split.reshape(cz * bz, cy * by, cx * bx)


def put_exceptions(data, at, values, held):
    """Section 4: replaces the values of exceptions; returns where they end."""
    groups = values.size // 32  # G
    words, at = take(data, at, 4 * -(-groups // 32))
    group_mask = bits_of_words(words)
    if group_mask[groups:].any():
        raise ValueError("the group mask has bits behind the last group")
    with_exceptions = np.flatnonzero(group_mask[:groups])
    words, at = take(data, at, 4 * len(with_exceptions))
    element_masks = bits_of_words(words).reshape(-1, 32)
    if not element_masks.any():
        raise ValueError("there is no exception")
    exceptions = np.zeros((groups, 32), dtype=bool)
    exceptions[with_exceptions] = element_masks
    exceptions = exceptions.reshape(values.shape)
    if (exceptions & ~held).any():
        raise ValueError("an exception is at a place that holds nothing")
    count = int(exceptions.sum())
    stored, at = take(data, at, count * values.itemsize)
    values[exceptions] = np.frombuffer(stored, dtype=values.dtype)
    return at


def bits_of_words(data):
    """The bits of little-endian words, the lowest of each first."""
    return np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little").astype(bool)
