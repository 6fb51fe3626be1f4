#!/usr/bin/env python3
"""Makes cuszp.txt and aatrox.txt anew: digests of streams and of what they decode to.

    python3 cuszp/tests/vectors/make.py

The judges beside this script, cuszp_ref.py and aatrox_ref.py, are independent programs: written in
NumPy from the description of the streams, sharing no code with the library.

One line a case:

    TYPE MODE RANK Z,Y,X BOUND KIND SEED BYTES STREAM DECODED

BOUND is the error bound's bits in hexadecimal, BYTES the stream's length, STREAM and DECODED the
first 16 digits of SHA-256 of the stream and of the decoded array's bytes, or - where it holds a NaN,
whose bits the format does not fix. MODE v1 is the plain mode in the framing of version 1; AATROX
lines have mode aatrox. KIND and SEED name the
input, which cuszp/tests/common/vectors.rs makes by the same integer arithmetic as `signal` below.
"""
import hashlib
import pathlib
import numpy as np
import aatrox_ref
import cuszp_ref

HERE = pathlib.Path(__file__).parent
MODES = {"fixed": 0, "plain": 1, "outlier": 2}
TYPES = {"f32": np.float32, "f64": np.float64}
KINDS = ["walk", "flat", "halves", "huge", "special", "subnormal", "offset", "bits", "steps", "edge"]
EDGES = [2.0**32, -0.75, 0.0, -2.0**32, 1.0, 2147483520.0, -2147483648.0, float("nan")]
MASK = (1 << 64) - 1


