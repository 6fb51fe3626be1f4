"""Writing of datasets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ArgumentError, Compressor, cf
from .._carrier import fills_in_carrier, refuse_type, to_carrier
from .._choice import most_axes
from .._device import cupy, is_on_gpu
from .._masked import unmasked
from .._relative import absolute_error, fill_values_of
from ._chunks import Chunk, chunks_of, in_order
from ._filter import Ferrosz, chosen_once, has_streams, told_fill

if TYPE_CHECKING:
    import h5py

__all__ = ["write"]

# The bytes that a chunk has at most, if the caller does not choose: enough for all cores, and few beside a file.
CHUNK_BYTES = 4 << 20


def write(
    group: h5py.Group,
    name: str | None,
    array: Any,
    *,
    abs: float | None = None,
    pwrel: float | None = None,
    range: float | None = None,
    max: float | None = None,
    preset: str | None = None,
    codec: str | None = None,
    rank: int | None = None,
    fill: float | str | None = "auto",
    written_once: bool = True,
    chunks: tuple[int, ...] | None = None,
    fillvalue: complex | None = None,
    **options: Any,
) -> h5py.Dataset:
    """Writes an array as a new dataset of h5py, whose chunks are compressed on all cores. They have the bytes that h5py
    writes through the filter.

    group, name
        A file or a group of h5py, and the name of the dataset there.
    array
        An array of NumPy; or one that NumPy makes an array of, such as a memory map, an array of Dask or a dataset, of
        which a chunk at a time is loaded; or an array on a GPU, whose chunks are compressed there, with CuPy.
    abs, pwrel, range, max
        The bound: absolute, relative to each value, to the range of the whole array, or to its largest magnitude. The
        last two become an absolute bound, as in `filter_for`.
    preset, codec, rank, fill
        As those of `Ferrosz`. Of a preset the codec is chosen once, by up to four chunks: see `filter_for`.
    written_once
        As that of `Ferrosz`, but True: this function writes each chunk once. Give `False` if parts of the dataset are
        written afterwards, which may add a bound each time otherwise, or if it goes through tools such as h5repack and
        nccopy that write it again; where these are given the parameters of the filter, use those of `Ferrosz(abs=...)`.
    chunks
        The shape of a chunk. By default the longest extents of the array are halved until a chunk has at most 4 MiB.
    fillvalue
        The value of elements that are not written, which comes back exactly. By default it is the CF attribute
        `_FillValue` of an array of xarray, if there is one, or the fill value of a masked array, as which the masked
        elements are written.
    options
        Others of h5py's `create_dataset`, such as `maxshape`.

    The attributes of the dataset say which error is left: see `ferrosz.cf.attributes`. An array without elements or
    without dimensions has no chunks, and is stored as it is. No dataset is left behind an error.

    Raises `ArgumentError`, `UnsupportedType`, what h5py raises, and what `array` raises.

    >>> import h5py
    >>> file = h5py.File("field.h5", "w", driver="core", backing_store=False)
    >>> dataset = write(file, "t", np.linspace(0, 8, 10**6).reshape(1000, 1000), range=1e-3)
    >>> dataset.attrs["ferrosz_mode"], float(dataset.attrs["ferrosz_bound"])
    ('abs', 0.008)
    """
    on_gpu = is_on_gpu(array)
    if on_gpu:
        array = cupy().from_dlpack(array)
    elif not hasattr(array, "shape") or not hasattr(array, "dtype"):
        array = np.asarray(array)
    # Other types are errors, where h5py would leave the filter away.
    refuse_type(array.dtype, "the filter")
    cf.note_error(array)
    array, of_mask = unmasked(array)
    if fillvalue is None:
        fillvalue = next(iter(cf.fill_values(array, ["_FillValue"])), of_mask)
    if of_mask is not None:
        _check_mask(of_mask, fillvalue, fill, array.dtype)
    bounds = {"abs": abs, "pwrel": pwrel, "range": range, "max": max}
    given = [mode for mode, bound in bounds.items() if bound is not None]
    if len(given) != 1:
        raise ArgumentError(f"give one of the bounds abs, pwrel, range and max, not {' and '.join(given) or 'none'}")
    if given[0] in ("range", "max"):
        known = fill_values_of(array, _fills(fill, fillvalue, array.dtype))
        abs = absolute_error(array, range=range, max=max, fill=known)
        if fill == "auto":
            fill = told_fill(known, [] if fillvalue is None else [fillvalue])
    settings = Ferrosz(
        abs=abs, pwrel=pwrel, preset=preset, codec=codec, rank=rank, fill=fill, written_once=written_once
    )
    if array.size == 0 or array.ndim == 0:
        values = cupy().asnumpy(array) if on_gpu else np.asarray(array)
        return group.create_dataset(name, data=values, fillvalue=fillvalue, **options)
    chunks = chunks or _chunk_shape(array.shape, array.dtype.itemsize)
    fills = _fills(fill, fillvalue, array.dtype)
    settings = chosen_once(settings, array, chunks, fills)
    dataset = group.create_dataset(
        name, array.shape, array.dtype, chunks=chunks, fillvalue=fillvalue, **settings, **options
    )
    try:
        if not has_streams(dataset):
            raise ArgumentError("options: the dataset has another filter beside ferrosz")
        write_chunks(dataset, array, _all_chunks(dataset), settings.compressor(fills), on_gpu)
        dataset.attrs.update(cf.attributes(settings, range=range, max=max))
    except BaseException:
        if name is not None:
            del group[name]
        raise
    return dataset


def _fills(fill: float | str | None, fillvalue: complex | None, dtype: np.dtype[Any]) -> list[Any]:
    """The fill values of a dataset as the filter has them."""
    if fill == "auto":
        return ["auto", *([] if fillvalue is None else fills_in_carrier(fillvalue, dtype))]
    return [] if fill is None or fill == "none" else [fill]


def _chunk_shape(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The shape of chunks that are not too large."""
    extents = list(shape)
    while math.prod(extents) * itemsize > CHUNK_BYTES:
        longest = extents.index(max(extents))
        extents[longest] = -(-extents[longest] // 2)
    return tuple(extents)


def _all_chunks(dataset: h5py.Dataset) -> Iterator[Chunk]:
    return chunks_of([range(length) for length in dataset.shape], dataset.chunks)


def write_chunks(
    dataset: h5py.Dataset, array: Any, chunks: Iterable[Chunk], compressor: Compressor, on_gpu: bool = False
) -> None:
    """Compresses these chunks, and writes them in their order. The array is the box of the dataset that they are of."""
    xp = cupy() if on_gpu else np
    extents = dataset.chunks
    # Of more than eight dimensions, or seven beside the parts of complex numbers, the first ones are one axis.
    most = most_axes(dataset.dtype)
    merged = (-1, *extents[1 - most :]) if len(extents) > most else extents

    def work(chunk: Chunk) -> tuple[tuple[int, ...], Any]:
        part = array[chunk.of_box]
        part = xp.asarray(part) if on_gpu else _on_cpu(part, dataset)
        if part.shape != extents:
            # HDF5 gives whole chunks to a filter.
            padded = xp.full(extents, dataset.fillvalue, dataset.dtype)
            padded[chunk.of_chunk] = part
            part = padded
        part = part if on_gpu else to_carrier(part)
        stream = compressor.compress(xp.ascontiguousarray(part).reshape(merged))
        return chunk.offset, xp.asnumpy(xp.from_dlpack(stream)) if on_gpu else memoryview(stream)

    # CuPy knows the device of the thread, and a GPU is busy with one chunk.
    with array.device if on_gpu else nullcontext():
        for offset, stream in map(work, chunks) if on_gpu else in_order(work, chunks):
            dataset.id.write_direct_chunk(offset, stream)


def _check_mask(of_mask: complex, fillvalue: Any, fill: Any, dtype: np.dtype[Any]) -> None:
    """Refuses settings with which masked elements would not be those of the fill value of the dataset."""
    for name, value in (("fillvalue", fillvalue), ("fill", fill)):
        if value == "auto":
            continue
        if value in (None, "none") or not np.array_equal(dtype.type(value), of_mask, equal_nan=True):
            raise ArgumentError(
                f"{name}: it is {value!r}, but masked elements are written as array.fill_value, {of_mask!r}"
            )


def _on_cpu(part: Any, dataset: h5py.Dataset) -> Any:
    """A part of an array as one of NumPy, with the fill value of the dataset where it is masked."""
    part = part.compute() if hasattr(part, "dask") else part
    if np.ma.is_masked(part):
        if not np.array_equal(dataset.fillvalue, dataset.dtype.type(part.fill_value), equal_nan=True):
            raise ArgumentError(f"array: parts of it are masked; give their fill value as fillvalue={part.fill_value!r}")
        part, _ = unmasked(part)
    return np.asarray(part)
