"""A model of wavelets' coefficients: what rounding by zones and the order of levels change at equal PSNR. Prints a table.

python benches/wavelet_model.py FIELD.f32:DEPTH,HEIGHT,WIDTH ...

The bytes are the entropies of tokens in their classes and of classes, and about those of tables (FORMAT.md, sections 9 to 13
and 35). Needs NumPy.
"""

import itertools
import math
import pathlib
import sys

import numpy as np

FACTORS = (-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971)
SCALE = 1.149604398860241
ZONE = 512
PSNRS = (40, 50, 60, 70)


def lifted(values, axis):
    """The coefficients at even and at odd positions of all lines along an axis."""
    along = np.moveaxis(values, axis, 0)
    even, odd = along[0::2].copy(), along[1::2].copy()
    for step, factor in enumerate(FACTORS):
        if step % 2 == 0:
            odd += factor * np.concatenate([even, even[-1:]])[: len(odd)]
            odd += factor * np.concatenate([even[1:], even[-1:]])[: len(odd)]
        else:
            even += factor * np.concatenate([odd[:1], odd])[: len(even)]
            even += factor * np.concatenate([odd, odd[-1:]])[: len(even)]
    return np.moveaxis(even * SCALE, 0, axis), np.moveaxis(odd / SCALE, 0, axis)


def levels(length):
    return 0 if length < 8 else 1 + levels((length + 1) // 2)


def by_turns(values, axes):
    """The bands of levels of axes by turns: their level, and coefficients."""
    counts = {axis: levels(values.shape[axis]) for axis in axes}
    bands, rest = [], values
    for level in range(max(counts.values())):
        parts = {(): rest}
        for axis in (axis for axis in axes if level < counts[axis]):
            split = ((key, lifted(part, axis)) for key, part in parts.items())
            parts = {(*key, odd): pair[odd] for key, pair in split for odd in (0, 1)}
        bands += [(level, part) for key, part in parts.items() if any(key)]
        rest = parts[(0,) * len(next(iter(parts)))]
    return [*bands, (math.inf, rest)]


def z_first(values):
    """The bands of all levels along z, and then of those of y and x by turns."""
    along_z = by_turns(values, (0,))
    return [(min(of_z, of_plane), band) for of_z, part in along_z for of_plane, band in by_turns(part, (1, 2))]


def in_blocks(band):
    """The coefficients of a band in the order of its blocks."""
    counts = [-(-length // 8) for length in band.shape]
    whole = np.full([8 * count for count in counts], np.nan)
    whole[tuple(slice(0, length) for length in band.shape)] = band
    shape = [number for count in counts for number in (count, 8)]
    line = whole.reshape(shape).transpose(0, 2, 4, 1, 3, 5).ravel()
    return line[~np.isnan(line)]


def coefficients(bands):
    """All coefficients, coarse bands first, in zones; the last one is filled with zeros."""
    line = np.concatenate([in_blocks(band) for _, band in sorted(bands, key=lambda pair: -pair[0])])
    return np.pad(line, (0, -line.size % ZONE)).reshape(-1, ZONE)


def bit_lengths(numbers):
    return np.frexp(numbers.astype(float))[1]


def rounded(steps, by_zones):
    """The codes of coefficients in steps."""
    size = np.abs(steps)
    nearer = 0.05 if by_zones else 0.15
    codes = np.maximum(np.rint(size - nearer), 0)
    distances = np.maximum(1.25 - 0.07 * bit_lengths(codes.sum(axis=1)), 0.6) if by_zones else np.full(len(steps), 0.65)
    return np.where(size < distances[:, None], 0, codes) * np.sign(steps)


def entropy(symbols):
    counts = np.unique(symbols, return_counts=True)[1]
    return float((counts * np.log2(counts.sum() / counts)).sum())


def stream_bytes(codes):
    classes = bit_lengths(np.abs(codes).sum(axis=1))
    bits = entropy(classes) + 8 * 240
    for number in set(classes.tolist()) - {0}:
        z = np.where(codes > 0, 2 * codes - 1, -2 * codes)[classes == number].astype(int)
        extra = np.maximum(bit_lengths(z) - 4, 0)
        tokens = 8 * extra + (z >> extra)
        bits += entropy(tokens) + extra.sum() + 10 * np.unique(tokens).size
    return bits / 8


def cost(steps, codes):
    """What an encoder compares."""
    count = np.count_nonzero(codes, axis=1)
    places = np.where(count > 0, count * bit_lengths(ZONE // np.maximum(count, 1)), 0).sum()
    return 2 * bit_lengths(np.abs(codes)).sum() + places + ((steps - codes) ** 2).sum() / 0.14


def step_for(line, square, by_zones):
    """The step with which the sum of squared errors is this one."""
    low, high = -60.0, 60.0
    for _ in range(30):
        step = 2 ** ((low + high) / 2)
        error = ((line - rounded(line / step, by_zones) * step) ** 2).sum()
        low, high = ((low + high) / 2, high) if error < square else (low, (low + high) / 2)
    return 2**low


def main():
    print("| field | PSNR | bytes, z first | by zones | by turns | cost by turns |")
    print("| --- | --- | --- | --- | --- | --- |")
    for argument, psnr in itertools.product(sys.argv[1:], PSNRS):
        path, lengths = argument.rsplit(":", 1)
        field = np.fromfile(path, "<f4").astype(float).reshape([int(length) for length in lengths.split(",")])
        square = field.size * (np.ptp(field) / 10 ** (psnr / 20)) ** 2
        lines = [coefficients(z_first(field)), coefficients(by_turns(field, (0, 1, 2)))]
        one = step_for(lines[0], square, False)
        steps = [step_for(line, square, True) for line in lines]
        plain = stream_bytes(rounded(lines[0] / one, False))
        found = [stream_bytes(rounded(line / step, True)) for line, step in zip(lines, steps)]
        costs = [cost(line / steps[0], rounded(line / steps[0], True)) for line in lines]
        shares = found[0] / plain, found[1] / found[0], costs[1] / costs[0]
        print(f"| {pathlib.Path(path).stem} | {psnr} | {plain:,.0f} | " + " | ".join(f"{it:.3f}" for it in shares) + " |",
              flush=True)


if __name__ == "__main__":
    main()
