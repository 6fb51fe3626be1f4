"""A model of stencils over slices in NumPy: what codes would cost if a slice were predicted from the slices before it, too.

    python benches/slices_model.py FIELD.f32:Z,Y,X:BOUND ...

BOUND is relative to the range. A tile has 16 slices, or 64 in rows of 64. Each slice is predicted by levels of its own; the
slices before it in the tile are its references. Modelled: quantisation in a closed loop, entropy of codes and classes with
the format's zones and shifts of contexts, coefficients. Not modelled: the coarse field, whose values are taken as known at 10
bits each, frequency tables, chunks. docs/measurements/slices.md has the results.
"""

import sys

import numpy as np

from stencil_model import classes_of, entropy, fields

EXTENTS = (16, 64)  # y, x of a tile
ROOT = 4  # the level of the positions on the grid of anchors
ODD = ((0, 1), (1, 0), (1, 1))
ALPHA, BETA = 1.25, 2.0
ANCHOR_BITS = 10
# Slices of a tile; references; of how many of them there are all terms, of the others only one.
WAYS = ((16, 0, 0), (16, 1, 1), (16, 2, 1), (16, 3, 0), (16, 3, 1), (16, 3, 3), (16, 4, 1), (64, 3, 1))


class Part:
    """The positions of a slice that are of one level, odd along some axes."""

    def __init__(self, lengths, level, odd):
        self.lengths, self.level, self.odd, self.unit = lengths, level, odd, 1 << level
        stride = self.unit if level == ROOT else 2 * self.unit
        self.at = [np.arange(o * self.unit, n, stride) for o, n in zip(odd, lengths)]
        self.grid = np.ix_(*self.at)

    def value(self, slice_, steps):
        """The values so many units away, by axis; any values where there are none."""
        at = [np.clip(c + s * self.unit, 0, n - 1) for c, s, n in zip(self.at, steps, self.lengths)]
        return slice_[np.ix_(*at)]

    def along(self, slice_, axis, distance):
        return self.value(slice_, (distance, 0) if axis == 0 else (0, distance))

    def flags(self, axis, of_coordinates):
        return of_coordinates.reshape((-1, 1) if axis == 0 else (1, -1))

    def is_in_field(self, axis):
        return self.flags(axis, self.at[axis] + self.unit < self.lengths[axis])

    def is_in_window(self, axis, distance):
        c, steps = self.at[axis], distance * self.unit
        i = c % EXTENTS[axis] + steps
        return self.flags(axis, (i >= 0) & (i <= EXTENTS[axis]) & (c + steps < self.lengths[axis]))

    def near(self, slice_, axis):
        behind, ahead = (self.along(slice_, axis, d) for d in (-1, 1))
        return np.where(self.is_in_field(axis), (behind + ahead) / 2, behind)

    def far(self, slice_, axis):
        a, b, d, e = (self.along(slice_, axis, distance) for distance in (-3, -1, 1, 3))
        behind, ahead = self.is_in_window(axis, -3), self.is_in_window(axis, 3)
        one = np.where(behind, a + d - 2 * b, np.where(ahead, e + b - 2 * d, 0))
        both = np.where(behind & ahead, (a + e - b - d) / 2, one)
        return np.where(self.is_in_field(axis), both, 0)

    def corners(self, slice_, across=None):
        """The mean of four corners, two units away along the axis `across`."""
        scale = [2 if axis == across else 1 for axis in range(2)]
        return sum(self.value(slice_, (i * scale[0], j * scale[1])) for i in (-1, 1) for j in (-1, 1)) / 4

    def stencil(self, slice_):
        """Base and terms of FORMAT.md, section 26, for planes."""
        if self.odd == (1, 1):
            m, n = self.near(slice_, 0), self.near(slice_, 1)
            base = (m + n) / 2
            inside = self.is_in_field(0) & self.is_in_field(1)
            terms = [np.where(inside, m - n, 0), np.where(inside, self.corners(slice_) - base, 0)]
            return base, [*terms, self.far(slice_, 0), self.far(slice_, 1)]
        axis = self.odd.index(1)
        base = self.near(slice_, axis)
        is_there = self.is_in_window(1 - axis, -2) & self.is_in_window(1 - axis, 2) & self.is_in_field(axis)
        return base, [self.far(slice_, axis), np.where(is_there, self.corners(slice_, 1 - axis) - base, 0)]

    def prediction(self, known, references, with_terms):
        """Base and terms, those of references included. On the grid of anchors there are references alone."""
        if self.level == ROOT:
            values = [reference[self.grid] for reference in references]
            return values[0], [values[0] - value for value in values[1:]]
        base, terms = self.stencil(known)
        for number, reference in enumerate(references):
            of_reference, more = self.stencil(reference)
            terms.append(reference[self.grid] - of_reference)
            terms += more if number < with_terms else []
        return base, terms


