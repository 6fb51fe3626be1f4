"""The container: header, records, chunk table, payload, updates, checksums.

Sections 1, 2 (chunk table), 7, 8, 15 and 34 (entries of streams of tiles), and 22 to 24 and 35 (header, records) of the
text.
"""

import struct
from dataclasses import dataclass

import numpy as np

import conversion
import safeguards
import grid
import lines
import wavelet

KNOWN_RECORDS = ("AXES", "CONV", "CORR", "CPLX", "MASK", "SAFE", "WAVE")
MAGIC = bytes.fromhex("89 46 53 5A 0D 0A 1A 0A")
UPDATE_MAGIC = bytes.fromhex("89 46 53 55 0D 0A 1A 0A")
HEADER_BYTES = 160
VERSION = 256  # Section 20: that of the text; the lowest one of its major number that has streams
MOST_CLASSES = 7  # of a mask
NEGATIVE = None  # the class of negative elements, which has no value
PWREL = 3  # the bound mode
MASK64 = (1 << 64) - 1

# Forms of a chunk (sections 3 and 9).
ZERO, CODED, EXCEPTIONS, RAW, CONSTANT = 0, 1, 2, 3, 4

# Coders of tiles (section 1).
RANS, HUFFMAN, BITPLANE = 16, 17, 18

# Codecs of blocks (section 1): predictor and coder.
BLOCK_CODECS = {
    (1, 1): "fixed",
    (2, 1): "plain",
    (2, 2): "outlier",
    (3, 2): "lorenzo",
    (4, 1): "layered",
}

# Codecs of tiles (section 1): the coders of each predictor.
TILE_CODECS = {
    16: (RANS, HUFFMAN, BITPLANE),
    17: (HUFFMAN,),
    18: (RANS, HUFFMAN, BITPLANE),
    19: (RANS,),
    20: (RANS, HUFFMAN, BITPLANE),
    21: (RANS,),
    22: (RANS,),
}

# Predictors of tiles (section 1): 16 is Lorenzo, 22 none, the others are interpolation with a geometry.
LORENZO_TILES, DIRECT = 16, 22
GEOMETRY = {17: 0, 18: 1, 19: 2, 20: 2, 21: 2}
STENCIL, SLICES = 20, 21


