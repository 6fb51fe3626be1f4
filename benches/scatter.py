"""Throughput over ratio, as SVG: a panel for each field, whose axes are logarithmic and whose marks have labels beside them.

A step in any place is the same factor. Needs nothing but Python.
"""

import math
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, TOP, GAP, RIGHT, BOTTOM = 294, 330, 58, 58, 20, 12, 70
LETTER, LINE = 6.7, 14
MARK = 4.5


@dataclass(frozen=True)
class Point:
    """A mark: of a compressor, under a label, at a ratio and a rate."""

    compressor: str
    label: tuple[str, ...]
    ratio: float
    rate: float


@dataclass(frozen=True)
class Chart:
    """What a picture says. `own` is the compressor whose marks are joined by a line; `styles` has a colour and a mark for each."""

    title: str
    heading: str
    note: str
    rate: str
    own: str
    styles: dict[str, tuple[str, str]]
    lowest: float
    highest: float


class Axis:
    """A logarithmic axis from one place on the page to another."""

    def __init__(self, low, high, start, end):
        self.low, self.high, self.start, self.end = low, high, start, end

    def place(self, value):
        return self.start + (self.end - self.start) * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self):
        """1, 2 and 5 times powers of ten, and more where that would be few."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if self.high / self.low > 10 else (1, 2, 3, 4, 5, 6, 8)
        values = [step * 10**power for power in powers for step in steps]
        return [value for value in values if self.low <= value <= self.high]


class Box:
    """A rectangle that labels must not share."""

    def __init__(self, left, top, right, bottom):
        self.left, self.top, self.right, self.bottom = left, top, right, bottom

    def overlaps(self, other):
        return (self.left < other.right and other.left < self.right
                and self.top < other.bottom and other.top < self.bottom)

    def is_within(self, other):
        return (self.left >= other.left and self.right <= other.right
                and self.top >= other.top and self.bottom <= other.bottom)


def around(x, y, radius):
    return Box(x - radius, y - radius, x + radius, y + radius)


def mark(kind, x, y, colour):
    r = MARK
    if kind in ("circle", "ring"):
        fill = colour if kind == "circle" else "none"
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'
    strokes = {"plus": ((-r, 0, 2 * r, 0), (0, -r, 0, 2 * r)),
               "cross": ((-r, -r, 2 * r, 2 * r), (r, -r, -2 * r, 2 * r))}
    strokes["star"] = strokes["plus"] + tuple((0.7 * a, 0.7 * b, 0.7 * c, 0.7 * d) for a, b, c, d in strokes["cross"])
    if kind in strokes:
        path = "".join(f"M{x + a:.1f} {y + b:.1f}l{c:.1f} {d:.1f}" for a, b, c, d in strokes[kind])
        return f'<path d="{path}" stroke="{colour}" stroke-width="1.8" fill="none"/>'
    corners = {"square": ((-r, -r), (r, -r), (r, r), (-r, r)), "diamond": ((0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)),
               "triangle": ((0, -r - 1), (r + 1, r), (-r - 1, r)),
               "triangle down": ((0, r + 1), (r + 1, -r), (-r - 1, -r))}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}" fill-opacity="0.85"/>'


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def candidates(places, width, height):
    """Boxes for a label beside one of its marks, the nearest first, and the side of the box that the words begin at."""
    for distance in (8, 11, 16, 24, 34):
        for x, y in places:
            right, left, centre = x + distance, x - distance - width, x - width / 2
            above, level, below = y - distance - height / 2, y - height / 2, y + distance - height / 2
            for start, top, anchor in ((right, level, "start"), (left, level, "end"),
                                       (centre, above - height / 2, "middle"), (centre, below + height / 2, "middle"),
                                       (right, above, "start"), (right, below, "start"),
                                       (left, above, "end"), (left, below, "end")):
                yield Box(start, top, start + width, top + height), anchor


def label(lines, places, colour, frame, taken, weight="normal"):
    """The words beside their marks, where nothing else is; takes that place."""
    width = LETTER * max(map(len, lines)) * (1.06 if weight == "bold" else 1)
    height = LINE * len(lines)
    free = ((box, anchor) for box, anchor in candidates(places, width, height)
            if box.is_within(frame) and not any(box.overlaps(other) for other in taken))
    box, anchor = next(free, (None, None))
    if box is None:
        raise SystemExit(f"no place for the label {lines}")
    taken.append(box)
    x = {"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[anchor]
    style = f' fill="{colour}" font-weight="{weight}"'
    return [text(x, box.top + LINE * (i + 0.78), words, anchor, style) for i, words in enumerate(lines)]


def steps(places):
    """Small boxes along a line, so that no label lies on it."""
    for (x0, y0), (x1, y1) in zip(places, places[1:]):
        count = max(1, int(math.hypot(x1 - x0, y1 - y0) / 6))
        for i in range(count + 1):
            yield around(x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count, 2)


def panel(chart, title, points, left):
    """Axes, grid, marks and labels of a field."""
    ratios = [point.ratio for point in points]
    low, high = min(ratios), max(ratios)
    across = Axis(low / (high / low) ** 0.16, high * (high / low) ** 0.4, left, left + WIDTH)
    down = Axis(chart.lowest, chart.highest, TOP + HEIGHT, TOP)
    parts = [text(left + WIDTH / 2, TOP - 10, title)]
    for tick in across.ticks():
        x = across.place(tick)
        parts += [f'<path d="M{x:.1f} {TOP}v{HEIGHT}" stroke="#e6e6e6"/>', text(x, TOP + HEIGHT + 17, f"{tick:g}")]
    for tick in down.ticks():
        y = down.place(tick)
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#e6e6e6"/>')
        if left == LEFT:
            parts.append(text(left - 7, y + 4, f"{tick:,g}", "end"))
    parts += [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
              text(left + WIDTH / 2, TOP + HEIGHT + 36, "compression ratio")]

    places = {}
    for point in points:
        places.setdefault(point.compressor, []).append((across.place(point.ratio), down.place(point.rate)))
    own = sorted(places[chart.own])
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in own)
    parts.append(f'<path d="{path}" stroke="{chart.styles[chart.own][0]}" stroke-width="2.2" fill="none"/>')
    for compressor in reversed(chart.styles):
        colour, kind = chart.styles[compressor]
        parts += [mark(kind, x, y, colour) for x, y in places[compressor]]

    frame = Box(left + 3, TOP + 3, left + WIDTH - 3, TOP + HEIGHT - 3)
    taken = [around(x, y, MARK + 1) for group in places.values() for x, y in group] + list(steps(own))
    return parts + labels(chart, points, across, down, frame, taken)


def labels(chart, points, across, down, frame, taken):
    """One label for all marks that share it, those of the own compressor first and in bold."""
    groups = {}
    for point in sorted(points, key=lambda point: list(chart.styles).index(point.compressor)):
        colour, _ = chart.styles[point.compressor]
        weight = "bold" if point.compressor == chart.own else "normal"
        group = groups.setdefault((point.label, colour, weight), [])
        group.append((across.place(point.ratio), down.place(point.rate)))
    parts = []
    for (lines, colour, weight), places in groups.items():
        parts += label(lines, places if weight == "bold" else sorted(places), colour, frame, taken, weight)
    return parts


def draw(chart, panels):
    """The picture of fields: titles and points."""
    width = LEFT + len(panels) * (WIDTH + GAP) - GAP + RIGHT
    height = TOP + HEIGHT + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
             f"<title>{chart.title}</title>",
             '<rect width="100%" height="100%" fill="#fff"/>',
             text(LEFT, 22, chart.heading, "start", ' font-size="14"'),
             text(LEFT, height - 8, chart.note, "start")]
    middle = TOP + HEIGHT / 2
    parts.append(text(16, middle, chart.rate, more=f' transform="rotate(-90 16 {middle})"'))
    for i, (title, points) in enumerate(panels):
        parts += panel(chart, title, points, LEFT + i * (WIDTH + GAP))
    return "\n".join(parts + ["</svg>", ""])
