"""Decodes a stream: python decode.py STREAM [--out FILE.npy]"""

import argparse
import hashlib
import sys

import numpy as np

import blocks
import conversion
import logarithm
import masks
import tiles
from container import PWREL, Stream


def decode(data):
    """The field of a stream, with its element type and extents.

    Raises ValueError where the text says that a reader rejects the stream.
    """
    stream = Stream(data)
    header = stream.header
    if header.n == 0:
        return values_of(stream, np.zeros(header.extents, dtype=header.dtype))
    # Overflow and NaN are results like others; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        field = tiles.decode_field(stream) if header.is_tiles else blocks.decode_field(stream)
        if header.bound_mode == PWREL and header.error != 0:
            field = logarithm.magnitudes(field)
    field = masks.lay_over(stream, field)
    return values_of(stream, np.ascontiguousarray(field).reshape(header.extents))


def values_of(stream, coded):
    """Section 24: the user's values."""
    header = stream.header
    elements = in_order(coded, stream.order)
    if stream.is_complex:
        # Section 28: the pairs along the last axis.
        return elements.view(f"<c{2 * header.width}")[..., 0]
    with np.errstate(all="ignore"):
        return conversion.to_values(elements, header.value_type, header.conversion, stream.offset)


def in_order(coded, order):
    """Section 22: the user's field; axis i of the coded field is axis order[i] of it."""
    return np.ascontiguousarray(np.transpose(coded, np.argsort(order)))


def digest(field):
    """SHA-256 of the elements' bytes, little-endian, in C order."""
    return hashlib.sha256(field.astype(field.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def run(decode, name, description):
    """The command of a decoder: prints type, shape and digest of the field, and stores it; its exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("path", metavar=name)
    parser.add_argument("--out", help="where to store the field, as .npy")
    arguments = parser.parse_args()
    try:
        with open(arguments.path, "rb") as file:
            field = decode(file.read())
    except (OSError, ValueError) as reason:
        print(f"{arguments.path}: {reason}", file=sys.stderr)
        return 1
    if arguments.out:
        np.save(arguments.out, field)
    print(field.dtype.name, field.shape, digest(field))
    return 0


if __name__ == "__main__":
    sys.exit(run(decode, "stream", "Decodes a ferrosz stream."))
