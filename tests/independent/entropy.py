"""The coders of tiles: shares (section 12), lane stacks (13), bit planes (14), tokens (11)."""

import numpy as np

from grid import LANES, STEPS

CONTEXTS = 16
CLASSES = 16
TOKENS = 112
ESCAPE = 111
SHARES_SUM = 4096
RAW_CODE = 65535

# Section 11: extra bits and first code of each token.
EXTRA_BITS = np.array([0] * 16 + [t // 8 - 1 for t in range(16, ESCAPE)] + [16])
FIRST_CODE = np.array(
    list(range(16)) + [(t - 8 * (t // 8 - 1)) << (t // 8 - 1) for t in range(16, ESCAPE)] + [0]
)


class BitReader:
    """The bits of little-endian words, the lowest first."""

    def __init__(self, data):
        self.number = int.from_bytes(data, "little")
        self.left = 8 * len(data)

    def take(self, count):
        if count > self.left:
            raise ValueError("bits are missing")
        value = self.number & (1 << count) - 1
        self.number >>= count
        self.left -= count
        return value


# Section 12.


def read_shares(data, huffman):
    """For each context the shares of its symbols; all are 0 if it is not used."""
    if len(data) % 16 or len(data) < 4 * CONTEXTS:
        raise ValueError("shares: the number of words does not fit")
    words = np.frombuffer(data, dtype="<u4")
    bodies = data[4 * CONTEXTS :]
    shares = []
    begin = 0
    for context in range(CONTEXTS):
        head = int(words[context])
        first, count, end = head & 127, head >> 7 & 127, head >> 14
        if end < begin or 4 * end > len(bodies):
            raise ValueError(f"shares: the body of context {context} ends at a wrong place")
        body = bodies[4 * begin : 4 * end]
        shares.append(read_context(context, first, count, body, huffman))
        begin = end
    if any(bodies[4 * begin :]) or len(bodies) - 4 * begin >= 16:
        raise ValueError("shares: wrong padding")
    return shares


def read_context(context, first, count, body, huffman):
    symbols = CLASSES if context == 0 else TOKENS
    shares = np.zeros(symbols, dtype=np.int64)
    if count == 0:
        if first or body:
            raise ValueError(f"shares: context {context} is not used, but not empty")
        return shares
    if first + count > symbols:
        raise ValueError(f"shares: context {context} has too many symbols")
    bits = BitReader(body)
    lengths = [bits.take(4) for _ in range(count)]
    for i, length in enumerate(lengths):
        if length:
            below = 0 if huffman else bits.take(length - 1)
            shares[first + i] = 1 << length - 1 | below
    if bits.left >= 32 or bits.number:
        raise ValueError(f"shares: the body of context {context} is too long or not padded with zeros")
    if shares[first] == 0 or shares[first + count - 1] == 0:
        raise ValueError(f"shares: the first or last symbol of context {context} has share 0")
    if shares.sum() != SHARES_SUM:
        raise ValueError(f"shares: those of context {context} do not sum to {SHARES_SUM}")
    return shares


class Intervals:
    """Section 13: the intervals of all contexts, as tables by 4096 context + the low 12 bits of x."""

    def __init__(self, shares, huffman):
        self.huffman = huffman
        self.used = np.array([bool(s.any()) for s in shares])
        self.symbol = np.zeros(CONTEXTS * SHARES_SUM, dtype=np.int64)
        # rANS: the symbol's share and v - start(t). Huffman: the length of its code.
        self.share = np.zeros_like(self.symbol)
        self.offset = np.zeros_like(self.symbol)
        self.length = np.zeros_like(self.symbol)
        reversed12 = np.array([int(f"{v:012b}"[::-1], 2) for v in range(SHARES_SUM)])
        for context, s in enumerate(shares):
            if not self.used[context]:
                continue
            order = np.arange(len(s))
            if huffman:
                order = np.argsort(-s, kind="stable")
            symbol = np.repeat(order, s[order])
            starts = np.cumsum(s[order]) - s[order]
            start = np.repeat(starts, s[order])
            low = reversed12 if huffman else np.arange(SHARES_SUM)
            here = slice(SHARES_SUM * context, SHARES_SUM * (context + 1))
            self.symbol[here] = symbol[low]
            self.share[here] = s[symbol[low]]
            self.offset[here] = np.arange(SHARES_SUM) - start if not huffman else 0
            if huffman:
                bit_length = np.array([int(v).bit_length() for v in self.share[here]])
                self.length[here] = 13 - bit_length  # 4096 / 2^l is the share

    def pop(self, x, contexts):
        """The symbols on top of states x, and x without them."""
        at = contexts * SHARES_SUM + (x & SHARES_SUM - 1)
        if self.huffman:
            return self.symbol[at], x >> self.length[at]
        return self.symbol[at], self.share[at] * (x >> 12) + self.offset[at]


# Section 13.


class LaneStacks:
    def __init__(self, data):
        if len(data) < 20:
            raise ValueError("lane stacks: the chunk is too short")
        word_count = int.from_bytes(data[:4], "little")
        nibbles = np.frombuffer(data, dtype=np.uint8, count=16, offset=4)
        lengths = [16 + int(nibbles[lane // 2] >> 4 * (lane % 2) & 15) for lane in range(LANES)]
        state_bytes = 4 * -(-sum(lengths) // 32)
        words_at = 20 + state_bytes
        self.end = words_at + 4 * -(-word_count // 2)
        if self.end > len(data):
            raise ValueError("lane stacks: the contents end behind the chunk")
        bits = BitReader(data[20:words_at])
        self.x = np.array([1 << n | bits.take(n) for n in lengths], dtype=np.int64)
        self.words = np.frombuffer(data, dtype="<u2", count=word_count, offset=words_at).astype(np.int64)
        self.taken = 0

    def refill(self, x):
        """Those of a pop's states that are below 2^16 take the next words, in order of lane."""
        low = np.flatnonzero(x < 65536)
        if len(low):
            words = self.words[self.taken : self.taken + len(low)]
            if len(words) < len(low):
                raise ValueError("lane stacks: there are too few words")
            x[low] = x[low] << 16 | words
            self.taken += len(low)
        return x

    def pop_classes(self, intervals, count):
        """Lanes 0 to count - 1 pop a symbol of context 0."""
        symbols, x = intervals.pop(self.x[:count], np.zeros(count, dtype=np.int64))
        self.x[:count] = self.refill(x)
        return symbols

    def pop_codes(self, intervals, lanes, contexts):
        """The lanes pop a token with up to 4 extra bits; then those with more pop these."""
        tokens, x = intervals.pop(self.x[lanes], contexts)
        extra = EXTRA_BITS[tokens]
        codes = FIRST_CODE[tokens]
        few = np.where(extra <= 4, extra, 0)
        codes += x & (1 << few) - 1
        x = self.refill(x >> few)
        many = np.flatnonzero(extra > 4)
        if len(many):
            n = extra[many]
            high = x[many]
            codes[many] += high & (1 << n) - 1
            x[many] = self.refill(high >> n)
        self.x[lanes] = x
        return codes

    def check_end(self):
        if (self.x != 65536).any():
            raise ValueError("lane stacks: a state is not 2^16 at the end")
        if self.taken != len(self.words):
            raise ValueError("lane stacks: words are left")


def decode_lane_stacks(data, intervals, active, groups, shifts, has_levels):
    """The codes of a chunk's tiles, by tile, step and lane, and where the raw values begin.

    `active` is by tile, step and lane; `groups` and `shifts` (section 26) by step and lane.
    """
    stacks = LaneStacks(data)
    if not intervals.used[0]:
        raise ValueError("lane stacks: the context of the classes is not used")
    codes = np.zeros(active.shape, dtype=np.int64)
    for tile in range(len(active)):
        # Tiles that are cut off have all groups (section 9). The two pops are not one.
        classes = stacks.pop_classes(intervals, LANES)
        if has_levels:
            classes = np.concatenate([classes, stacks.pop_classes(intervals, 5)])
        # Without levels the places of all groups have no shifts, with levels those of group 36.
        unshifted = classes[36:] if has_levels else classes
        if not intervals.used[unshifted[unshifted > 0]].all():
            raise ValueError("lane stacks: a class has a context that is not used")
        of_places = classes[groups]
        shifted = np.clip(of_places + shifts, 1, CONTEXTS - 1)
        contexts = np.where(active[tile] & (of_places > 0), shifted, 0)
        if not intervals.used[contexts].all():
            raise ValueError("lane stacks: a place has a context that is not used")
        for step in np.flatnonzero(contexts.any(axis=1)):
            lanes = np.flatnonzero(contexts[step])
            codes[tile, step, lanes] = stacks.pop_codes(intervals, lanes, contexts[step, lanes])
    stacks.check_end()
    return codes, stacks.end


# Section 14.


def decode_bit_planes(data, active):
    """As decode_lane_stacks."""
    tiles = len(active)
    word_count = tiles * 16 * STEPS  # N; each tile has 8192, also one that is cut off
    tops, at = take_words(data, 0, word_count // 1024)
    masks, at = take_nonzero_words(data, at, tops)
    words, at = take_nonzero_words(data, at, masks)

    # Word 512 p + 32 b + lane has bit p of the codes of a lane in steps 32 b to 32 b + 31, which
    # lie in its bytes as unpackbits takes them.
    as_bytes = words.astype("<u4").view(np.uint8).reshape(tiles, 16, 16, LANES, 4)
    bits = np.unpackbits(as_bytes, axis=-1)  # tile, p, b, lane, step mod 32
    weights = (1 << np.arange(16)).reshape(1, 16, 1, 1, 1)
    codes = (bits * weights).sum(axis=1).transpose(0, 1, 3, 2).reshape(tiles, STEPS, LANES)
    if codes[~active].any():
        raise ValueError("bit planes: a place that is not active has bits")
    # Raw codes and 2^15 were exchanged.
    exchanged = codes.copy()
    exchanged[codes == 1 << 15] = RAW_CODE
    exchanged[codes == RAW_CODE] = 1 << 15
    return exchanged, at


def take_words(data, at, count):
    if at + 4 * count > len(data):
        raise ValueError("bit planes: the contents end behind the chunk")
    return np.frombuffer(data, dtype="<u4", count=count, offset=at), at + 4 * count


def take_nonzero_words(data, at, masks):
    """The words that the bits of masks say are there; the others are 0."""
    there = np.unpackbits(masks.astype("<u4").view(np.uint8), bitorder="little").astype(bool)
    stored, at = take_words(data, at, int(there.sum()))
    if (stored == 0).any():
        raise ValueError("bit planes: a word that is 0 is stored")
    words = np.zeros(len(there), dtype="<u4")
    words[there] = stored
    return words, at
