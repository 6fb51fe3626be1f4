"""Makes the tables of README.md and the pictures from the numbers.

    python -m examples.quantum.report
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..chart import BLACK, COLOURS, GREY, Curve, Panel, svg
from ..page import table, update, wrapped

FOLDER = Path(__file__).parent
HEAD = (
    "circuit",
    "kept as",
    "ratio, least",
    "with the window",
    "ms a gate",
    "recompressions R",
    "error",
    "predicted",
    "1 - F",
    "predicted",
)
TITLES = {"random": "random", "qft": "Fourier", "grover": "Grover"}
# Below, 1 - F shows the rounding of the comparison in float64.
LEAST = 1e-12


def error_of(share: float, recompressions: float) -> float:
    """The norm of the error that is predicted: each recompression adds to each of two planes of N amplitudes an independent
    error that is uniform within share / sqrt(N)."""
    return share * math.sqrt(2 * recompressions / 3)


def label(run: dict[str, Any]) -> str:
    """How a state is kept."""
    of = {"float32": "f32", "float64": "f64"}[run["real"]]
    if run["share"] is None:
        return f"{of}, {run['store']}"
    bound = f"e = {run['share']:g}" if run["share"] else "lossless"
    return f"{of}, {bound}, `{run['codec']}`" + ("" if run["fused"] else ", each gate by itself")


def row(run: dict[str, Any]) -> list[str]:
    """A row of the table."""
    last = run["points"][-1]
    bounded = run["share"] is not None
    error = error_of(run["share"], last["recompressions"]) if bounded else None
    infidelity = last["infidelity"]
    return [
        TITLES[run["circuit"]],
        label(run),
        f"{run['raw_bytes'] / run['peak_bytes']:.2f}",
        f"{run['raw_bytes'] / (run['peak_bytes'] + run['window_bytes']):.2f}",
        f"{1e3 * run['seconds'] / run['gates']:.2f}",
        f"{last['recompressions']:.1f}",
        f"{last['error']:.1e}",
        f"{error:.1e}" if error else "",
        f"{infidelity:.1e}" if infidelity > LEAST else f"< {LEAST:g}",
        f"{error**2:.1e}" if error else "",
    ]


def curves(runs: Sequence[dict[str, Any]], y: str) -> list[Curve]:
    """A quantity of each run over the gates, and over each bound's 1 - F its prediction."""
    found = []
    bounded = [run for run in runs if run["share"]]
    for colour, run in zip(COLOURS, bounded, strict=False):
        found.append(Curve(label(run).replace("`", ""), [(p["gates"], p[y]) for p in run["points"]], colour))
        if y == "infidelity":
            points = [(p["gates"], error_of(run["share"], p["recompressions"]) ** 2) for p in run["points"]]
            found.append(Curve("predicted: 2/3 R e²", points, colour, dashed=True))
    for colour, run in zip((BLACK, GREY), [run for run in runs if run["share"] is None], strict=False):
        found.append(Curve(label(run), [(p["gates"], p[y]) for p in run["points"]], colour))
    return found


def growth(runs: Sequence[dict[str, Any]]) -> list[Curve]:
    """The error of each run at the middle bound, in units of the bound, over recompressions."""
    found = []
    for colour, run in zip(COLOURS, runs, strict=False):
        points = [(p["recompressions"], p["error"] / run["share"]) for p in run["points"]]
        found.append(Curve(f"{TITLES[run['circuit']]}{'' if run['fused'] else ', each gate by itself'}", points, colour))
    most = max(p["recompressions"] for run in runs for p in run["points"])
    steps = [most ** (step / 40) for step in range(41)]
    found.append(Curve("predicted: sqrt(2 R / 3)", [(step, error_of(1, step)) for step in steps], BLACK, dashed=True))
    found.append(Curve("guaranteed: sqrt(2) R", [(step, math.sqrt(2) * step) for step in steps], GREY, dashed=True))
    return found


def picture(numbers: dict[str, Any]) -> str:
    """Fidelity, growth of the error, and memory."""
    settings, runs = numbers["settings"], numbers["runs"]
    single = [run for run in runs if run["real"] == "float32"]
    usual = [run for run in single if run["fused"] and run["codec"] in (None, settings["codec"])]
    of_random = [run for run in usual if run["circuit"] == "random"]
    middle = [run for run in single if run["share"] == 1e-3 and run["codec"] == settings["codec"]]
    ratios = [
        Curve(curve.label, [(x, of_random[0]["raw_bytes"] / y) for x, y in curve.points], curve.colour)
        for curve in curves(of_random, "bytes")
    ]
    title = f"{settings['qubits']} qubits, random circuit"
    return svg([
        Panel(title, "gates", "1 - fidelity", curves(of_random, "infidelity"), log_y=True),
        Panel("all circuits, e = 0.001", "recompressions R", "error / e", growth(middle), log_x=True, log_y=True),
        Panel(title, "gates", "ratio", ratios, log_y=True),
    ])


def section(numbers: dict[str, Any], name: str) -> str:
    """A machine's part of the page."""
    settings = numbers["settings"]
    shown = (
        f"{numbers['machine']}: {settings['qubits']} qubits in {2 ** (settings['qubits'] - settings['low']):,} chunks of "
        f"{2 ** settings['low']:,} amplitudes, {2 ** settings['high']} decoded together."
    )
    alone = table(HEAD, [row(run) for run in numbers["runs"]])
    return f"{wrapped(shown)}\n\n![Fidelity, error and ratio over gates]({name}.svg)\n\n{alone}"


if __name__ == "__main__":
    update(FOLDER, picture, section)