class Random:
    """Knuth's 64-bit linear congruential generator, upper halves."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return self.state >> 32

    def pick(self, items):
        return items[self.next() % len(items)]


def from_bits(high, low, ftype, mask32, mask64):
    if ftype is np.float32:
        return np.array([high & mask32], np.uint32).view(ftype)[0]
    return np.array([(high << 32 | low) & mask64], np.uint64).view(ftype)[0]


def signal(kind, seed, n, ftype):
    """n values; all kinds but the bit patterns are exact in f32."""
    random, level, out = Random(seed), 0, np.empty(n, ftype)
    for i in range(n):
        r, low = random.next(), random.next()
        level += (r & 255) - 127
        if kind == "walk":
            x = level / 64
        elif kind == "flat":
            x = 0.0 if i // 96 % 3 == 1 else level / 64
        elif kind == "halves":
            x = (r % 41 - 20) / 2
        elif kind == "huge":
            x = float((r & 0xffff) - 0x8000) * (1 << (r >> 16) % 19)
        elif kind == "special":
            specials = [float("nan"), float("inf"), float("-inf"), -0.0]
            x = specials[r >> 8 & 3] if r >> 10 & 15 == 0 else level / 64
        elif kind == "subnormal":
            x = from_bits(r, low, ftype, 0x807fffff, 0x800fffffffffffff)
        elif kind == "offset":
            x = float((8388608 + (r & 0xffff)) * (1 << (r >> 16 & 1)) * (-1 if seed & 1 else 1))
        elif kind == "bits":
            x = from_bits(r, low, ftype, 0xffffffff, MASK)
        elif kind == "steps":
            x = float(i // 32 * 1000 + (r & 3))
        elif kind == "saturated":
            x = [5.0, 0.0, -3e20, -1.0][r >> 4 & 3] if i // 8 % 2 == 0 else 5.0
        else:
            x = EDGES[r >> 4 & 7] if r & 15 < 8 else float(r >> 8 & 3)
        out[i] = x
    return out


def bound_bits(eb, ftype):
    value = np.array([eb], ftype)
    return int(value.view(np.uint32 if ftype is np.float32 else np.uint64)[0])


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def cuszp_line(dtype, mode, rank, dims, eb, kind, seed):
    ftype, n = TYPES[dtype], dims[0] * dims[1] * dims[2]
    x, eb = signal(kind, seed, n, ftype), ftype(eb)
    if mode == "v1":
        stream = cuszp_ref.encode_v1(x, eb)
        back = cuszp_ref.decode_v1(stream.data, eb, ftype, n)
    else:
        stream = cuszp_ref.encode(x, eb, MODES[mode], rank, dims)
        back = cuszp_ref.decode(stream.data, eb, MODES[mode], ftype, rank, n=n, dims=dims)
    decoded = "-" if np.isnan(back).any() else digest(back.tobytes())
    return line(dtype, mode, rank, dims, eb, kind, seed, stream.data, decoded)


def aatrox_line(dtype, n, eb, kind, seed):
    ftype = TYPES[dtype]
    x, eb = signal(kind, seed, n, ftype), ftype(eb)
    stream = aatrox_ref.encode(x, eb)
    back = aatrox_ref.decode(stream, eb, ftype, n)
    decoded = "-" if np.isnan(back).any() else digest(back.tobytes())
    return line(dtype, "aatrox", 1, (1, 1, n), eb, kind, seed, stream, decoded)


def line(dtype, mode, rank, dims, eb, kind, seed, stream, decoded):
    dims = ",".join(map(str, dims))
    bits = f"{bound_bits(eb, TYPES[dtype]):x}"
    return f"{dtype} {mode} {rank} {dims} {bits} {kind} {seed} {len(stream)} {digest(stream)} {decoded}"


def bound_for(kind, random):
    """Mostly bounds that suit the kind, some of all sizes, some that are none."""
    odd = [0.0, -0.05, 1e-45, 5e-324, 1e-38, float("nan"), float("inf"), 3e38, 1e-300, 1e30]
    if random.next() % 10 == 0:
        return random.pick(odd)
    suited = {"halves": [0.5, 0.25, 1.0], "huge": [0.5, 2.0, 1024.0, 0.1],
              "subnormal": [1e-40, 1e-39, 1e-310, 1e-38], "offset": [0.5, 0.25, 1.0, 0.1],
              "bits": [0.5, 1e-3, 1e5, 1e20, 1e37], "edge": [0.5]}
    return random.pick(suited.get(kind, [0.05, 0.01, 0.5, 1e-3, 3.7, 100.0, 1e-6, 2.0**-12]))


def cuszp_cases(random):
    lengths = [1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025]
    for case in range(2160):
        kind = KINDS[case % len(KINDS)]
        dtype, rank = ["f32", "f64"][case // 10 % 2], case // 20 % 3 + 1
        mode = random.pick(list(MODES))
        eb = bound_for(kind, random)
        if rank == 1:
            n = random.pick(lengths) if random.next() % 2 else random.next() % 4000 + 1
            dims = (1, 1, n)
            if mode == "plain" and random.next() % 3 == 0 and 1e-38 < eb < 1e37:
                mode = "v1"
        else:
            deep = [1, 1, 2, 3, 4, 5, 8, 9] if rank == 2 else [1, 2, 3, 4, 5, 7, 8, 12]
            dims = (random.pick(deep), random.next() % 40 + 1, random.next() % 40 + 1)
            if random.next() % 8 == 0:
                dims = (dims[0], dims[1], random.next() % 5 + 1)
        yield dtype, mode, rank, dims, eb, kind, case
    for number, kind in enumerate(KINDS):
        for dtype in TYPES:
            for mode in MODES:
                rank = (number + MODES[mode]) % 3 + 1
                large = {1: [(1, 1, n) for n in (32767, 32768, 32769, 66000)],
                         2: [(1, 200, 300), (2, 181, 241), (1, 264, 268)],
                         3: [(40, 31, 43), (37, 44, 48), (13, 70, 81)]}
                yield dtype, mode, rank, random.pick(large[rank]), bound_for(kind, random), kind, 1


def v1_cases(random):
    """Tails of the value 0 with bounds whose inverse is infinite or none."""
    odd = [0.0, -0.0, 3e-39, 1e-40, -1e-40, 1e-310, float("nan"), float("inf"), -0.05]
    for case in range(60):
        eb = odd[case % len(odd)]
        yield "f32 f64".split()[case % 2], "v1", 1, (1, 1, random.next() % 100 + 1), eb, "walk", case


def anomaly_cases(random):
    """Blocks of the rate-32 anomaly that share elements with blocks that have a body."""
    found, seed = 0, 0
    while found < 120:
        rank, width = seed % 2 + 2, seed // 2 % 11 + 1
        if width % 4 == 0:
            seed += 1
            continue
        dims = (random.next() % 5 + 1, random.next() % 12 + 1, width)
        case = ["f32", "f64"][seed // 22 % 2], "outlier", rank, dims, 0.5, "saturated", seed
        x = signal("saturated", seed, dims[0] * dims[1] * width, TYPES[case[0]])
        rates = cuszp_ref.encode(x, TYPES[case[0]](0.5), MODES["outlier"], rank, dims).rates
        if (rates == 0x20).any() and (rates != 0x20).any():
            found += 1
            yield case
        seed += 1


def aatrox_cases(random):
    lengths = [1, 2, 31, 32, 33, 1023, 1024, 1025, 4097]
    for case in range(400):
        kind = KINDS[case % len(KINDS)]
        n = random.pick(lengths) if random.next() % 2 else random.next() % 3000 + 1
        if case % 40 < 2:
            n = random.pick([32767, 32768, 32769, 66000])
        yield ["f32", "f64"][case // 10 % 2], n, bound_for(kind, random), kind, case


def main():
    with np.errstate(all="ignore"):
        cases = [*cuszp_cases(Random(1)), *anomaly_cases(Random(3)),
                 *v1_cases(Random(4))]
        lines = [cuszp_line(*case) for case in cases]
        (HERE / "cuszp.txt").write_text("\n".join(lines) + "\n")
        lines = [aatrox_line(*case) for case in aatrox_cases(Random(2))]
        (HERE / "aatrox.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
