"""Containers of parts (section 21): python parts.py CONTAINER [--out FILE.npy]"""

import struct
import sys
from types import SimpleNamespace as Namespace

import numpy as np

import entropy
import interp
import tiles
from blocks import decode_body
from container import BITPLANE, GEOMETRY, HUFFMAN, RANS, ceil_to, checksum
from decode import decode as decode_stream, run
from grid import AXES, TileGrid, anchor_distance, coarse_extents, product

HEADER_BYTES = 408
RECIPE_AT, RECIPE_BYTES = 88, 240
PARTS = ("codes", "anchors", "outliers")
SEED = 0x9E3779B97F4A7C15
DTYPES = {1: np.dtype("<f4"), 2: np.dtype("<f8")}
CODERS = {"rans": RANS, "huffman": HUFFMAN, "bit-planes": BITPLANE}


class Recipe:
    """The parameters of a composition: element type, shape, extents, error bound and predictor."""

    def __init__(self, data):
        magic, kind, *extents = struct.unpack_from("<4sI3Q", data)
        if magic != b"FZIP" or kind & 255 != 1:
            raise ValueError("recipe: magic number or version")
        self.dtype = DTYPES[kind >> 8 & 255]
        self.shape = kind >> 16 & 15
        self.code = np.dtype(f"<u{kind >> 20 & 15}")
        self.is_by_level = kind >> 24 & 15 == 1
        self.field = tuple(extents)
        parameters = data[40:]
        (geometry,) = struct.unpack_from("<I", parameters)
        self.error = np.frombuffer(parameters, self.dtype, 1, 24)[0]
        predictor = next(number for number, its in GEOMETRY.items() if its == geometry)
        header = Namespace(predictor=predictor, dtype=self.dtype, error=self.error)
        self.parameters = interp.read_parameters(parameters, header)
        self.distance = anchor_distance(self.shape, geometry)
        self.top_level = self.distance.bit_length() - 1
        self.radius = self.parameters.radius

    def levels(self):
        """The level of each place of the field, at most that of anchors."""
        level = np.full(self.field, self.top_level)
        for axis in AXES[self.shape]:
            c = np.arange(self.field[axis])
            halvings = sum((c % (1 << power) == 0).astype(int) for power in range(1, self.top_level + 1))
            along = [1, 1, 1]
            along[axis] = -1
            level = np.minimum(level, halvings.reshape(along))
        return level


def read_container(data):
    """The name of the stage, the recipe, the bytes of the parts, and the extents."""
    header = data[:HEADER_BYTES]
    if len(header) < HEADER_BYTES or header[:8] != b"FZPC\x01\0\0\0":
        raise ValueError("no container of version 1")
    if checksum(header[:-8], SEED) != struct.unpack("<Q", header[-8:])[0]:
        raise ValueError("header: checksum")
    name = header[8:40].rstrip(b"\0").decode()
    lengths, sums = struct.unpack_from("<3Q", header, 40), struct.unpack_from("<3Q", header, 64)
    parts, at = [], HEADER_BYTES
    for number, (part, length) in enumerate(zip(PARTS, lengths)):
        padded = data[at : at + ceil_to(4, length)]
        at += ceil_to(4, length)
        if len(padded) != ceil_to(4, length) or checksum(padded, (number + 2) * SEED & (1 << 64) - 1) != sums[number]:
            raise ValueError(f"{part}: checksum or length")
        if any(padded[length:]):
            raise ValueError(f"{part}: padding")
        parts.append(padded[:length])
    if at != len(data):
        raise ValueError("bytes behind the outliers")
    recipe = Recipe(header[RECIPE_AT : RECIPE_AT + RECIPE_BYTES])
    rank, *extents = struct.unpack_from("<9Q", header, RECIPE_AT + RECIPE_BYTES)
    if rank > 8 or any(extents[rank:]) or product(extents[:rank]) != product(recipe.field):
        raise ValueError("header: extents")
    return name, recipe, parts, tuple(extents[:rank])


def decode_plain(recipe, data):
    """The codes by place of the field."""
    return in_field(recipe, np.frombuffer(data, recipe.code).astype(np.int64))


