"""Bounds relative to each value: powers of two of decoded logarithms (section 25)."""

import numpy as np

POWER = np.array(
    [
        0x3FF0000000000000, 0x3FE62E42FEFA39EF, 0x3FCEBFBDFF82C58F, 0x3FAC6B08D704A0C0, 0x3F83B2AB6FBA4E77,
        0x3F55D87FE78A6731, 0x3F2430912F86C787, 0x3EEFFCBFC588B0C7, 0x3EB62C0223A5C824, 0x3E7B5253D395E7C4,
        0x3E3E4CF5158B8ECA, 0x3DFE8CAC7351BB25, 0x3DBC3BD650FC2986, 0x3D7816193166D0F9,
    ],
    dtype=np.uint64,
).view(np.float64)  # fmt: skip

# Bits of the mantissa, the exponent field of 1, and the last term.
LAYOUTS = {np.dtype("<f4"): (23, 127, 7), np.dtype("<f8"): (52, 1023, 13)}


def magnitudes(coded):
    """The elements of decoded values, without their signs."""
    coded = np.ascontiguousarray(coded)
    dtype = coded.dtype
    mantissa_bits, bias, last = LAYOUTS[dtype]
    unsigned, signed = np.dtype(f"<u{dtype.itemsize}"), np.dtype(f"<i{dtype.itemsize}")
    bits = coded.view(unsigned)
    exponent = (bits >> unsigned.type(mantissa_bits)) & unsigned.type(2 * bias + 1)
    mantissa = bits & unsigned.type((1 << mantissa_bits) - 1)

    y = np.clip(coded, -(bias + 1), bias + 1).astype(dtype)
    y = np.where(np.isnan(y), dtype.type(0), y)
    n = np.rint(y)
    f = y - n
    power = np.full_like(f, POWER[last])
    for term in POWER[:last][::-1]:
        power = f * power + dtype.type(term)
    scaled = power.view(signed).astype(object) + n.astype(np.int64).astype(object) * (1 << mantissa_bits)
    least, most = (int(limit.view(signed)) for limit in (np.finfo(dtype).tiny, np.finfo(dtype).max))
    scaled = np.clip(scaled, least, most).astype(signed).view(dtype)

    subnormal = mantissa.view(dtype)
    return np.where(
        exponent == 2 * bias + 1, coded, np.where(exponent == 2 * bias, subnormal, scaled)
    )