class Model:
    def __init__(self, field, error, way):
        self.field, self.error = field, error
        self.slices, self.references, self.with_terms = way
        self.noisy = field + np.random.default_rng(0).uniform(-0.7 * error, 0.7 * error, field.shape)
        lengths = field.shape[1:]
        parts = [Part(lengths, ROOT, (0, 0))] + [Part(lengths, level, odd) for level in range(ROOT)[::-1] for odd in ODD]
        self.parts = [part for part in parts if min(len(c) for c in part.at)]

    def bound(self, level):
        return self.error / min(ALPHA**level, BETA)

    def references_of(self, known, number):
        """The slices before this one in its tile; the farthest again, where there are too few."""
        in_tile = number % self.slices
        back = [min(1 + i, in_tile) for i in range(self.references)]
        return [known[number - distance] for distance in back] if in_tile else []

    def fit(self, part, is_first):
        """Coefficients of the first slices of tiles, or of the others, by values with noise of the size of the bound."""
        squares = products = 0
        numbers = [n for n in range(len(self.field)) if (n % self.slices == 0) == is_first]
        for number in numbers[:: max(1, len(numbers) // 32)]:
            references = self.references_of(self.noisy, number)
            if part.level == ROOT and len(references) < 2:
                return np.zeros(0)
            base, terms = part.prediction(self.noisy[number], references, self.with_terms)
            columns = np.array([term.ravel() for term in terms])
            squares += columns @ columns.T
            products += columns @ (self.field[number][part.grid] - base).ravel()
        if not np.size(products):
            return np.zeros(0)
        ridge = np.trace(squares) * 1e-6 / len(products) + 1e-9
        return np.linalg.solve(squares + ridge * np.eye(len(products)), products)

    def run(self):
        """Codes, levels, and the kind of each position: its oddness, or 3 in the first slice of a tile."""
        coefficients = {(part, is_first): self.fit(part, is_first) for part in self.parts for is_first in (True, False)}
        known, codes = np.zeros_like(self.field), np.zeros(self.field.shape, int)
        levels, kinds = np.full(self.field.shape, -1), np.zeros(self.field.shape, int)
        random = np.random.default_rng(1)
        for number, values in enumerate(self.field):
            references = self.references_of(known, number)
            is_first = number % self.slices == 0
            for part in self.parts:
                step = 2 * self.bound(part.level)
                if part.level == ROOT and not references:
                    shape = values[part.grid].shape
                    known[number][part.grid] = values[part.grid] + random.uniform(-step / 2, step / 2, shape)
                    continue
                base, terms = part.prediction(known[number], references, self.with_terms)
                predicted = base + sum(c * term for c, term in zip(coefficients[part, is_first], terms))
                code = np.rint((values[part.grid] - predicted) / step)
                known[number][part.grid] = predicted + code * step
                codes[number][part.grid], levels[number][part.grid] = code, part.level
                kinds[number][part.grid] = 3 if is_first and self.references else max(sum(part.odd), 1)
        assert np.abs(known - self.field).max() <= 1.001 * self.error
        return codes, levels, kinds, sum(map(len, coefficients.values()))

    def bits(self):
        """Bits a value."""
        codes, levels, kinds, count = self.run()
        total = 32 * count + ANCHOR_BITS * (levels < 0).sum()
        # The zones of the format, by level; those of the third are of all higher levels.
        for level, zone in enumerate(((8, 8, 8), (8, 16, 64), (16, 16, 64))):
            here = levels == level if level < 2 else levels >= level
            magnitudes = np.abs(codes) * here
            classes = classes_of(magnitudes.astype(float), zone)
            of_zones = classes[:: zone[0], :: zone[1], :: zone[2]].ravel()
            total += entropy(of_zones, np.zeros_like(of_zones))
            if level < 2:
                mean = magnitudes[here].mean() + 1e-9
                of_kind = [magnitudes[here & (kinds == kind)] for kind in range(4)]
                shifts = [np.rint(np.log2((m.mean() + 1e-9) / mean)) if m.size else 0 for m in of_kind]
                classes = np.where(classes > 0, np.clip(classes + np.array(shifts, int)[kinds], 1, 15), 0)
            total += entropy(codes[here], classes[here])
        return total / codes.size


def main():
    print("| field | bound | slices of a tile | references | with all terms | bits | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for path, relative, field, error in fields(sys.argv[1:]):
        for way in WAYS:
            bits = Model(field, error, way).bits()
            print(f"| {path} | {relative} | {way[0]} | {way[1]} | {way[2]} | {bits:.4f} | {32 / bits:.2f} |", flush=True)


if __name__ == "__main__":
    main()
