"""Writes a field of f32 values of any size: waves along all axes, and noise of a hundredth of them.

    python benches/make_large_field.py OUT.f32 1710 1710 1710

One slice is in memory at a time. Two runs write the same bytes with the same version of NumPy.
"""

import sys

import numpy as np


def main() -> None:
    path, *lengths = sys.argv[1:]
    depth, height, width = map(int, lengths)
    y, x = np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32)
    plane = np.sin(y * 0.011)[:, None] * np.cos(x * 0.007)[None, :] + np.sin((x[None, :] + y[:, None]) * 0.003)
    noise = np.random.default_rng(17).standard_normal((height + 97, width), dtype=np.float32) * 0.01
    with open(path, "wb") as out:
        for z in range(depth):
            # Another part of the noise for each slice.
            first = z * 37 % 97
            values = plane * np.cos(z * 0.013) + noise[first : first + height] + np.sin(z * 0.005)
            out.write(values.astype("<f4").tobytes())


main()
