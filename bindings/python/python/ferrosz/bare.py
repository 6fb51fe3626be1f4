"""Streams of cuSZp and AATROX, to the byte. They have no header: `Parameters` are what such a stream does not hold.

They have the limits of those compressors: the bound is not guaranteed, NaNs and infinities do not come back, and there
are no checksums. Unless you need these streams, use `ferrosz.compress`.

>>> field = np.sin(np.arange(60000, dtype="float32") / 100).reshape(100, 600)
>>> stream, parameters = ferrosz.bare.compress(field, mode="outlier", range=1e-3)
>>> bool(parameters.abs == np.float32(1e-3) * (field.max() - field.min()))
True
>>> back = ferrosz.bare.decompress(stream, parameters)
>>> back.shape, bool(abs(back - field).max() < 1.001 * parameters.abs)
((100, 600), True)
>>> bool((ferrosz.bare.decompress(stream, parameters, elements=(700, 720)) == back.ravel()[700:720]).all())
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._ferrosz import bare_check, bare_compress, bare_decompress, bare_outline, bare_replace
from .errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import Box, Buffer

__all__ = ["Format", "Outline", "Parameters", "check", "compress", "decompress", "outline", "replace"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """The format of a stream."""

    format: Literal["cuszp", "aatrox"] = "cuszp"
    """The compressor. The fields below are those of cuSZp alone."""
    mode: Literal["fixed", "plain", "outlier"] = "plain"
    """How differences are made and stored."""
    rank: Literal[1, 2, 3] | None = None
    """The dimensions of a block; by default as many as the array has, and 1 with `v1`."""
    v1: bool = False
    """Whether the stream has the framing of cuSZp 1, which has the plain mode in one dimension alone."""


@dataclass(frozen=True, kw_only=True)
class Parameters(Format):
    """All that a stream does not hold: its reader must have the same as its writer."""

    shape: Sequence[int]
    """The shape of the array."""
    dtype: str
    """The type of its elements: `"float32"` or `"float64"`."""
    abs: float
    """The absolute error. All its bits count."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The sizes of the sections of a stream, and the forms of its blocks."""

    rate_bytes: int
    """Rate bytes: one for each block, also for the blocks that fill up the last chunk or layer."""
    between_bytes: int
    """Bytes between the rate bytes and the first body: cuSZp's gap of up to 3 bytes, or AATROX's initial values."""
    body_bytes: int
    """Bytes of all bodies."""
    found_bytes: int
    """Bytes that there are."""
    rates: dict[int, tuple[int, int]]
    """For each rate byte that occurs: the bytes of the body of a block with it, and the number of these blocks."""

    @property
    def stream_bytes(self) -> int:
        """Bytes that the stream must have."""
        return self.rate_bytes + self.between_bytes + self.body_bytes


def compress(
    array: Any,
    *,
    format: Literal["cuszp", "aatrox"] = "cuszp",
    mode: Literal["fixed", "plain", "outlier"] = "plain",
    rank: Literal[1, 2, 3] | None = None,
    v1: bool = False,
    abs: float | None = None,
    range: float | None = None,
    max: float | None = None,
    float_bound: bool = False,
    strict: bool = False,
    device: str = "auto",
) -> tuple[bytes, Parameters]:
    """Compresses an array to a stream of cuSZp or AATROX; returns it, and the parameters that a reader needs.

    array
        float32 or float64: an array of NumPy, or anything that NumPy makes an array of. For cuSZp it has one to three
        dimensions.
    format, mode, rank, v1
        See `Format`.
    abs, range, max
        The bound: an absolute error; or a share of max - min of the finite values, computed as the command of cuSZp
        does; or a share of the largest magnitude.
    float_bound
        Compute the error of float64 in float32, as the command of cuSZp does.
    strict
        Refuse an array that cuSZp would not decompress, or would decompress to values beyond the bound.
    device
        `"auto"`, `"cpu"`, `"cuda"` or `"cuda:1"`; the bytes are the same.

    Raises `ArgumentError`, `UnsupportedType`, `DeviceError` and `OutOfMemory`.
    """
    given = [(name, value) for name, value in (("abs", abs), ("range", range), ("max", max)) if value is not None]
    if len(given) != 1:
        raise ArgumentError("give one of the bounds abs, range and max")
    how = Format(format=format, mode=mode, rank=rank, v1=v1)
    stream, error = bare_compress(array, how, given[0], float_bound=float_bound, strict=strict, device=device)
    # A list has neither shape nor type.
    found = np.asarray(array)
    parameters = Parameters(
        format=format, mode=mode, rank=rank, v1=v1, shape=found.shape, dtype=found.dtype.name, abs=error
    )
    return stream, parameters


