"""Curves as SVG, in the standard library alone: a machine with a GPU need not have a library that draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 470, 300
LEFT, TOP, RIGHT, BOTTOM = 62, 34, 14, 44
LEGEND_LINE = 17
# Told apart by those who see colours differently: the palette of Okabe and Ito, without its yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
BLACK, GREY = "#000000", "#8c8c8c"


@dataclass(frozen=True)
class Curve:
    """Points joined by a line. A dashed curve is a prediction or a limit."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes. On a logarithmic axis, points that are not positive are left out."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Axis:
    """Maps numbers to places in a picture."""

    low: float
    high: float
    start: float
    stop: float
    log: bool

    @classmethod
    def of(cls, numbers: Sequence[float], start: float, stop: float, log: bool) -> Axis:
        """An axis with room for these numbers."""
        scaled = [math.log10(number) if log else number for number in numbers if number > 0 or not log]
        low, high = (min(scaled), max(scaled)) if scaled else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.5
        return cls(low - margin, high + margin, start, stop, log)

    def place(self, number: float) -> float:
        """The place of a number."""
        scaled = math.log10(number) if self.log else number
        return self.start + (scaled - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Up to seven round numbers."""
        rough = (self.high - self.low) / 6
        if self.log:
            decades = max(1, math.ceil(rough))
            return [10.0**power for power in range(math.ceil(self.low), math.floor(self.high) + 1, decades)]
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        return [number * step for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def svg(panels: Sequence[Panel], columns: int = 3) -> str:
    """The panels in rows, each with its legend below it."""
    row = HEIGHT + LEGEND_LINE * max(len(panel.curves) for panel in panels) + 8
    width, height = WIDTH * min(columns, len(panels)), row * math.ceil(len(panels) / columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        x, y = number % columns * WIDTH, number // columns * row
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel) -> list[str]:
    points = [point for curve in panel.curves for point in curve.points]
    x = Axis.of([point[0] for point in points], LEFT, WIDTH - RIGHT, panel.log_x)
    y = Axis.of([point[1] for point in points], HEIGHT - BOTTOM, TOP, panel.log_y)
    parts = [
        _text(WIDTH / 2, 18, panel.title, "middle", ' font-weight="bold"'),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, panel.x, "middle"),
        f'<g transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)">{_text(0, 0, panel.y, "middle")}</g>',
    ]
    for tick in x.ticks():
        parts.append(_line(x.place(tick), TOP, x.place(tick), HEIGHT - BOTTOM))
        parts.append(_text(x.place(tick), HEIGHT - BOTTOM + 16, f"{tick:g}", "middle"))
    for tick in y.ticks():
        parts.append(_line(LEFT, y.place(tick), WIDTH - RIGHT, y.place(tick)))
        parts.append(_text(LEFT - 6, y.place(tick) + 4, f"{tick:g}", "end"))
    for number, curve in enumerate(panel.curves):
        dashes = ' stroke-dasharray="5 4"' if curve.dashed else ""
        style = f'fill="none" stroke="{curve.colour}" stroke-width="1.8"{dashes}'
        drawn = [(a, b) for a, b in curve.points if (a > 0 or not panel.log_x) and (b > 0 or not panel.log_y)]
        places = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in drawn)
        parts.append(f'<polyline points="{places}" {style}/>')
        line = HEIGHT + LEGEND_LINE * number + 8
        parts.append(f'<path d="M{LEFT} {line}h26" {style}/>')
        parts.append(_text(LEFT + 34, line + 4, curve.label, "start"))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{BLACK}"{more}>{escape(text)}</text>'
