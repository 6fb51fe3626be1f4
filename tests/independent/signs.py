"""Signs: elements that are negative (section 23)."""

import numpy as np

NONE, ALL, RAW, ROWS, BRICKS = range(5)


def lengths_of_signs(heads, boxes):
    """The bytes that are stored of the signs of each part."""
    lengths = []
    for head, box in zip(heads, boxes):
        kind, words = head % 8, head // 8
        raw = -(-box.size // 32)
        if kind > BRICKS or (kind == BRICKS and box.size != 8192):
            raise ValueError(f"signs of kind {kind}")
        if not (0 < words < raw if kind >= ROWS else words == 0):
            raise ValueError(f"signs of kind {kind} in {words} words")
        lengths.append(4 * (raw if kind == RAW else words))
    return lengths


def read_signs(head, data, box):
    """Which elements of a part are negative, in C order."""
    kind = head % 8
    if kind in (NONE, ALL):
        return np.full(box.size, kind == ALL)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little").astype(bool)
    if kind == RAW:
        return bits[: box.size]
    bits = np.concatenate([bits, np.zeros(8192 + 2048 + 512, dtype=bool)])  # behind the end
    has, at = bits[:32], 32
    for width in (8, 8, 4):
        finer = np.zeros((has.size, width), dtype=bool)
        count = np.count_nonzero(has)
        finer[has] = bits[at : at + count * width].reshape(count, width)
        has, at = finer.reshape(-1), at + count * width
    negative = np.logical_xor.accumulate(has[: box.size])
    if kind == ROWS:
        return negative
    in_order = np.empty(box.size, dtype=bool)
    in_order[order_of_bricks(box.extents)] = negative
    return in_order


def order_of_bricks(extents):
    """The numbers in C order of the elements of a part of 8192, by their places."""
    at = np.indices(extents).reshape(3, -1)
    place, weight = 0, 1
    lengths = list(extents)
    while max(lengths) > 1:
        for d in (2, 1, 0):
            if lengths[d] > 1:
                place = place + weight * (at[d] & 1)
                at[d] >>= 1
                lengths[d] //= 2
                weight *= 2
    return np.argsort(place)
