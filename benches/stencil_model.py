"""A model of the codec `stencil` in NumPy: what its codes would cost with other stencils and other contexts.

    python benches/stencil_model.py FIELD.f32:Z,Y,X:BOUND ...

BOUND is relative to the range. A row is printed for each level and each kind of stencil; columns are bits a value of the field,
for three kinds of contexts. Not modelled: the coarse field, tables, chunks, and codes in a closed loop. Neighbours
are the field's values with noise of the size of the bound. docs/measurements/stencil.md has the results.
"""

import itertools
import sys

import numpy as np

TILE = (16, 16, 64)
BRICK = (4, 4, 16)
# The bound of a level is that of the field over this, as in most streams.
TIGHTENING = (1.0, 1.25, 1.5625)
MARGIN = 6
# Whether stencils read across the ends of tiles, and whether they have five units.
KINDS = {"without limits": (True, False), "format": (False, False), "five units": (False, True)}


class Positions:
    """The positions of a level that are odd along some axes, and the neighbours around them."""

    def __init__(self, known, odd, window):
        self.known, self.odd, self.window = known, odd, window
        self.lengths = [length - 2 * MARGIN for length in known.shape]
        self.coordinates = [np.arange(odd[i], self.lengths[i], 2) for i in range(3)]

    def neighbour(self, steps):
        starts = [MARGIN + self.odd[i] + steps[i] for i in range(3)]
        counts = [len(c) for c in self.coordinates]
        return self.known[tuple(slice(s, s + 2 * c - 1, 2) for s, c in zip(starts, counts))]

    def along(self, axis, distance):
        return self.neighbour([distance if i == axis else 0 for i in range(3)])

    def mean_beside(self, axis, across, units):
        corners = [{axis: a, across: units * b} for a in (-1, 1) for b in (-1, 1)]
        return sum(self.neighbour([at.get(i, 0) for i in range(3)]) for at in corners) / 4

    def is_known(self, axis, distance):
        """Whether the neighbour is in the window and in the field, in the shape of a broadcast."""
        c = self.coordinates[axis]
        at = c % self.window[axis] + distance
        known = (at >= 0) & (at <= self.window[axis]) & (c + distance < self.lengths[axis])
        shape = [1, 1, 1]
        shape[axis] = -1
        return known.reshape(shape)


def terms(positions, crosses_tiles, has_five_units):
    """The base of a stencil, and its terms (FORMAT.md, section 26)."""
    p = positions
    axes = [i for i in range(3) if p.odd[i]]
    mean = {a: (p.along(a, -1) + p.along(a, 1)) / 2 for a in axes}
    if len(axes) == 3:
        base = (mean[0] + mean[1] + mean[2]) / 3
        corners = sum(p.neighbour(at) for at in itertools.product((-1, 1), repeat=3)) / 8
        pairs = [p.mean_beside(a, b, 1) - base for a, b in ((0, 1), (0, 2), (1, 2))]
        return base, [mean[0] - mean[2], mean[1] - mean[2], *pairs, corners - base]

    far, five = {}, {}
    for axis in axes:
        a, b, d, e = (p.along(axis, distance) for distance in (-3, -1, 1, 3))
        both = (a + e) / 2 - mean[axis]
        if crosses_tiles:
            far[axis] = both
            continue
        behind, ahead = p.is_known(axis, -3), p.is_known(axis, 3)
        one = np.where(behind, (a + d) - 2 * b, np.where(ahead, (e + b) - 2 * d, 0))
        far[axis] = np.where(behind & ahead, both, one)
        by_five_behind = np.where(p.is_known(axis, -5), d - 3 * b + 3 * a - p.along(axis, -5), 0)
        by_five_ahead = np.where(p.is_known(axis, 5), b - 3 * d + 3 * e - p.along(axis, 5), 0)
        five[axis] = np.where(behind & ahead, 0, np.where(behind, by_five_behind, np.where(ahead, by_five_ahead, 0))) / 2
    more = [five[axis] for axis in axes] if has_five_units else []
    if len(axes) == 2:
        base = (mean[axes[0]] + mean[axes[1]]) / 2
        corners = p.mean_beside(*axes, 1) - base
        return base, [mean[axes[0]] - mean[axes[1]], far[axes[0]], far[axes[1]], corners, *more]
    base, beside = mean[axes[0]], []
    for across in set(range(3)) - set(axes):
        term = p.mean_beside(axes[0], across, 2) - base
        is_there = True if crosses_tiles else p.is_known(across, -2) & p.is_known(across, 2)
        beside.append(np.where(is_there, term, 0))
    return base, [far[axes[0]], *beside, *more]


