"""Levels apart: the lines of a field (section 34)."""

import itertools

import numpy as np

from grid import (
    LINE,
    TileGrid,
    axes_of_levels,
    ceil_div,
    coarse_extents,
    levels_of_tile,
    odd_along,
    product,
    steps_to_tile,
    whole_field,
)
from stencil import LETTER


def grids(tiles, apart, tiles_of_chunk):
    """The tiles of the lines, from line 0 on. A line is a field without levels."""
    return [TileGrid((1, 1, m), LINE, None, 1, tiles_of_chunk) for m in code_counts(tiles, apart)]


def code_counts(tiles, apart):
    """The number of codes of each line, from line 0 on."""
    axes = axes_of_levels(tiles.shape, tiles.in_slices)

    def places_from(level):
        return product(ceil_div(f, 1 << level) if axis in axes else f for axis, f in enumerate(tiles.field))

    anchors = product(coarse_extents(tiles.field, tiles.shape, tiles.distance))
    ends = [*map(places_from, range(apart + 1)), anchors]
    return [tiles.slices * (here - above) for here, above in itertools.pairwise(ends)]


def places(tiles, apart):
    """For each line, from line 0 on, the places of its codes, numbered in C order of all slices."""
    top_level = tiles.distance.bit_length() - 1
    level_there = np.minimum(levels_of_tile(tiles.shape, tiles.in_slices), top_level)
    axes = axes_of_levels(tiles.shape, tiles.in_slices)
    odd_there = sum(LETTER[axis] * odd_along(axis, tiles.shape, tiles.in_slices) for axis in axes)
    odd_there = np.where(level_there < top_level, odd_there, 0)
    tile, level, odd, active = np.zeros((4, *whole_field(tiles.slices, tiles.field)), dtype=np.int64)
    for number in range(tiles.tile_count):
        box = tiles.box(number)
        cut = tuple(slice(0, extent) for extent in box.extents)
        tile[box.slices] = number
        level[box.slices] = level_there[cut]
        odd[box.slices] = odd_there[cut]
        active[box.slices] = steps_to_tile(tiles.active(number), tiles.shape)[cut]
    # Places with equal keys stay in C order.
    order = np.lexsort((odd.ravel(), -level.ravel(), tile.ravel()))
    order = order[active.ravel()[order] == 1]
    line = np.minimum(level, apart).ravel()[order]
    return [order[line == number] for number in range(apart + 1)]
