#!/usr/bin/env python3
"""EBCC and SPERR as wheels of WebAssembly, beside ferrosz, on small fields: a table for docs/measurements/compare-cpu.md.

    python3 -m venv wheels-venv
    wheels-venv/bin/pip install numcodecs-wasm-ebcc numcodecs-wasm-sperr numpy
    wheels-venv/bin/python benches/wheels.py FERROSZ FIELD.f32:Z,Y,X ...

EBCC codes each plane with JPEG 2000 at a base ratio and then what is beyond the bound. It takes minutes for a million values.
"""

import json
import math
import subprocess
import sys
import tempfile
from importlib.metadata import version

import numpy as np
from numcodecs_wasm_ebcc import Ebcc
from numcodecs_wasm_sperr import Sperr

SHARES = (1e-2, 1e-3, 1e-4)
BASE_RATIOS = (10.0, 30.0)


def of_ferrosz(command, field, error):
    """The bytes of the stream of `--small`, and the decoded field."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/{name}" for name in ("field.npy", "stream.fsz", "back.npy")]
        np.save(names[0], field)
        said = subprocess.run([command, "compress", *names[:2], "--abs", str(error), "--device", "cpu", "--json"],
                              check=True, capture_output=True)
        subprocess.run([command, "decompress", *names[1:], "--quiet"], check=True)
        return json.loads(said.stdout)["stream_bytes"], np.load(names[2])


def of_wheel(codec, field):
    stream = codec.encode(field)
    return len(stream), np.asarray(codec.decode(stream)).reshape(field.shape)


def main():
    command = sys.argv[1]
    packages = ("numpy", "numcodecs_wasm_ebcc", "numcodecs_wasm_sperr")
    print(", ".join(f"{name} {version(name)}" for name in packages), end="\n\n")
    print("| field | bound | compressor | ratio | PSNR | error / bound |\n| --- | --- | --- | --- | --- | --- |")
    for argument in sys.argv[2:]:
        path, dims = argument.rsplit(":", 1)
        field = np.fromfile(path, "<f4").reshape([int(length) for length in dims.split(",")])
        extent = float(field.max()) - float(field.min())
        for share in SHARES:
            error = share * extent
            ways = {"ferrosz --small": lambda: of_ferrosz(command, field, error)}
            ways["SPERR"] = lambda: of_wheel(Sperr(mode="pwe", pwe=error), field)
            for base in BASE_RATIOS:
                codec = Ebcc(residual="absolute", error=error, base_cr=base)
                ways[f"EBCC, base {base:g}"] = lambda codec=codec: of_wheel(codec, field)
            for name, way in ways.items():
                stream_bytes, decoded = way()
                off = decoded.astype(np.float64) - field.astype(np.float64)
                psnr = 20 * math.log10(extent) - 10 * math.log10(float(np.mean(off * off)))
                worst = float(np.abs(off).max()) / error
                name_of_field = path.rsplit("/", 1)[-1].removesuffix(".f32")
                cells = [name_of_field, f"{share:.0e}", name, f"{field.nbytes / stream_bytes:.2f}", f"{psnr:.2f}", f"{worst:.3f}"]
                print("|", " | ".join(cells), "|", flush=True)


main()
