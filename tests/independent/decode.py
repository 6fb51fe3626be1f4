"""Decodes a stream: python decode.py STREAM [--out FILE.npy]"""

import argparse
import hashlib
import sys

import numpy as np

import blocks
import conversion
import logarithm
import masks
import safeguards
import statistics_section as statistics
import tiles
import wavelet
from container import PWREL, Stream, need_of


def decode(data):
    """The field of a stream, with its element type and extents.

    Raises ValueError where the text says that a reader rejects the stream.
    """
    return decode_level(data, 0)


def decode_level(data, level):
    """A level of a stream's field (section 34): every 2^level-th value along each axis. The chunks of finer levels that
    are coded apart are not read.

    Raises as decode does.
    """
    try:
        stream = Stream(data)
        if level and stream.is_complex:
            raise ValueError("section 34 has levels of the parts of complex numbers, not of the numbers")
        values = values_of_stream(stream, level)
    except ValueError as reason:
        raise ValueError(f"{reason}{need_of(data)}") from reason
    return values[(slice(None, None, 1 << level),) * values.ndim]


def corrections(data, identity):
    """Section 30: the corrections of the stream with this identity."""
    stream = Stream(data)
    is_own = stream.outer == [identity.to_bytes(8, "little")]
    if not is_own or stream.header.value_type != conversion.I16 or stream.safeguards or stream.waves is not None:
        raise ValueError("section CORR has the corrections of another stream")
    return values_of_stream(stream)


def values_of_stream(stream, level=0):
    """The user's field. Values that are not of the level may be any."""
    header = stream.header
    values = values_of(stream, coded_field(stream, level))
    if b"stat" in stream.sections and level == 0 and header.n:
        statistics.check(stream, np.transpose(values, stream.order))
    if stream.is_complex:
        # Section 28: the pairs along the last axis.
        return values.view(f"<c{2 * header.width}")[..., 0]
    return values


def coded_field(stream, level):
    """The elements of the coded field, with those of the mask."""
    header = stream.header
    if header.n == 0:
        return np.zeros(header.extents, dtype=header.dtype)
    # Overflow and NaN are results like others; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        field = tiles.decode_field(stream, level) if header.is_tiles else blocks.decode_field(stream)
        if stream.waves is not None:
            field = wavelet.elements(field, header.extents, stream.waves[1])
        if header.bound_mode == PWREL and header.error != 0:
            field = logarithm.magnitudes(field)
    field = masks.lay_over(stream, field)
    return np.ascontiguousarray(field).reshape(header.extents)


def values_of(stream, coded):
    """Sections 24 and 30: the user's values, those of complex numbers as their parts."""
    header = stream.header
    elements = in_order(coded, stream.order)
    with np.errstate(all="ignore"):
        values = conversion.to_values(elements, header.value_type, header.conversion, stream.offset)
        if stream.safeguards or stream.waves is not None:
            is_relative = header.bound_mode == PWREL and header.error != 0
            error = float(header.bound) if is_relative else stream.value_error
            values = safeguards.mend(stream, values, error, is_relative, corrections)
    return values


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
