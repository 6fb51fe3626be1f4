"""Interpolation: the parameters (section 15), predictions and values (section 16)."""

import itertools
import struct
from dataclasses import dataclass

import numpy as np

import container
import stencil
from grid import AXES, CUBE, LINE, PLANE
from lorenzo import at_most

PARAMETER_BYTES = 200
MULTI, REVERSE, NATURAL = 1, 2, 4
COPY, LINEAR, QUADRATIC, CUBIC = 0, 1, 2, 3  # ranks of section 16

# Section 16: the window W along z, y, x by geometry. 0: the dimension is no axis.
WINDOW = {
    LINE: [(0, 0, 512), (0, 0, 512), (0, 0, 16384)],
    PLANE: [(0, 16, 16), (0, 16, 16), (0, 256, 64)],
    CUBE: [(8, 8, 32), (16, 16, 16), (16, 16, 64)],
}


@dataclass
class Parameters:
    geometry: int
    flags: list  # of levels 0 to 8
    steps: list  # of levels 0 to 9
    inverses: list
    radius: int
    dead: int  # zone, in 1/65,536 of a step
    shifts: int  # of contexts (sections 26 and 27)


def read_flags(data):
    """The flags of levels 0 to 8."""
    (flags,) = struct.unpack_from("<I", data, 4)
    return [flags >> 3 * level & 7 for level in range(9)]


def read_parameters(data, header):
    """Section 15, parameters."""
    geometry, flags = struct.unpack_from("<II", data, 0)
    if geometry != container.GEOMETRY[header.predictor]:
        raise ValueError("parameters: the geometry is not that of the codec")
    if flags >> 27:
        raise ValueError("parameters: bits 27 to 31 of the flags are not 0")
    for name, factor in zip(("alpha", "beta"), struct.unpack_from("<2d", data, 8)):
        if not (np.isfinite(factor) and factor >= 1):
            raise ValueError(f"parameters: {name} is not finite or below 1")

    def number(word, what):
        return container.scalar_of_type(data[4 * word : 4 * word + 8], header.dtype, f"parameters: {what}")

    if number(6, "the error") != header.error:
        raise ValueError("parameters: the error is not the header's")
    steps = [number(8 + 2 * level, f"step {level}") for level in range(10)]
    inverses = [number(28 + 2 * level, f"inverse {level}") for level in range(10)]
    radius, dead, shifts = struct.unpack_from("<HHI", data, 4 * 48)
    if not 1 <= radius <= 32768:
        raise ValueError("parameters: the radius is not 1 to 32,768")
    if dead > 16384:
        raise ValueError("parameters: the dead zone is longer than a quarter of a step")
    has_shifts = header.predictor in (container.STENCIL, container.SLICES)
    oddnesses = (1 << 4 * len(AXES[header.shape])) - 1 if has_shifts else 0
    if shifts & ~(oddnesses | oddnesses << 12):
        raise ValueError("parameters: word 49 has shifts where the codec has none")
    return Parameters(geometry, read_flags(data), steps, inverses, radius, dead, shifts)


