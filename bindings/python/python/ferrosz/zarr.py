"""ferrosz in Zarr v3: the array-to-bytes codec `ferrosz`.

Give it as serializer, with no other codec around it, so that a box of a large chunk is read by ranges:

>>> import zarr
>>> field = np.sin(np.arange(250000, dtype="float32") / 1000).reshape(500, 500)
>>> array = zarr.create_array(
...     {}, shape=field.shape, chunks=(250, 250), dtype=field.dtype,
...     serializer=FerroszCodec(abs=1e-3), compressors=None,
... )
>>> array[:] = field
>>> bool(abs(array[:] - field).max() <= 1e-3)
True
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import RangeByteRequest

from . import ArgumentError, Compressor, DamagedStream, PartialStream, cf, decompress
from ._carrier import fills_in_carrier, from_carrier, refuse_type, to_carrier
from ._choice import MOST_AXES, settings_of_chunks
from ._device import cupy, is_on_gpu
from ._ferrosz import has_splines
from ._relative import absolute_error, fill_values_of, values_of
from ._rewriting import coded
from ._running import RunningChoice
from ._settings import flag, number, one_bound, refuse_others, text, whole

if TYPE_CHECKING:
    from zarr.abc.store import ByteGetter
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

__all__ = ["FerroszCodec", "codec_for"]

NAME = "ferrosz"

# A box with more of a chunk than this is read with the whole chunk: in one request.
WHOLE_FROM = 0.5


@dataclass(frozen=True, kw_only=True, init=False)
class FerroszCodec(ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodec):
    """The codec `ferrosz`. Its fields are the arguments of `ferrosz.compress`, and `written_once`.

    Each chunk is compressed alone, so the bound must not depend on the values of a chunk: it is absolute (`abs`), or
    relative to each value (`pwrel`). For a bound relative to the range of the whole array see `codec_for`.

    The fill value of the array comes back exactly, and spoils no prediction. So do other values that look like fill
    values, such as 1e20. No value that is not one of them comes back as one, with one exception: Zarr's default fill value
    is 0, which is a value as any other. Zeros come back as zeros, and values within the bound of 0 may become zeros, too;
    with `keep_zero` they do not. Say with the attribute `_FillValue`, as xarray does, which value means that nothing is
    known.

    zarr decodes a chunk and encodes it again whenever a part of it is written. The bound holds however often that
    happens: by default only codecs without splines are taken, whose decoded values encode to themselves. If each chunk
    is written once, and as a whole, `written_once=True` makes streams shorter: it admits the codecs `interp`,
    `stencil`, `slices` and their variants, and the preset `small` chooses among them.

    A preset chooses for the first, the fourth, the sixteenth chunk that is written, and so on; the chunks behind one of
    these have its codec, rank, axes and tiles. So the choice takes little time, and the streams depend on the order of the
    chunks. With `written_once` it chooses for each chunk.

    `levels` codes levels of each chunk apart, and needs `written_once`. Zarr itself reads no levels: the `level` of
    `ferrosz.decompress` is for single streams, such as the bytes of a chunk.

    Integers of 8 and 64 bits are those of 16 and 32 in a stream, so those of 64 bits must fit.
    """

    abs: float | None = None
    pwrel: float | None = None
    preset: str | None = None
    codec: str | None = None
    rank: int | None = None
    axes: str | None = None
    chunk_tiles: int | None = None
    levels: int = 0
    prefer: str = "ratio"
    keep_sign: bool = False
    keep_zero: bool = False
    written_once: bool = False

    is_fixed_size = False

    _running: ClassVar[RunningChoice]  # Of each codec; no field.

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
        keep_sign: bool = False,
        keep_zero: bool = False,
        written_once: bool = False,
        **others: Never,
    ) -> None:
        refuse_others("FerroszCodec", others, [field.name for field in fields(self)], "ferrosz.zarr.codec_for")
        settings = {
            "abs": number("abs", abs),
            "pwrel": number("pwrel", pwrel),
            "preset": text("preset", preset),
            "codec": text("codec", codec),
            "rank": whole("rank", rank),
            "axes": text("axes", axes),
            "chunk_tiles": whole("chunk_tiles", chunk_tiles),
            "levels": whole("levels", levels) or 0,
            "prefer": text("prefer", prefer) or "ratio",
            "keep_sign": flag("keep_sign", keep_sign),
            "keep_zero": flag("keep_zero", keep_zero),
            "written_once": flag("written_once", written_once),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        one_bound(self.abs, self.pwrel, "ferrosz.zarr.codec_for")
        object.__setattr__(self, "_running", RunningChoice())
        # Wrong options are errors when the codec is made, not when the first chunk is written.
        self._compressor("auto")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec of an array's metadata."""
        configuration = dict(data.get("configuration") or {})
        unknown = configuration.keys() - {field.name for field in fields(cls)}
        if data.get("name") != NAME or unknown:
            raise ArgumentError(f"this is no configuration of the codec {NAME!r}: {data!r}")
        # An array whose codec has splines can be read, also if nobody said that its chunks are written once.
        codec = cls(**{**configuration, "written_once": True})
        object.__setattr__(codec, "written_once", flag("written_once", configuration.get("written_once", False)))
        return codec

    def to_dict(self) -> dict[str, Any]:
        """The codec as the metadata of an array have it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in values.items() if value != defaults[name]}
        return {"name": NAME, "configuration": given}

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Refuses arrays that ferrosz cannot compress."""
        refuse_type(dtype.to_native_dtype(), f"the codec {NAME!r}")
        if len(shape) > MOST_AXES:
            raise ArgumentError(f"the codec {NAME!r} has arrays of at most {MOST_AXES} dimensions, not {len(shape)}")

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Is not known before a chunk is compressed."""
        raise NotImplementedError

    # Without and with an event loop. Compression takes all cores by itself.

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        return self._encode(chunk_array, chunk_spec, self._ticket(chunk_spec))

    def _ticket(self, chunk_spec: ArraySpec) -> Any:
        """The place of a chunk among those that a preset chooses for together; none if it chooses for each.

        Codecs with splines need a mask for what a preset keeps of a chunk, which depends on the chunk.
        """
        is_alone = self.codec is not None or self.written_once
        kind = (chunk_spec.shape, chunk_spec.dtype.to_native_dtype().str)
        return None if is_alone else self._running.ticket(kind)

    def _encode(self, chunk_array: NDBuffer, chunk_spec: ArraySpec, ticket: Any) -> Buffer | None:
        array: Any = chunk_array.as_ndarray_like()
        buffer = chunk_spec.prototype.buffer
        if is_on_gpu(array):
            stream = self._compress(self._masked(chunk_spec.fill_value, array.dtype, True), array, ticket)
            return buffer.from_array_like(cupy().from_dlpack(stream))
        known = ["auto", *self._masked(chunk_spec.fill_value, array.dtype, not np.all(array))]
        stream = self._compress(known, to_carrier(array), ticket)
        return buffer.from_array_like(np.frombuffer(memoryview(stream), "uint8"))

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        stream: Any = chunk_bytes.as_array_like()
        array = decompress(stream)
        if array.size != math.prod(chunk_spec.shape):
            raise DamagedStream(f"it has the stream of an array of shape {array.shape}, not {chunk_spec.shape}")
        return _buffer_of(cupy().from_dlpack(array) if is_on_gpu(stream) else array, chunk_spec.shape, chunk_spec)

    def _decode_partial_sync(
        self, byte_getter: Any, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        reading = self._read(selection, chunk_spec)
        ranges = next(reading)
        while True:
            parts = [
                byte_getter.get_sync(prototype=chunk_spec.prototype, byte_range=_request(part))
                for part in ranges
            ]
            try:
                ranges = reading.send(parts)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    async def _encode_single(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        # Here, as threads begin in any order.
        ticket = self._ticket(chunk_spec)
        try:
            return await asyncio.to_thread(self._encode, chunk_array, chunk_spec, ticket)
        except asyncio.CancelledError:
            if ticket is not None:
                self._running.lose(ticket)
            raise

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        reading = self._read(selection, chunk_spec)
        ranges = next(reading)
        while True:
            gets = [byte_getter.get(chunk_spec.prototype, _request(part)) for part in ranges]
            parts = await asyncio.gather(*gets)
            try:
                ranges = await asyncio.to_thread(_send, reading, parts)
            except _Finished as end:
                return end.value

    def _read(
        self, selection: Any, chunk_spec: ArraySpec
    ) -> Generator[list[tuple[int, int] | None], list[Buffer | None], NDBuffer | None]:
        """Decodes a selection of a chunk: yields the ranges of bytes that it needs, or none for all bytes."""
        box, rest = _box_of(selection, chunk_spec.shape)
        elements = math.prod(part.stop - part.start for part in box)
        if elements > WHOLE_FROM * math.prod(chunk_spec.shape) or not chunk_spec.shape:
            (whole,) = yield [None]
            if whole is None:
                return None
            return self._decode_sync(whole, chunk_spec)[selection]
        (first,) = yield [(0, PartialStream.FIRST_BYTES)]
        if first is None:
            return None
        stream = PartialStream(first.as_numpy_array())
        if stream.shape != chunk_spec.shape:
            raise DamagedStream(f"it has the stream of an array of shape {stream.shape}, not {chunk_spec.shape}")
        while missing := stream.missing(box):
            parts = yield list(missing)
            for (start, stop), part in zip(missing, parts, strict=True):
                found = start + (0 if part is None else len(part))
                if part is None or found < stop:
                    message = f"the stream is cut off: {found} bytes of at least {stop}"
                    raise DamagedStream(message, kind="truncated", needed=stop, found=found)
                stream.put(start, part.as_numpy_array())
        array = stream.decompress(box)
        return _buffer_of(array, array.shape, chunk_spec)[rest]

    def _masked(self, fill: Any, dtype: Any, has_zeros: bool) -> list[float]:
        """The fill values of a stream of an array of this type, if a chunk has a mask of its fill value: where other values may
        become zeros, zeros need none that the codec keeps, or that are not there."""
        keeps_zeros = not (self.written_once if self.codec is None else has_splines(self.codec))
        needs_none = not self.keep_zero and (keeps_zeros or not has_zeros)
        known = [] if fill is None else fills_in_carrier(fill, dtype)
        return [value for value in known if not (needs_none and value == 0 and not np.signbit(value))]

    def _compress(self, fill: Any, array: Any, ticket: Any) -> Any:
        if ticket is None:
            return self._compressor(fill).compress(array)
        return self._running.compress(ticket, lambda settings: self._compressor(fill, settings), array)

    def _compressor(self, fill: Any, settings: dict[str, Any] | None = None) -> Compressor:
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        options |= {"preset": None, **settings} if settings else {}
        options |= coded(options["preset"], options["codec"], options.pop("written_once"))
        return Compressor(**options, fill=fill)


class _Finished(Exception):
    """The end of a generator. `StopIteration` cannot be raised through an event loop."""

    def __init__(self, value: NDBuffer | None) -> None:
        self.value = value


def _send(reading: Generator[Any, Any, Any], parts: list[Buffer | None]) -> Any:
    try:
        return reading.send(parts)
    except StopIteration as end:
        raise _Finished(end.value) from None


def _request(part: tuple[int, int] | None) -> RangeByteRequest | None:
    return None if part is None else RangeByteRequest(*part)


def _buffer_of(array: Any, shape: tuple[int, ...], chunk_spec: ArraySpec) -> NDBuffer:
    # The chunk of an array without dimensions has one; a stream has the byte order of this machine.
    array = from_carrier(array.reshape(shape), chunk_spec.dtype.to_native_dtype())
    return chunk_spec.prototype.nd_buffer.from_ndarray_like(array)


def _box_of(selection: Any, shape: tuple[int, ...]) -> tuple[tuple[slice, ...], Any]:
    """The smallest box with all elements of a selection of a chunk, and the selection within this box."""
    items = selection if isinstance(selection, tuple) else (selection,)
    whole = tuple(slice(0, length) for length in shape)
    if len(items) != len(shape):
        return whole, selection
    box: list[slice] = []
    rest: list[Any] = []
    for item, length in zip(items, shape, strict=True):
        if isinstance(item, slice):
            chosen = range(length)[item]
            if len(chosen) == 0:
                box.append(slice(0, 0))
                rest.append(slice(None))
                continue
            low, high = sorted((chosen[0], chosen[-1]))
            stop = chosen.stop - low
            box.append(slice(low, high + 1))
            rest.append(slice(chosen.start - low, stop if stop >= 0 else None, chosen.step))
        elif isinstance(item, int | np.integer):
            at = range(length)[item]
            box.append(slice(at, at + 1))
            rest.append(0)
        elif isinstance(item, np.ndarray) and item.dtype.kind in "iu" and item.size:
            box.append(slice(int(item.min()), int(item.max()) + 1))
            rest.append(item - item.min())
        else:
            return whole, selection
    return tuple(box), tuple(rest)


def codec_for(
    array: Any,
    *,
    range: float | None = None,
    max: float | None = None,
    fill: float | Iterable[float] | None = None,
    chunks: Sequence[int] | None = None,
    **options: Any,
) -> FerroszCodec:
    """The codec whose absolute bound is `range` times the range of the whole array, or `max` times its largest
    magnitude.

    The array is one of NumPy, Dask or xarray, or anything that NumPy makes an array of. An array of Dask is read twice:
    here, and when it is written. Missing elements do not count: those that are not finite, those that are masked, those
    out of the CF attribute `valid_range`, those of `fill`, and, without `fill`, those of the CF attributes `_FillValue`
    and `missing_value` of an array of xarray and those that look like fill values in an array of NumPy. The other
    options are those of `FerroszCodec`. If the array is a variable that was compressed before, by its attribute
    `ferrosz_bound`, a `RepeatedCompression` warns that the errors add.

    zarr itself drops the mask of a masked array: write `array.filled()`, and let the array of Zarr have this fill
    value.

    With `chunks`, the shape of the array's chunks, the codec is chosen here, by up to four of them, and is that of all
    chunks. Without it a preset chooses for some of the chunks that are written, or, with `written_once`, for each, which
    takes longer than to compress one of a few MiB. The preset
    stays if one codec would make the chunks more than 5 % longer, which a `PresetKept` says, or if chunks have more than
    8 MiB.

    >>> codec_for(np.array([0, 1, 5, 1e20], "float32"), range=1 / 64, fill=[1e20]).abs
    0.078125
    >>> field = np.sin(np.arange(1 << 18, dtype="float32") / 4000).reshape(64, 64, 64)
    >>> codec_for(field, range=1e-3, preset="fast", chunks=(32, 64, 64)).codec
    'layered'
    """
    if "abs" in options or "pwrel" in options:
        raise ArgumentError(
            "codec_for makes the bound of range or max; with abs or pwrel there is FerroszCodec(abs=...)"
        )
    cf.note_error(array)
    known = fill_values_of(array, fill)
    codec = FerroszCodec(abs=absolute_error(array, range=range, max=max, fill=known), **options)
    return codec if chunks is None else codec_of_chunks(values_of(array), chunks, codec, known)


def codec_of_chunks(values: Any, chunks: Sequence[int], codec: FerroszCodec, fill: Iterable[float]) -> FerroszCodec:
    """The codec with what its preset chooses for all chunks of this shape, or itself if that is not one for all."""
    if codec.codec is not None:
        return codec
    names = [name for name in ("codec", "rank", "axes", "chunk_tiles") if getattr(codec, name) is None]
    names += ["keep_sign", "keep_zero"]
    known = list(fill)

    def with_settings(chosen: dict[str, Any]) -> FerroszCodec:
        if not chosen:
            return codec
        # A codec without levels refuses a preference of quality.
        prefer = codec.prefer if has_splines(chosen["codec"]) else "ratio"
        return replace(codec, preset=None, prefer=prefer, **chosen)

    def compressor(settings: dict[str, Any]) -> Compressor:
        return with_settings(settings)._compressor(["auto", *known])

    return with_settings(settings_of_chunks(values, chunks, names, compressor))
