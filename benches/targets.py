"""Ratios at the same PSNR: SPERR with a bound, and ferrosz with SPERR's PSNR as its target. Prints a table.

python benches/targets.py FIELD.f32:DEPTH,HEIGHT,WIDTH ...

Needs NumPy, ferrosz and numcodecs-wasm-sperr.
"""

import pathlib
import sys

import ferrosz
import numpy as np
from numcodecs_wasm_sperr import Sperr

BOUNDS = (1e-1, 1e-2, 1e-3)  # of the range


def psnr(field, decoded):
    error = field.astype(np.float64) - decoded
    return 20 * np.log10(float(np.ptp(field)) / np.sqrt(np.mean(error**2)))


def main():
    print("| field | PSNR | SPERR | ferrosz | of SPERR's | PSNR above |")
    print("| --- | --- | --- | --- | --- | --- |")
    for argument in sys.argv[1:]:
        path, lengths = argument.rsplit(":", 1)
        field = np.fromfile(path, "<f4").reshape([int(length) for length in lengths.split(",")])
        for bound in BOUNDS:
            codec = Sperr(mode="pwe", pwe=bound * float(np.ptp(field)))
            stream = codec.encode(field)
            target = psnr(field, np.asarray(codec.decode(stream)).reshape(field.shape))
            found = ferrosz.compress(field, psnr=target)
            ratios = [field.nbytes / memoryview(it).nbytes for it in (stream, found)]
            above = psnr(field, ferrosz.decompress(found)) - target
            name = pathlib.Path(path).stem
            print(
                f"| {name} | {target:.2f} | {ratios[0]:,.1f} | {ratios[1]:,.1f} | {ratios[1] / ratios[0]:.2f} |"
                f" {above:.2f} |"
            )


if __name__ == "__main__":
    main()
