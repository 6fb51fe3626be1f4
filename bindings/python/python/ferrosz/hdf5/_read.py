"""Reading of datasets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ArgumentError, DamagedStream, Decompressor, info
from .._carrier import carrier_of, from_carrier
from .._device import cupy
from ._chunks import Chunk, chunks_of, in_order
from ._filter import has_streams

if TYPE_CHECKING:
    import h5py

__all__ = ["read"]


def read(dataset: h5py.Dataset, box: Any = None, *, out: Any = None, device: str = "auto") -> Any:
    """Reads a dataset of h5py, or a box of it, on all cores: the same values as `dataset[box]`.

    Only the chunks of HDF5 that the box touches are read, and of these only the parts that it needs are decoded. Beside
    the result there are never more of them in memory than cores.

    dataset
        A dataset of h5py. One without the filter, or with another one beside it, such as a checksum, is read by h5py.
    box
        An index as NumPy takes it: a tuple of slices of step 1, integers, and at most one ellipsis; by default all.
        With any other index h5py reads.
    out
        A writable array of NumPy with the shape and the element type of the result, which is written to it. It is
        returned.
    device
        `"auto"` or `"cpu"`; or `"cuda"` or `"cuda:1"`: then the chunks are decoded on this GPU, and the result is an
        array of CuPy.

    Raises `DamagedStream`, which names the dataset and the chunk, `ArgumentError`, and what h5py raises.

    HDF5 has a cache of chunks, in which those that were just written are as they were before they were compressed.
    `dataset[box]` shows these; `read` shows what is stored.

    It can be called from several threads, which take turns at h5py's lock only while they fetch chunks, and in
    processes that are forked.

    >>> import h5py, ferrosz.hdf5
    >>> file = h5py.File("field.h5", "w", driver="core", backing_store=False)
    >>> dataset = ferrosz.hdf5.write(file, "t", np.linspace(0, 1, 10**6).reshape(1000, 1000), abs=1e-4)
    >>> read(dataset, np.s_[3:5, 7]).shape
    (2,)
    """
    box = ... if box is None else box
    decompressor = Decompressor(device=device)
    on_gpu = device.startswith("cuda")
    if on_gpu and out is not None:
        raise ArgumentError(f"out: with device={device!r} the result is a new array")
    ranges = _ranges_of(box, dataset.shape)
    if ranges is None or not has_streams(dataset):
        found = dataset[box]
        if on_gpu:
            return cupy().asarray(found)
        return found if out is None else _filled(out, found)
    chunks = chunks_of([part if isinstance(part, range) else range(part, part + 1) for part in ranges], dataset.chunks)
    shape = tuple(len(part) for part in ranges if isinstance(part, range))
    # A view with an axis for each of the dataset.
    axes = tuple(slice(None) if isinstance(part, range) else None for part in ranges)
    if on_gpu:
        return _read_to_gpu(dataset, chunks, shape, axes, device)
    result = np.empty(shape, dataset.dtype) if out is None else _checked(out, shape, dataset.dtype)
    target = result[axes]

    def work(chunk: Chunk) -> None:
        stream = _stream(dataset, chunk)
        if stream is None:
            target[chunk.of_box] = dataset[chunk.of_dataset]
        else:
            _decode(decompressor, dataset, chunk, stream, target[chunk.of_box])

    for _ in in_order(work, chunks):
        pass
    return result[()] if out is None else out


def _ranges_of(box: Any, shape: tuple[int, ...] | None) -> list[range | int] | None:
    """The range of each axis, and the number of one that the result does not have; none if the index is no box."""
    items = box if isinstance(box, tuple) else (box,)
    if all(item is not Ellipsis for item in items):
        items = (*items, Ellipsis)
    if shape is None or sum(item is Ellipsis for item in items) != 1 or len(items) - 1 > len(shape):
        return None
    place = next(at for at, item in enumerate(items) if item is Ellipsis)
    whole = (slice(None),) * (len(shape) - len(items) + 1)
    ranges: list[range | int] = []
    for item, length in zip(items[:place] + whole + items[place + 1 :], shape, strict=True):
        if isinstance(item, slice) and item.step in (None, 1):
            ranges.append(range(length)[item])
        elif isinstance(item, int | np.integer) and not isinstance(item, bool) and -length <= item < length:
            ranges.append(int(item) % length)
        else:
            return None
    return ranges


def _stream(dataset: h5py.Dataset, chunk: Chunk) -> bytes | None:
    """The stream of a chunk; none if it was never written, or is stored as it is."""
    stored = dataset.id.get_chunk_info_by_coord(chunk.offset)
    if stored.byte_offset is None or stored.filter_mask != 0:
        return None
    stream: bytes = dataset.id.read_direct_chunk(chunk.offset)[1]
    return stream


def _decode(decompressor: Decompressor, dataset: h5py.Dataset, chunk: Chunk, stream: bytes, target: Any) -> None:
    """Decodes the part of a box that a chunk has."""
    extents = dataset.chunks
    try:
        found = info(stream)
        if (found.dtype, found.size) != (carrier_of(dataset.dtype).name, math.prod(extents)):
            raise DamagedStream(f"it has the stream of an array of shape {found.shape} of {found.dtype}")
        if found.shape != extents:
            # A chunk of more than eight dimensions is a stream of eight.
            whole = decompressor.decompress(stream).reshape(extents)
            target[...] = from_carrier(whole[chunk.of_chunk], dataset.dtype)
        elif target.flags.c_contiguous and target.dtype == carrier_of(dataset.dtype):
            decompressor.decompress(stream, box=chunk.of_chunk, out=target)
        else:
            target[...] = from_carrier(decompressor.decompress(stream, box=chunk.of_chunk), dataset.dtype)
    except DamagedStream as error:
        raise _named(error, dataset, chunk) from error


def _named(error: DamagedStream, dataset: h5py.Dataset, chunk: Chunk) -> DamagedStream:
    message = f"dataset {dataset.name}, chunk at {chunk.offset}: {error}"
    return DamagedStream(message, error.kind, error.chunk, error.needed, error.found, error.update_at)


def _read_to_gpu(
    dataset: h5py.Dataset, chunks: Iterable[Chunk], shape: tuple[int, ...], axes: tuple[Any, ...], device: str
) -> Any:
    """Decodes chunks one after the other on a GPU, while others are fetched."""
    xp = cupy()
    with xp.cuda.Device(int(device.partition(":")[2] or 0)):
        dtype = dataset.dtype.newbyteorder("=")
        result = xp.empty(shape, dtype)
        target = result[axes]
        decompressor = Decompressor()
        for chunk, stream in in_order(lambda chunk: (chunk, _stream(dataset, chunk)), chunks):
            if stream is None:
                target[chunk.of_box] = xp.asarray(dataset[chunk.of_dataset])
                continue
            try:
                # Codecs of tiles decode whole arrays on a GPU.
                decoded = decompressor.decompress(xp.asarray(np.frombuffer(stream, "uint8")))
            except DamagedStream as error:
                raise _named(error, dataset, chunk) from error
            whole = xp.from_dlpack(decoded).reshape(dataset.chunks)
            target[chunk.of_box] = from_carrier(whole[chunk.of_chunk], dtype)
    return result


def _checked(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """`out`, if the result can be written to it."""
    if not isinstance(out, np.ndarray) or (out.shape, out.dtype) != (shape, dtype) or not out.flags.writeable:
        raise ArgumentError(f"out: a writable array of NumPy of shape {shape} and type {dtype} is needed")
    return out


def _filled(out: Any, found: Any) -> Any:
    _checked(out, np.shape(found), found.dtype)[...] = found
    return out
