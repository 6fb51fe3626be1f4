"""Error-bounded lossy compression of scientific arrays, with the same bytes on CPUs and NVIDIA GPUs.

>>> field = np.sin(np.arange(100000, dtype="float32") / 1000).reshape(100, 1000)
>>> stream = ferrosz.compress(field, range=1e-3)
>>> back = ferrosz.decompress(stream)
>>> bool(abs(back - field).max() <= 1e-3 * (field.max() - field.min()))
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._ferrosz import (
    Compressor,
    Decompressor,
    DeviceArray,
    PartialStream,
    Stream,
    __version__,
    compact,
    compress_batch,
    decompress_batch,
    detect_fill,
    release_memory,
    salvage,
    update,
    update_in_place,
)
from ._damage import Damage
from ._digits import pwrel_of_digits, pwrel_or_digits
from ._group import Group
from ._info import Info, info
from ._levels import levels
from ._mapped import mapped
from ._report import Report, report
from ._saving import load, save
from ._statistics import Statistics, stats, where
from ._verification import Verification, verify
from .errors import (
    ArgumentError,
    DamagedStream,
    DeviceError,
    Error,
    GroupError,
    OutOfMemory,
    PresetKept,
    RepeatedCompression,
    SmallChunks,
    TargetNotReached,
    TestNumber,
    UnsupportedType,
)

if TYPE_CHECKING:
    import os

    from ._types import Box, Buffer, Fill, Preset

__all__ = [
    "ArgumentError",
    "Compressor",
    "Damage",
    "DamagedStream",
    "Decompressor",
    "DeviceArray",
    "DeviceError",
    "Error",
    "Group",
    "GroupError",
    "Info",
    "OutOfMemory",
    "PartialStream",
    "PresetKept",
    "RepeatedCompression",
    "Report",
    "Stream",
    "SmallChunks",
    "Statistics",
    "TargetNotReached",
    "TestNumber",
    "UnsupportedType",
    "Verification",
    "__version__",
    "compact",
    "compress",
    "compress_batch",
    "compress_part",
    "decompress",
    "decompress_batch",
    "detect_fill",
    "info",
    "levels",
    "load",
    "pwrel_of_digits",
    "release_memory",
    "report",
    "salvage",
    "save",
    "stats",
    "update",
    "update_in_place",
    "verify",
    "where",
]


def compress(
    array: Any,
    *,
    abs: float | None = None,
    range: float | None = None,
    max: float | None = None,
    pwrel: float | None = None,
    digits: int | None = None,
    psnr: float | None = None,
    rmse: float | None = None,
    mae: float | None = None,
    ratio: float | None = None,
    preset: Preset | None = None,
    codec: str | None = None,
    rank: Literal[1, 2, 3] | None = None,
    axes: str | None = None,
    chunk_tiles: Literal[4, 16, 64] | None = None,
    levels: int = 0,
    prefer: Literal["ratio", "quality"] = "ratio",
    wavelets: float | None = None,
    fill: Fill = "auto",
    keep_sign: bool = False,
    keep_zero: bool = False,
    keep: Literal["auto", "none"] | None = "auto",
    rewritable: bool = False,
    safeguards: Mapping[str, Any] | None = None,
    statistics: bool = False,
    device: str = "auto",
    threads: int | None = None,
    out: Any = None,
    progress: Callable[[int], object] | None = None,
    cuda_stream: Any = None,
) -> Stream | DeviceArray:
    """Compresses an array within an error bound, which holds for every finite value; NaNs and infinities come back bit
    for bit.

    array
        float32, float64, float16, bfloat16 (of ml_dtypes), int16, uint16, int32 or uint32, of up to eight dimensions,
        or complex64 or complex128, of up to seven:
        an array of NumPy, or anything that NumPy makes an array of. An array in C order and native byte order is not
        copied. In a masked array the
        masked elements are missing: they become its `fill_value`, which is one of the fill values then, and what the
        mask hides counts nowhere. A `fill_value` that the type does not have, or that is not masked everywhere, is an
        error.
    abs, range, max, pwrel
        The bound: |x - x'| is at most `abs`; `range` times max - min of the finite values; `max` times the largest
        magnitude; or `pwrel` times |x|, for each value. 0 is lossless. Of complex numbers the values are the real and the
        imaginary parts: each is within the bound, and a range is that of all parts.
    digits
        In place of `pwrel`: each value keeps so many significant decimal digits, as `pwrel_of_digits` defines them.
    psnr, rmse, mae, ratio
        In place of a bound, a target that the bound is searched for: at least so many decibels, at most this root mean
        square error, at most this mean absolute error, at least this ratio of bytes.
    preset
        `"small"` (the default), `"balanced"` or `"fast"`: chooses the codec by a sample of the array.
    codec
        The name of a codec, in place of a preset.
    rank
        The dimensions of blocks or tiles. By default the preset chooses them, or the shape decides.
    axes
        The role of each axis, such as `"s,z,y,x"`: z, y and x are coded together, s apart. With `"auto"` each array
        decides, also with a codec that is named; a preset does so by default. Arrays on a GPU keep the order of their axes.
        Complex numbers have one more role, the last one, for the axis of their parts.
    chunk_tiles
        How many tiles a chunk of a codec of tiles has. By default the preset chooses that, and a codec that is named has 4.
        A codec, rank, axes and tiles that the `info` of a stream names make that stream again.
    levels
        Code the lowest so many levels apart, so that `decompress` with `level` and `levels` read and decode levels 1 to
        this one without the finer ones. Cubes and planes have up to 4, lines 9. Level k has every 2^k-th value along each
        axis. The codec is one with splines or stencils; the stream is mostly some percent longer. The CPU codes it.
    prefer
        With `"quality"`, codecs with splines or stencils have a higher PSNR at the same bound, and longer streams. Codecs
        and presets without these refuse it.
    wavelets
        Code the coefficients of wavelets, within this absolute error, in place of values. Those that leave the bound are
        corrected. The codec is `direct+rans`. A mean error as a target with the preset `"small"` takes wavelets by itself
        where they are shorter; `info` then names the `coefficient_error`.
    fill
        The values of missing elements: one number, up to four, `None`, or `"auto"`, which finds them in the array. They
        come back bit for bit, and count neither in the range nor in the bound. `["auto", -9999]` finds them, and takes
        -9999 if the array has it.
    keep_sign, keep_zero
        Keep the sign of every value, and every zero, also with the codecs that do not do so by themselves.
    keep
        With `"auto"` a preset makes no negative value of an array that has none, and keeps zeros that are more than a
        hundredth of the values. With `"none"` it takes what is shortest.
    rewritable
        Only take codecs whose decoded values come back as they are when they are compressed again with the same `abs` or
        `pwrel`. So errors never add up, as often as parts of an array are changed.
    safeguards
        Promises about each finite value beside the bound, by their names: `keep_above`, a number or several on whose
        side values stay; `limits`, the lowest and the highest value; `abs_field`, an array with a bound for each value;
        `abs_log`, `abs_exp` and `abs_square`, bounds of these functions of a value; `monotone`, the axis along which
        neighbours keep their order. Values of complex numbers are their parts.
    statistics
        Put smallest and largest value and mean of groups of chunks into the stream, for `stats` and `where`. They take a
        thousandth of the stream at most, or one group, and one more pass over the array on the CPU. An array on a GPU has
        none.
    device
        `"auto"`, `"cpu"`, `"cuda"` or `"cuda:1"`; `"cuda:all"` or `"cuda:0,1"` for several GPUs.
    threads
        How many threads of the CPU share the work. They start and end with the call. By default the pool of the process
        is taken, which has one for each core, or `RAYON_NUM_THREADS`. The stream does not depend on it.
    out
        For an array on a GPU, memory for the stream: an array of uint8 with one dimension on the same GPU, in C order,
        that begins at a multiple of 16 bytes and has at least `Compressor.max_stream_bytes` bytes. The result is then
        the start of it, without a copy.
    progress
        Is called from time to time, on this thread, with the number of elements done since the last call, as
        `tqdm.update` wants it.
    cuda_stream
        For an array on a GPU, the stream to work on: an object of CuPy or PyTorch, or a number. By default the current
        stream of the library that the array belongs to.

    An array on an NVIDIA GPU, of CuPy, PyTorch, JAX or any library with DLPack or `__cuda_array_interface__`, is
    compressed there, if it is float32, float64, float16, bfloat16, int16 or uint16. The result is a `DeviceArray` of
    bytes. There `fill="auto"` finds nothing, no target is searched, and types of 16 bits have no fill values. For many
    arrays, a `Compressor` is faster: it keeps its device memory.

    Raises `ArgumentError`, `UnsupportedType`, `TargetNotReached`, `DeviceError` and `OutOfMemory`.

    >>> temperature = np.linspace(250, 310, 60000).reshape(100, 600)
    >>> temperature[:, :50] = -9999
    >>> stream = ferrosz.compress(temperature, abs=0.01)
    >>> stream.info.ratio > 10
    True
    >>> bool((ferrosz.decompress(stream)[:, :50] == -9999).all())
    True
    >>> ferrosz.compress(temperature, abs=0.01, range=1e-3)
    Traceback (most recent call last):
    ...
    ferrosz.errors.ArgumentError: give only one of the bounds and targets abs, range
    """
    targets = {"abs": abs, "range": range, "max": max, "psnr": psnr, "rmse": rmse, "mae": mae, "ratio": ratio}
    compressor = Compressor(
        abs=abs,
        range=range,
        max=max,
        pwrel=pwrel_or_digits(pwrel, digits, targets),
        psnr=psnr,
        rmse=rmse,
        mae=mae,
        ratio=ratio,
        preset=preset,
        codec=codec,
        rank=rank,
        axes=axes,
        chunk_tiles=chunk_tiles,
        levels=levels,
        prefer=prefer,
        wavelets=wavelets,
        fill=fill,
        keep_sign=keep_sign,
        keep_zero=keep_zero,
        keep=keep,
        rewritable=rewritable,
        safeguards=None if safeguards is None else dict(safeguards),
        statistics=statistics,
        device=device,
        threads=threads,
    )
    stream: Stream | DeviceArray = compressor.compress(array, out=out, progress=progress, cuda_stream=cuda_stream)
    return stream


def compress_part(
    array: Any,
    group: Group,
    *,
    box: Box,
    shape: int | Sequence[int],
    codec: str | None = None,
    preset: Preset | None = None,
    abs: float | None = None,
    range: float | None = None,
    max: float | None = None,
    rank: Literal[1, 2, 3] | None = None,
    axes: str | None = None,
    device: str = "auto",
) -> int:
    """Compresses the part of an array that this member of a group has. All members call it with the same settings, and
    together they write one stream, with the bytes of `compress(..., fill=None)` of the whole array. Returns its length.
    `ferrosz.mpi` has the group of MPI.

    array
        The part: an array as `compress` takes it.
    group
        The members, as this one sees them.
    box
        The place of the part in the whole array: an index as `decompress` takes it. The boxes of all members make the
        array. They may be any; the least is sent between members if they begin at multiples of the chunks' extents.
    shape
        The shape of the whole array.
    codec, preset, rank, axes
        As those of `compress`. The members choose a preset's codec together, among those that need no mask to keep the
        signs and zeros of the array: "small", unless a codec is given.
    abs, range, max
        The bound, also a relative one, is that of the whole array.
    device
        "auto" is the CPU. The members take turns of the GPUs of "cuda:all" or "cuda:0,1". On a GPU each member
        compresses a slab of whole chunks along the slowest axis, which other members send it as far as it does not have
        it. If one member has no GPU, or if there are fewer slabs than members, all use their CPUs.

    An error of one member is an error of all: it raises its own, the others `GroupError`. The calls of the group are
    made on this thread; the interpreter's lock is free between them.

    Raises `ArgumentError`, `UnsupportedType`, `DeviceError`, `GroupError`, `OutOfMemory`, and what the methods of the
    group raise.

    >>> class Alone:
    ...     rank, size, file = 0, 1, bytearray()
    ...     def max(self, numbers): return numbers
    ...     def sum(self, numbers): return numbers
    ...     def sum_before(self, number): return 0
    ...     def exchange(self, messages): return messages
    ...     def barrier(self): pass
    ...     def write(self, pieces):
    ...         for start, piece in pieces:
    ...             self.file.extend(bytes(max(0, start + len(piece) - len(self.file))))
    ...             self.file[start : start + len(piece)] = piece
    >>> field = np.sin(np.arange(60000) / 1000).reshape(30, 40, 50)
    >>> length = ferrosz.compress_part(field, Alone(), box=np.s_[...], shape=field.shape, codec="plain", abs=1e-3)
    >>> Alone.file == ferrosz.compress(field, codec="plain", abs=1e-3)
    True
    """
    compressor = Compressor(
        codec=codec,
        preset=preset,
        abs=abs,
        range=range,
        max=max,
        rank=rank,
        axes=axes,
        fill=None,
        device=device,
    )
    return compressor.compress_part(array, group, box=box, shape=shape)


def decompress(
    stream: Buffer | str | os.PathLike[str],
    *,
    out: Any = None,
    box: Box | None = None,
    level: int = 0,
    device: str = "auto",
    verify_checksums: bool = True,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    cuda_stream: Any = None,
) -> Any:
    """Decompresses a stream, or a box or a level of its array, to an array of NumPy; or, if the stream is on an NVIDIA
    GPU, to a `DeviceArray`.

    stream
        A `Stream`, `bytes`, a memory map, an array of NumPy, or any other buffer, which is not copied; or the path of a
        file that has a stream.
    out
        A writable array in C order, with the shape and the element type of the result. The result is written to it, and
        it is returned. For a stream of one element it may have no dimensions.
    box
        An index as NumPy takes it: a tuple of slices of step 1, integers, and at most one ellipsis. Only the chunks
        with elements of the box are read. The result has no axis for an integer.
    level
        Level k has every 2^k-th value along each axis: of the array a, `a[::2**k, ::2**k]` for two axes. Of a `box`,
        whose numbers are those of the whole array, it has the values that belong to the level; an integer must be
        divisible by 2^k. Only what the level needs is decoded if `compress` had `levels`; of other streams the whole box
        is, except for level 4 and higher ones of codecs with splines or stencils. Not of a stream on a GPU.
    device
        `"auto"`, `"cpu"`, `"cuda"` or `"cuda:1"`; `"cuda:all"` or `"cuda:0,1"` for several GPUs.
    verify_checksums
        Without them damage may go unnoticed; it can only cause wrong values or an error.
    threads, progress, cuda_stream
        As those of `compress`.

    For many streams on a GPU, a `Decompressor` is faster: it keeps its device memory.

    Raises `DamagedStream`, `ArgumentError`, `UnsupportedType`, `DeviceError` and `OutOfMemory`.

    >>> field = np.sin(np.arange(100000) / 1000).reshape(10, 100, 100)
    >>> stream = ferrosz.compress(field, abs=1e-4)
    >>> ferrosz.decompress(stream, box=np.s_[3, ..., 20:30]).shape
    (100, 10)
    >>> out = np.empty_like(field)
    >>> ferrosz.decompress(stream, out=out) is out
    True
    >>> stream = ferrosz.compress(field, abs=1e-4, levels=2)
    >>> bool((ferrosz.decompress(stream, level=2) == ferrosz.decompress(stream)[::4, ::4, ::4]).all())
    True
    """
    decompressor = Decompressor(device=device, verify_checksums=verify_checksums, threads=threads)
    return decompressor.decompress(
        mapped(stream), out=out, box=box, level=level, progress=progress, cuda_stream=cuda_stream
    )
