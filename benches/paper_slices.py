#!/usr/bin/env python3
"""The slices of docs/book/codecs.md: fields, the same fields decoded from streams of one ratio, and the errors.

    python3 benches/make_fields.py FIELDS --edge 128 --particles 10 --device cpu
    python3 benches/paper_slices.py FIELDS [--ferrosz target/release/ferrosz] [--out docs/pictures]

Writes a PNG for each figure, and prints a row of Markdown for each pair of a field and a codec. A row of a picture has
the middle slice of a field, and for each codec the decoded slice and its error. White is an error of 0; the darkest
blue and red are errors of the largest magnitude that any codec has in this row. Needs NumPy.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import tempfile
import zlib

import numpy as np

WEATHER = pathlib.Path(__file__).parent.parent / "demo/data/um_colpex_theta.npy"
# The rows of each picture: a field, the ratio, and the pixels of an element along both axes.
FIGURES = {
    "cusz-i-figure-8": (("cusz-i", "cusz"), (("nyx", 27, 1), ("rtm", 27, 1))),
    "aatrox-figure-12": (("aatrox",), ((WEATHER, 16.4, 2),)),
    "cuszp2-figure-18": (("cuszp2-outlier",), (("rtm", 64, 1), ("rtm", 30, 1), ("rtm", 3, 1))),
}
GAP = 4
# Stops of the colours of values (viridis) and of errors (blue, white, red).
VALUES = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
ERRORS = ((5, 48, 97), (67, 147, 195), (255, 255, 255), (214, 96, 77), (103, 0, 31))
COLOURS = 127
WHITE = 2 * COLOURS


def palette():
    """The colours of a picture: those of values, those of errors, and white."""
    def between(stops):
        places = np.linspace(0, len(stops) - 1, COLOURS)
        return np.stack([np.interp(places, range(len(stops)), parts) for parts in zip(*stops)], axis=1)

    return np.concatenate([between(VALUES), between(ERRORS), [(255, 255, 255)]]).round().astype(np.uint8)


def colours(values, low, high, first):
    """The numbers of colours, from `first` on, of values between these ends."""
    share = (values - low) / (high - low) if high > low else np.full(values.shape, 0.5)
    return first + (np.clip(share, 0, 1) * (COLOURS - 1)).round().astype(np.uint8)


def png(pixels):
    """A PNG of the numbers of colours."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    lines = np.pad(pixels, ((0, 0), (1, 0))).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (b"IHDR", head), (b"PLTE", palette().tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def decoded(ferrosz, field, codec, ratio):
    """A field, compressed to a ratio and decoded; and the JSON object of `ferrosz compress`."""
    with tempfile.TemporaryDirectory() as folder:
        source, stream, back = (f"{folder}/{name}" for name in ("field.npy", "field.fsz", "back.npy"))
        np.save(source, field)
        line = [ferrosz, "compress", source, stream, "--codec", codec, "--ratio", str(ratio)]
        line += ["--device", "cpu", "--json"]
        said = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)
        subprocess.run([ferrosz, "decompress", stream, back, "--quiet"], check=True)
        return np.load(back), said


def read(folder, name):
    """A field, by its path as .npy or by its name in a folder of cubes."""
    if name is WEATHER:
        return np.load(name)
    values = np.fromfile(folder / f"{name}.f32", "<f4")
    return values.reshape((round(len(values) ** (1 / 3)),) * 3)


def psnr(field, back):
    """The PSNR of a decoded field in dB, by the range of the field."""
    extent = float(field.max()) - float(field.min())
    mean_square = np.mean((back.astype(float) - field) ** 2)
    return 20 * np.log10(extent / np.sqrt(mean_square)) if mean_square > 0 else np.inf


def panels(field, of_codecs, scale):
    """A row of a picture: the middle slice, and the decoded slice and its error for each codec."""
    middle = len(field) // 2
    slice_ = field[middle].astype(float)
    errors = [back[middle] - slice_ for back in of_codecs]
    largest = max(abs(error).max() for error in errors)
    ends = slice_.min(), slice_.max()
    parts = [colours(slice_, *ends, 0)]
    for error in errors:
        parts += [colours(slice_ + error, *ends, 0), colours(error, -largest, largest, COLOURS)]
    parts = [np.pad(part.repeat(scale, 0).repeat(scale, 1), GAP // 2, constant_values=WHITE) for part in parts]
    return np.hstack(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", type=pathlib.Path, help="the folder of make_fields.py")
    parser.add_argument("--ferrosz", default="target/release/ferrosz", help="the command")
    parser.add_argument("--out", type=pathlib.Path, default="docs/pictures", help="the folder of pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    print("| picture | field | codec | ratio | PSNR, dB |\n| --- | --- | --- | --- | --- |")
    for figure, (codecs, rows) in FIGURES.items():
        made = []
        for name, ratio, scale in rows:
            field, backs = read(arguments.fields, name), []
            label = name.stem if name is WEATHER else name
            for codec in codecs:
                back, said = decoded(arguments.ferrosz, field, codec, ratio)
                backs.append(back)
                found = field.nbytes / said["stream_bytes"]
                print(f"| {figure} | {label} | {codec} | {found:.2f} | {psnr(field, back):.2f} |")
            made.append(panels(field, backs, scale))
        (arguments.out / f"{figure}.png").write_bytes(png(np.vstack(made)))


if __name__ == "__main__":
    main()
