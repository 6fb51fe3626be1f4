"""Codecs of tiles: the prologue and the chunks of both fields (sections 9, 13 to 17, 26, 27 and 34)."""

import numpy as np

import blocks
import entropy
import interp
import lines
import lorenzo
import slices
import stencil
from container import BITPLANE, CODED, DIRECT, HUFFMAN, RAW, SLICES, STENCIL, ZERO, ceil_to
from grid import AXES, coarse_extents, product, steps_to_tile, whole_field


class Prologue:
    """Section 15."""

    def __init__(self, stream):
        header = stream.header
        entry, payload = stream.entries[0]
        if entry.form != CODED or entry.start != 0 or entry.length != 0:
            raise ValueError("prologue: form, start or length of its entry is wrong")
        at = interp.PARAMETER_BYTES if header.has_levels else 0
        if at + 4 > len(payload):
            raise ValueError("prologue: it ends behind the payload")
        words = int.from_bytes(payload[at : at + 4], "little")
        shares_at = at + 4
        anchors_at = shares_at + 4 * words
        # The anchors of the coarse field are every B-th of its places in turn.
        anchors = (0, 0, 0)
        if header.has_levels:
            coarse = header.coarse_grid.field
            anchors = whole_field(header.slices, coarse_extents(coarse, header.shape, header.distance))
        count = product(anchors)
        coefficients_at = anchors_at + header.width * count
        end = coefficients_at
        axes, has_stencils = AXES[header.shape], header.predictor == STENCIL
        if has_stencils:
            flags = interp.read_flags(payload)
            end += 4 * stencil.coefficient_count(flags, header.top_level, axes)
        elif header.predictor == SLICES:
            end += slices.COEFFICIENT_BYTES
        if ceil_to(16, end) > len(payload):
            raise ValueError("prologue: it ends behind the payload")
        # The checksum covers the padding, too.
        stream.verify(0, entry, payload[: ceil_to(16, end)])

        self.parameters = interp.read_parameters(payload, header) if header.has_levels else None
        self.intervals = None
        if header.coder == BITPLANE:
            if words:
                raise ValueError("prologue: there are shares with bit planes")
        else:
            huffman = header.coder == HUFFMAN
            shares = entropy.read_shares(payload[shares_at:anchors_at], huffman)
            self.intervals = entropy.Intervals(shares, huffman)
        self.coefficients = {}
        data = payload[coefficients_at:end]
        if has_stencils:
            self.coefficients = stencil.read_coefficients(data, flags, header.top_level, axes, header.dtype)
        elif header.predictor == SLICES:
            self.coefficients = slices.read_coefficients(data, header.dtype)
        self.anchors = np.frombuffer(payload, dtype=header.dtype, count=count, offset=anchors_at).reshape(anchors)


class Codes:
    """The codes of a field, by (z, y, x): k, whether the place is raw, and the value if so."""

    def __init__(self, field, dtype):
        self.k = np.zeros(field, dtype=np.int64)
        self.raw = np.zeros(field, dtype=bool)
        self.stored = np.zeros(field, dtype=dtype)

    def put(self, places, line):
        """Takes the codes of a line, which belong to these places, numbered in C order."""
        for mine, of_line in ((self.k, line.k), (self.raw, line.raw), (self.stored, line.stored)):
            mine.reshape(-1)[places] = of_line.ravel()


def read_codes(stream, tiles, first_entry, prologue):
    """The codes of all chunks of a field; chunk 0 of it has entry `first_entry`."""
    header = stream.header
    codes = Codes(whole_field(tiles.slices, tiles.field), header.dtype)
    for chunk in range(tiles.chunk_count):
        number = first_entry + chunk
        form, data = stream.chunk(number)
        try:
            read_chunk(header, tiles, chunk, form, data, prologue, codes)
        except ValueError as reason:
            raise ValueError(f"chunk {number}: {reason}") from None
    return codes


def read_levels(stream, level, first_entry, prologue):
    """The codes of the field that values of this level and higher ones need; maybe those of finer levels, too."""
    header = stream.header
    tiles = header.field_grid
    if not header.apart:
        return read_codes(stream, tiles, first_entry, prologue)
    codes = Codes(whole_field(tiles.slices, tiles.field), header.dtype)
    of_lines = list(zip(header.line_grids, lines.places(tiles, header.apart)))
    for line, places in reversed(of_lines[min(level, header.apart) :]):
        codes.put(places, read_codes(stream, line, first_entry, prologue))
        first_entry += line.chunk_count
    return codes


