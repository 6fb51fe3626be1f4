"""`verify`: a stream, or any decoded array, compared with its original."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _ferrosz
from ._digits import pwrel_or_digits
from ._html import table
from ._mapped import mapped
from .errors import ArgumentError

if TYPE_CHECKING:
    import os

    from ._types import Buffer

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    """A stream compared with its original, with the figures of the command `ferrosz verify`. It is true if the bound is
    kept. Of two arrays without a bound the limit and the promise are infinite: it is true if all values that are finite
    stayed so, and the others came back."""

    kept: bool
    """Whether no error exceeds the bound or the stream's absolute error, and all NaNs and infinities came back."""
    limit: float
    """The absolute error that the bound means for this array."""
    absolute_error: float
    """The absolute error that the stream promises."""
    largest_error: float
    """The largest error."""
    largest_error_at: int | None
    """The number of the element with the largest error, in C order."""
    largest_over_promised: float
    """The largest error over the stream's absolute error."""
    size: int
    """Elements."""
    over_limit: int
    """Elements whose error exceeds the bound."""
    over_promised: int
    """Elements whose error exceeds the stream's absolute error."""
    not_finite: int
    """NaNs and infinities of the original."""
    not_finite_changed: int
    """Those of them that did not come back bit for bit."""
    fill_elements: int
    """Elements with a finite fill value."""
    fill_elements_kept: int
    """Those of them that came back bit for bit."""
    range: float
    """Largest minus smallest of the finite values."""
    psnr: float
    """The peak signal-to-noise ratio in decibels, the range being the peak; infinite if all values are exact."""
    rmse: float
    """The root of the mean squared error."""
    nrmse: float | None
    """The RMSE over the range; none if the range is 0."""
    ssim: float | None
    """The mean structural similarity; none if no window is finite."""
    largest_relative_error: float
    """The largest error relative to its value."""
    error_autocorrelation: float | None
    """The correlation of errors of neighbours in memory; none if all errors are equal."""
    zeros: int
    """Zeros of the original."""
    zeros_kept: int
    """Those of them that came back as zeros."""
    signs_flipped: int
    """Values above 0 that came back below 0, and the reverse."""
    ratio: float
    """Bytes of the array over bytes of the stream; NaN if these are not known."""

    def __post_init__(self) -> None:
        # One object stands for NaN: so equal comparisons are equal.
        for name, value in vars(self).items():
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, name, math.nan)

    def __reduce__(self) -> Any:
        return partial(Verification, **vars(self)), ()

    def __bool__(self) -> bool:
        return self.kept

    def __repr__(self) -> str:
        wrong = max(self.over_limit, self.over_promised)
        verdict = "bound kept" if self.kept else f"BOUND NOT KEPT by {wrong} of {self.size} values"
        return (
            f"<ferrosz.Verification: {verdict}; largest error {self.largest_error:.4e} of {self.absolute_error:.4e} "
            f"promised; PSNR {self.psnr:.2f} dB, ratio {self.ratio:.2f}>"
        )

    def _repr_html_(self) -> str:
        wrong = max(self.over_limit, self.over_promised)
        rows = {
            "bound": "kept" if self.kept else f"NOT KEPT by {wrong} of {self.size} values",
            "largest error": f"{self.largest_error:.4g} of {self.absolute_error:.4g} promised",
            "where": "nowhere" if self.largest_error_at is None else f"value {self.largest_error_at:,}",
            "PSNR": f"{self.psnr:.2f} dB",
            "RMSE": f"{self.rmse:.4g}",
            "SSIM": "unknown" if self.ssim is None else f"{self.ssim:.6f}",
            "ratio": f"{self.ratio:.2f}",
            "not finite": f"{self.not_finite:,}, of which {self.not_finite_changed:,} changed",
            "missing values": f"{self.fill_elements:,}, of which {self.fill_elements_kept:,} came back",
            "zeros": f"{self.zeros:,}, of which {self.zeros_kept:,} came back",
            "signs": f"{self.signs_flipped:,} changed",
        }
        return table("ferrosz verification", rows.items())


def verify(
    original: Any,
    decoded: Buffer | str | os.PathLike[str] | Any,
    *,
    abs: float | None = None,
    range: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    digits: int | None = None,
    stream_bytes: int | None = None,
    device: str = "auto",
) -> Verification:
    """Compares an array with what a stream is decoded to, or with any other array, such as what another compressor has
    made of it. Whether a bound is kept is judged in exact arithmetic.

    original
        The array before it was compressed. A masked array is compared with its fill value in the place of masked
        elements. Of complex numbers each part is a value of its own.
    decoded
        A stream, or the path of a file that has one; its bound is the one that it names. Or an array of the type and
        the shape of the original.
    abs, range, max, pwrel, digits
        For an array, the bound that is to be kept, as that of `compress`. Without one, errors are only measured.
    stream_bytes
        For an array, the bytes that it had as a stream, for the ratio.
    device
        Where a stream is decoded.

    Raises `ArgumentError`, `UnsupportedType`, `DamagedStream`, `DeviceError` and `OutOfMemory`.

    >>> array = np.sin(np.arange(10000, dtype="float32") / 100)
    >>> found = ferrosz.verify(array, ferrosz.compress(array, abs=1e-3))
    >>> bool(found), found.largest_error <= 1e-3, found.size
    (True, True, 10000)

    Another compressor, such as a cast to `float16`:

    >>> found = ferrosz.verify(array, array.astype("float16").astype("float32"), abs=1e-3, stream_bytes=20000)
    >>> bool(found), found.largest_error < 2.5e-4, found.ratio
    (True, True, 2.0)
    """
    absolute = {"abs": abs, "range": range, "max": max}
    given = {**absolute, "pwrel": pwrel_or_digits(pwrel, digits, absolute)}
    bounds = [(name, bound) for name, bound in given.items() if bound is not None]
    if len(bounds) > 1:
        raise ArgumentError(f"give only one of the bounds {', '.join(name for name, _ in bounds)}")
    if _is_array(decoded):
        return _ferrosz.verify_arrays(original, decoded, bounds[0] if bounds else None, stream_bytes)
    if bounds or stream_bytes is not None:
        name = bounds[0][0] if bounds else "stream_bytes"
        raise ArgumentError(f"{name}: a stream has a bound and a length of its own; this is for an array")
    return _ferrosz.verify_stream(original, mapped(decoded), device)


def _is_array(decoded: Any) -> bool:
    """Whether this is an array of values: one of bytes is a stream."""
    return hasattr(decoded, "shape") and hasattr(decoded, "dtype") and str(decoded.dtype).rsplit(".")[-1] != "uint8"
