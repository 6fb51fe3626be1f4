#!/usr/bin/env python3
"""Throughput over ratio, of ferrosz and other compressors on one GPU: a picture and its tables.

    python3 benches/peers.py [--csv docs/measurements/peers-h200.csv] [--out docs/peers.svg]

Draws an SVG with a panel for each field, and prints the tables of docs/measurements/peers-h200.md. Needs nothing but
Python.
"""
import argparse
import csv
import pathlib

from scatter import Chart, Point, draw

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

BEYOND = ("beyond_1e2", "beyond_1e3", "beyond_1e4")


def beyond_the_bound(fields):
    """Compressors with a value beyond the bound, on any of the fields at any of the bounds; and their largest error over the bound."""
    rows = [row for rows in fields.values() for row in rows if any(row[key] not in ("", "0") for key in BEYOND)]
    return {row["compressor"] for row in rows}, max(float(row["worst"]) for row in rows)


def label_of(row, loose):
    """One label for the codecs of blocks, which lie close together, and one for each other; for each family of peers, with a
    star if it is one of those that do not keep the bound."""
    if row["compressor"] == OWN:
        codec = row["variant"].split()[0]
        is_of_tiles = codec == "interp" or "+" in codec
        return (codec,) if is_of_tiles else (f"{OWN}: plain, outlier,", "lorenzo, layered")
    name = FAMILIES.get(row["compressor"], row["compressor"])
    return (name + (" *" if row["compressor"] in loose else ""),)


def picture(fields):
    """The picture of all fields."""
    loose, worst = beyond_the_bound(fields)
    chart = Chart(
        title="Compression throughput over compression ratio of ferrosz and other GPU compressors",
        heading="One NVIDIA H200, 512 x 512 x 512 float32, errors within 1e-3 of the range. Up and right is better.",
        note=f"* some values are beyond the bound, by up to {100 * (worst - 1):.2f} %, on one or more of these "
        "fields at 1e-2, 1e-3 or 1e-4",
        rate="compression, GB/s of the field",
        own=OWN,
        styles=STYLES,
        lowest=15,
        highest=6000,
    )
    points = lambda rows: [Point(row["compressor"], label_of(row, loose), row["ratio"], row["compress"]) for row in rows]
    return draw(chart, [(f"{TITLES[name]} ({name})", points(rows)) for name, rows in fields.items()])


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
    args.out.write_text(picture(fields))
    print(tables(fields))


if __name__ == "__main__":
    main()
