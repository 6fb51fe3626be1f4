#!/usr/bin/env python3
"""NumPy reference for the AATROX byte stream (see cuszp/src/aatrox.rs).

No public AATROX code exists, so this defines a stream rather than matching one.
It also runs the paper's two algorithms lane by lane, once as printed and once
with the two corrections the specification makes, to show why they are needed.

    python3 aatrox_ref.py             self tests
    python3 aatrox_ref.py --example   worked example of the spec
"""
import sys
import numpy as np
from cuszp_ref import quantize, dequantize, bit_length, _wrap, _walk

LAYER, BLOCK = 32768, 32
BLOCKS = LAYER // BLOCK


def sections(n):
    """(layers, start of initial values, start of payload)."""
    layers = -(-n // LAYER)
    return layers, layers * BLOCKS, layers * (BLOCKS + 4)


def encode(x, eb):
    x = np.ascontiguousarray(x).ravel()
    n = x.size
    layers, init_at, body_at = sections(n)
    q = np.zeros(layers * LAYER, np.int64)
    q[:n] = quantize(x, eb)
    q[n:] = q[n - 1]                         # tail differences are zero
    q = q.reshape(layers, LAYER)
    d = np.zeros_like(q)
    d[:, 1:] = q[:, 1:] - q[:, :-1]          # the first difference of a layer is zero
    d = _wrap(d).reshape(-1, BLOCK)
    mag = np.abs(d.astype(np.int64)).astype(np.uint32)
    rates = bit_length(mag.max(axis=1)).astype(np.uint8)
    parts = [rates.tobytes(), _wrap(q[:, 0]).astype("<i4").tobytes()]
    for b in np.nonzero(rates)[0]:
        parts.append(np.packbits((d[b] < 0).astype(np.uint8)).tobytes())
        for p in range(int(rates[b])):
            parts.append(np.packbits(((mag[b] >> np.uint32(p)) & 1).astype(np.uint8)).tobytes())
    return b"".join(parts)


def decode(stream, eb, ftype, n):
    buf = np.frombuffer(bytes(stream), np.uint8)
    layers, init_at, body_at = sections(n)
    rates = buf[:init_at]
    init = buf[init_at:body_at].copy().view("<i4").astype(np.int64)
    sizes = np.where(rates > 0, 4 * (1 + rates.astype(np.int64)), 0)
    at = body_at + np.cumsum(sizes) - sizes
    d = np.zeros((layers * BLOCKS, BLOCK), np.int64)
    for b in np.nonzero(rates)[0]:
        rows = np.unpackbits(buf[at[b]:at[b] + sizes[b]].reshape(-1, 4), axis=1)
        mag = np.zeros(BLOCK, np.uint32)
        for p in range(int(rates[b])):
            mag |= rows[1 + p].astype(np.uint32) << np.uint32(p)
        d[b] = np.where(rows[0] == 1, -mag.view(np.int32).astype(np.int64), mag.view(np.int32))
    q = np.cumsum(d.reshape(layers, LAYER), axis=1) + init[:, None]
    return dequantize(_wrap(q).ravel()[:n], eb, ftype)


# ---- the paper's algorithms, one warp layer, lanes in lock step ------------
def paper_encode(q, first_is_zero):
    q = q.reshape(32, 32, 32)                # iteration, lane, element
    d = np.zeros_like(q)
    prev_last, init = 0, None
    for it in range(32):
        last = np.roll(q[it, :, 31], 1)      # circular shift
        if it == 0:
            init = q[0, 0, 0]
            if first_is_zero:
                prev_last = init             # correction 1
        last[0], prev_last = prev_last, last[0]   # tail rotation
        d[it, :, 0] = q[it, :, 0] - last
        d[it, :, 1:] = q[it, :, 1:] - q[it, :, :-1]
    return d, init


def paper_decode(d, init, exclusive):
    out, accum = np.zeros_like(d), init
    for it in range(32):
        loc = np.cumsum(d[it], axis=1)       # thread prefix-sum
        tail = loc[:, 31].copy()
        for step in (1, 2, 4, 8, 16):        # inclusive warp prefix-sum
            up = np.concatenate([np.zeros(step, tail.dtype), tail[:-step]])
            tail = tail + up
        tail = tail - loc[:, 31] if exclusive else loc[:, 31]   # correction 2
        out[it] = loc + tail[:, None] + accum
        accum = out[it, 31, 31]
    return out.ravel()


def self_test():
    rng = np.random.default_rng(7)
    count = 0
    for ft in (np.float32, np.float64):
        for n in (1, 31, 32, 33, 1023, 1025, 32767, 32768, 32769, 100003):
            for step, eb in ((1.0, 1e-2), (1e-3, 1e-2), (50.0, 0.3)):
                x = _walk(rng, n, ft, step) + ft(17)
                s = encode(x, ft(eb))
                y = decode(s, ft(eb), ft, n)
                assert np.array_equal(y, dequantize(quantize(x, ft(eb)), ft(eb), ft))
                count += 1
    q = np.cumsum(rng.integers(-3, 4, LAYER)) + 1000
    d, init = paper_encode(q, True)
    assert np.array_equal(paper_decode(d, init, True), q)
    assert np.array_equal(d.ravel()[1:], np.diff(q)) and d.ravel()[0] == 0
    as_printed = paper_decode(*paper_encode(q, False), False)
    first_only = paper_decode(*paper_encode(q, True), False)
    second_only = paper_decode(*paper_encode(q, False), True)
    print(f"{count} streams round-tripped")
    print("paper's algorithms as printed reproduce the input:", np.array_equal(as_printed, q))
    print("  with only the first difference corrected:", np.array_equal(first_only, q))
    print("  with only the exclusive prefix corrected:", np.array_equal(second_only, q),
          "(every code is off by", set((second_only - q).tolist()), ")")
    empty = len(encode(np.zeros(LAYER * 4, np.float32), 1e-3))
    print("largest f32 ratio:", LAYER * 16 / empty)


def example():
    from cuszp_ref import EXAMPLE_STEPS
    q = np.concatenate([np.cumsum(EXAMPLE_STEPS), np.full(32, 503), [503, 504, 503]])
    x = (q * 0.02 + 0.004).astype(np.float32)
    eb = np.float32(0.01)
    assert np.array_equal(quantize(x, eb), q)
    s = encode(x, eb)
    print(f"n = {x.size}, stream {len(s)} bytes")
    print("rate bytes 0..3   ", s[:4].hex(" "), " (4..1023 are 00)")
    print("initial value     ", s[1024:1028].hex(" "))
    print("payload from 1028 ", s[1028:].hex(" "))


if __name__ == "__main__":
    example() if "--example" in sys.argv else self_test()
