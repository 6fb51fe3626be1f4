#!/usr/bin/env python3
"""What a bound spoils first, in eight fields: the pictures and the tables of docs/book/bounds.md.

    python benches/bound_pictures.py [--page docs/book/bounds.md] [--out docs/pictures]

Compresses the fields of bound_fields.py within several bounds, computes from each decoded field what its users compute, and
writes a table for each field into the page. A row of a picture has the original and then each setting of the table. Needs
NumPy and the Python package ferrosz.
"""

import argparse
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

import ferrosz
import numpy as np
from bound_fields import LEVELS, SPACING, air, fields, gradient, saturation
from paper_slices import COLOURS, WHITE, colours, png

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from examples import page
from examples.chart import COLOURS as LINES
from examples.chart import Curve, Panel, svg

Measures = dict[str, Callable[[np.ndarray, np.ndarray], float]]

GRAVITY, CORIOLIS = 9.81, 1e-4


@dataclass
class Case:
    """A field, the settings to compare, what is measured of each, and the picture of it."""

    name: str
    settings: list[dict]
    measures: Measures
    shown: Callable[[np.ndarray], np.ndarray] | None = None
    is_signed: bool = False
    scale: int = 1


def rms(values):
    return float(np.sqrt(np.mean(np.square(values, dtype=float))))


def share_of(derive):
    """The error of a derived quantity over the quantity, both as root mean squares, in per cent."""
    return lambda x, y: 100 * rms(derive(y) - derive(x)) / rms(derive(x))


def vorticity(wind):
    return gradient(wind[1].astype(float), 1) - gradient(wind[0].astype(float), 0)


def divergence(wind):
    return gradient(wind[0].astype(float), 1) + gradient(wind[1].astype(float), 0)


def geostrophic(height):
    """The wind that balances a height, towards east and north."""
    height = height.astype(float)
    return GRAVITY / CORIOLIS * np.stack([-gradient(height, 0), gradient(height, 1)])


def stability(theta):
    """The difference of potential temperature between a level and the one below it."""
    return np.diff(theta.astype(float), axis=0)


def relative_humidity(humidity):
    kelvin, _ = air()
    return 100 * humidity.astype(float) / saturation(kelvin, LEVELS[:, None, None])


