"""Slices: the coefficients, and predictions by them (section 27)."""

import numpy as np

import interp
import stencil

AXES = (1, 2)  # y and x, of (z, y, x)
TOP_LEVEL = 4
SLICES_OF_TILE = 16
COEFFICIENT_BYTES = 268
# The sets of axes along which places are odd, in the order of their coefficients. Along both is last: these places
# are predicted from the others of their level.
ODD_SETS = ((1,), (2,), (1, 2))


def term_count(odd, has_references):
    own = 2 if len(odd) == 1 else 4
    return 2 * own + 3 if has_references else own


def read_coefficients(data, dtype):
    """The coefficients as numbers of T, by level, set of axes, and whether the slice has references."""
    values = iter(np.frombuffer(data, dtype="<i2").astype(dtype) * dtype.type(2**-11))
    coefficients = {}
    for level in range(TOP_LEVEL):
        for has_references in (False, True):
            for odd in ODD_SETS:
                count = term_count(odd, has_references)
                coefficients[level, odd, has_references] = [next(values) for _ in range(count)]
    coefficients[TOP_LEVEL, (), True] = list(values)
    return coefficients


class Places(stencil.Stencil):
    """As a stencil, but within a slice, and for places without a neighbour ahead, too."""

    def if_ahead(self, axes, there, otherwise):
        """`there` where places have neighbours ahead along all these axes."""
        for axis in axes:
            there = np.where(self.across(axis, self.is_in_field(axis, 1)), there, otherwise)
        return there

    def near(self, axis):
        return self.if_ahead([axis], super().near(axis), self.value({axis: -1}))

    def far(self, axis):
        return self.if_ahead([axis], super().far(axis), self.T(0))

    def of_line(self, axis):
        base, (far, beside) = super().of_line(axis)
        return base, [far, self.if_ahead([axis], beside, self.T(0))]

    def of_face(self, a, b):
        m, n = self.near(a), self.near(b)
        is_a, is_b = (self.across(axis, self.is_in_field(axis, 1)) for axis in (a, b))
        base = np.where(is_a == is_b, (m + n) * self.T(0.5), np.where(is_a, m, n))
        difference, corners = (
            self.if_ahead([a, b], term, self.T(0)) for term in (m - n, self.corners(a, b) - base)
        )
        return base, [difference, self.far(a), self.far(b), corners]


class Slices(interp.Interpolation):
    """Decodes a field of which the anchors are known: the slices with the same number in all tiles at once."""

    def run(self, top_level, last_level=0):
        with np.errstate(all="ignore"):
            for number in range(min(SLICES_OF_TILE, self.known.shape[0])):
                if number > 0:  # others have anchors instead
                    self.decode_slices(number, top_level, ())
                for level in range(top_level - 1, last_level - 1, -1):
                    for odd in ODD_SETS:
                        self.decode_slices(number, level, odd)
        return self.values

    def decode_slices(self, number, level, odd):
        """The places of a level that are odd along these axes, in slice `number` of each tile."""
        unit = 1 << level
        distance = unit if level == TOP_LEVEL else 2 * unit
        z = np.arange(number, self.known.shape[0], SLICES_OF_TILE)
        y, x = (np.arange(unit if axis in odd else 0, self.known.shape[axis], distance) for axis in AXES)
        if len(y) == 0 or len(x) == 0:
            return
        # The slice itself and its references. Slice 0 is there in place of those before it.
        behind = [[z - min(r, number), y, x] for r in range(4)]
        if level == TOP_LEVEL:
            base, terms = self.of_top_level(behind)
        else:
            base, terms = self.of_slice(behind, unit, odd, number > 0)
        coefficients = self.coefficients[level, odd, number > 0]
        self.decode_places(np.ix_(z, y, x), stencil.weighted(base, coefficients, terms), level)

    def of_top_level(self, behind):
        v = [self.known[np.ix_(*indices)] for indices in behind]
        return v[1], [v[1] - v[2], v[1] - v[3]]

    def of_slice(self, behind, unit, odd, has_references):
        base, terms = Places(self.known, behind[0], unit, odd, AXES, self.windows).base_and_terms()
        if not has_references:
            return base, terms
        of_references = []
        for indices in behind[1:]:
            base_there, terms_there = Places(self.known, indices, unit, odd, AXES, self.windows).base_and_terms()
            of_references.append((self.known[np.ix_(*indices)] - base_there, terms_there))
        (first, terms_of_first), (second, _), (third, _) = of_references
        return base, [*terms, first, *terms_of_first, second, third]
