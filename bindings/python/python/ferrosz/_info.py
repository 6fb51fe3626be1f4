"""`info`: what a stream says about itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _ferrosz
from ._html import table
from ._mapped import mapped

if TYPE_CHECKING:
    import os

    from ._types import Buffer

__all__ = ["Info", "info"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Info:
    """The properties of a stream, as its header and its chunk table have them. `dataclasses.asdict` makes a dictionary
    of them."""

    dtype: str
    """NumPy's name of the element type."""
    shape: tuple[int, ...]
    """The shape of the array."""
    codec: str
    """The codec."""
    rank: int
    """Dimensions of a block or tile."""
    axes: str
    """The role of each axis, such as `"z,y,x"`."""
    mode: Literal["abs", "range", "max", "pwrel"]
    """The kind of bound: `"abs"`, `"range"`, `"max"` or `"pwrel"`."""
    bound: float
    """The bound as it was given."""
    absolute_error: float
    """The absolute error that follows from the bound; 0 is lossless. It is infinite with a bound relative to each
    value."""
    lossless: bool
    """Whether every value comes back bit for bit."""
    fill: list[float] = field(hash=False)
    """The fill values of the mask; with some of them, NaN is among them."""
    keep_sign: bool
    """Whether a mask keeps the signs of all values."""
    keep_zero: bool
    """Whether a mask keeps zeros."""
    chunks: int
    """Number of chunks, the unit that is read and checked alone."""
    chunk_shape: tuple[int, ...]
    """The shape of a full chunk, or of one of its tiles, in the dimensions longer than 1."""
    chunk_tiles: int | None
    """Tiles of a full chunk; none for codecs of blocks."""
    levels_apart: int
    """How many levels are coded apart."""
    coefficient_error: float | None
    """The absolute error of coefficients of wavelets; none if values are coded."""
    size: int
    """Number of elements."""
    array_bytes: int
    """Bytes of the array."""
    stream_bytes: int
    """Bytes of the stream."""
    mask_bytes: int
    """Bytes of the mask."""
    update_bytes: int
    """Bytes of updates."""
    safeguards: list[str] = field(hash=False)
    """The safeguards."""
    section_bytes: int
    """Bytes of the sections behind the chunks, which have the corrections for safeguards."""

    def __post_init__(self) -> None:
        # One object stands for NaN: so equal streams have equal properties.
        object.__setattr__(self, "fill", [math.nan if math.isnan(value) else value for value in self.fill])

    def __reduce__(self) -> Any:
        return partial(Info, **vars(self)), ()

    @property
    def ratio(self) -> float:
        """Bytes of the array over bytes of the stream."""
        return self.array_bytes / self.stream_bytes

    @property
    def bits_per_value(self) -> float:
        """Bits of the stream for each element."""
        return 8 * self.stream_bytes / self.size if self.size else float("inf")

    def __str__(self) -> str:
        bound = np.format_float_scientific(self.bound, trim="-", exp_digits=1).replace("e+", "e")
        return (
            f"{self.shape} {self.dtype}; {self.codec}; {self.mode} = {bound}; {self.stream_bytes} bytes, "
            f"ratio {self.ratio:.2f}"
        )

    def __repr__(self) -> str:
        return f"<ferrosz.Info: {self}; absolute error {self.absolute_error:.4e}>"

    def _repr_html_(self) -> str:
        rows = {
            "array": f"{' x '.join(map(str, self.shape))} {self.dtype}",
            "bound": f"{self.mode} {self.bound:g}",
            "absolute error": f"{self.absolute_error:.4g}",
            "codec": self.codec,
            "bytes": f"{self.array_bytes:,} to {self.stream_bytes:,}",
            "ratio": f"{self.ratio:.2f}",
            "bits a value": f"{self.bits_per_value:.3f}",
            "missing values": ", ".join(f"{value:g}" for value in self.fill) or "none",
            "safeguards": ", ".join(self.safeguards) or "none",
        }
        return table("ferrosz stream", rows.items())


def info(stream: Buffer | str | os.PathLike[str]) -> Info:
    """Reads the header and the chunk table of a stream, or of the stream in a file that has this path, without decoding.
    The payload may be missing.

    >>> info = ferrosz.info(ferrosz.compress(np.ones((20, 30), "float32"), range=1e-3))
    >>> info.shape, info.dtype, info.mode, info.bound
    ((20, 30), 'float32', 'range', 0.001)
    """
    return _ferrosz.info(mapped(stream))
