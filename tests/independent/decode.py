"""Decodes a stream: python decode.py STREAM [--out FILE.npy]"""

import argparse
import hashlib
import sys

import numpy as np

import blocks
import tiles
from container import Stream


def decode(data):
    """The field of a stream, with its element type and extents.

    Raises ValueError where the text says that a reader rejects the stream.
    """
    stream = Stream(data)
    header = stream.header
    if header.n == 0:
        return np.zeros(header.extents, dtype=header.dtype)
    # Overflow and NaN are results like others; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        field = tiles.decode_field(stream) if header.is_tiles else blocks.decode_field(stream)
    return np.ascontiguousarray(field).reshape(header.extents)


def digest(field):
    """SHA-256 of the elements' bytes, little-endian, in C order."""
    return hashlib.sha256(field.astype(field.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description="Decodes a ferrosz stream.")
    parser.add_argument("stream")
    parser.add_argument("--out", help="where to store the field, as .npy")
    arguments = parser.parse_args()
    try:
        with open(arguments.stream, "rb") as file:
            field = decode(file.read())
    except (OSError, ValueError) as reason:
        print(f"{arguments.stream}: {reason}", file=sys.stderr)
        return 1
    if arguments.out:
        np.save(arguments.out, field)
    print(field.dtype.name, field.shape, digest(field))
    return 0


if __name__ == "__main__":
    sys.exit(main())
