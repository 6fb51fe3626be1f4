#!/usr/bin/env python3
"""NumPy reference for the cuSZp byte stream.  An independent program.

Written from the specification, not from the CUDA sources.  Covers

    modes   fixed, plain, outlier           (mode ids 0, 1, 2)
    dims    1, 2, 3                         (blocks of 32, 8x8, 4x4x4)
    types   float32, float64
    v1      the older SC'23 1-D stream      (encode_v1 / decode_v1)

Bytes the real encoder leaves unwritten (alignment gap in 2-D/3-D, holes of the
rate-32 anomaly) come out as zero; `unspecified_mask` says which they are.

    python3 cuszp_ref.py              run the self tests
    python3 cuszp_ref.py --example    print the worked example of the spec
    python3 cuszp_ref.py --vectors    print the digest table of the spec
"""
import hashlib
import sys
import numpy as np

FIXED, PLAIN, OUTLIER = 0, 1, 2
MODE_NAMES = {FIXED: "fixed", PLAIN: "plain", OUTLIER: "outlier"}
CHUNK_1D = 32768          # elements per thread block, 1-D
CHUNK_ND = {4: 512, 8: 1024}   # data blocks per thread block, 2-D/3-D, by item size
I32_MIN, I32_MAX = -(1 << 31), (1 << 31) - 1


# --------------------------------------------------------------------------
# arithmetic
# --------------------------------------------------------------------------
def quantize(x, eb):
    """Spec section 4: value -> int32 quantisation code, bit exact with the GPU."""
    x = np.asarray(x)
    ft = x.dtype.type
    if ft not in (np.float32, np.float64):
        raise TypeError("float32 or float64 only")
    half = ft(0.5)
    with np.errstate(all="ignore"):
        recip = half / ft(eb)                 # one correctly rounded division
        t = x * recip                         # rounded
        u = t + half                          # rounded again, never fused
        nan = np.isnan(u)
        whole = np.trunc(np.where(nan, 0, u)).astype(np.float64)
        code = np.clip(whole, I32_MIN, I32_MAX).astype(np.int64)
        # NaN converts to 0 from f32 and to INT32_MIN from f64
        code = np.where(nan, 0 if ft is np.float32 else I32_MIN, code)
        s = np.where(t >= -half, 0, 1)        # NaN compares false -> 1
    return (code - s).astype(np.uint64).astype(np.uint32).view(np.int32)


def dequantize(q, eb, ft):
    """Spec section 5: int32 code -> value, 2 * round(round(q) * eb)."""
    ft = np.dtype(ft).type
    with np.errstate(all="ignore"):
        return ft(2) * (q.astype(ft) * ft(eb))


def bit_length(v):
    """Number of significant bits of uint32 (0 for 0)."""
    v = np.asarray(v, dtype=np.uint32).astype(np.float64)
    return np.where(v > 0, np.floor(np.log2(np.maximum(v, 1))) + 1, 0).astype(np.int64)


def _wrap(a):
    return np.asarray(a, dtype=np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)


