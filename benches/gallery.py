#!/usr/bin/env python3
"""The gallery of the book: six real fields, compressed, judged and drawn.

    pip download --no-deps --dest WHEELS iris-sample-data==2.5.2 py-wake==2.6.20
    python3 benches/gallery.py WHEELS [--ferrosz target/release/ferrosz] [--out docs/pictures] [--reports FOLDER]

Writes the table of docs/book/gallery.md, and a picture of each field by `ferrosz verify --picture`; with --reports also the page of
`ferrosz report`. Needs nothing but Python and the command.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).parent.parent
sys.path.append(str(ROOT))
from examples import page

IRIS = "iris_sample_data-2.5.2-py3-none-any.whl"
WAKE = "py_wake-2.6.20-py3-none-any.whl"


@dataclass
class Exhibit:
    """A field: its file in a wheel, its variable there, and the bound."""

    name: str
    what: str
    bound: str
    unit: str
    wheel: str = ""
    member: str = ""
    variable: str = ""

    def unpack(self, wheels, folder):
        """The field as the command names it in the folder. Without a wheel it is that of the demo."""
        if not self.wheel:
            shutil.copy(ROOT / "demo/data/um_colpex_theta.npy", folder / f"{self.name}.npy")
            return f"{self.name}.npy"
        (folder / f"{self.name}.nc").write_bytes(zipfile.ZipFile(wheels / self.wheel).read(self.member))
        return f"{self.name}.nc:{self.variable}"


SAMPLES = "iris_sample_data/sample_data/"
EXHIBITS = (
    Exhibit("weather", "potential temperature over hills, 10 levels", "--abs 0.02", " K"),
    Exhibit("climate", "air temperature of North America, 240 years", "--abs 0.05", " K", IRIS, SAMPLES + "A1B_north_america.nc", "air_temperature"),
    Exhibit("ocean", "sea surface temperature, 54 months; land is missing", "--abs 0.02", " K", IRIS, SAMPLES + "ostia_monthly.nc", "surface_temperature"),
    Exhibit("satellite", "brightness temperature of clouds, 10.8 um", "--abs 0.5", " K", IRIS, SAMPLES + "toa_brightness_stereographic.nc", "data"),
    Exhibit("ionosphere", "electron density, 29 heights", "--pwrel 0.01", " of each value", IRIS, SAMPLES + "space_weather.nc", "Ne"),
    Exhibit("wake", "wind deficit behind a turbine", "--range 1e-3", "", WAKE,
            "py_wake/tests/test_files/fuga/2MW/Z0=0.03000000Zi=00401Zeta0=0.00E+00.nc", "UL"),
)


def say(folder, *line):
    """The JSON object that a command prints in a folder."""
    return json.loads(subprocess.run([*line, "--json"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout)


def row(exhibit, made, judged):
    """A row of the table."""
    dims = " x ".join(map(str, made["dims"]))
    largest = judged["largest_relative_error"] if exhibit.bound.startswith("--pwrel") else judged["largest_error"]
    return [f"[{exhibit.name}](#{exhibit.name})", f"{dims} `{made['dtype']}`", f"`{exhibit.bound}`", f"{largest:.4g}{exhibit.unit}",
             f"{made['ratio']:.1f}", f"{judged['psnr']:.1f}", f"{judged['ssim']:.4f}" if judged["ssim"] is not None else "-", made["codec"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=pathlib.Path, help="the folder of the wheels")
    parser.add_argument("--ferrosz", default=ROOT / "target/release/ferrosz", help="the command")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/book/gallery.md", help="the page of the table")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/pictures", help="the folder of pictures")
    parser.add_argument("--reports", type=pathlib.Path, help="a folder for the pages of `ferrosz report`")
    arguments = parser.parse_args()
    rows, ferrosz = [], pathlib.Path(arguments.ferrosz).resolve()
    for exhibit in EXHIBITS:
        with tempfile.TemporaryDirectory() as folder:
            field, stream = exhibit.unpack(arguments.wheels, pathlib.Path(folder)), f"{exhibit.name}.fsz"
            made = say(folder, ferrosz, "compress", field, stream, *exhibit.bound.split(), "--device", "cpu")
            picture = arguments.out.resolve() / f"gallery-{exhibit.name}.png"
            judged = say(folder, ferrosz, "verify", field, stream, "--picture", picture, "--force", "--device", "cpu")
            rows.append(row(exhibit, made, judged))
            if arguments.reports:
                report = arguments.reports.resolve() / f"{exhibit.name}.html"
                subprocess.run([ferrosz, "report", field, stream, "-o", report, "--force"], cwd=folder, check=True)
    head = ["field", "values", "bound", "largest error", "ratio", "PSNR, dB", "SSIM", "codec"]
    arguments.page.write_text(page.replaced(arguments.page.read_text(), "fields", page.table(head, rows)))


if __name__ == "__main__":
    main()