def decode_fixed_length(recipe, data):
    blocks = ceil_to(1024, -(-product(recipe.field) // 32))
    differences = np.zeros((blocks, 32), dtype=np.uint32)
    at = blocks
    for number, rate in enumerate(data[:blocks]):
        if rate:
            at = decode_body("fixed", rate, data, at, differences[number])
    if at != len(data):
        raise ValueError("fixed-length: bytes behind the bodies")
    k = differences.view(np.int32).ravel()[: product(recipe.field)].astype(np.int64)
    return in_field(recipe, k + recipe.radius)


def decode_ferrosz(recipe, data):
    differences = decode_stream(data)
    shape = (1, 1, product(recipe.field)) if recipe.is_by_level else recipe.field
    if differences.dtype != np.dtype("<i2") or differences.shape != shape:
        raise ValueError("ferrosz: another type or shape")
    return in_field(recipe, differences.ravel().astype(np.int64) + recipe.radius)


def in_field(recipe, codes):
    """Codes in the order of the recipe as an array by place."""
    result = np.empty(product(recipe.field), dtype=np.int64)
    order = slice(None)
    if recipe.is_by_level:
        order = np.argsort(-recipe.levels().ravel(), kind="stable")
    result[order] = codes
    return result.reshape(recipe.field)


def decode_tiles(recipe, data, coder):
    """The coders of sections 13 and 14."""
    grid = TileGrid(recipe.field, recipe.shape, recipe.distance)
    entries = struct.unpack_from(f"<{grid.chunk_count}I", data)
    at = 4 * grid.chunk_count
    prologue = Namespace(intervals=None, parameters=Namespace(shifts=0))
    if coder != BITPLANE:
        (last,) = struct.unpack_from("<I", data, at + 60)
        end = at + 4 * ceil_to(4, 16 + (last >> 14))
        shares = entropy.read_shares(data[at:end], coder == HUFFMAN)
        prologue.intervals = entropy.Intervals(shares, coder == HUFFMAN)
        at = end
    header = Namespace(dtype=np.dtype("<u4"), width=4, coder=coder, has_levels=True, shape=recipe.shape)
    codes = tiles.Codes(recipe.field, header.dtype)
    for chunk, entry in enumerate(entries):
        length = entry & ~15
        tiles.read_chunk(header, grid, chunk, entry & 15, data[at : at + length], prologue, codes)
        at += length
    if at != len(data):
        raise ValueError("bytes behind the chunks")
    return np.where(codes.raw, codes.stored.astype(np.int64), codes.k + recipe.radius)


def decode(data):
    """The field of a container."""
    name, recipe, (coded, anchors, outliers), extents = read_container(data)
    if name in CODERS:
        codes = decode_tiles(recipe, coded, CODERS[name])
    else:
        others = {"plain": decode_plain, "fixed-length": decode_fixed_length, "ferrosz": decode_ferrosz}
        codes = others[name](recipe, coded)
    if not ((codes >= 0) & (codes < 2 * recipe.radius)).all():
        raise ValueError("a code is not below twice the radius")
    is_anchor = recipe.levels() == recipe.top_level
    raw = (codes == 0) & ~is_anchor
    stored = np.zeros(recipe.field, dtype=recipe.dtype)
    stored[raw] = np.frombuffer(outliers, recipe.dtype)
    known = np.zeros(recipe.field, dtype=recipe.dtype)
    known[is_anchor] = np.frombuffer(anchors, recipe.dtype)
    if product(coarse_extents(recipe.field, recipe.shape, recipe.distance)) != is_anchor.sum():
        raise ValueError("the anchors are not every B-th place")
    k = np.where(is_anchor, 0, codes - recipe.radius)
    with np.errstate(all="ignore"):
        decoder = interp.Interpolation(
            recipe.parameters, recipe.error, recipe.shape, k, raw, stored, known
        )
        return decoder.run(recipe.top_level).reshape(extents)


if __name__ == "__main__":
    sys.exit(run(decode, "container", "Composes the field of a container of parts."))