def ceil_to(multiple, value):
    """ceilN(v) of the text."""
    return -(-value // multiple) * multiple


# Section 7.


def checksum(data, seed):
    """The checksum of bytes whose number is a multiple of 4."""
    words = np.frombuffer(data, dtype="<u4").astype(np.uint64)
    g = np.arange(1, len(words) + 1, dtype=np.uint64) * np.uint64(0x9E3779B1)
    g &= np.uint64(0xFFFFFFFF)
    weights = (g ^ (g >> np.uint64(15))) | np.uint64(1)
    return (seed + int(np.sum(words * weights, dtype=np.uint64))) & MASK64


def mix(v):
    v = ((v ^ (v >> 33)) * 0xFF51AFD7ED558CCD) & MASK64
    v = ((v ^ (v >> 33)) * 0xC4CEB9FE1A85EC53) & MASK64
    return v ^ (v >> 33)


def chunk_seed(identity, number, form):
    return (identity + (16 * number + form + 1) * 0x9E3779B97F4A7C15) & MASK64


# Section 1, header.


@dataclass
class Header:
    value_type: int  # of the user's values (section 24)
    conversion: int
    dtype: np.dtype  # T, little-endian
    predictor: int
    coder: int
    bound_mode: int
    shape: int
    extents: tuple
    roles: object  # of the axes (section 22); None for the rule of section 2
    classes: int  # of the mask (section 23), with a value
    has_signs: bool  # whether negative elements are a class, too
    bound: float
    error: object  # a NumPy scalar of type T
    entries: int
    record_bytes: int
    identity: int
    payload_bytes: int
    has_sections: int
    update_bytes: int
    tiles: int  # of a whole chunk; None with codecs of blocks
    apart: int  # the number of levels that are coded apart (section 34)

    @property
    def n(self):
        return grid.product(self.extents)

    @property
    def slices(self):
        """The number of slices."""
        return grid.slice_count(self.extents, self.shape, self.roles)

    @property
    def field(self):
        """The extents (z, y, x) that the shape gives a slice of the field."""
        return grid.field_extents(self.extents, self.shape, self.roles)

    @property
    def whole(self):
        """The extents of all slices, one behind the other along z."""
        return grid.whole_field(self.slices, self.field)

    @property
    def parts(self):
        """The parts of the mask."""
        return grid.PartGrid(self.extents, self.roles)

    @property
    def width(self):
        """w, the bytes of one element."""
        return self.dtype.itemsize

    @property
    def tiles_of_coarse(self):
        """Section 9: tiles of a whole chunk of the coarse field."""
        return 1 if self.tiles == 4 and self.coder != BITPLANE else self.tiles

    @property
    def distance(self):
        """B of section 15; None without anchors."""
        return grid.anchor_distance(self.shape, GEOMETRY.get(self.predictor))

    @property
    def top_level(self):
        """L of section 16, the level of anchors; 0 without."""
        return self.distance.bit_length() - 1 if self.has_levels else 0

    @property
    def field_grid(self):
        """The tiles of the field."""
        return self.grid_of(self.field, self.tiles)

    @property
    def coarse_grid(self):
        """The tiles of the coarse field."""
        return self.grid_of(grid.coarse_extents(self.field, self.shape, self.distance), self.tiles_of_coarse)

    def grid_of(self, field, tiles):
        return grid.TileGrid(field, self.shape, self.distance, self.slices, tiles, self.predictor == SLICES)

    @property
    def line_grids(self):
        """Section 34: the tiles of the lines, from line 0 on; none if no levels are apart."""
        return lines.grids(self.field_grid, self.apart, self.tiles) if self.apart else []

    @property
    def coded_grids(self):
        """Sections 15 and 34: the coarse field, if there is one, and the field or its lines, in the order of their
        chunks."""
        coarse = [self.coarse_grid] if self.has_levels else []
        return coarse + (self.line_grids[::-1] or [self.field_grid])

    @property
    def is_tiles(self):
        return self.predictor >= 16

    @property
    def start_bits(self):
        """Section 2: the bits of the start in an entry of the chunk table."""
        return 36 if self.is_tiles and self.tiles > 4 else 44

    @property
    def has_levels(self):
        return self.predictor in GEOMETRY

    @property
    def codec(self):
        """The name of a codec of blocks."""
        return BLOCK_CODECS[self.predictor, self.coder]


def scalar_of_type(data, dtype, what):
    """A number of type T in 8 bytes, from the low end, zeros above; finite, sign bit clear
    (sections 1 and 15)."""
    value = np.frombuffer(data, dtype=dtype, count=1)[0]
    if any(data[dtype.itemsize:]):
        raise ValueError(f"{what}: bytes above the element type are not zero")
    if np.signbit(value) or not np.isfinite(value):
        raise ValueError(f"{what} is not finite or has its sign bit set")
    return value


def name_of(version):
    """Section 20."""
    return f"{version >> 8}.{version & 255}"


def need_of(data):
    """Section 20: what a stream with a higher minor number needs, as the rest of an error."""
    version = int.from_bytes(data[8:10], "little")
    is_later = version > VERSION and version >> 8 == VERSION >> 8
    return f": it needs format {name_of(version)}, and this decoder reads format {name_of(VERSION)}" if is_later else ""


def read_header(data):
    if len(data) < HEADER_BYTES:
        raise ValueError("the stream is shorter than its header")
    head = data[:HEADER_BYTES]
    if head[:8] != MAGIC:
        raise ValueError("the magic is not that of a ferrosz stream")
    (version,) = struct.unpack_from("<H", head, 8)
    if version >> 8 != VERSION >> 8 or version < VERSION:
        raise ValueError(f"the stream has format {name_of(version)}, and this decoder reads format {name_of(VERSION)}")
    (stored,) = struct.unpack_from("<Q", head, 152)
    if stored != checksum(head[:152], 0):
        raise ValueError("the checksum of the header does not fit")

    value_type, predictor, coder, mode, rank, shape = head[10:16]
    if value_type not in conversion.ELEMENT_BYTES:
        raise ValueError(f"value type {value_type} is unknown")
    dtype = np.dtype(f"<f{conversion.ELEMENT_BYTES[value_type]}")
    if rank > 8:
        raise ValueError(f"rank {rank} is more than 8")
    if mode > PWREL:
        raise ValueError(f"bound mode {mode} is unknown")
    if shape > 2:
        raise ValueError(f"shape {shape} is unknown")
    tiles = predictor in TILE_CODECS
    if coder not in TILE_CODECS.get(predictor, ()) and (predictor, coder) not in BLOCK_CODECS:
        raise ValueError(f"predictor {predictor} with coder {coder} is no codec")

    all_extents = struct.unpack_from("<8Q", head, 16)
    extents = all_extents[:rank]
    if any(extent != 1 for extent in all_extents[rank:]):
        raise ValueError("an extent beyond the rank is not 1")
    (bound,) = struct.unpack_from("<d", head, 80)
    if head[87] & 0x80 or not np.isfinite(bound):
        raise ValueError("the bound is not finite or has its sign bit set")
    error = scalar_of_type(head[88:96], dtype, "the error")
    if error > np.finfo(dtype).max / dtype.type(2):
        raise ValueError("the error is above half of the largest number of its type")
    with np.errstate(all="ignore"):
        if np.isinf(1 / (dtype.type(2) * error)):
            error = dtype.type(0)
    most, apart = int.from_bytes(head[96:99], "little"), head[99]
    role_bits, classes, kind = struct.unpack_from("<HBB", head, 100)
    entries, record_bytes, _, identity, payload_bytes, update_bytes = struct.unpack_from("<6Q", head, 104)
    chunk_tiles = None
    if tiles:
        # Section 9: 4, 16 or 64 tiles a chunk, and 4 with bit planes.
        chunk_tiles = most // 16384
        if most % 16384 or chunk_tiles not in (grid.TILES_OF_CHUNK if coder != BITPLANE else (4,)):
            raise ValueError("no codec of tiles has so many elements in a chunk")
    elif most != 8192:
        raise ValueError("the most elements in a chunk is not 8192")
    conversion.check_kind(kind, value_type)
    has_signs = bool(classes & 8)
    classes = (classes & ~8) - has_signs
    if not 0 <= classes <= MOST_CLASSES - has_signs:
        raise ValueError(f"a mask of {classes} classes with a value")
    if mode == PWREL and head[88:96] != bytes(8) and not (classes or has_signs):
        raise ValueError("logarithms without a mask")
    roles = read_roles(role_bits, rank)
    if identity != mix(checksum(head[:128], 0)):
        raise ValueError("the identity does not fit the header")
    has_sections, needs_sections, payload_bytes = payload_bytes & 1, payload_bytes & 2, payload_bytes & ~3
    if needs_sections and not has_sections:
        raise ValueError("a section must be understood, and there is none")
    if record_bytes % 16 or payload_bytes % 16 or update_bytes % 16:
        raise ValueError("a length in the header is not a multiple of 16")

    header = Header(
        value_type, kind, dtype, predictor, coder, mode, shape, extents, roles, classes, has_signs, bound, error,
        entries, record_bytes, identity, payload_bytes, has_sections, update_bytes, chunk_tiles,
        apart,
    )
    check_field(header)
    return header


def read_roles(bits, rank):
    """Section 22: the role of each axis: 0 = slice, 1 = z, 2 = y, 3 = x."""
    if bits == 0:
        return None
    if bits >> 2 * rank:
        raise ValueError("roles: an axis beyond the rank has one")
    roles = [bits >> 2 * axis & 3 for axis in range(rank)]
    if roles != sorted(roles):
        raise ValueError("roles: they fall from one axis to the next")
    if 3 not in roles or (1 in roles and 2 not in roles):
        raise ValueError("roles: there is no x, or a z without a y")
    return roles


def read_order(contents, rank):
    """Section 22: the order of the axes, a permutation and not the identity."""
    order = list(contents)
    if sorted(order) != list(range(rank)):
        raise ValueError("record AXES: no permutation of the axes")
    if order == list(range(rank)):
        raise ValueError("record AXES: it is the user's order")
    return order


def read_complex(records, header, order):
    """Section 28: whether the elements are the parts of complex numbers, by the records `CPLX`."""
    if not records:
        return False
    if len(records) > 1 or records[0]:
        raise ValueError("record CPLX: there are two, or it has contents")
    if header.value_type not in (1, 2):
        raise ValueError("record CPLX: the values are not f32 or f64")
    rank = len(order)
    if rank == 0 or header.extents[order.index(rank - 1)] != 2:
        raise ValueError("record CPLX: the last axis of the user's field has not length 2")
    return True


def read_classes(records, header):
    """Section 23: the values of the classes, as unsigned integers of their bits, or NEGATIVE, by the records `MASK`."""
    count, dtype = header.classes + header.has_signs, header.dtype
    if not count:
        if records:
            raise ValueError("record MASK: the header has no classes")
        return []
    if len(records) != 1:
        raise ValueError(f"record MASK: there are {len(records)}, not one")
    if len(records[0]) != 16 * count:
        raise ValueError(f"record MASK: {len(records[0])} bytes, not those of {count} classes")
    classes = []
    for kind, zero, bits in np.frombuffer(records[0], dtype="<u4,<u4,<u8").tolist():
        if kind not in (1, 2) or zero != 0 or (kind == 2 and bits != 0):
            raise ValueError("record MASK: a class of an unknown kind")
        if NEGATIVE in classes:
            raise ValueError("record MASK: a class behind that of negative elements")
        if bits >> 8 * dtype.itemsize:
            raise ValueError("record MASK: bytes above the element type are not zero")
        classes.append(bits if kind == 1 else NEGATIVE)
    if len(set(classes)) != count:
        raise ValueError("record MASK: two classes have the same bits")
    if (NEGATIVE in classes) != header.has_signs:
        raise ValueError("record MASK: the header disagrees about negative elements")
    return classes


def check_field(header):
    """Shapes (section 2), the number of entries (sections 2 and 15) and limits (section 19)."""
    n = 1
    for extent in header.extents:
        n *= extent
        if n >= 1 << 64:
            raise ValueError("the product of the extents, in their order, does not fit in a u64")
    if header.roles is not None and header.shape == grid.LINE:
        raise ValueError("roles: the field is a line")
    if header.shape != grid.LINE and (n == 0 or not grid.has_shape(header.extents, header.shape, header.roles)):
        raise ValueError("the field has too few dimensions for the shape")
    if header.roles is not None and grid.is_default(header.extents, header.shape, header.roles):
        raise ValueError("roles: they give the same division of the field as the rule of section 2")
    if (header.predictor, header.coder) == (4, 1) and header.shape != grid.LINE:
        raise ValueError("layered has lines only")
    if header.predictor == DIRECT and header.shape != grid.LINE:
        raise ValueError("direct has lines only")
    if header.predictor == SLICES and header.shape != grid.CUBE:
        raise ValueError("slices have cubes only")
    if header.apart > header.top_level:
        raise ValueError(f"{header.apart} levels apart, of {header.top_level}")
    # longest: the bytes of the longest chunk table and payload.
    if n == 0:
        entries = longest = 0
    elif header.is_tiles:
        entries = 1 + sum(tiles.chunk_count for tiles in header.coded_grids)
        longest = grid.longest_tiles(
            entries, header.field, header.shape, header.distance, header.width, header.slices
        )
        if header.predictor == STENCIL:
            # Section 19: the coefficients of all levels.
            longest += {grid.LINE: 36, grid.PLANE: 128, grid.CUBE: 432}[header.shape]
        elif header.predictor == SLICES:
            longest += 268
    else:
        blocks = grid.BlockGrid(header.field, header.shape, header.slices)
        entries = blocks.chunk_count
        longest = 16 * entries + blocks.longest_payload(header.width)
    if (header.classes or header.has_signs) and n:
        entries += header.parts.chunk_count
        longest += header.parts.longest(header.classes, header.has_signs)
    if longest > 16 << header.start_bits:
        raise ValueError("the longest chunk table and payload are above the limit")
    if header.entries != entries:
        raise ValueError(f"the header says {header.entries} entries, the field has {entries}")
    if n == 0 and (header.payload_bytes and not header.has_sections or header.update_bytes):
        raise ValueError("a stream without elements has a payload or updates")
    if header.is_tiles and header.update_bytes:
        raise ValueError("a stream of tiles has updates")
    if header.payload_bytes > (1 << 48 if header.has_sections else longest - 16 * entries):
        raise ValueError("the payload is longer than the longest one for the extents")


# Section 1, records.


def read_records(data, known=()):
    """All records as (kind, contents), their checksum verified before. A kind with a capital that
    is not known is refused."""
    records = []
    at = 0
    while at < len(data):
        # The area and all records are multiples of 16 bytes: the 8 bytes are there.
        kind_bytes, length = struct.unpack_from("<4sI", data, at)
        if not (kind_bytes.isalpha() and kind_bytes.isascii()):
            raise ValueError(f"the kind of a record is not four letters: {kind_bytes!r}")
        kind = kind_bytes.decode("ascii")
        if at + ceil_to(16, 8 + length) > len(data):
            raise ValueError(f"record {kind} ends behind the records")
        if kind[0].isupper() and kind not in known:
            raise ValueError(f"record of unknown kind {kind}, which may not be skipped")
        records.append((kind, data[at + 8 : at + 8 + length]))
        at += ceil_to(16, 8 + length)
    return records


# Section 2, chunk table.


@dataclass
class Entry:
    form: int
    start: int
    length: int
    checksum: int


def unpack_entry(data, at, start_bits=44):
    low, check = struct.unpack_from("<QQ", data, at)
    return Entry(low & 15, 16 * (low >> 4 & (1 << start_bits) - 1), 16 * (low >> 4 + start_bits), check)


# Section 29.
def read_sections(payload, at, identity, known=()):
    """The contents of the sections of a payload, by their kinds."""
    found = {}
    while at != len(payload):
        head = payload[at : at + 32]
        if len(head) < 32 or checksum(head[:24], identity) != struct.unpack_from("<Q", head, 24)[0]:
            raise ValueError("the head of a section is damaged")
        kind, zero, length, stored = struct.unpack_from("<4sIQQ", head)
        if zero or not kind.isalpha() or kind in found:
            raise ValueError(f"a section has an impossible kind: {kind}")
        if kind[:1].isupper() and kind not in known:
            raise ValueError(f"a section that is not known: {kind}")
        padded = payload[at + 32 : at + 32 + (length + 15) // 16 * 16]
        if len(padded) % 16 or len(padded) < length or checksum(padded, identity) != stored:
            raise ValueError(f"section {kind} is damaged")
        found[kind] = padded[:length]
        at += 32 + len(padded)
    return found


class Stream:
    """A stream whose header, records, updates and sizes have been checked."""

    def __init__(self, data):
        data = bytes(data)
        self.header = header = read_header(data)
        table = HEADER_BYTES + header.record_bytes
        payload = table + 16 * header.entries
        updates = payload + header.payload_bytes
        end = updates + header.update_bytes
        if len(data) < end:
            raise ValueError(f"the stream has {len(data)} bytes of {end}")

        record_data = data[HEADER_BYTES:table]
        if checksum(record_data, 0) != struct.unpack_from("<Q", data, 120)[0]:
            raise ValueError("the checksum of the records does not fit")
        self.records = read_records(record_data, known=KNOWN_RECORDS)
        orders = [contents for kind, contents in self.records if kind == "AXES"]
        if len(orders) > 1:
            raise ValueError("record AXES: there are two")
        rank = len(header.extents)
        self.order = read_order(orders[0], rank) if orders else list(range(rank))
        marks = [contents for kind, contents in self.records if kind == "CPLX"]
        self.is_complex = read_complex(marks, header, self.order)
        masks = [contents for kind, contents in self.records if kind == "MASK"]
        self.classes = read_classes(masks, header)
        conversions = [contents for kind, contents in self.records if kind == "CONV"]
        self.offset = conversion.read_record(conversions, header.value_type, header.conversion)
        waves = [contents for kind, contents in self.records if kind == "WAVE"]
        # Section 35: the error of elements and the order of levels, or None if the coded field has no coefficients.
        self.waves = wavelet.read_record(waves, header.predictor == DIRECT and header.error != 0)
        self.value_error = float(header.error) if self.waves is None else self.waves[0]
        if conversions:
            self.value_error = struct.unpack_from("<d", conversions[0])[0]
        self.safeguards = safeguards.read_record([contents for kind, contents in self.records if kind == "SAFE"])
        self.outer = [contents for kind, contents in self.records if kind == "CORR"]

        self.payload = data[payload:updates]
        # For each number of the table, its entry and the bytes its start is counted in.
        self.entries = [
            (unpack_entry(data, table + 16 * i, header.start_bits), self.payload)
            for i in range(header.entries)
        ]
        if header.has_sections:
            last = self.entries[-1][0] if self.entries else None
            self.sections = read_sections(self.payload, last.start + last.length if last else 0, header.identity, (b"CORR", b"EXAC"))
        else:
            self.sections = {}
        self.read_updates(data[updates:end])
        check_rest(data[end:])

    def read_updates(self, data):
        """Section 8. Of several entries for a chunk the last counts. Of the others neither form
        nor checksum is looked at."""
        if not data:
            return
        header = self.header
        longest = self.longest_of_chunks()
        at = 0
        while at < len(data):
            if len(data) - at < 32:
                raise ValueError("an update is cut off")
            if data[at : at + 8] != UPDATE_MAGIC:
                raise ValueError("the magic of an update does not fit")
            count, chunk_bytes, stored = struct.unpack_from("<QQQ", data, at + 8)
            if chunk_bytes % 16:
                raise ValueError("the bytes of an update's chunks are not a multiple of 16")
            if 32 + 32 * count + chunk_bytes > len(data) - at:
                raise ValueError("an update ends behind the updates")
            entries = data[at + 32 : at + 32 + 32 * count]
            seed = checksum(data[at : at + 24], header.identity)
            if checksum(entries, seed) != stored:
                raise ValueError("the checksum of an update does not fit")
            at += 32 + 32 * count
            chunks = data[at : at + chunk_bytes]
            at += chunk_bytes

            before = -1
            position = 0
            for i in range(count):
                number, zero = struct.unpack_from("<QQ", entries, 32 * i)
                entry = unpack_entry(entries, 32 * i + 16)
                if zero:
                    raise ValueError("the zero field of an update's entry is not zero")
                if number <= before or number >= header.entries:
                    raise ValueError("the chunks of an update are not in ascending order or not in the field")
                if entry.start != position:
                    raise ValueError("the chunks of an update have gaps or another order")
                if entry.length > longest(number):
                    raise ValueError("a chunk of an update is longer than its raw form")
                before = number
                position += entry.length
                self.entries[number] = entry, chunks
            if position != chunk_bytes:
                raise ValueError("the chunks of an update do not end where it does")

    def longest_of_chunks(self):
        """A function that gives the bytes of a chunk's raw form; of a mask chunk whose parts are all raw."""
        header = self.header
        blocks = grid.BlockGrid(header.field, header.shape, header.slices)
        parts = header.parts

        def longest(number):
            if number < blocks.chunk_count:
                return ceil_to(16, blocks.box(number).size * header.width)
            return parts.longest_chunk(number - blocks.chunk_count, header.classes, header.has_signs)

        return longest

    def chunk(self, number):
        """Form and bytes of the chunk with this number in the table, its checksum verified."""
        entry, where = self.entries[number]
        if entry.start + entry.length > len(where):
            raise ValueError(f"chunk {number} ends behind the payload")
        data = where[entry.start : entry.start + entry.length]
        self.verify(number, entry, data)
        return entry.form, data

    def verify(self, number, entry, data):
        seed = chunk_seed(self.header.identity, number, entry.form)
        if checksum(data, seed) != entry.checksum:
            raise ValueError(f"the checksum of chunk {number} does not fit")


def check_rest(rest):
    """Section 1: bytes behind the end are all zero, or the first 8, or all if there are fewer, are
    those of an update's magic."""
    begin = min(len(rest), len(UPDATE_MAGIC))
    if any(rest) and rest[:begin] != UPDATE_MAGIC[:begin]:
        raise ValueError("bytes behind the end are neither zero nor the begin of an update")
