"""ferrosz in numcodecs: the codec `ferrosz`, for arrays of Zarr v2.

>>> import numcodecs
>>> codec = numcodecs.get_codec({"id": "ferrosz", "abs": 1e-3})
>>> field = np.sin(np.arange(250000, dtype="float32") / 1000).reshape(500, 500)
>>> bool(abs(codec.decode(codec.encode(field)) - field).max() <= 1e-3)
True
"""

from __future__ import annotations

from typing import Any, ClassVar

from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray_like
from numcodecs.registry import register_codec

from . import ArgumentError, Compressor, decompress

__all__ = ["Ferrosz"]


class Ferrosz(Codec):  # type: ignore[misc]
    """The codec `ferrosz`, a compressor of chunks with their shape. Its arguments are those of `ferrosz.compress`.

    Each chunk is compressed alone, so the bound must not depend on the values of a chunk: it is absolute (`abs`), or
    relative to each value (`pwrel`). Zarr v2 tells a codec no fill value: give that of the array as `fill`.
    """

    codec_id: ClassVar[str] = "ferrosz"

    def __init__(self, **options: Any) -> None:
        of_chunk = options.keys() & {"range", "max", "psnr", "rmse", "ratio", "device"}
        if of_chunk:
            raise ArgumentError(f"each chunk would have another bound with {', '.join(sorted(of_chunk))}: give abs or pwrel")
        self._options = options
        self._compressor = Compressor(**options)

    def encode(self, buf: Any) -> bytes:
        """The stream of an array.

        Not of one in Fortran order: a decoder of Zarr v2 puts the order back that an array had in memory, which a stream
        does not have.
        """
        array = ensure_ndarray_like(buf)
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            raise ArgumentError("the codec 'ferrosz' has arrays in C order: create the array with order='C'")
        return bytes(self._compressor.compress(array))

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The array of a stream, or `out` with its elements."""
        if out is None:
            return decompress(buf)
        array = decompress(buf)
        target = ensure_ndarray_like(out)
        target[...] = array.reshape(target.shape)
        return out

    def get_config(self) -> dict[str, Any]:
        """The codec as the metadata of an array have it."""
        return {"id": self.codec_id, **self._options}


register_codec(Ferrosz)
