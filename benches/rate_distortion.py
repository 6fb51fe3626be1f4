#!/usr/bin/env python3
"""PSNR over bits a value, of ferrosz's presets, SPERR, SZ3 and zfp: a picture and its numbers.

    compare-venv/bin/python benches/rate_distortion.py --out docs/measurements/rate-distortion.md FIELD.f32:Z,Y,X ...

compressors.py says what to install. The picture, an SVG beside the Markdown, has a panel for each field and a line for
each compressor, a point for each bound. What the Markdown has behind the line NOTES is kept when it is written again.
"""
import functools
import math
import pathlib
import tempfile

import compressors

SHARES = [10 ** (-half / 2) for half in range(2, 11)]
PACKAGES = ("numpy", "pysz", "hdf5plugin", "zfpy")
PRESETS = ("small", "balanced", "fast")
NOTES = "## What was tried"
# Colours that stay apart without colour vision (Okabe and Ito), and a mark for each.
STYLES = {
    "ferrosz --small": ("#0072b2", "circle"),
    "ferrosz --balanced": ("#009e73", "square"),
    "ferrosz --fast": ("#56b4e9", "diamond"),
    "SPERR": ("#cc79a7", "diamond"),
    "SZ3 INTERP_LORENZO": ("#d55e00", "triangle"),
    "zfp fixed accuracy": ("#666666", "cross"),
}
WIDTH, HEIGHT, LEFT, TOP, GAP = 440, 360, 62, 44, 84
MARK = 4


def ways(field, ferrosz):
    """For each compressor, what makes a stream's length and the decoded field of an absolute error."""
    def of_ferrosz(preset, error):
        said, decoded = ferrosz.compress(field, error, f"--{preset}", "--keep", "none")
        return said["stream_bytes"], decoded

    def of_other(run, error):
        result = run(error)
        return result.stream_bytes, result.decoded

    others = {
        "SPERR": lambda error: compressors.sperr(field, error, 1),
        "SZ3 INTERP_LORENZO": lambda error: compressors.sz3(field, error, "INTERP_LORENZO", 1, 1),
        "zfp fixed accuracy": lambda error: compressors.zfp(field, error, 1),
    }
    presets = {f"ferrosz --{preset}": functools.partial(of_ferrosz, preset) for preset in PRESETS}
    return presets | {name: functools.partial(of_other, run) for name, run in others.items()}


def measure(field, ferrosz):
    """Lines of points (share, bits a value, PSNR) by compressor."""
    lines = {}
    for name, way in ways(field, ferrosz).items():
        lines[name] = []
        for share in SHARES:
            stream_bytes, decoded = way(share * field.extent)
            lines[name].append((share, field.bits(stream_bytes), field.psnr(decoded)))
    return lines


def psnr_at(line, bits):
    """The PSNR of a line at so many bits, between its points; none beyond them."""
    points = sorted((bits, psnr) for _, bits, psnr in line)
    for (low, below), (high, above) in zip(points, points[1:]):
        if low <= bits <= high and low < high:
            return below + (above - below) * (bits - low) / (high - low)
    return None


def ahead(lines, name):
    """By how many decibels a compressor is ahead of `--small` at the bits of each of its points."""
    found = ((share, psnr, psnr_at(lines[name], bits)) for share, bits, psnr in lines["ferrosz --small"])
    return [(share, None if other is None else other - psnr) for share, psnr, other in found]


def nice_step(extent):
    """Of 1, 2 or 5 times a power of ten, what cuts an extent into at most seven."""
    power = 10 ** math.floor(math.log10(extent / 7))
    return next(step * power for step in (1, 2, 5, 10) if extent / (step * power) <= 7)


def ticks(low, high):
    step = nice_step(high - low)
    first = math.ceil(low / step)
    return [step * i for i in range(first, math.floor(high / step) + 1)]


