"""How a field is cut into chunks and blocks (section 2), tiles (sections 9 and 10), or parts of a mask (section 23)."""

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

LINE, PLANE, CUBE = 0, 1, 2

# Section 2: (z, y, x) of a block.
BLOCK = {LINE: (1, 1, 32), PLANE: (1, 8, 8), CUBE: (4, 4, 4)}
CHUNK_ELEMENTS = 8192

# Section 9: (z, y, x) of a tile.
TILE = {LINE: (1, 1, 16384), PLANE: (1, 256, 64), CUBE: (16, 16, 64)}
TILES_OF_CHUNK = (1, 4, 16, 64)
STEPS, LANES = 512, 32

# The dimensions of the shape among (z, y, x): the axes of section 16.
AXES = {LINE: (2,), PLANE: (1, 2), CUBE: (0, 1, 2)}


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def ceil_div(a, b):
    return -(-a // b)


def field_extents(extents, shape, roles=None):
    """Sections 2 and 22: the field, or each of its slices, as (z, y, x)."""
    return slices_and_extents(extents, shape, roles)[1]


def slice_count(extents, shape, roles=None):
    """Section 22: the number of slices."""
    return slices_and_extents(extents, shape, roles)[0]


def slices_and_extents(extents, shape, roles):
    if shape == LINE:
        return 1, (1, 1, product(extents))
    if roles is None:
        # Dimensions of length 1 do not count.
        counted = [extent for extent in extents if extent != 1]
        return 1, (product(counted[:-2]), counted[-2], counted[-1])
    slices, z, y, x = (
        product(extent for extent, role in zip(extents, roles) if role == wanted) for wanted in range(4)
    )
    # The slices of planes are positions along z.
    return (slices, (z, y, x)) if shape == CUBE else (1, (slices * z, y, x))


def has_shape(extents, shape, roles):
    """Section 2: whether a stream may have this shape. The extents are not 0."""
    if shape == LINE:
        return True
    if roles is None:
        return sum(extent > 1 for extent in extents) >= len(AXES[shape])
    field = field_extents(extents, shape, roles)
    return all(field[axis] > 1 for axis in AXES[shape])


def is_default(extents, shape, roles):
    """Section 22: whether roles give the same division of the field as no roles. Whole chunks follow from the field."""
    if not has_shape(extents, shape, None):
        return False
    return slices_and_extents(extents, shape, roles) == slices_and_extents(extents, shape, None)


def whole_field(slices, field):
    """The extents of all slices, one behind the other along z."""
    return (slices * field[0], field[1], field[2])


@dataclass
class Box:
    """A part of the field: where it begins, and its extents, cut off at the field's end."""

    begin: tuple
    extents: tuple

    @property
    def size(self):
        return product(self.extents)

    @property
    def slices(self):
        return tuple(slice(b, b + e) for b, e in zip(self.begin, self.extents))


def box_of(number, counts, whole, field):
    """The box with this number, in C order of the slices and of each of them, of those of extents `whole` that cover
    the slices; a slice has the extents `field`."""
    in_slice, slice_number = number % product(counts), number // product(counts)
    place = (
        in_slice // (counts[1] * counts[2]),
        in_slice // counts[2] % counts[1],
        in_slice % counts[2],
    )
    begin = tuple(p * w for p, w in zip(place, whole))
    extents = tuple(min(w, f - b) for w, f, b in zip(whole, field, begin))
    return Box((slice_number * field[0] + begin[0], begin[1], begin[2]), extents)


# Chunks and blocks.


class BlockGrid:
    """Section 2: the chunks of a field."""

    def __init__(self, field, shape, slices=1):
        self.slices = slices
        self.field = field  # of a slice
        self.block = BLOCK[shape]
        self.chunk = whole_chunk(field, shape)
        self.counts = tuple(ceil_div(f, c) for f, c in zip(field, self.chunk))
        self.chunk_count = slices * product(self.counts)

    def box(self, number):
        return box_of(number, self.counts, self.chunk, self.field)

    def longest_payload(self, width):
        """The bytes of all chunks, each raw and padded to 16."""
        return sum(ceil_div(size * width, 16) * 16 * many for size, many in self.sizes())

    def sizes(self):
        """(elements of a chunk, how many chunks have as many), one or more for each number of elements."""
        of_dimensions = []  # (extent of a chunk, how many chunks have it)
        for f, c in zip(self.field, self.chunk):
            of_dimensions.append([(c, f // c), (f % c, 1)])
        for (z, many_z), (y, many_y), (x, many_x) in itertools.product(*of_dimensions):
            yield z * y * x, self.slices * many_z * many_y * many_x

    def block_counts(self, box):
        """How many blocks the chunk has along z, y, x."""
        return tuple(ceil_div(e, b) for e, b in zip(box.extents, self.block))


def whole_chunk(field, shape):
    if shape == LINE:
        return (1, 1, CHUNK_ELEMENTS)
    chunk = list(BLOCK[shape])
    while product(chunk) < CHUNK_ELEMENTS:
        # x before y before z if several are as short; x if the field is longer in none.
        grows = [d for d in (2, 1, 0) if field[d] > chunk[d]]
        d = min(grows, key=lambda d: chunk[d]) if grows else 2
        chunk[d] *= 2
    return tuple(chunk)


# Parts of a mask.

PARTS_OF_CHUNK = 8


class PartGrid:
    """Section 23: the parts of a field and their mask chunks; none if there are no elements."""

    def __init__(self, extents, roles):
        self.part_count = 0
        if product(extents):
            shape = next(shape for shape in (CUBE, PLANE, LINE) if has_shape(extents, shape, roles))
            slices, field = slices_and_extents(extents, shape, roles)
            self.whole = whole_field(slices, field)
            self.boxes = BlockGrid(field, shape, slices)
            self.part_count = self.boxes.chunk_count
        self.chunk_count = ceil_div(self.part_count, PARTS_OF_CHUNK)

    def parts_of_chunk(self, chunk):
        first = PARTS_OF_CHUNK * chunk
        return range(first, min(first + PARTS_OF_CHUNK, self.part_count))

    def box(self, part):
        return self.boxes.box(part)

    def longest_chunk(self, chunk, classes, has_signs):
        """The bytes of a mask chunk if all its parts are raw, and their signs."""
        sizes = (self.box(part).size for part in self.parts_of_chunk(chunk))
        raw = sum(raw_part_bytes(size, classes) + has_signs * raw_sign_bytes(size) for size in sizes)
        return 16 * ceil_div(16 + 16 * has_signs + raw, 16)

    def longest(self, classes, has_signs):
        """Section 19: 48 bytes for each mask chunk, 16 more with signs, and all parts raw."""
        raw = lambda size: raw_part_bytes(size, classes) + has_signs * raw_sign_bytes(size)
        parts = sum(raw(size) * many for size, many in self.boxes.sizes())
        return (48 + 16 * has_signs) * self.chunk_count + parts


def raw_sign_bytes(elements):
    return 4 * ceil_div(elements, 32)


def part_planes(classes):
    """Section 23: plane 0, and as many as classes - 1 has bits."""
    return 1 + max(classes - 1, 0).bit_length()


def raw_part_bytes(elements, classes):
    return part_planes(classes) * 4 * ceil_div(elements, 32)


# Tiles.


def anchor_distance(shape, geometry):
    """B of section 15; None without anchors."""
    if geometry is None:
        return None
    if shape == LINE:
        return 512
    return 8 if shape == CUBE and geometry == 0 else 16


def coarse_extents(field, shape, distance):
    """Section 9: every B-th place in each dimension of the shape."""
    return tuple(
        ceil_div(f, distance) if d in AXES[shape] else f for d, f in enumerate(field)
    )


class TileGrid:
    """Section 9: the tiles of a field, of the coarse one as of any other."""

    def __init__(self, field, shape, distance, slices=1, tiles=4, in_slices=False):
        self.slices = slices
        self.whole_chunk = tiles  # t
        self.field = field  # of a slice
        self.shape = shape
        self.distance = distance  # B, or None
        self.has_levels = distance is not None
        self.in_slices = in_slices  # whether the predictor is that of section 27
        self.tile = TILE[shape]
        self.counts = tuple(ceil_div(f, t) for f, t in zip(field, self.tile))
        self.tile_count = slices * product(self.counts)
        self.chunk_count = ceil_div(self.tile_count, tiles)

    def tiles_of_chunk(self, chunk):
        """Tiles t c to t c + t - 1; the field's last chunk has those that are left."""
        first = self.whole_chunk * chunk
        return range(first, min(first + self.whole_chunk, self.tile_count))

    def box(self, number):
        return box_of(number, self.counts, self.tile, self.field)

    def active(self, number):
        """Which places, by step and lane, have a code."""
        return active_places(self.shape, self.distance, self.box(number).extents, self.in_slices)

    def groups(self):
        """The group of each place of a tile, by step and lane."""
        return groups_of_tile(self.shape, self.has_levels, self.in_slices)

    def shifts(self, word):
        """Sections 26 and 27: the shift of each place of a tile, by step and lane, of the word 49 of the parameters."""
        return shifts_of_tile(self.shape, word, self.in_slices)


def longest_tiles(entries, field, shape, distance, width, slices=1):
    """Section 19: 32 bytes an entry, all elements that may be stored, and 2316 bytes."""
    elements = product(field)
    if distance is not None:
        coarse = coarse_extents(field, shape, distance)
        elements += product(coarse) + product(coarse_extents(coarse, shape, distance))
    return 32 * entries + width * slices * elements + 2316


def steps_to_tile(by_step, shape):
    """An array by step and lane as one by (z, y, x) of the tile.

    Lane l of step s is place 2 l + s mod 2 of row s div 2 (section 9).
    """
    rows = by_step.reshape(256, 2, 32).transpose(0, 2, 1)
    return rows.reshape(TILE[shape])


def tile_to_steps(tile):
    """The reverse of steps_to_tile."""
    return tile.reshape(256, 32, 2).transpose(0, 2, 1).reshape(STEPS, LANES)


def axes_of_levels(shape, in_slices):
    """Section 27: the levels of slices do not depend on z."""
    return (1, 2) if in_slices else AXES[shape]


@lru_cache(maxsize=None)
def levels_of_tile(shape, in_slices=False):
    """How often all coordinates can be halved, by (z, y, x) of the tile.

    A tile begins at multiples of B, so its own coordinates do. 0 can be halved without end: 63 stands for that. In
    slices such places, as all of level 4 and more, are of level 4, which counts only as one above 3 here.
    """
    result = np.full(TILE[shape], 63)
    for axis in axes_of_levels(shape, in_slices):
        c = np.arange(TILE[shape][axis])
        halvings = np.where(c == 0, 63, 0)
        for power in range(1, 15):
            halvings[(c != 0) & (c % (1 << power) == 0)] = power
        along = [1, 1, 1]
        along[axis] = -1
        result = np.minimum(result, halvings.reshape(along))
    return result


@lru_cache(maxsize=None)
def odd_along(axis, shape, in_slices=False):
    """Section 16: 1 where a place is odd along the axis at its level, by (z, y, x) of the tile; else 0."""
    along = [1, 1, 1]
    along[axis] = -1
    return np.arange(TILE[shape][axis]).reshape(along) >> levels_of_tile(shape, in_slices) & 1


@lru_cache(maxsize=None)
def oddness_of_tile(shape, in_slices=False):
    """Section 26: along how many axes a place is odd at its level, by (z, y, x) of the tile. Anchors have 0."""
    result = sum(odd_along(axis, shape, in_slices) for axis in axes_of_levels(shape, in_slices))
    if in_slices:
        result[0] = 3  # section 27: slice 0, which has no references, is by itself
    return result


@lru_cache(maxsize=None)
def shifts_of_tile(shape, word, in_slices=False):
    """Places of levels above 1 have no shift."""
    level, oddness = levels_of_tile(shape, in_slices), oddness_of_tile(shape, in_slices)
    result = np.zeros(TILE[shape], dtype=np.int64)
    for of_level in range(2):
        for odd in range(1, 4):
            bits = word >> 12 * of_level + 4 * (odd - 1) & 15
            result[(level == of_level) & (oddness == odd)] = bits if bits < 8 else bits - 16
    return tile_to_steps(result)


@lru_cache(maxsize=256)
def active_places(shape, distance, extents, in_slices=False):
    active = np.zeros(TILE[shape], dtype=bool)
    active[tuple(slice(0, e) for e in extents)] = True
    if distance is not None:
        has_code = (1 << np.minimum(levels_of_tile(shape, in_slices), 20)) < distance
        if in_slices:
            has_code[1:] = True  # only slice 0 has anchors
        active &= has_code
    return tile_to_steps(active)


@lru_cache(maxsize=None)
def groups_of_tile(shape, has_levels, in_slices=False):
    """Section 10. Anchors get a number too, which is never used."""
    step = np.arange(STEPS).reshape(-1, 1)
    r = step // 2 + np.zeros((1, LANES), dtype=int)
    lane = np.arange(LANES).reshape(1, -1) + np.zeros((STEPS, 1), dtype=int)
    if shape == LINE:
        brick = r // 8
    elif shape == PLANE:
        brick = 4 * (r // 32) + lane // 8
    else:
        brick = 8 * (2 * (r // 128) + r % 16 // 8) + lane // 4
    if not has_levels:
        return brick
    level = tile_to_steps(levels_of_tile(shape, in_slices))
    return np.where(level == 0, brick, np.where(level == 1, 32 + brick // 8, 36))