def codes_of(field, bound, window, kind):
    """The codes of a level by stencils that are fitted to all of it; those of even positions are 0."""
    noise = np.random.default_rng(1).uniform(-bound / 2, bound / 2, field.shape)
    known = np.pad(field + noise, MARGIN, mode="reflect")
    codes = np.zeros(field.shape, np.int32)
    for odd in itertools.product((0, 1), repeat=3):
        if any(odd):
            here = tuple(slice(first, None, 2) for first in odd)
            base, parts = terms(Positions(known, odd, window), *kind)
            columns = np.stack([np.broadcast_to(part, base.shape).ravel() for part in parts], 1)
            left = (field[here] - base).ravel()
            squares = columns.T @ columns
            ridge = (np.trace(squares) * 1e-6 + 1e-9) * np.eye(len(squares))
            coefficients = np.linalg.solve(squares + ridge, columns.T @ left)
            residual = (left - columns @ coefficients).reshape(base.shape)
            codes[here] = np.rint(residual / (2 * bound))
    return codes


def entropy(codes, contexts):
    """Bits of all codes with the frequencies of each context."""
    bits = 0.0
    for context in np.unique(contexts):
        counts = np.unique(codes[contexts == context], return_counts=True)[1].astype(float)
        bits += (counts * np.log2(counts.sum() / counts)).sum()
    return bits


def classes_of(magnitudes, brick):
    """The octave of the sum of each brick, for each of its positions."""
    padding = [(0, -length % edge) for length, edge in zip(magnitudes.shape, brick)]
    padded = np.pad(magnitudes, padding)
    split = [part for length, edge in zip(padded.shape, brick) for part in (length // edge, edge)]
    classes = np.ceil(np.log2(padded.reshape(split).sum((1, 3, 5)) + 1)).astype(int)
    for axis, edge in enumerate(brick):
        classes = classes.repeat(edge, axis)
    return classes[tuple(slice(0, length) for length in magnitudes.shape)]


def fields(arguments):
    """Path, relative bound, field and absolute bound of each argument."""
    for argument in arguments:
        path, extents, relative = argument.rsplit(":", 2)
        field = np.fromfile(path, "<f4").astype(float).reshape([int(e) for e in extents.split(",")])
        yield path, relative, field, float(relative) * (field.max() - field.min())


def main():
    print("| field | bound | level | stencils | classes | shifted by oddness | with oddness |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for path, relative, whole, bound in fields(sys.argv[1:]):
        for level, tightening in enumerate(TIGHTENING):
            unit = 1 << level
            field = whole[::unit, ::unit, ::unit]
            window = [max(extent >> level, 1) for extent in TILE]
            brick = [max(edge >> level, least) for edge, least in zip(BRICK, (1, 1, 2))]
            oddness = sum(np.ix_(*(np.arange(length) % 2 for length in field.shape)))
            for name, kind in KINDS.items():
                codes = codes_of(field, bound / tightening, window, kind)
                magnitudes = np.abs(codes).astype(float)
                classes = classes_of(magnitudes, brick)
                is_coded = oddness > 0
                mean = magnitudes[is_coded].mean() + 1e-9
                shifts = [0] + [np.rint(np.log2((magnitudes[oddness == n].mean() + 1e-9) / mean)) for n in (1, 2, 3)]
                shifted = np.where(classes > 0, np.clip(classes + np.array(shifts, int)[oddness], 1, 15), 0)
                contexts = (classes, shifted, 4 * classes + oddness)
                bits = [entropy(codes[is_coded], of[is_coded]) / whole.size for of in contexts]
                columns = " | ".join(f"{each:.4f}" for each in bits)
                print(f"| {path} | {relative} | {level} | {name} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
