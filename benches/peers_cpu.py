#!/usr/bin/env python3
"""Throughput over ratio, of ferrosz and other compressors on one core of a CPU: the picture of the rates that are in
docs/measurements/compare-cpu.md.

    python3 benches/peers_cpu.py [--page docs/measurements/compare-cpu.md] [--out docs/peers-cpu.svg]

Needs nothing but Python.
"""

import argparse
import pathlib

from scatter import Chart, Point, draw

OWN = "ferrosz"
BOUND = "1e-03"
TITLES = {"turb_u": "turbulent velocity", "wave": "acoustic wave", "density": "log-normal density"}
STYLES = {
    OWN: ("#0b57a4", "circle"),
    "SZ3": ("#a85400", "triangle"),
    "SPERR": ("#00704a", "diamond"),
    "zfp": ("#9a2d73", "square"),
}


def point(cells):
    """A mark of a row of the table of rates, or none for what has no bound of its own."""
    _, _, name, ratio, _, _, compress, *_ = cells
    compressor = name.split()[0]
    if compressor not in STYLES:
        return None
    # The preset's choice is among its time; the name of what it chose is not its label.
    label = name.split()[1].rstrip(":") if compressor == OWN else compressor
    return Point(compressor, (label,), float(ratio), float(compress))


def read(page):
    """Titles and points of each field."""
    rates = page.read_text().split("\n## Rates", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in rates.splitlines() if line.startswith("|")]
    panels = []
    for field, title in TITLES.items():
        found = [point(cells) for cells in rows if cells[:2] == [field, BOUND]]
        panels.append((f"{title} ({field})", [one for one in found if one]))
    return panels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=pathlib.Path, default=pathlib.Path("docs/measurements/compare-cpu.md"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/peers-cpu.svg"))
    args = parser.parse_args()
    chart = Chart(
        title="Compression throughput over compression ratio of ferrosz and other CPU compressors",
        heading="One thread of an AMD EPYC, 256 x 256 x 256 float32, errors within 1e-3 of the range. Up and right is better.",
        note="--small includes the choice of its codec. HPEZ, whose ratios are in the tables, was not timed.",
        rate="compression, GB/s of the field",
        own=OWN,
        styles=STYLES,
        lowest=0.03,
        highest=4,
    )
    args.out.write_text(draw(chart, read(args.page)))


if __name__ == "__main__":
    main()