def mark(kind, x, y, colour):
    r = MARK
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}"/>'
    if kind == "cross":
        path = f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}"
        return f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none"/>'
    corners = {"square": ((-r, -r), (r, -r), (r, r), (-r, r)), "diamond": ((0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)),
               "triangle": ((0, -r - 1), (r + 1, r), (-r - 1, r))}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def text(x, y, words, anchor="middle", turn=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{words}</text>'


def panel(field, lines, left):
    """Axes, grid and lines of a field."""
    points = [point for line in lines.values() for point in line]
    most = max(bits for _, bits, _ in points) * 1.04
    low, high = min(psnr for *_, psnr in points) - 4, max(psnr for *_, psnr in points) + 4
    across = lambda bits: left + WIDTH * bits / most
    down = lambda psnr: TOP + HEIGHT * (high - psnr) / (high - low)
    parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             text(left + WIDTH / 2, TOP - 12, f"{field.name}, {field.dims.replace(',', ' x ')}"),
             text(left + WIDTH / 2, TOP + HEIGHT + 38, "bits a value")]
    middle = TOP + HEIGHT / 2
    parts.append(text(left - 44, middle, "PSNR, dB", turn=f' transform="rotate(-90 {left - 44} {middle})"'))
    for tick in ticks(0, most):
        x = across(tick)
        parts += [f'<path d="M{x:.1f} {TOP}v{HEIGHT}" stroke="#e4e4e4"/>', text(x, TOP + HEIGHT + 18, f"{tick:g}")]
    for tick in ticks(low, high):
        y = down(tick)
        parts += [f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#e4e4e4"/>', text(left - 8, y + 4, f"{tick:g}", "end")]
    for name, line in lines.items():
        colour, kind = STYLES[name]
        places = [(across(bits), down(psnr)) for _, bits, psnr in line]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
        parts += [mark(kind, x, y, colour) for x, y in places]
    return parts


def legend(left, top):
    parts = []
    for i, (name, (colour, kind)) in enumerate(STYLES.items()):
        y = top - 22 * (len(STYLES) - i)
        parts += [f'<path d="M{left - 16} {y}h32" stroke="{colour}" stroke-width="2"/>', mark(kind, left, y, colour),
                  text(left + 24, y + 4, name, "start")]
    return parts


def draw(results):
    width = LEFT + len(results) * (WIDTH + GAP) - GAP + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 52}" '
             'font-family="sans-serif" font-size="13" fill="#222">', '<rect width="100%" height="100%" fill="#fff"/>']
    for i, (field, lines) in enumerate(results):
        left = LEFT + i * (WIDTH + GAP)
        parts += panel(field, lines, left)
    parts += legend(left + WIDTH - 190, TOP + HEIGHT - 2)
    return "\n".join(parts + ["</svg>", ""])


def markdown(args, results, picture, notes):
    names = " ".join(f"{field.name}.f32:{field.dims}" for field, _ in results)
    out = [f"""# Rate and distortion

{compressors.circumstances(args, PACKAGES)} Made by

```sh
python benches/rate_distortion.py --out docs/measurements/rate-distortion.md {names}
```

![PSNR over bits a value]({picture})

Each point is a bound, from a tenth of the field's range at the lower left to 1e-5 of it, two in each power of ten; the absolute error that it comes to is what each compressor got.
PSNR: 20 log10(range / root mean square error), in float64. Bits: of the whole stream, a value. Higher and further left is better. SPERR: the
filter of hdf5plugin with a point-wise error, the whole field as one chunk. Fields are those of [ratios](ratios.md#fields).

## SPERR at the same bits

By how many dB SPERR's line is above that of `--small`, at the bits that `--small` has at each bound, between the points by straight lines; bold where it is above.

| bound | {' | '.join(field.name for field, _ in results)} |
|{' --- |' * (len(results) + 1)}"""]
    of_sperr = [ahead(lines, "SPERR") for _, lines in results]
    for i, share in enumerate(SHARES):
        gains = [of_field[i][1] for of_field in of_sperr]
        cells = ["-" if gain is None else f"**+{gain:.2f}**" if gain > 0 else f"{gain:.2f}" for gain in gains]
        out.append(f"| {share:.2e} | {' | '.join(cells)} |")
    for field, lines in results:
        out += [f"\n## {field.name}, {field.dims.replace(',', ' x ')}: bits a value / PSNR\n",
                "| bound | " + " | ".join(lines) + " |", "| --- |" + " --- |" * len(lines)]
        for i, share in enumerate(SHARES):
            cells = [f"{line[i][1]:.3f} / {line[i][2]:.2f}" for line in lines.values()]
            out.append(f"| {share:.2e} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n" + notes


def main(args):
    fields = [compressors.read(argument) for argument in args.fields]
    with tempfile.TemporaryDirectory() as folder:
        ferrosz = compressors.Ferrosz(args.ferrosz, pathlib.Path(folder))
        results = [(field, measure(field, ferrosz)) for field in fields]
    picture = (args.out or pathlib.Path("rate-distortion")).with_suffix(".svg")
    before = args.out.read_text() if args.out and args.out.exists() else ""
    notes = before[before.index(NOTES) - 1:] if NOTES in before else ""
    text = markdown(args, results, picture.name, notes)
    print(text)
    if args.out:
        args.out.write_text(text)
        picture.write_text(draw(results))


if __name__ == "__main__":
    parsed = compressors.parser(__doc__).parse_args()
    compressors.load(parsed.threads)
    main(parsed)