def read_chunk(header, tiles, chunk, form, data, prologue, codes):
    """Section 9, forms."""
    numbers = tiles.tiles_of_chunk(chunk)
    active = np.array([tiles.active(number) for number in numbers])
    m, w = int(active.sum()), header.width
    if len(data) > ceil_to(16, m * w):
        raise ValueError("longer than its raw form")

    # z: the codes by tile, step and lane; at: where the values of raw places begin.
    at = 0
    if form == ZERO:
        z = np.zeros(active.shape, dtype=np.int64)
    elif form == RAW:
        z = np.where(active, entropy.RAW_CODE, 0)
    elif form == CODED and header.coder == BITPLANE:
        z, at = entropy.decode_bit_planes(data, active)
    elif form == CODED:
        shifts = tiles.shifts(prologue.parameters.shifts if tiles.has_levels else 0)
        z, at = entropy.decode_lane_stacks(data, prologue.intervals, active, tiles.groups(), shifts, tiles.has_levels)
    else:
        raise ValueError(f"form {form} is unknown")

    raw = z == entropy.RAW_CODE
    count = int(raw.sum())
    if len(data) != ceil_to(16, at + count * w):
        raise ValueError(f"{len(data)} bytes, but the contents need {ceil_to(16, at + count * w)}")
    stored = np.zeros(active.shape, dtype=header.dtype)
    stored[raw] = np.frombuffer(data, dtype=header.dtype, count=count, offset=at)
    # Section 9: even codes are not negative, odd ones are.
    k = np.where(z % 2 == 0, z // 2, -((z + 1) // 2))

    for i, number in enumerate(numbers):
        box = tiles.box(number)
        cut = tuple(slice(0, extent) for extent in box.extents)
        codes.k[box.slices] = steps_to_tile(k[i], tiles.shape)[cut]
        codes.raw[box.slices] = steps_to_tile(raw[i], tiles.shape)[cut]
        codes.stored[box.slices] = steps_to_tile(stored[i], tiles.shape)[cut]


def decode_field(stream, level=0):
    """The field; with levels only those of its values that are of this level or higher ones."""
    if stream.header.has_levels:
        return decode_interpolation(stream, level)
    return decode_direct(stream) if stream.header.predictor == DIRECT else decode_lorenzo(stream)


def decode_direct(stream):
    """Section 17, without prediction."""
    header = stream.header
    codes = read_codes(stream, header.field_grid, 1, Prologue(stream))
    values = blocks.values_of_codes(codes.k, header.dtype.type(2) * header.error)
    values[codes.raw] = codes.stored[codes.raw]
    return values


def decode_lorenzo(stream):
    """Section 17."""
    header = stream.header
    tiles = header.field_grid
    prologue = Prologue(stream)
    codes = read_codes(stream, tiles, 1, prologue)
    field = np.empty(header.whole, dtype=header.dtype)
    for number in range(tiles.tile_count):
        here = tiles.box(number).slices
        field[here] = lorenzo.decode_tile(
            codes.k[here], codes.raw[here], codes.stored[here], header.shape, header.error
        )
    return field


def decode_interpolation(stream, level):
    """Section 16: first the coarse field, then the field."""
    header = stream.header
    shape, distance, top_level = header.shape, header.distance, header.top_level
    # The coarse field of slices has their zones and shifts, but is predicted by section 16.
    coarse = header.coarse_grid
    of_field = slices.Slices if header.predictor == SLICES else interp.Interpolation
    prologue = Prologue(stream)
    coarse_codes = read_codes(stream, coarse, 1, prologue)
    codes = Codes(header.whole, header.dtype)
    if level < top_level:  # others are of the coarse field
        codes = read_levels(stream, level, 1 + coarse.chunk_count, prologue)

    anchors = tuple(
        slice(0, None, distance if dimension in AXES[shape] else None) for dimension in range(3)
    )
    # Section 22: each slice by itself.
    all_anchors = np.split(prologue.anchors, header.slices)
    parts = [all_anchors]
    for of_part in (coarse_codes, codes):
        parts.append([np.split(array, header.slices) for array in (of_part.k, of_part.raw, of_part.stored)])
    result = []
    for number in range(header.slices):
        k, raw, stored = (arrays[number] for arrays in parts[1])
        coarse_known = np.zeros(coarse.field, dtype=header.dtype)
        coarse_known[anchors] = all_anchors[number]
        decoder = interp.Interpolation(
            prologue.parameters, header.error, shape, k, raw, stored, coarse_known, top_level
        )
        decoder.run(top_level)

        k, raw, stored = (arrays[number] for arrays in parts[2])
        known = np.zeros(header.field, dtype=header.dtype)
        known[anchors] = coarse_known
        decoder = of_field(
            prologue.parameters, header.error, shape, k, raw, stored, known, coefficients=prologue.coefficients
        )
        result.append(decoder.run(top_level, level))
    return np.concatenate(result)
