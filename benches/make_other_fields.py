"""Fields of many kinds for the choice of a preset, beside those of docs/measurements/ratios.md.

    python benches/make_other_fields.py DIR

Writes raw little-endian float32 files and prints their names with their lengths, as `cargo bench --bench choice` takes them. Two runs
write the same bytes with the same version of NumPy.
"""

import sys
from pathlib import Path

import numpy as np

EDGE = 128
CUBE = (EDGE,) * 3


def gaussian(shape: tuple[int, ...], slope: float, seed: int) -> np.ndarray:
    """A Gaussian random field with power ~ k^(-slope) in shells, of unit variance."""
    modes = np.fft.fftn(np.random.default_rng(seed).normal(size=shape))
    squares = sum(np.meshgrid(*[np.fft.fftfreq(length, 1 / length) ** 2 for length in shape], indexing="ij"))
    squares.flat[0] = 1
    modes *= squares ** (-(slope + len(shape) - 1) / 4)
    modes.flat[0] = 0
    field = np.fft.ifftn(modes).real
    return field / field.std()


def fields(rng: np.random.Generator) -> dict[str, np.ndarray]:
    z, y, x = np.meshgrid(*[np.arange(EDGE) / EDGE] * 3, indexing="ij")
    bumps = np.zeros(CUBE)
    for _ in range(12):
        at, width = rng.random(3), rng.uniform(0.03, 0.15)
        distance = (z - at[0]) ** 2 + (y - at[1]) ** 2 + (x - at[2]) ** 2
        bumps += rng.uniform(0.3, 1) * np.exp(-distance / (2 * width**2))
    shocks = 0.05 * np.sin(20 * x) * np.cos(13 * y + 3 * z)
    for _ in range(4):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        along = normal[0] * z + normal[1] * y + normal[2] * x
        shocks += np.tanh((along - rng.uniform(-0.3, 0.8)) / rng.uniform(0.005, 0.03))
    line = np.arange(1 << 20)
    time, deep, high, wide = np.meshgrid(np.arange(20) / 20, *[np.arange(48) / 48] * 3, indexing="ij")
    moving = sum(
        np.exp(-((deep - a - 0.2 * time) ** 2 + (high - b + 0.1 * time) ** 2 + (wide - c - 0.3 * time) ** 2) / 0.01)
        for a, b, c in rng.random((6, 3))
    )
    latitude = np.cos(np.linspace(-1.5, 1.5, 180))[None, :, None]
    level = np.linspace(0, 1, 24)[:, None, None]
    eddies = gaussian((24, 180, 360), 3, 11)
    return {
        "bumps": bumps,
        "shocks": shocks,
        "grf1": gaussian(CUBE, 1, 1),
        "grf3": gaussian(CUBE, 3, 2),
        "grf5": gaussian(CUBE, 5, 3),
        "exp3": np.exp(2 * gaussian(CUBE, 3, 4)),
        "steps": np.floor(3 * gaussian(CUBE, 3, 6)) + 1e-3 * rng.normal(size=CUBE),
        "poisson": rng.poisson(np.exp(1 + gaussian(CUBE, 3, 7))),
        "terrain": 800 * gaussian((1024, 1024), 2.2, 8),
        "ridges": 1 - np.abs(gaussian((1024, 1024), 2, 9)),
        "walk": np.cumsum(rng.normal(size=line.size)),
        "pulses": 1.5 * np.exp(-(((line % 700 - 300) / 12) ** 2)) + 0.2 * np.sin(line / 350) + 0.01 * rng.normal(size=line.size),
        "chirp": np.sin(line**1.5 / 4e5),
        "moving": moving,
        "levels": 250 + 40 * latitude + 5 * eddies * (0.2 + 1.8 * level) + 30 * level,
        "noisy": gaussian(CUBE, 4, 12) + 0.02 * rng.normal(size=CUBE),
        "clipped": np.maximum(gaussian(CUBE, 3, 13) - 1, 0),
        "columns": gaussian((64, 256), 3, 14)[:, None, :] + rng.normal(size=(64, 96, 1)),
    }


def main() -> None:
    folder = Path(sys.argv[1])
    for name, values in fields(np.random.default_rng(5)).items():
        path = folder / f"{name}.f32"
        np.ascontiguousarray(values, "<f4").tofile(path)
        print(f"{path}:{','.join(map(str, values.shape))}")


if __name__ == "__main__":
    main()
