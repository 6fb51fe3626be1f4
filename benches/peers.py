#!/usr/bin/env python3
"""Throughput over ratio, of ferrosz and other compressors on one GPU: a picture and its tables.

    python3 benches/peers.py [--csv docs/measurements/peers-h200.csv] [--out docs/peers.svg]

Draws an SVG with a panel for each field, and prints the tables of docs/measurements/peers-h200.md. Both axes are logarithmic: a
step in any place is the same factor. Needs nothing but Python.
"""
import argparse
import csv
import math
import pathlib

OWN = "ferrosz"
TITLES = {
    "grf": "Gaussian random field",
    "nyx": "log-normal density",
    "rtm": "seismic wave fronts",
}
# Colours that are dark enough for letters on white, and a mark for each.
STYLES = {
    OWN: ("#0b57a4", "circle"),
    "cuSZp 3": ("#a85400", "triangle"),
    "cuSZp 2": ("#a85400", "triangle down"),
    "nvCOMP Bitcomp": ("#333333", "square"),
    "PFPL": ("#00704a", "diamond"),
    "FZ-GPU": ("#9a2d73", "plus"),
    "cuSZ": ("#7d6200", "cross"),
    "cuSZ-Hi": ("#b3202c", "star"),
    "FZGPUModules": ("#6d6d6d", "ring"),
}
# The label of each peer whose label is not its own name.
FAMILIES = {"cuSZp 2": "cuSZp 2, 3", "cuSZp 3": "cuSZp 2, 3", "nvCOMP Bitcomp": "Bitcomp"}

WIDTH, HEIGHT, LEFT, TOP, GAP, RIGHT, BOTTOM = 294, 330, 58, 58, 20, 12, 70
LOWEST, HIGHEST = 15, 6000
LETTER, LINE = 6.7, 14
MARK = 4.5
BEYOND = ("beyond_1e2", "beyond_1e3", "beyond_1e4")


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


def panel(name, rows, loose, left):
    """Axes, grid, marks and labels of a field."""
    ratios = [row["ratio"] for row in rows]
    low, high = min(ratios), max(ratios)
    across = Axis(low / (high / low) ** 0.16, high * (high / low) ** 0.4, left, left + WIDTH)
    down = Axis(LOWEST, HIGHEST, TOP + HEIGHT, TOP)
    parts = [text(left + WIDTH / 2, TOP - 10, f"{TITLES[name]} ({name})")]
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
    for row in rows:
        places.setdefault(row["compressor"], []).append((across.place(row["ratio"]), down.place(row["compress"])))
    own = sorted(places[OWN])
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in own)
    parts.append(f'<path d="{path}" stroke="{STYLES[OWN][0]}" stroke-width="2.2" fill="none"/>')
    for compressor in reversed(STYLES):
        colour, kind = STYLES[compressor]
        parts += [mark(kind, x, y, colour) for x, y in places[compressor]]

    frame = Box(left + 3, TOP + 3, left + WIDTH - 3, TOP + HEIGHT - 3)
    taken = [around(x, y, MARK + 1) for group in places.values() for x, y in group] + list(steps(own))
    return parts + own_labels(rows, across, down, frame, taken) + peers_labels(places, loose, frame, taken)


def own_labels(rows, across, down, frame, taken):
    """One label for the codecs of blocks, which lie close together, and one for each other."""
    groups = {}
    for row in rows:
        if row["compressor"] == OWN:
            codec = row["variant"].split()[0]
            is_of_tiles = codec == "interp" or "+" in codec
            lines = (codec,) if is_of_tiles else (f"{OWN}: plain, outlier,", "lorenzo, layered")
            groups.setdefault(lines, []).append((across.place(row["ratio"]), down.place(row["compress"])))
    parts = []
    for lines, places in groups.items():
        parts += label(lines, places, STYLES[OWN][0], frame, taken, "bold")
    return parts


def peers_labels(places, loose, frame, taken):
    """One label for each family, with a star if it is one of those that do not keep the bound."""
    families = {}
    for compressor in STYLES:
        if compressor != OWN:
            name = FAMILIES.get(compressor, compressor) + (" *" if compressor in loose else "")
            families.setdefault(name, (STYLES[compressor][0], []))[1].extend(places[compressor])
    parts = []
    for name, (colour, group) in families.items():
        parts += label((name,), sorted(group), colour, frame, taken)
    return parts


def beyond_the_bound(fields):
    """Compressors with a value beyond the bound, on any of the fields at any of the bounds; and their largest error over the bound."""
    rows = [row for rows in fields.values() for row in rows if any(row[key] not in ("", "0") for key in BEYOND)]
    return {row["compressor"] for row in rows}, max(float(row["worst"]) for row in rows)


def draw(fields):
    loose, worst = beyond_the_bound(fields)
    width = LEFT + len(fields) * (WIDTH + GAP) - GAP + RIGHT
    height = TOP + HEIGHT + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
             "<title>Compression throughput over compression ratio of ferrosz and other GPU compressors</title>",
             '<rect width="100%" height="100%" fill="#fff"/>',
             text(LEFT, 22, "One NVIDIA H200, 512 x 512 x 512 float32, errors within 1e-3 of the range. Up and right is better.",
                  "start", ' font-size="14"'),
             text(LEFT, height - 8, f"* some values are beyond the bound, by up to {100 * (worst - 1):.2f} %, on one or more of these "
                  "fields at 1e-2, 1e-3 or 1e-4", "start")]
    middle = TOP + HEIGHT / 2
    parts.append(text(16, middle, "compression, GB/s of the field", more=f' transform="rotate(-90 16 {middle})"'))
    for i, (name, rows) in enumerate(fields.items()):
        parts += panel(name, rows, loose, LEFT + i * (WIDTH + GAP))
    return "\n".join(parts + ["</svg>", ""])


def tables(fields):
    out = []
    for name, rows in fields.items():
        out += [f"\n## {name}: {TITLES[name]}\n",
                "| compressor | variant | ratio | compress | decompress | beyond the bound, 1e-2 / 1e-3 / 1e-4 | worst | PSNR |",
                "| --- | --- | --- | --- | --- | --- | --- | --- |"]
        for row in rows:
            beyond = " / ".join(row[key] for key in BEYOND) if row["worst"] else "-"
            out.append(f"| {row['compressor']} | {row['variant']} | {row['ratio']:.2f} | {row['compress']:g} | {row['decompress']} "
                       f"| {beyond} | {row['worst'] or '-'} | {row['psnr'] or '-'} |")
    return "\n".join(out)


def read(path):
    """Rows by field, in the file's order."""
    fields = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            row |= {key: float(row[key]) for key in ("ratio", "compress")}
            fields.setdefault(row["field"], []).append(row)
    return fields


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=pathlib.Path, default=pathlib.Path("docs/measurements/peers-h200.csv"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/peers.svg"))
    args = parser.parse_args()
    fields = read(args.csv)
    args.out.write_text(draw(fields))
    print(tables(fields))


if __name__ == "__main__":
    main()
