#!/usr/bin/env python3
"""The price of levels that are coded apart, and what a level of them costs: docs/measurements/levels.md.

    python3 benches/levels.py FERROSZ [FOLDER]

FERROSZ is the command, built with the feature remote. FOLDER keeps the fields. Needs NumPy.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

import numpy as np

LEVELS = 4


def grf(shape, exponent, seed):
    """A Gaussian random field with a power spectrum of this exponent."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    grid = np.meshgrid(*[np.fft.fftfreq(n) * n for n in shape], indexing="ij", sparse=True)
    k = np.sqrt(sum(g * g for g in grid))
    k.flat[0] = 1.0
    field = np.fft.ifftn(np.fft.fftn(noise) * k ** (exponent / 2)).real
    return (field / field.std()).astype(np.float32)


def fields():
    """Name, array."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield "theta", np.load(os.path.join(here, "../demo/data/um_colpex_theta.npy"))
    yield "grf 256^3", grf((256, 256, 256), -11 / 3, 1)
    yield "smooth 256^3", grf((256, 256, 256), -6.0, 2)
    yield "grf 4096^2", grf((4096, 4096), -3.0, 3)
    yield "walk 2^24", np.cumsum(np.random.default_rng(4).standard_normal(1 << 24)).astype(np.float32)


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A server of files that knows ranges."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.translate_path(self.path)
        size = os.path.getsize(path)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", f"bytes=0-{size - 1}"))
        first, last = int(wanted[1]), min(int(wanted[2]), size - 1)
        with open(path, "rb") as file:
            file.seek(first)
            body = file.read(last - first + 1)
        self.send_response(206)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", str(os.path.getsize(self.translate_path(self.path))))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


def main():
    ferrosz, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(*arguments):
        done = subprocess.run([ferrosz, *arguments, "--json", "--force"], capture_output=True, check=True)
        return json.loads(done.stdout)

    def least(*arguments):
        return min((run(*arguments) for _ in range(3)), key=lambda report: report["seconds"])

    print("| field | codec | ratio | apart longer by % | compress, s | apart | decompress, s | apart | level | values | "
          "seconds | bytes read | of the stream |")
    print("| --- " * 13 + "|")
    for name, field in fields():
        np.save("field.npy", field)
        for codec in ["interp", "stencil", "slices"]:
            if codec == "slices" and field.ndim < 3:
                continue
            flags = ["--range", "1e-3", "--codec", codec, "--device", "cpu"]
            plain = least("compress", "field.npy", "plain.fsz", *flags)
            apart = least("compress", "field.npy", "apart.fsz", *flags, "--levels", str(LEVELS))
            whole = [least("decompress", f"{it}.fsz", "out.npy", "--device", "cpu") for it in ("plain", "apart")]
            full = np.load("out.npy")
            longer = 100 * (apart["stream_bytes"] / plain["stream_bytes"] - 1)
            row = [name, codec, f"{field.nbytes / plain['stream_bytes']:.2f}", f"{longer:.1f}"]
            row += [f"{it['seconds']:.3f}" for it in (plain, apart, *whole)]
            url = f"http://127.0.0.1:{server.server_port}/apart.fsz"
            for level in range(1, LEVELS + 1):
                report = least("decompress", "apart.fsz", "level.npy", "--level", str(level))
                assert np.array_equal(np.load("level.npy"), full[(slice(None, None, 1 << level),) * full.ndim])
                read = run("decompress", url, "level.npy", "--level", str(level))["bytes_read"]
                share = 100 * read / apart["stream_bytes"]
                cells = [level, report["elements"], f"{report['seconds']:.4f}", f"{read:,}", f"{share:.1f} %"]
                print("|", " | ".join(map(str, row + cells)), "|", flush=True)
                row = [""] * len(row)


main()