def spectrum(velocity):
    """Energy in shells of the wave number."""
    modes = np.abs(np.fft.fftn(velocity.astype(float))) ** 2 / velocity.size**2
    lengths = [np.fft.fftfreq(length, 1 / length) for length in velocity.shape]
    shell = np.rint(np.sqrt(sum(k**2 for k in np.meshgrid(*lengths, indexing="ij")))).astype(int)
    return np.bincount(shell.ravel(), modes.ravel())[1 : velocity.shape[0] // 2]


def dissipation(velocity):
    """The mean square of the differences of neighbours, along all axes."""
    velocity = velocity.astype(float)
    return sum(np.mean((np.roll(velocity, -1, axis) - velocity) ** 2) for axis in range(3))


def lost_waves(x, y):
    """The first wave number whose energy is off by more than a tenth."""
    off = np.abs(spectrum(y) / spectrum(x) - 1) > 0.1
    return int(np.argmax(off)) + 1 if off.any() else float("nan")


def emptiest(x):
    return x <= np.quantile(x, 0.1)


def cases():
    """The eight cases in the order of the page."""
    ranges = [{"range": 1e-2}, {"range": 1e-3}, {"range": 1e-4}]
    return [
        Case("temperature", ranges, {
            "layers that turn unstable or stable, of 1000": lambda x, y: 1000 * np.mean((stability(x) < 0) != (stability(y) < 0)),
            "error of the difference of two levels, %": share_of(stability),
        }, lambda x: stability(x)[0], is_signed=True, scale=2),
        Case("humidity", [{"range": 1e-3}, {"range": 1e-5}, {"pwrel": 1e-2}], {
            "largest error of relative humidity at 50 hPa, %": lambda x, y: abs(relative_humidity(y) - relative_humidity(x))[-1].max(),
            "the same at the surface, %": lambda x, y: abs(relative_humidity(y) - relative_humidity(x))[0].max(),
        }, lambda x: relative_humidity(x)[-1].clip(0, 100)),
        Case("rain", [{"range": 1e-3, "keep": "none"}, {"range": 1e-3}, {"abs": 0.1}, {"abs": 0.1, "safeguards": {"keep_above": 1}}], {
            "dry values that become wet, of 1000": lambda x, y: 1000 * np.mean((x == 0) & (y != 0)),
            "days of 1 mm or more, gained or lost, of 1000": lambda x, y: 1000 * np.mean((x >= 1) != (y >= 1)),
            "error of the sum of all rain, %": lambda x, y: 100 * (y.sum(dtype=float) / x.sum(dtype=float) - 1),
        }, lambda x: (x[0] != 0) + 2.0 * (x[0] >= 1)),
        Case("wind", ranges, {
            "error of the wind, %": share_of(lambda x: x.astype(float)),
            "of the vorticity, %": share_of(vorticity),
            "of the divergence, %": share_of(divergence),
        }, lambda x: divergence(x)[:256, :256], is_signed=True),
        Case("geopotential", [{"range": 1e-3}, {"range": 1e-4}, {"range": 1e-5}], {
            "error of the height, m": lambda x, y: rms(y.astype(float) - x),
            "of the geostrophic wind, m/s": lambda x, y: rms(geostrophic(y) - geostrophic(x)),
            "of its vorticity, %": share_of(lambda x: vorticity(geostrophic(x))),
        }, lambda x: vorticity(geostrophic(x))[:256, :256], is_signed=True),
        Case("velocity", ranges, {
            "error of the mean square gradient, %": lambda x, y: 100 * (dissipation(y) / dissipation(x) - 1),
            "first wave number whose energy is off by 10 %, of 63": lost_waves,
        }),
        Case("density", [{"range": 1e-3}, {"range": 1e-5}, {"pwrel": 1e-2}], {
            "largest error in the emptiest tenth, %": lambda x, y: 100 * (abs(y.astype(float) - x) / x)[emptiest(x)].max(),
            "mean density of the emptiest tenth, error in %": lambda x, y: 100 * (y[emptiest(x)].mean(dtype=float) / x[emptiest(x)].mean(dtype=float) - 1),
        }, lambda x: np.log10(np.maximum(x[64], 1e-4)), scale=2),
        Case("tracer", [{"abs": 0.012, "keep": "none"}, {"abs": 0.012}, {"abs": 0.012, "safeguards": {"limits": (0, 1)}}], {
            "values below 0, of 1000": lambda x, y: 1000 * np.mean(y < 0),
            "above 1, of 1000": lambda x, y: 1000 * np.mean(y > 1),
            "clean air with smoke, of 1000": lambda x, y: 1000 * np.mean((x == 0) & (y != 0)),
            "error of all smoke, %": lambda x, y: 100 * (y.sum(dtype=float) / x.sum(dtype=float) - 1),
        }, lambda x: x[32].clip(-0.02, 0.02), is_signed=True, scale=2),
    ]


def words(setting):
    """A setting as options of the command."""
    parts = []
    for name, value in setting.items():
        if name == "safeguards":
            ((name, value),) = value.items()
            value = ",".join(map(str, value)) if isinstance(value, tuple) else value
            name = name.replace("_", "-")
        parts.append(f"--{name} {value:g}" if isinstance(value, float) else f"--{name} {value}")
    return " ".join(parts)


def number(value):
    return "none" if value != value else "0" if value == 0 else f"{value:.3g}"


def table(case, values, streams, decoded):
    """A row for each setting: the error that it comes to, the ratio, and the measures."""
    rows = []
    for setting, stream, back in zip(case.settings, streams, decoded):
        bound = f"{100 * setting['pwrel']:g} % of each value" if "pwrel" in setting else f"{stream.info.absolute_error:.3g}"
        cells = [number(float(measure(values, back))) for measure in case.measures.values()]
        rows.append([f"`{words(setting)}`", bound, f"{values.nbytes / len(stream):.1f}", *cells])
    return page.table(["setting", "error at most", "ratio", *case.measures], rows)


def picture(case, values, decoded):
    """A row of panels in one scale: the original, and the decoded fields."""
    shown = [case.shown(one) for one in (values, *decoded)]
    low, high = np.quantile(shown[0], 0.005), np.quantile(shown[0], 0.995)
    if case.is_signed:
        low, high = -max(-low, high), max(-low, high)
    parts = [colours(one, low, high, COLOURS if case.is_signed else 0) for one in shown]
    parts = [part.repeat(case.scale, 0).repeat(case.scale, 1) for part in parts]
    return png(np.hstack([np.pad(part, ((0, 0), (0, 4)), constant_values=WHITE) for part in parts]))


def spectra(case, values, decoded):
    """Spectra of energy: of the original, and of the decoded fields, as far as they differ from it."""
    waves = range(1, values.shape[0] // 2)
    curve = lambda label, one, colour: Curve(label, list(zip(waves, spectrum(one))), colour)
    curves = [curve(words(setting), one, LINES[1 + i]) for i, (setting, one) in enumerate(zip(case.settings, decoded))]
    return svg([Panel("Energy of a velocity", "wave number", "energy", [*curves, curve("original", values, LINES[0])], True, True)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=pathlib.Path, default="docs/book/bounds.md", help="the page of the tables")
    parser.add_argument("--out", type=pathlib.Path, default="docs/pictures", help="the folder of pictures")
    arguments = parser.parse_args()
    made = fields()
    for case in cases():
        values = made[case.name]
        streams = [ferrosz.compress(values, **setting) for setting in case.settings]
        decoded = [ferrosz.decompress(stream) for stream in streams]
        text = page.replaced(arguments.page.read_text(), case.name, table(case, values, streams, decoded))
        arguments.page.write_text(text)
        path = arguments.out / f"bound-{case.name}"
        if case.shown:
            path.with_suffix(".png").write_bytes(picture(case, values, decoded))
        else:
            path.with_suffix(".svg").write_text(spectra(case, values, decoded))


if __name__ == "__main__":
    main()