class Interpolation:
    """Decodes a field of which the anchors are known.

    k, raw, stored: by (z, y, x) of the field, the quantisation code, whether the place is raw,
    and the value if it is. `known` has the anchors and takes what is known of the other places.
    """

    def __init__(self, parameters, error, shape, k, raw, stored, known, coarse_level=None, coefficients=None):
        self.parameters = parameters
        self.error = error  # of the header (section 1)
        self.axes = AXES[shape]
        self.windows = WINDOW[shape][parameters.geometry]
        self.k, self.raw, self.stored = k, raw, stored
        self.known = known
        self.values = known.copy()
        self.coefficients = coefficients or {}  # of stencils, by level and odd axes; of slices
        self.coarse_level = coarse_level  # in the coarse field all places have step and inverse of it

    def run(self, top_level, last_level=0):
        with np.errstate(all="ignore"):
            for level in range(top_level - 1, last_level - 1, -1):
                for stage in range(len(self.axes)):
                    for parities, along in self.parts_of_stage(self.parameters.flags[level], stage):
                        self.decode_part(level, parities, along)
        return self.values

    def parts_of_stage(self, flags, stage):
        """The stage's places as grids: for each axis "odd", "even" or "any", and the axes along
        which these places are predicted."""
        axes = self.axes
        if flags & MULTI:
            for odd in itertools.combinations(axes, stage + 1):
                yield {axis: "odd" if axis in odd else "even" for axis in axes}, odd
            return
        order = axes[::-1] if flags & REVERSE else axes
        parities = {}
        for i, axis in enumerate(order):
            parities[axis] = "any" if i < stage else "odd" if i == stage else "even"
        yield parities, (order[stage],)

    def decode_part(self, level, parities, along):
        unit = 1 << level
        indices = []
        for dimension, extent in enumerate(self.known.shape):
            parity = parities.get(dimension)
            if parity is None:  # not an axis: slices are independent
                indices.append(np.arange(extent))
            elif parity == "any":
                indices.append(np.arange(0, extent, unit))
            else:
                indices.append(np.arange(unit if parity == "odd" else 0, extent, 2 * unit))
        if any(len(index) == 0 for index in indices):
            return
        place = np.ix_(*indices)
        prediction = self.predict(indices, unit, along, self.parameters.flags[level] & NATURAL)
        if (level, along) in self.coefficients:
            of_stencil = stencil.Stencil(self.known, indices, unit, along, self.axes, self.windows)
            by_stencil = of_stencil.predict(self.coefficients[level, along])
            prediction = np.where(of_stencil.is_there, by_stencil, prediction)
        self.decode_places(place, prediction, level)

    def decode_places(self, place, prediction, level):
        """Section 16, values."""
        T = self.known.dtype.type
        # p' of section 16; codes are not compared with the radius (section 15).
        prediction = np.where(np.isfinite(prediction), prediction, T(0))

        of_level = level if self.coarse_level is None else self.coarse_level
        step = self.parameters.steps[of_level]
        value = prediction + self.k[place].astype(T) * step
        known = value
        raw = self.raw[place]
        if raw.any():
            x = self.stored[place]
            quantised, has_code = self.quantise(x, prediction, of_level)
            value = np.where(raw, x, value)
            known = np.where(raw, np.where(has_code, quantised, x), known)
        self.values[place] = value
        self.known[place] = known

    def quantise(self, x, prediction, level):
        """Section 16, the quantiser: q, and where there is a code."""
        T = x.dtype.type
        error = self.error
        r = x - prediction
        d = T(self.parameters.dead) / T(65536)
        s = (np.abs(r) * self.parameters.inverses[level] + (T(1) - (d + d))) * T(0.5)
        within = s < T(self.parameters.radius)
        magnitude = np.where(within, s, T(0)).astype(np.int64)
        k = np.where(r < 0, -magnitude, magnitude)
        q = prediction + k.astype(T) * self.parameters.steps[level]
        if error == 0:
            bits = f"<u{x.dtype.itemsize}"
            good = np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(q).view(bits)
        else:
            good = at_most(x, q, error)
        return q, within & good

    # Predictions.

    def predict(self, indices, unit, along, natural):
        by_axis = [self.predict_along(indices, axis, unit, natural) for axis in along]
        if len(along) == 1:
            return by_axis[0][0]
        if len(along) == 2:
            behind = list(indices)
            for axis in along:
                behind[axis] = indices[axis] - unit
            return two_axes(*by_axis, self.known[np.ix_(*behind)])
        return three_axes(*by_axis)

    def predict_along(self, indices, axis, unit, natural):
        """The prediction along an axis, and its rank (which depends on the coordinate there only)."""
        T = self.known.dtype.type
        c = indices[axis]
        n = self.known.shape[axis]
        W = self.windows[axis]
        i = c % W

        def known_at(distance):
            # Places that are not there are not used; any place will do.
            there = list(indices)
            there[axis] = np.clip(c + distance * unit, 0, n - 1)
            return self.known[np.ix_(*there)]

        a, b, d, e = known_at(-3), known_at(-1), known_at(1), known_at(3)
        is_behind = i >= 3 * unit
        is_ahead = (i + 3 * unit <= W) & (c + 3 * unit < n)
        rank = np.where(is_behind & is_ahead, CUBIC, np.where(is_behind | is_ahead, QUADRATIC, LINEAR))
        rank = np.where(c + unit >= n, COPY, rank)
        across = [1, 1, 1]
        across[axis] = -1
        rank, is_behind = rank.reshape(across), is_behind.reshape(across)

        if natural:
            cubic = (T(23) * (b + d) - T(3) * (a + e)) / T(5) / T(8)
        else:
            cubic = (T(9) * (b + d) - (a + e)) * T(1 / 16)
        behind = ((T(6) * b + T(3) * d) - a) * T(1 / 8)
        ahead = ((T(3) * b + T(6) * d) - e) * T(1 / 8)
        linear = (b + d) * T(1 / 2)
        quadratic = np.where(is_behind, behind, ahead)
        prediction = np.where(rank == QUADRATIC, quadratic, linear)
        prediction = np.where(rank == CUBIC, cubic, prediction)
        prediction = np.where(rank == COPY, b, prediction)
        return prediction, np.broadcast_to(rank, prediction.shape)


def two_axes(first, second, behind_both):
    (p, r), (q, s) = first, second
    T = p.dtype.type
    both = np.where((r == COPY) & (s == COPY), (p + q) - behind_both, (p + q) * T(1 / 2))
    return np.where(r > s, p, np.where(r < s, q, both))


def three_axes(along_z, along_y, along_x):
    (z, rank_z), (y, rank_y), (x, rank_x) = along_z, along_y, along_x
    T = x.dtype.type
    half = T(1 / 2)
    is_z, is_y, is_x = rank_z == CUBIC, rank_y == CUBIC, rank_x == CUBIC
    return np.select(
        [is_x & is_y & is_z, is_x & is_y, is_x & is_z, is_y & is_z, is_x, is_y, is_z],
        [((x + y) + z) / T(3), (x + y) * half, (x + z) * half, (y + z) * half, x, y, z],
        default=x,
    )