def decompress(
    stream: Buffer,
    parameters: Parameters,
    *,
    elements: tuple[int, int] | None = None,
    box: Box | None = None,
    allow_missing: bool = False,
    device: str = "auto",
) -> npt.NDArray[Any]:
    """Decompresses a stream of cuSZp or AATROX, or a part of its array.

    stream
        `bytes`, or any other buffer of bytes. Bytes behind the end of the stream are ignored.
    parameters
        What the stream does not hold.
    elements
        The first of some elements and the one behind the last, in C order. Only the blocks that hold them are decoded,
        with AATROX the layers.
    box
        An index of integers and slices, as for `ferrosz.decompress`.
    allow_missing
        Read up to 3 missing last bytes as zero: the size that cuSZp returns leaves them out.
    device
        `"auto"`, `"cpu"`, `"cuda"` or `"cuda:1"`. Parts are decoded on the CPU.

    Raises `ArgumentError`, `UnsupportedType`, `DamagedStream`, `DeviceError` and `OutOfMemory`.
    """
    return bare_decompress(stream, parameters, elements=elements, box=box, allow_missing=allow_missing, device=device)


def replace(
    stream: Buffer,
    parameters: Parameters,
    values: Any,
    *,
    elements: tuple[int, int] | None = None,
    box: Box | None = None,
) -> bytes:
    """Replaces a part of the array in its stream; returns the new stream. The new body of each block, with AATROX of each
    layer, must have the length of the old one. The codes of all other elements stay.

    stream, parameters
        As those of `decompress`. The stream stays as it is.
    values
        An array with the element type of the stream and the shape of the part.
    elements, box
        The part, as that of `decompress`.

    Raises `ArgumentError`, also if a body would have another length, `UnsupportedType` and `DamagedStream`.

    >>> field = np.sin(np.arange(60000, dtype="float32") / 100)
    >>> stream, parameters = ferrosz.bare.compress(field, abs=1e-3)
    >>> stream = ferrosz.bare.replace(stream, parameters, -field[320:352], elements=(320, 352))
    >>> bool(abs(ferrosz.bare.decompress(stream, parameters, elements=(320, 352)) + field[320:352]).max() < 1.001e-3)
    True
    """
    return bare_replace(stream, parameters, values, elements=elements, box=box)


def check(stream: Buffer, parameters: Parameters) -> None:
    """Checks that the bytes are a whole stream with these parameters, and nothing else: all rate bytes are valid, and the
    length is that of the bodies. There are no checksums: damaged bodies and wrong bounds are not found.

    Raises `DamagedStream` and `ArgumentError`.
    """
    bare_check(stream, parameters)


def outline(stream: Buffer, parameters: Parameters) -> Outline:
    """The sizes of the sections of a stream, and the forms of its blocks. It may be longer or shorter than it must be.

    Raises `DamagedStream` and `ArgumentError`.

    >>> stream, parameters = ferrosz.bare.compress(np.zeros(5000, "float32"), abs=1e-3)
    >>> ferrosz.bare.outline(stream, parameters).rates
    {0: (0, 1024)}
    """
    return bare_outline(stream, parameters)
