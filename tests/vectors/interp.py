#!/usr/bin/env python3
"""Makes interp.txt anew: digests of what the interpolation predictor makes of a field.

    python3 tests/vectors/interp.py [PROGRAM] > tests/vectors/interp.txt

PROGRAM is the path of an independent NumPy program of the same predictor for 3-D f32 arrays, with the
names `Config`, `compress` and `decompress` (not part of this project). If it is given, every case that
it can express must come out the same there. The code below is the judge of all other cases, and written
in NumPy from the description of the predictor; it shares no code with the library.

One line a case:

    TYPE RANK Z,Y,X GEOMETRY FLAGS ALPHA BETA RADIUS BOUND KIND SEED CODES ANCHORS KNOWN

FLAGS has a digit for each level, the finest first: 1 all axes at once, 2 reverse, 4 natural spline. BOUND
is the error bound's bits in hexadecimal. KIND and SEED name the input, which tests/interp.rs makes by the
same integer arithmetic as `signal` below. CODES are the codes plus the radius as u32, 0 for a value that
is stored as it is, in C order; ANCHORS the anchors and KNOWN the decoded field. Of each stand the first
16 digits of SHA-256 of the bytes.
"""
import hashlib
import importlib.util
import itertools
import sys
import numpy as np

TYPES = {"f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}
SPACING = {1: [512] * 3, 2: [16] * 3, 3: [8, 16, 16]}
NARROW, SQUARE, WIDE = range(3)
GEOMETRIES = ["narrow", "square", "wide"]
WINDOWS = {
    1: [(512,), (512,), (16384,)],
    2: [(16, 16), (16, 16), (256, 64)],
    3: [(8, 8, 32), (16, 16, 16), (16, 16, 64)],
}


# ------------------------------------------------------------------ inputs ----
def hashes(seed, n):
    """splitmix64 of seed * 2^32 + i"""
    with np.errstate(over="ignore"):
        z = np.uint64(seed << 32) + np.arange(n, dtype=np.uint64)
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def waves(seed, dims):
    """Three waves of parabolas, of at most 1 each: exact in f64."""
    z, y, x = np.indices(dims, np.int64).reshape(3, -1)
    total = np.zeros(z.size, np.int64)
    for h in hashes(seed ^ 0x5EED, 3):
        h = int(h)
        phase = ((h & 1023) * z + (h >> 10 & 1023) * y + (h >> 20 & 1023) * x + (h >> 32)) & 0xFFFF
        t = phase - 32768
        total += t * (32768 - np.abs(t))
    return total.astype(np.float64) / 2.0**28


def signal(kind, seed, dims, name):
    ftype, utype = TYPES[name]
    n = int(np.prod(dims))
    h = hashes(seed, n)
    noise = (h >> np.uint64(40)).astype(np.float64) - 2.0**23
    if kind == "bits":
        return (h >> np.uint64(64 - 8 * utype(0).itemsize)).astype(utype).view(ftype).reshape(dims)
    smooth = waves(seed, dims)
    rough = smooth + noise / 2.0**30
    z, y, x = np.indices(dims, np.int64).reshape(3, -1)
    rare = (h & np.uint64(63)) == 0
    sign = np.where(h & np.uint64(64), -1.0, 1.0)
    if kind == "smooth":
        v = smooth
    elif kind == "rough":
        v = rough
    elif kind == "slope":
        v = (3 * z + 5 * y - 7 * x).astype(np.float64) / 8.0
    elif kind == "halves":
        v = ((h >> np.uint64(33)) % np.uint64(41)).astype(np.float64) / 2.0 - 10.0
    elif kind == "offset":
        v = 1048576.0 + rough
    elif kind == "spikes":
        v = np.where(rare, sign * 1e4, rough)
    elif kind == "giants":
        v = np.where(rare, sign * 1e9, rough)
    elif kind == "special":
        some = np.array([np.nan, np.inf, 3e38, 1e30, -0.0])[(h >> np.uint64(7)) % np.uint64(5)]
        v = np.where(rare, np.where(np.isnan(some), some, sign * some), rough)
    elif kind == "huge":
        v = noise * (2.0**104 if name == "f32" else 2.0**1000)
    else:
        raise ValueError(kind)
    return v.astype(ftype).reshape(dims)


# --------------------------------------------------------------- predictor ----
class Case:
    def __init__(self, x, rank, geometry, flags, alpha, beta, radius, bound):
        self.x, self.rank, self.radius, self.bound = x, rank, radius, bound
        self.geometry = geometry
        self.spacing = SPACING[rank][geometry]
        self.window = WINDOWS[rank][geometry]
        self.flags, self.alpha, self.beta = flags, alpha, beta
        self.levels = self.spacing.bit_length() - 1


def along(case, known, at, axis, unit, natural):
    """(rank, prediction, neighbour behind) of the points `at` (a row of coordinates an axis)"""
    F = known.dtype.type
    n, g = known.shape[axis], at[axis]
    inside = g % case.window[axis]

    def neighbour(steps):
        moved = list(at)
        moved[axis] = np.clip(g + steps * unit, 0, n - 1)
        return known[tuple(moved)]

    a, b, c, d = (neighbour(steps) for steps in (-3, -1, 1, 3))
    back3 = inside >= 3 * unit
    fwd1 = g + unit < n
    fwd3 = (inside + 3 * unit <= case.window[axis]) & (g + 3 * unit < n)
    if natural:
        cubic = (F(23) * (b + c) - F(3) * (a + d)) / F(5) / F(8)
    else:
        cubic = (F(9) * (b + c) - (a + d)) / F(16)
    p = (b + c) / F(2)
    p = np.where(fwd3, ((F(3) * b + F(6) * c) - d) / F(8), p)
    p = np.where(back3, ((F(6) * b + F(3) * c) - a) / F(8), p)
    p = np.where(back3 & fwd3, cubic, p)
    p = np.where(fwd1, p, b)
    rank = np.where(fwd1, 1 + back3 + fwd3, 0)
    return rank, p, b


def of_face(case, known, at, axes, unit, natural):
    F = known.dtype.type
    (r1, p1, b1), (r2, p2, b2) = (along(case, known, at, k, unit, natural) for k in axes)
    corner = list(at)
    for k in axes:
        corner[k] = at[k] - unit
    best = np.where(r1 > r2, p1, np.where(r2 > r1, p2, (p1 + p2) / F(2)))
    return np.where((r1 == 0) & (r2 == 0), (b1 + b2) - known[tuple(corner)], best)


def of_cube(case, known, at, unit, natural):
    F = known.dtype.type
    (rz, z, _), (ry, y, _), (rx, x, _) = (along(case, known, at, k, unit, natural) for k in range(3))
    number = 4 * (rz == 3) + 2 * (ry == 3) + (rx == 3)
    two = F(2)
    choices = [x, x, y, (y + x) / two, z, (z + x) / two, (z + y) / two, ((x + y) + z) / F(3)]
    return np.choose(number, choices)


def stages(case, dims, level):
    """(points, predictor) of the stages of a level, in coding order"""
    unit, flags = 1 << level, case.flags[level]
    natural = bool(flags & 4)
    points = np.stack([i.ravel() for i in np.indices(dims)])
    points = points[:, (points % unit == 0).all(0)]
    odd = points // unit % 2
    count = odd.sum(0)
    axes = range(len(dims))
    if flags & 1:
        for size in (1, 2, 3):
            for odds in itertools.combinations(axes, size):
                which = (count == size) & odd[list(odds)].all(0)
                at = tuple(points[:, which])
                if size == 1:
                    yield at, lambda r, at=at, k=odds[0]: along(case, r, at, k, unit, natural)[1]
                elif size == 2:
                    yield at, lambda r, at=at, k=odds: of_face(case, r, at, k, unit, natural)
                else:
                    yield at, lambda r, at=at: of_cube(case, r, at, unit, natural)
    else:
        order = list(reversed(axes)) if flags & 2 else list(axes)
        for number, k in enumerate(order):
            # Axes that come later are still even.
            which = (odd[k] == 1) & (odd[order[number + 1:]] == 0).all(0)
            at = tuple(points[:, which])
            yield at, lambda r, at=at, k=k: along(case, r, at, k, unit, natural)[1]


def run(case, x):
    """codes, anchors and known values of an array of as many dimensions as the case's rank"""
    F = x.dtype.type
    known, codes = np.zeros_like(x), np.full(x.shape, case.radius, np.uint32)
    every = (slice(None, None, case.spacing),) * x.ndim
    anchors = known[every] = x[every]
    for level in range(case.levels - 1, -1, -1):
        error = max(case.bound / case.alpha**level, case.bound / case.beta)
        inverse, step = F(1.0 / error), F(2.0 * error)
        for at, predict in stages(case, x.shape, level):
            p = predict(known)
            p = np.where(np.isfinite(p), p, F(0))
            value = x[at]
            residual = value - p
            magnitude = np.floor((np.abs(residual) * inverse + F(1)) / F(2))
            fits = magnitude < case.radius
            k = np.where(fits, magnitude, 0).astype(np.int64) * np.where(residual < 0, -1, 1)
            decoded = p + k.astype(F) * step
            fits &= within(value, decoded, case.bound)
            known[at] = np.where(fits, decoded, value)
            codes[at] = np.where(fits, k + case.radius, 0)
    return codes, anchors, known


def within(a, b, bound):
    """|a - b| <= bound for f32 by f64, for f64 by extended precision, which x86 has and the cases need"""
    wide = np.float64 if a.dtype == np.float32 else np.longdouble
    return np.abs(a.astype(wide) - b.astype(wide)) <= wide(bound)


def judge(case):
    """as `run`, the slices of a field of planes being independent"""
    if case.rank == 3:
        return run(case, case.x)
    if case.rank == 1:
        return run(case, case.x.reshape(-1))
    parts = [run(case, plane) for plane in case.x]
    return tuple(np.stack(part) for part in zip(*parts))


def ask(program, case):
    """codes, anchors and known values that the program finds; it knows f32 in three dimensions"""
    config = program.Config(
        anchor=case.spacing, window=case.window, alpha=case.alpha, beta=case.beta,
        md=[f & 1 for f in case.flags], spline=[f >> 2 & 1 for f in case.flags],
        reverse=[f >> 1 & 1 for f in case.flags], radius=case.radius)
    found = program.compress(case.x, case.bound, config)
    decoded = program.decompress(found, config)
    assert same_bits(decoded, found["recon"])
    return found["code"].astype(np.uint32), found["anchors"], found["recon"]


def same_bits(a, b):
    return a.tobytes() == b.tobytes()


# ------------------------------------------------------------------- cases ----
CUBES = [
    (1, 1, 1), (1, 1, 2), (1, 1, 16), (1, 1, 17), (1, 1, 40), (1, 40, 1), (33, 1, 1), (1, 35, 50), (2, 3, 5),
    (8, 8, 32), (9, 9, 33), (16, 16, 16), (17, 17, 17), (18, 33, 15), (31, 30, 45), (16, 16, 64), (17, 18, 70),
    (5, 20, 131), (45, 70, 100),
]
PLANES = [(1, 1, 1), (1, 1, 33), (1, 20, 1), (1, 16, 16), (1, 17, 17), (1, 31, 65), (2, 33, 47), (3, 5, 64),
          (1, 260, 70), (1, 300, 199)]
LINES = [(1, 1, 1), (1, 1, 2), (1, 1, 511), (1, 1, 513), (1, 1, 700), (1, 1, 1537), (1, 1, 16384), (1, 1, 16900),
         (1, 1, 40000)]
KINDS = ["smooth", "rough", "slope", "halves", "offset", "spikes", "giants", "special", "huge", "bits"]
FLAGS = ["110000000", "000000000", "222222222", "111111111", "555555555", "444444444", "102461357"]
BOUNDS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 0.125, 0.5]
TIGHTENINGS = [(1.75, 4.0), (1.25, 2.0), (1.0, 2.0), (1.5, 3.0)]
RADII = [512, 128, 32768]


