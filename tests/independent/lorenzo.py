"""Lorenzo tiles (section 17) and the quantiser of section 5."""

import numpy as np

from grid import AXES


def at_most(x, q, error):
    """|x - q| <= error in exact arithmetic, for arrays of type T.

    The rounded difference s is on the same side of error as the exact one unless it is equal to
    it; then the exact rest of the subtraction (Knuth's two-sum) decides.
    """
    with np.errstate(all="ignore"):
        s = x - q
        from_q = x - s
        rest = (x - (s + from_q)) - (q - from_q)
        beyond = np.where(s < 0, -rest, rest) > 0
    return (np.abs(s) < error) | ((np.abs(s) == error) & ~beyond)


def code_of_value(x, error):
    """The code that section 5 gives for x, a scalar of type T; None if it gives none."""
    T = x.dtype.type
    if error == 0:
        return 0 if x.tobytes() == T(0).tobytes() else None
    with np.errstate(all="ignore"):
        step = T(2) * error
        inverse = T(1) / step
        t = x * inverse
        if x.dtype.itemsize == 4:
            limit, magic = T(2**22), T(1.5 * 2**23)
        else:
            limit, magic = T(2**30 - 1), T(1.5 * 2**52)
        if abs(t) < limit:
            k = int((t + magic) - magic)
            if abs(x - T(k) * step) < error:
                return k
        if not abs(float(t)) < 2**30 - 1:
            return None
        g = int(t)
        l = (x - T(g) * step) * inverse
        if not abs(float(l)) < 2**30 - 1:
            return None
        k = g + int(l - T(0.5) if l < 0 else l + T(0.5))
        if abs(k) < 2**30 and at_most(x, T(k) * step, error):
            return k
    return None


def decode_tile(k, raw, stored, shape, error):
    """The values of a tile by (z, y, x), cut off at the field's end.

    k: quantisation codes; raw: which places are raw; stored: the values of these.
    """
    step = error.dtype.type(2) * error
    q = np.where(raw, 0, k).astype(np.int64).astype(np.uint32)
    if raw[0, 0, 0]:
        q[0, 0, 0] = (code_of_value(stored[0, 0, 0], error) or 0) % 2**32
    for axis in AXES[shape]:
        q = np.cumsum(q, axis=axis, dtype=np.uint32)
    values = q.view(np.int32).astype(error.dtype) * step
    values[raw] = stored[raw]
    return values
