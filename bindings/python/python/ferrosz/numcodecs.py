"""ferrosz in numcodecs: the codec `ferrosz`, for arrays of Zarr v2.

>>> import numcodecs
>>> codec = numcodecs.get_codec({"id": "ferrosz", "abs": 1e-3})
>>> field = np.sin(np.arange(250000, dtype="float32") / 1000).reshape(500, 500)
>>> bool(abs(codec.decode(codec.encode(field)) - field).max() <= 1e-3)
True
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Never

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray_like, ndarray_copy
from numcodecs.registry import register_codec

from . import ArgumentError, Compressor, UnsupportedType, decompress
from ._carrier import carrier_of, from_carrier, refuse_type, to_carrier
from ._rewriting import coded
from ._running import RunningChoice
from ._settings import fills, flag, number, one_bound, refuse_others, text, whole

__all__ = ["Ferrosz"]


class Ferrosz(Codec):  # type: ignore[misc]
    """The codec `ferrosz`, a compressor of chunks with their shape. Its arguments are those of `ferrosz.compress`, and

    written_once
        Each chunk is written once, and as a whole. Without it the bound holds however often parts of a chunk are
        written, as only codecs without splines are taken; with it streams are shorter. See `ferrosz.zarr.FerroszCodec`.
    dtype
        The type of the array. It is needed for integers of 8 and 64 bits and for a byte order that is not this
        machine's, since neither a stream nor the metadata that a codec gets have it: without it such an array is
        refused.
    order
        `"F"` for an array in Fortran order, whose streams are those of its transpose. Without it such an array is
        refused.

    Each chunk is compressed alone, so the bound must not depend on the values of a chunk: it is absolute (`abs`), or
    relative to each value (`pwrel`); `ferrosz.zarr.codec_for(array, range=...).abs` is one of a whole array. A preset
    chooses for some of the chunks, as there. Zarr v2
    tells a codec no fill value: give that of the array as `fill`. With `levels`, which needs `written_once`, the levels
    of each chunk are coded apart; `decode` reads whole chunks, and the `level` of `ferrosz.decompress` is for single
    streams.

    >>> Ferrosz(abs=1e-3, dtype=">f4")
    Ferrosz(abs=0.001, dtype='>f4')
    """

    codec_id: ClassVar[str] = "ferrosz"

    def __init__(
        self,
        *,
        abs: float | None = None,
        pwrel: float | None = None,
        preset: str | None = None,
        codec: str | None = None,
        rank: int | None = None,
        axes: str | None = None,
        chunk_tiles: int | None = None,
        levels: int = 0,
        prefer: str = "ratio",
        fill: Any = "auto",
        keep_sign: bool = False,
        keep_zero: bool = False,
        written_once: bool = False,
        dtype: Any = None,
        order: str = "C",
        **others: Never,
    ) -> None:
        settings: dict[str, Any] = {
            "abs": number("abs", abs),
            "pwrel": number("pwrel", pwrel),
            "preset": text("preset", preset),
            "codec": text("codec", codec),
            "rank": whole("rank", rank),
            "axes": text("axes", axes),
            "chunk_tiles": whole("chunk_tiles", chunk_tiles),
            "levels": whole("levels", levels) or 0,
            "prefer": text("prefer", prefer) or "ratio",
            "fill": fills(fill),
            "keep_sign": flag("keep_sign", keep_sign),
            "keep_zero": flag("keep_zero", keep_zero),
        }
        names = [*settings, "written_once", "dtype", "order"]
        refuse_others("the codec 'ferrosz'", others, names, "ferrosz.zarr.codec_for")
        one_bound(settings["abs"], settings["pwrel"], "ferrosz.zarr.codec_for")
        is_once = flag("written_once", written_once)
        self._dtype = None if dtype is None else np.dtype(dtype)
        if self._dtype is not None:
            refuse_type(self._dtype, "the codec 'ferrosz'")
        defaults = {"levels": 0, "prefer": "ratio", "fill": "auto", "keep_sign": False, "keep_zero": False}
        self._config = {name: value for name, value in settings.items() if value != defaults.get(name)}
        if "fill" in self._config:
            self._config["fill"] = _as_json(settings["fill"])
        if order not in ("C", "F"):
            raise ArgumentError(f"order: {order!r} is neither 'C' nor 'F'")
        self._is_fortran = order == "F"
        self._config |= {"written_once": True} if is_once else {}
        self._config |= {} if self._dtype is None else {"dtype": self._dtype.str}
        self._config |= {"order": "F"} if self._is_fortran else {}
        self._settings, self._is_once = settings, is_once
        self._running = None if is_once or codec is not None else RunningChoice()
        self._make({})

    def _make(self, chosen: dict[str, Any]) -> Compressor:
        settings = {**self._settings, **({"preset": None} if chosen else {}), **chosen}
        return Compressor(**{**settings, **coded(settings["preset"], settings["codec"], self._is_once)})

    def encode(self, buf: Any) -> bytes:
        """The stream of an array."""
        array = ensure_ndarray_like(buf)
        self._check(array.dtype)
        if self._is_fortran:
            array = array.T
        elif array.flags.f_contiguous and not array.flags.c_contiguous:
            raise ArgumentError(
                "a stream has arrays in C order, and Zarr v2 tells a codec no order: give the codec order='F', or create "
                "the array with order='C'"
            )
        array = to_carrier(array)
        if self._running is None:
            return bytes(self._make({}).compress(array))
        ticket = self._running.ticket((array.shape, array.dtype.str))
        return bytes(self._running.compress(ticket, self._make, array))

    def _check(self, dtype: np.dtype[Any]) -> None:
        """Refuses an array whose type `decode` could not give back."""
        if self._dtype is None and (not dtype.isnative or carrier_of(dtype) != dtype):
            refuse_type(dtype, "the codec 'ferrosz'")
            raise UnsupportedType(
                f"a stream has no arrays of {dtype.str!r} as they are, and Zarr v2 tells a codec no type: give the "
                f"codec dtype={dtype.str!r}, or create the array with another type, such as {carrier_of(dtype).str!r}"
            )
        if self._dtype is not None and dtype != self._dtype:
            raise UnsupportedType(f"dtype: the codec has {self._dtype.str!r}, and the array {dtype.str!r}")

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The array of a stream; or `out`, any writable buffer of as many bytes, which gets these bytes."""
        array = decompress(buf)
        if self._dtype is not None:
            array = from_carrier(array, self._dtype)
        array = array.T if self._is_fortran else array
        if out is None:
            return array
        target = ensure_ndarray_like(out)
        if target.nbytes != array.nbytes or target.dtype == object or not target.flags.writeable:
            kind = f"{target.nbytes} bytes of {target.dtype}{'' if target.flags.writeable else ', read-only'}"
            raise ArgumentError(f"out: a writable buffer of {array.nbytes} bytes is needed, and this one has {kind}")
        ndarray_copy(array, out)
        return out

    def get_config(self) -> dict[str, Any]:
        """The codec as the metadata of an array have it."""
        return {"id": self.codec_id, **self._config}

    def __repr__(self) -> str:
        return f"Ferrosz({', '.join(f'{name}={value!r}' for name, value in self._config.items())})"


def _as_json(fill: Any) -> Any:
    """Fill values as JSON has them, which has no NaN and no infinities."""
    if isinstance(fill, list):
        return [_as_json(value) for value in fill]
    if fill is None:
        return "none"
    if isinstance(fill, str) or math.isfinite(fill):
        return fill
    return "NaN" if math.isnan(fill) else "Infinity" if fill > 0 else "-Infinity"


register_codec(Ferrosz)