# --------------------------------------------------------------------------
# geometry: which element sits at which place of which block
# --------------------------------------------------------------------------
class Grid:
    """Block table of one array.  dims is (z, y, x), x fastest; None for 1-D."""

    def __init__(self, ndim, n=None, dims=None, ftype=np.float32):
        self.ndim = ndim
        if ndim == 1:
            self.n = int(n)
            self.block = 32
            self.chunks = -(-self.n // CHUNK_1D)
            self.nblocks = self.chunks * (CHUNK_1D // 32)
            self.blocks_per_chunk = CHUNK_1D // 32
            self.payload_start = self.nblocks
            idx = np.arange(self.nblocks * 32, dtype=np.int64).reshape(-1, 32)
            self.index, self.valid = idx, idx < self.n
        else:
            z, y, x = (int(v) for v in dims)
            self.n, self.block = z * y * x, 64
            if ndim == 2:
                gz, gy, gx = z, -(-y // 8), -(-x // 8)
                bz, by, bx = np.unravel_index(np.arange(gz * gy * gx), (gz, gy, gx))
                e = np.arange(64)
                row = by[:, None] * 8 + e // 8
                col = e % 8
                start = bz[:, None] * (y * x) + row * x + bx[:, None] * 8
                self.valid = (row < y) & ((col < 4) | (bx[:, None] * 8 + 4 < x))
            elif ndim == 3:
                gz, gy, gx = -(-z // 4), -(-y // 4), -(-x // 4)
                bz, by, bx = np.unravel_index(np.arange(gz * gy * gx), (gz, gy, gx))
                e = np.arange(64)
                sl = bz[:, None] * 4 + e // 16
                row = by[:, None] * 4 + (e // 4) % 4
                col = e % 4
                start = sl * (y * x) + row * x + bx[:, None] * 4
                self.valid = (sl < z) & (row < y)
            else:
                raise ValueError("ndim is 1, 2 or 3")
            # a row always starts at a multiple of four elements
            self.index = (start // 4) * 4 + col
            self.nblocks = gz * gy * gx
            self.blocks_per_chunk = CHUNK_ND[np.dtype(ftype).itemsize]
            self.chunks = -(-self.nblocks // self.blocks_per_chunk)
            self.payload_start = -(-self.nblocks // 4) * 4
        self.sign_bytes = self.block // 8

    # spatial difference and its inverse; both on (nblocks, block) int32 codes
    def delta(self, q):
        q = q.astype(np.int64)
        d = q.copy()
        if self.ndim == 1:
            d[:, 1:] -= q[:, :-1]
        elif self.ndim == 2:
            v, o = q.reshape(-1, 8, 8), d.reshape(-1, 8, 8)
            o[:, :, 1:] -= v[:, :, :-1]
            o[:, 1:, 0] -= v[:, :-1, 0]
        else:
            v, o = q.reshape(-1, 4, 4, 4), d.reshape(-1, 4, 4, 4)
            o[:, :, :, 1:] -= v[:, :, :, :-1]
            o[:, :, 1:, 0] -= v[:, :, :-1, 0]
            o[:, 1:, 0, 0] -= v[:, :-1, 0, 0]
        return _wrap(d)

    def undelta(self, d):
        d = d.astype(np.int64)
        if self.ndim == 1:
            return _wrap(np.cumsum(d, axis=1))
        if self.ndim == 2:
            v = d.reshape(-1, 8, 8).copy()
            v[:, :, 0] = np.cumsum(v[:, :, 0], axis=1)
            return _wrap(np.cumsum(v, axis=2).reshape(-1, 64))
        v = d.reshape(-1, 4, 4, 4).copy()
        v[:, :, 0, 0] = np.cumsum(v[:, :, 0, 0], axis=1)
        v[:, :, :, 0] = np.cumsum(v[:, :, :, 0], axis=2)
        return _wrap(np.cumsum(v, axis=3).reshape(-1, 64))


# --------------------------------------------------------------------------
# block coding
# --------------------------------------------------------------------------
def _sizes(rates, mode, sign_bytes):
    """Bytes each block occupies in the payload, from its rate byte."""
    r = rates.astype(np.int64)
    if mode != OUTLIER:
        return np.where(r > 0, sign_bytes * (1 + r), 0)
    low, ob = r & 31, ((r >> 5) & 3) + 1
    return np.where(r & 128, sign_bytes * (1 + low) + ob,
                    np.where(low > 0, sign_bytes * (1 + low), 0))


def _pack(rates, mode, mag, neg, sign_bytes):
    """Payload bytes of blocks that all carry the same rate byte -> (k, size)."""
    rate = int(rates)
    flag, ob = (rate & 128) != 0, 0
    parts = []
    if mode == OUTLIER:
        if flag:
            ob = ((rate >> 5) & 3) + 1
            parts.append(mag[:, :1].astype("<u4").view(np.uint8)[:, :ob])
            mag = mag.copy()
            mag[:, 0] = 0
        rate &= 31
    parts.append(np.packbits(neg, axis=1))
    for p in range(rate):
        parts.append(np.packbits(((mag >> np.uint32(p)) & 1).astype(np.uint8), axis=1))
    return np.concatenate(parts, axis=1)


def _unpack(body, rate, mode, block, sign_bytes):
    """Inverse of _pack: (k, size) bytes -> signed int32 differences."""
    k, pos, first = body.shape[0], 0, None
    if mode == OUTLIER:
        if rate & 128:
            ob = ((rate >> 5) & 3) + 1
            word = np.zeros((k, 4), np.uint8)
            word[:, :ob] = body[:, :ob]
            first, pos = word.copy().view("<u4")[:, 0], ob
        rate &= 31
    neg = np.unpackbits(body[:, pos:pos + sign_bytes], axis=1)
    pos += sign_bytes
    mag = np.zeros((k, block), np.uint32)
    for p in range(rate):
        bits = np.unpackbits(body[:, pos:pos + sign_bytes], axis=1)
        mag |= bits.astype(np.uint32) << np.uint32(p)
        pos += sign_bytes
    if first is not None:
        mag[:, 0] = first
    m = mag.view(np.int32).astype(np.int64)
    return _wrap(np.where(neg == 1, -m, m))


def _choose_rates(d, grid, mode):
    """Rate byte per block plus the size the encoder books for it."""
    sb = grid.sign_bytes
    mag = np.abs(d.astype(np.int64))
    if grid.ndim == 1:                       # signed maximum: 2**31 never counts
        counted = np.where(mag == 1 << 31, 0, mag)
    else:
        counted = mag
    fr1 = bit_length(counted.max(axis=1).astype(np.uint32))
    size1 = np.where(fr1 > 0, sb * (1 + fr1), 0)
    if mode != OUTLIER:
        return fr1.astype(np.uint8), size1
    fr2 = bit_length(counted[:, 1:].max(axis=1).astype(np.uint32))
    ob = (bit_length(mag[:, 0].astype(np.uint32)) + 7) // 8
    size2 = sb * (1 + fr2) + ob
    use2 = size2 < size1
    rates = np.where(use2, fr2 | 128 | ((ob - 1) << 5), fr1)
    return rates.astype(np.uint8), np.where(use2, size2, size1)


# --------------------------------------------------------------------------
# whole streams
# --------------------------------------------------------------------------
class Stream:
    """data: bytes up to the last payload byte; reported: the size cuSZp returns;
    unspecified_mask: True where the real encoder leaves the byte unwritten."""

    def __init__(self, data, reported, unspecified_mask, rates):
        self.data, self.reported = data, reported
        self.unspecified_mask, self.rates = unspecified_mask, rates


def encode(x, eb, mode, ndim=1, dims=None, oob=0.0):
    """Array -> Stream.  oob is the value read past the end (2-D/3-D, x % 4 != 0)."""
    x = np.ascontiguousarray(x).ravel()
    grid = Grid(ndim, n=x.size, dims=dims, ftype=x.dtype)
    if grid.n != x.size:
        raise ValueError("dims do not match the array")
    return _encode_grid(x, eb, mode, grid, oob)


def _encode_grid(x, eb, mode, grid, oob):
    ft = x.dtype.type
    inside = grid.index < x.size
    v = np.where(inside, x[np.minimum(grid.index, x.size - 1)], ft(oob))
    q = np.where(grid.valid, quantize(v, eb), 0)
    d = q if mode == FIXED else grid.delta(q)
    d = np.where(grid.valid, d, 0).astype(np.int32)

    rates, booked = _choose_rates(d, grid, mode)
    real = _sizes(rates, mode, grid.sign_bytes)
    # offsets: chunks advance by the booked sizes, blocks inside a chunk by the
    # real ones.  They differ only in the rate-32 anomaly of outlier 2-D/3-D.
    chunk = np.arange(grid.nblocks) // grid.blocks_per_chunk
    chunk_len = np.bincount(chunk, weights=booked, minlength=grid.chunks).astype(np.int64)
    chunk_at = np.concatenate([[0], np.cumsum(chunk_len)])
    run = np.cumsum(real) - real
    first_of_chunk = run[np.arange(grid.chunks) * grid.blocks_per_chunk]
    at = grid.payload_start + chunk_at[chunk] + run - first_of_chunk[chunk]
    total = grid.payload_start + int(chunk_at[-1])

    out = np.zeros(total, np.uint8)
    written = np.zeros(total, bool)
    out[:grid.nblocks], written[:grid.nblocks] = rates, True
    mag = np.abs(d.astype(np.int64)).astype(np.uint32)
    neg = (d < 0).astype(np.uint8)
    for r in np.unique(rates):
        sel = np.nonzero((rates == r) & (real > 0))[0]
        if sel.size == 0:
            continue
        body = _pack(r, mode, mag[sel], neg[sel], grid.sign_bytes)
        where = at[sel][:, None] + np.arange(body.shape[1])
        out[where] = body
        written[where] = True

    # what cuSZp reports: the sum of the payload plus the rate bytes, except that
    # a single thread block never publishes its payload size
    body_len = int(chunk_at[-1]) if grid.chunks > 1 else 0
    return Stream(out.tobytes(), body_len + grid.nblocks, ~written, rates)


def decode(stream, eb, mode, ftype, ndim=1, n=None, dims=None):
    """Bytes -> flat array of ftype.  Trailing bytes are ignored."""
    grid = Grid(ndim, n=n, dims=dims, ftype=ftype)
    return _decode_grid(stream, eb, mode, ftype, grid)


def _decode_grid(stream, eb, mode, ftype, grid):
    buf = np.frombuffer(bytes(stream), np.uint8)
    if buf.size < grid.payload_start:
        raise ValueError("stream shorter than its rate section")
    rates = buf[:grid.nblocks]
    sizes = _sizes(rates, mode, grid.sign_bytes)
    at = grid.payload_start + np.cumsum(sizes) - sizes
    end = grid.payload_start + int(sizes.sum())
    if buf.size < end:
        raise ValueError(f"stream has {buf.size} bytes, its rates need {end}")
    codes = np.zeros(grid.index.shape, np.int32)
    for r in np.unique(rates):
        sel = np.nonzero((rates == r) & (sizes > 0))[0]
        if sel.size == 0:
            continue
        body = buf[at[sel][:, None] + np.arange(int(sizes[sel[0]]))]
        d = _unpack(body, int(r), mode, grid.block, grid.sign_bytes)
        codes[sel] = d if mode == FIXED else grid.undelta(d)
    out = np.zeros(grid.n, ftype)            # blocks without a body are never written
    keep = grid.valid & (grid.index < grid.n) & (sizes > 0)[:, None]
    # Where blocks share an element and disagree, in damaged streams, the last one stays.
    out[grid.index[keep]] = dequantize(codes, eb, ftype)[keep]
    return out


# --------------------------------------------------------------------------
# the older 1-D stream (cuSZp V1.0 / V1.1)
# --------------------------------------------------------------------------
class _GridV1(Grid):
    def __init__(self, n):
        super().__init__(1, n=n)
        keep = -(-self.n // 32)
        self.index, self.valid = self.index[:keep], self.valid[:keep]
        self.nblocks = self.payload_start = keep
        self.chunks, self.blocks_per_chunk = 2, keep   # one run, size is reported


def encode_v1(x, eb):
    """Same blocks as plain, but ceil(n/32) rate bytes and a tail that steps to 0."""
    x = np.ascontiguousarray(x).ravel()
    grid = _GridV1(x.size)
    grid.chunks, grid.blocks_per_chunk = 1, max(grid.nblocks, 1)
    pad = np.zeros(grid.nblocks * 32, x.dtype)
    pad[:x.size] = x
    grid.valid = np.ones_like(grid.valid)    # padding is a real value: code 0
    s = _encode_grid(pad, eb, PLAIN, grid, 0.0)
    s.reported = len(s.data)
    return s


def decode_v1(stream, eb, ftype, n):
    return _decode_grid(stream, eb, PLAIN, ftype, _GridV1(n))


# --------------------------------------------------------------------------
# tests and the worked example
# --------------------------------------------------------------------------
def _walk(rng, n, ft, step=1.0):
    return np.cumsum(rng.standard_normal(n) * step).astype(ft)


def _check(x, eb, mode, ndim, dims, ft):
    s = encode(x, eb, mode, ndim, dims)
    y = decode(s.data, eb, mode, ft, ndim, n=x.size, dims=dims)
    q = quantize(x, eb)
    covered = np.zeros(x.size, bool)
    g = Grid(ndim, n=x.size, dims=dims)
    idx = g.index[g.valid]
    covered[idx[idx < x.size]] = True
    assert np.array_equal(y[covered], dequantize(q, eb, ft)[covered])
    slack = eb * 1e-3 + np.abs(x.astype(np.float64)) * np.finfo(ft).eps * 2
    bad = np.abs(x.astype(np.float64) - y) > eb + slack
    assert not (bad & covered).any()
    return s, int((~covered).sum())


def self_test():
    rng = np.random.default_rng(20251025)
    count = lost = 0
    for ft in (np.float32, np.float64):
        for n in (1, 31, 32, 33, 1000, 32767, 32768, 32769, 100001):
            for mode in (FIXED, PLAIN, OUTLIER):
                for step, eb in ((1.0, 1e-2), (1e-3, 1e-2), (50.0, 0.3)):
                    _check(_walk(rng, n, ft, step), eb, mode, 1, None, ft)
                    count += 1
        for dims in ((1, 8, 8), (1, 9, 12), (3, 17, 20), (2, 64, 4), (1, 300, 400),
                     (1, 2, 11), (1, 7, 10), (2, 5, 9), (5, 6, 7), (9, 33, 36), (40, 40, 40)):
            n = dims[0] * dims[1] * dims[2]
            for ndim in (2, 3):
                for mode in (FIXED, PLAIN, OUTLIER):
                    s, miss = _check(_walk(rng, n, ft), 1e-2, mode, ndim, dims, ft)
                    count, lost = count + 1, lost + miss
    for ft in (np.float32, np.float64):
        for n in (1, 33, 40000, 300001):
            x = _walk(rng, n, ft)
            s = encode_v1(x, 1e-2)
            y = decode_v1(s.data, 1e-2, ft, n)
            assert np.array_equal(y, dequantize(quantize(x, 1e-2), 1e-2, ft))
            count += 1
    # the compiled decoder computes fma(q, eb, q*eb); show it equals 2*(q*eb)
    q = rng.integers(I32_MIN, I32_MAX, 2_000_000, endpoint=True).astype(np.int32)
    e = np.float32(rng.uniform(1e-6, 1, q.size))
    qf = q.astype(np.float32)
    fused = (qf.astype(np.float64) * e.astype(np.float64)
             + (qf * e).astype(np.float64)).astype(np.float32)
    assert np.array_equal(fused, np.float32(2) * (qf * e))
    print(f"{count} streams round-tripped; {lost} elements outside every block "
          "(the x % 4 == 3 tail of the format)")


EXAMPLE_STEPS = [500, 0, 1, -1, 2, -2, 3, -3, 0, 1, 1, -1, -1, 2, 0, -3,
                 3, 0, 0, 1, -2, 2, -1, 3, -3, 0, 1, -1, 0, 2, -2, 1]


def example():
    """Worked example of the spec: 32 values, eb = 0.01f, one block in use."""
    q = np.cumsum(EXAMPLE_STEPS)
    x = (q * 0.02 + 0.004).astype(np.float32)
    eb = np.float32(0.01)
    assert np.array_equal(quantize(x, eb), q)
    print("x bits", " ".join(f"{v:08x}" for v in x.view(np.uint32)))
    print("q     ", " ".join(map(str, q)))
    print("d     ", " ".join(map(str, EXAMPLE_STEPS)))
    for mode in (FIXED, PLAIN, OUTLIER):
        s = encode(x, eb, mode)
        assert np.array_equal(decode(s.data, eb, mode, np.float32, n=32),
                              dequantize(q.astype(np.int32), eb, np.float32))
        print(f"\n{MODE_NAMES[mode]}: rate byte 0x{s.data[0]:02x}, true length "
              f"{len(s.data)}, length cuSZp reports {s.reported}")
        print("  payload", s.data[1024:].hex(" "))
    s = encode_v1(x, eb)
    print(f"\nv1 plain: {len(s.data)} bytes, all: {s.data.hex(' ')}")
    print("\nquantisation codes at eb = 0.5 (reciprocal exactly 1)")
    rows = [0.5, -0.5, 1.5, -1.5, 2.5, -2.5, np.nextafter(np.float32(0.5), np.float32(0)),
            np.nextafter(np.float32(-0.5), np.float32(-1)), 8388609, -8388609, 8388610, -8388610,
            16777218, -16777218, 2147483520, -2147483520, 2147483648, -2147483648,
            np.inf, -np.inf, np.nan]
    for v in rows:
        f, g = (int(quantize(np.array([v], t), t(0.5))[0]) for t in (np.float32, np.float64))
        print(f"  {float(v)!r:>24}  f32 {f:>12}  f64 {g:>12}")


def lcg_walk(n, ft):
    """Portable test signal: exact in float32, so no generator can differ."""
    state, level, out = 12345, 0, np.empty(n, np.int64)
    for i in range(n):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        level += (state >> 16 & 0xFF) - 127
        out[i] = level if i % 4096 < 3072 else 0
    return (out / 64.0).astype(ft)


def vectors():
    """Digest table: signal lcg_walk, eb = 0.05, unspecified bytes taken as 0."""
    cases = [(1, None, 100000), (1, None, 32769), (1, None, 1000),
             (2, (1, 200, 300), None), (2, (3, 50, 37), None),
             (3, (20, 30, 40), None), (3, (9, 17, 23), None)]
    for ft in (np.float32, np.float64):
        for ndim, dims, n in cases:
            n = n or dims[0] * dims[1] * dims[2]
            x = lcg_walk(n, ft)
            for mode in (FIXED, PLAIN, OUTLIER):
                s = encode(x, ft(0.05), mode, ndim, dims)
                y = decode(s.data, ft(0.05), mode, ft, ndim, n=n, dims=dims)
                print(f"| {ft.__name__} | {ndim}D {dims or n} | {MODE_NAMES[mode]} | {len(s.data)} "
                      f"| {s.reported} | {hashlib.sha256(s.data).hexdigest()[:16]} "
                      f"| {hashlib.sha256(y.tobytes()).hexdigest()[:16]} |")


if __name__ == "__main__":
    if "--example" in sys.argv:
        example()
    elif "--vectors" in sys.argv:
        vectors()
    else:
        self_test()