def cases():
    """(type, rank, dims, geometry, flags, alpha, beta, radius, bound, kind, seed)"""
    number = itertools.count()

    def pick(items, stride):
        return items[seed * stride // 7 % len(items)]

    mode0 = (SQUARE, "110000000", (1.75, 4.0))
    cuszi = (NARROW, "000000000", (1.25, 2.0))
    for dims in CUBES:
        for geometry, flags, tightening in (mode0, cuszi):
            for bound in (1e-1, 1e-3, 1e-5):
                seed = next(number)
                yield "f32", 3, dims, geometry, flags, *tightening, pick(RADII, 5), bound, pick(KINDS, 9), seed
    for rank, shapes, rounds in ((3, CUBES, 11), (2, PLANES, 8), (1, LINES, 6)):
        for dims in shapes:
            for _ in range(rounds):
                seed = next(number)
                name = "f64" if seed % 3 == 0 else "f32"
                yield (name, rank, dims, seed // 3 % 3 if seed % 5 else WIDE, FLAGS[seed % 7],
                       *pick(TIGHTENINGS, 3), pick(RADII, 5), pick(BOUNDS, 4), pick(KINDS, 9), seed)


def digest(array, ftype):
    return hashlib.sha256(np.ascontiguousarray(array, ftype).tobytes()).hexdigest()[:16]


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def main():
    program = load(sys.argv[1]) if len(sys.argv) > 1 else None
    asked = 0
    np.seterr(all="ignore")
    for name, rank, dims, geometry, flags, alpha, beta, radius, bound, kind, seed in cases():
        ftype, utype = TYPES[name]
        bound = ftype(bound)
        case = Case(signal(kind, seed, dims, name), rank, geometry, [int(f) for f in flags], alpha, beta,
                    radius, float(bound))
        found = judge(case)
        if program and rank == 3 and name == "f32":
            theirs = ask(program, case)
            assert all(same_bits(a, b) for a, b in zip(found, theirs)), (dims, geometry, flags, kind, seed)
            asked += 1
        bits = f"{int(bound.view(utype)):x}"
        codes, anchors, known = found
        print(name, rank, ",".join(map(str, dims)), GEOMETRIES[geometry], flags, alpha, beta, radius, bits, kind,
              seed, digest(codes, np.uint32), digest(anchors, ftype), digest(known, ftype))
    print(f"{asked} cases came out the same in {sys.argv[1:]}", file=sys.stderr)


if __name__ == "__main__":
    main()
