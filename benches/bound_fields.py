"""The eight fields of docs/book/bounds.md: a real one of this repository, and seven that NumPy makes.

Each is made by the physics that its name stands for, as far as a bound can spoil it: rain has dry places, humidity falls by
three powers of ten with height, a tracer lies between 0 and 1. Two runs make the same values with the same version of NumPy.
"""

from pathlib import Path

import numpy as np

from make_other_fields import gaussian

THETA = Path(__file__).parent.parent / "demo/data/um_colpex_theta.npy"
SPACING = 25e3
"""Metres between the points of wind and geopotential."""
LEVELS = np.geomspace(1000, 50, 16)
"""Pressure of the levels of humidity, hPa."""


def gradient(field: np.ndarray, axis: int) -> np.ndarray:
    """Centred differences on a periodic grid, a metre."""
    return (np.roll(field, -1, axis) - np.roll(field, 1, axis)) / (2 * SPACING)


def saturation(kelvin: np.ndarray, pressure: np.ndarray) -> np.ndarray:
    """Specific humidity at saturation over water, by Bolton's formula."""
    vapour = 6.112 * np.exp(17.67 * (kelvin - 273.15) / (kelvin - 29.65))
    return 0.622 * vapour / np.maximum(pressure - 0.378 * vapour, vapour)


def air(edge: int = 256) -> tuple[np.ndarray, np.ndarray]:
    """Temperature in K and relative humidity on `LEVELS`."""
    eddies = gaussian((len(LEVELS), edge, edge), 3, 21)
    kelvin = np.maximum(288 + 45 * np.log(LEVELS / 1000), 210)[:, None, None] + 2 * eddies
    share = np.clip(0.55 + 0.2 * gaussian((len(LEVELS), edge, edge), 2.5, 22), 0.02, 1)
    return kelvin, share


def humidity() -> np.ndarray:
    """Specific humidity on 16 levels, kg/kg, surface first."""
    kelvin, share = air()
    return share * saturation(kelvin, LEVELS[:, None, None])


def rain() -> np.ndarray:
    """Rain of 30 days in mm a day: most places are dry, and few have most of it."""
    return 4 * np.maximum(np.exp(1.5 * gaussian((30, 256, 256), 2.5, 23) - 0.5) - 1, 0)


def wind(edge: int = 512) -> np.ndarray:
    """The winds towards east and north, m/s: a rotating part, and a divergent one of a fifteenth."""
    turning, diverging = gaussian((edge, edge), 4, 24), gaussian((edge, edge), 4, 25)
    both = np.stack([-gradient(turning, 0), gradient(turning, 1)])
    apart = np.stack([gradient(diverging, 1), gradient(diverging, 0)])
    return 10 * (both / both.std() + apart / apart.std() / 15)


def geopotential() -> np.ndarray:
    """The height of the 500 hPa surface in geopotential metres."""
    return 5500 + 120 * gaussian((512, 512), 5, 26)


def velocity(edge: int = 128) -> np.ndarray:
    """One component of turbulence, m/s: energy falls with the power 5/3 of the wave number, and faster where it dissipates."""
    modes = np.fft.fftn(gaussian((edge,) * 3, 5 / 3, 27))
    squares = sum(np.meshgrid(*[np.fft.fftfreq(edge, 1 / edge) ** 2] * 3, indexing="ij"))
    field = np.fft.ifftn(modes * np.exp(-1.5 * (squares / (edge / 4) ** 2) ** (2 / 3))).real
    return 2 * field / field.std()


def density() -> np.ndarray:
    """Log-normal density with a mean of about 1: voids, sheets and knots."""
    logarithm = 1.6 * gaussian((128, 128, 128), 2.5, 28)
    return np.exp(logarithm - logarithm.var() / 2)


def tracer() -> np.ndarray:
    """Smoke as a share of the air, 0 to 1: most of the air has none."""
    return np.clip(gaussian((64, 128, 128), 3, 29) - 0.6, 0, 1)


def temperature() -> np.ndarray:
    """Potential temperature on 10 levels, K: the field of the demo."""
    return np.load(THETA)


def fields() -> dict[str, np.ndarray]:
    """All of them, in float32."""
    makers = (temperature, humidity, rain, wind, geopotential, velocity, density, tracer)
    return {maker.__name__: maker().astype("float32") for maker in makers}
