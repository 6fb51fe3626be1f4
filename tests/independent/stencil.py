"""Stencils: the coefficients, and predictions by them (section 26)."""

import numpy as np

MULTI, REVERSE = 1, 2
# Section 26: the letters of z + 2 y + 4 x, by dimension.
LETTER = (1, 2, 4)


def is_fitted(flags):
    return flags & MULTI and flags & REVERSE


def sets_of_axes(axes):
    """The sets of axes along which places are odd, in the order of their coefficients."""
    of_shape = sum(LETTER[axis] for axis in axes)
    for number in range(1, 8):
        if number & ~of_shape == 0:
            yield tuple(axis for axis in axes if number & LETTER[axis])


def terms_of_set(odd, axes):
    return {1: len(axes), 2: 4, 3: 6}[len(odd)]


def fitted_levels(flags, top_level):
    return [level for level in range(top_level) if is_fitted(flags[level])]


def coefficient_count(flags, top_level, axes):
    per_level = sum(terms_of_set(odd, axes) for odd in sets_of_axes(axes))
    return per_level * len(fitted_levels(flags, top_level))


def read_coefficients(data, flags, top_level, axes, dtype):
    """The coefficients as numbers of T, by level and set of axes."""
    stored = np.frombuffer(data, dtype="<f4")
    if not np.isfinite(stored).all():
        raise ValueError("prologue: a coefficient is not finite")
    values = iter(stored.astype(dtype))
    return {
        (level, odd): [next(values) for _ in range(terms_of_set(odd, axes))]
        for level in fitted_levels(flags, top_level)
        for odd in sets_of_axes(axes)
    }


def weighted(base, coefficients, terms):
    """The base and the sum of the terms, each times its coefficient, in the order of the text."""
    total = coefficients[0] * terms[0]
    for coefficient, term in zip(coefficients[1:], terms[1:]):
        total = total + coefficient * term
    return base + total


class Stencil:
    """The stencils of the places with these coordinates along z, y and x, all odd along the axes `odd` and even along
    the others. Where it is not `is_there`, the values are of no meaning."""

    def __init__(self, known, indices, unit, odd, axes, windows):
        self.known, self.indices, self.unit = known, indices, unit
        self.odd, self.axes, self.windows = odd, axes, windows
        self.T = known.dtype.type
        self.is_there = np.ones((1, 1, 1), dtype=bool)
        for axis in odd:
            self.is_there = self.is_there & self.across(axis, self.is_in_field(axis, 1))

    def across(self, axis, flags):
        shape = [1, 1, 1]
        shape[axis] = -1
        return flags.reshape(shape)

    def is_in_field(self, axis, units):
        return self.indices[axis] + units * self.unit < self.known.shape[axis]

    def is_in_window(self, axis, units):
        i = self.indices[axis] % self.windows[axis] + units * self.unit
        return (i >= 0) & (i <= self.windows[axis]) & self.is_in_field(axis, units)

    def value(self, steps):
        """The known values so many units away, by axis; any values where there are none."""
        there = list(self.indices)
        for axis, units in steps.items():
            there[axis] = np.clip(there[axis] + units * self.unit, 0, self.known.shape[axis] - 1)
        return self.known[np.ix_(*there)]

    def near(self, axis):
        return (self.value({axis: -1}) + self.value({axis: 1})) * self.T(0.5)

    def far(self, axis):
        a, b, d, e = (self.value({axis: units}) for units in (-3, -1, 1, 3))
        behind, ahead = (self.across(axis, self.is_in_window(axis, units)) for units in (-3, 3))
        both = (a + e) * self.T(0.5) - self.near(axis)
        from_behind = (a + d) - (b + b)
        from_ahead = (e + b) - (d + d)
        one = np.where(behind, from_behind, np.where(ahead, from_ahead, self.T(0)))
        return np.where(behind & ahead, both, one)

    def sum_of_four(self, a, b, units, fixed=None):
        def v(of_a, of_b):
            return self.value({a: of_a, b: of_b * units, **(fixed or {})})

        return (v(-1, -1) + v(-1, 1)) + (v(1, -1) + v(1, 1))

    def corners(self, a, b, units=1):
        return self.sum_of_four(a, b, units) * self.T(0.25)

    def base_and_terms(self):
        if len(self.odd) == 1:
            return self.of_line(*self.odd)
        if len(self.odd) == 2:
            return self.of_face(*self.odd)
        return self.of_cube()

    def of_line(self, axis):
        base = self.near(axis)
        terms = [self.far(axis)]
        for other in self.axes:
            if other != axis:
                inside = self.across(other, self.is_in_window(other, -2) & self.is_in_window(other, 2))
                beside = self.corners(axis, other, 2) - base
                terms.append(np.where(inside, beside, self.T(0)))
        return base, terms

    def of_face(self, a, b):
        m, n = self.near(a), self.near(b)
        base = (m + n) * self.T(0.5)
        return base, [m - n, self.far(a), self.far(b), self.corners(a, b) - base]

    def of_cube(self):
        z, y, x = (self.near(axis) for axis in range(3))
        base = ((x + y) + z) / self.T(3)
        edges = [self.corners(*pair) - base for pair in ((0, 1), (0, 2), (1, 2))]
        p, q = (self.sum_of_four(1, 2, 1, {0: units}) for units in (-1, 1))
        return base, [z - x, y - x, *edges, (p + q) * self.T(0.125) - base]

    def predict(self, coefficients):
        base, terms = self.base_and_terms()
        return weighted(base, coefficients, terms)
