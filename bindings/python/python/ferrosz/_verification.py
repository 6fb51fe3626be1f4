"""`Verification`: a stream compared with its original."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

__all__ = ["Verification"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    """A stream compared with its original, with the figures of the command `ferrosz verify`. It is true if the bound is
    kept."""

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
    """Bytes of the array over bytes of the stream."""

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
