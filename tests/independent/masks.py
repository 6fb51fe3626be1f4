"""Masks: elements that have the value of a class (section 23)."""

import numpy as np

from container import CODED, ZERO, ceil_to
from grid import PARTS_OF_CHUNK, part_planes, raw_part_bytes
from signs import lengths_of_signs, read_signs

RAW_HEAD = 65535
WORD = 0xFFFFFFFF
NOTHING = -1  # the class of an element that belongs to none


def lay_over(stream, field):
    """The field with the values of the classes in their places, bit for bit, and with its signs."""
    header, parts = stream.header, stream.header.parts
    if not header.classes and not header.has_signs:
        return field
    bits = np.array(field).reshape(parts.whole).view(f"<u{header.width}")
    sign = bits.dtype.type(1 << (8 * header.width - 1))
    if header.has_signs:
        is_finite = np.isfinite(bits.view(header.dtype))
        bits[is_finite] &= ~sign
    values = np.array(stream.classes[: header.classes], dtype=bits.dtype)
    for chunk in range(parts.chunk_count):
        number = header.entries - parts.chunk_count + chunk
        form, data = stream.chunk(number)
        try:
            members = read_chunk(parts, chunk, form, data, header)
        except ValueError as reason:
            raise ValueError(f"chunk {number}: {reason}") from None
        for part, member, negative in members:
            here = bits[parts.box(part).slices]
            member = member.reshape(here.shape)
            here[negative.reshape(here.shape)] |= sign
            is_fill = member != NOTHING
            here[is_fill] = values[member[is_fill]]
    return bits.view(header.dtype)


def read_chunk(parts, chunk, form, data, header):
    """(part, the class of each of its elements or NOTHING, which of them are negative) for the parts of a chunk."""
    classes = header.classes
    if form == ZERO:
        if data:
            raise ValueError(f"{len(data)} bytes, but there is nothing")
        return []
    if form != CODED:
        raise ValueError(f"form {form} is unknown")
    at = 32 if header.has_signs else 16
    if len(data) < at:
        raise ValueError("the heads end behind the chunk")
    heads = np.frombuffer(data[:at], dtype="<u2").tolist()
    heads, sign_heads = heads[:PARTS_OF_CHUNK], heads[PARTS_OF_CHUNK:] or [0] * PARTS_OF_CHUNK
    numbers = parts.parts_of_chunk(chunk)
    if any(heads[len(numbers) :] + sign_heads[len(numbers) :]):
        raise ValueError("a part that does not exist has a head")
    boxes = [parts.box(part) for part in numbers]
    lengths = lengths_of_signs(sign_heads, boxes)
    for head, box in zip(heads, boxes):
        lengths.append(raw_part_bytes(box.size, classes) if head == RAW_HEAD else max(head, 1) - 1)
    if len(data) != ceil_to(16, at + sum(lengths)):
        raise ValueError(f"{len(data)} bytes, but the parts need {ceil_to(16, at + sum(lengths))}")
    contents = []
    for length in lengths:
        contents.append(data[at : at + length])
        at += length
    result = []
    for i, (part, box, head) in enumerate(zip(numbers, boxes, heads)):
        member = np.full(box.size, NOTHING)
        if head:
            read = read_raw if head == RAW_HEAD else read_coded
            member = np.array(read(contents[len(boxes) + i], box, classes), dtype=np.int64)
            member[member >= classes] = NOTHING  # if there are none
        result.append((part, member, read_signs(sign_heads[i], contents[i], box)))
    return result


def read_raw(data, box, classes):
    planes = np.frombuffer(data, dtype=np.uint8).reshape(part_planes(classes), -1)
    bits = np.unpackbits(planes, axis=1, bitorder="little")[:, : box.size].astype(np.int64)
    number = np.zeros(box.size, dtype=np.int64)
    for plane, of_plane in enumerate(bits[1:]):
        number |= of_plane << plane
    return np.where(bits[0] == 1, np.minimum(number, max(classes - 1, 0)), NOTHING)


# Coded parts.


class Models:
    """Models by their index: the probability of a 1, and the bits seen."""

    def __init__(self, count):
        self.p = [32768] * count
        self.s = [0] * count

    def learn(self, index, bit):
        p, s = self.p[index], self.s[index]
        shift = (s + 1).bit_length()
        self.p[index] = p + (65504 - p >> shift) if bit else p - (p - 32 >> shift)
        self.s[index] = min(s + 1, 63)


class BitDecoder:
    def __init__(self, data):
        self.data = data
        self.range = WORD
        self.code = int.from_bytes(data[:4].ljust(4, b"\0"), "big")
        self.at = 4

    def bit(self, models, index):
        border = (self.range >> 16) * models.p[index]
        bit = self.code < border
        if bit:
            self.range = border
        else:
            self.code -= border
            self.range -= border
        while self.range < 1 << 24:
            following = self.data[self.at] if self.at < len(self.data) else 0
            self.range = self.range << 8
            self.code = (self.code << 8 & WORD) + following
            self.at += 1
        models.learn(index, bit)
        return int(bit)


def read_coded(data, box, classes):
    """The class of each element of a coded part, or NOTHING."""
    elements, row_length = box.size, box.extents[2]
    slice_length = box.extents[1] * row_length
    coder = BitDecoder(data)
    flag, bit, all_last, step = Models(8), Models(64), Models(2), Models(2 * max(classes - 1, 0))
    member = [NOTHING] * elements
    plane = 0  # up to the word
    last_same = same_before = last_class = 0

    def back(distance):
        """The 32 bits that are `distance` before those of the word."""
        away = first - distance
        return (plane >> away if away >= 0 else plane << -away) & WORD

    for first in range(0, elements, 32):
        count = min(32, elements - first)
        exist = (1 << count) - 1
        before = plane >> first - 1 & 1 if first else 0
        has_row, has_slice = first >= row_length, first >= slice_length

        # Step 1.
        row = (back(row_length) if has_row else before * WORD) & exist
        uniform = row in (0, exist)
        same = coder.bit(flag, 4 * uniform + 2 * same_before + last_same)
        same_before, last_same = last_same, same

        # Step 2.
        word = row
        if not same:
            of_slice = back(slice_length) if has_slice else row
            others = [back(row_length + 1), back(row_length - 1)] if has_row else [before * WORD] * 2
            if has_slice:
                others += [back(slice_length - 1), back(slice_length - row_length)]
            else:
                others += [others[1], row]
            word, a = 0, before
            for i in range(count):
                k = 4 * a + 2 * (row >> i & 1) + (of_slice >> i & 1)
                a = coder.bit(bit, 8 * k + sum(other >> i & 1 for other in others))
                word |= a << i
        plane |= word << first

        # Steps 3 and 4.
        ones = [first + i for i in range(count) if word >> i & 1]
        every = classes <= 1 or (ones and coder.bit(all_last, int(len(ones) == 1)))
        for i in ones:
            if not every:
                n = 0
                while n < classes - 1 and coder.bit(step, 2 * n + (n == last_class)):
                    n += 1
                last_class = n
            member[i] = last_class
    return member
