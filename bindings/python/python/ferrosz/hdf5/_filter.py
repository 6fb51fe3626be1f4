"""The filter of a dataset: its parameters."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Never

import numpy as np

from .. import ArgumentError, Compressor, TestNumber, cf
from .._choice import settings_of_chunks
from .._ferrosz import codec_id, has_splines
from .._relative import absolute_error, fill_values_of, values_of
from .._rewriting import coded
from .._settings import fills, flag, number, one_bound, refuse_others, text, whole
from .._warning import warn
from ._plugin import warn_of_small_chunks

if TYPE_CHECKING:
    import h5py

__all__ = ["FILTER_ID", "Ferrosz", "filter_for"]

FILTER_ID: Final = 46657
"""The number of the filter in files. It is one for tests: do not keep files with it. Who makes a filter is warned of
this once in a process, by `ferrosz.TestNumber`."""

VERSION = 1
MODES = {"abs": 0, "pwrel": 3}
PRESETS = {"small": 0, "balanced": 1, "fast": 2}
AUTO, NO_FILL, ONE_FILL = 0, 1, 2
WRITTEN_ONCE = 1 << 24
PREFERS_QUALITY = 1 << 25


class Ferrosz(Mapping[str, Any]):
    """The filter with these settings, as keyword arguments of h5py's `create_dataset` and as an encoding of xarray with
    the engine h5netcdf.

    abs, pwrel
        The bound, which is that of every chunk: |x - x'| is at most `abs`, or `pwrel` times |x|. For a bound relative
        to the range of the whole dataset see `filter_for`.
    preset, codec, rank, chunk_tiles, prefer
        As those of `ferrosz.compress`.
    fill
        The value of missing elements. `"auto"` is the fill value of the dataset, and values that are found in a chunk;
        `None` is none.
    written_once
        Each chunk is written once, and as a whole. HDF5 decodes a chunk and encodes it again when a part of it is
        written and the chunk is not in its cache any more, as with planes of a chunk that is larger than the cache. By
        default the bound holds however often that happens, as only codecs without splines are taken; with
        `written_once=True` streams are shorter: it admits the codecs `interp`, `stencil`, `slices` and their variants,
        and the preset `small` chooses among them. Copies by h5repack and nccopy have the data of another file, which is
        decoded already: use the default.

    Give chunks of 1 MiB or more: those that h5py takes by itself have some tens of kB, and `ferrosz.SmallChunks` warns of
    them. If a chunk cannot be compressed, HDF5 stores it as it is, since h5py makes every
    filter optional.

    >>> dict(Ferrosz(abs=0.5))
    {'compression': 46657, 'compression_opts': (1, 0, 0, 0, 1071644672)}

    xarray: `dataset.to_netcdf("t.nc", engine="h5netcdf", encoding={"t": {**Ferrosz(abs=0.5), "chunksizes": (64,
    512)}})`.
    """

    def __init__(
        self,
        *,
        abs: float | None = None,
        pwrel: float | None = None,
        preset: str | None = None,
        codec: str | None = None,
        rank: int | None = None,
        chunk_tiles: int | None = None,
        prefer: str = "ratio",
        fill: float | str | None = "auto",
        written_once: bool = False,
        **others: Never,
    ) -> None:
        refuse_others("Ferrosz", others, self.__init__.__kwdefaults__, "ferrosz.hdf5.filter_for")  # type: ignore[misc]
        self.abs = number("abs", abs)
        """The absolute bound, if there is one."""
        self.pwrel = number("pwrel", pwrel)
        """The bound relative to each value, if there is one."""
        self.preset = text("preset", preset)
        """The preset, if one was given."""
        self.codec = text("codec", codec)
        """The codec, if one was given."""
        self.rank = whole("rank", rank)
        """The dimensions of blocks or tiles, if they were given."""
        self.chunk_tiles = whole("chunk_tiles", chunk_tiles)
        """The tiles of a chunk, if they were given."""
        self.prefer = text("prefer", prefer) or "ratio"
        """`"ratio"` or `"quality"`."""
        if np.ndim(np.asarray(fill)) > 0:
            raise ArgumentError(f"fill: {fill!r} is not 'auto', None or a number, and a filter has no others")
        self.fill = fills(fill)
        """The value of missing elements, `"auto"` or `None`."""
        self.written_once = flag("written_once", written_once)
        """Whether each chunk is written once."""
        one_bound(self.abs, self.pwrel, "ferrosz.hdf5.filter_for")
        # Wrong settings are errors here, not when the first chunk is written.
        self.compressor(self.fill)
        _warn_of_number()

    def compressor(self, fill: Any) -> Compressor:
        """A compressor with these settings, and with these fill values."""
        settings = coded(self.preset, self.codec, self.written_once)
        settings |= {"rank": self.rank, "chunk_tiles": self.chunk_tiles, "prefer": self.prefer}
        return Compressor(abs=self.abs, pwrel=self.pwrel, fill=fill, **settings)

    @property
    def compression_opts(self) -> tuple[int, ...]:
        """The parameters of the filter, which HDF5 calls `cd_values`, as words of 32 bits; docs/book/hdf5.md
        defines them."""
        mode, bound = ("abs", self.abs) if self.abs is not None else ("pwrel", self.pwrel)
        predictor, coder = codec_id(self.codec) if self.codec is not None else (0, PRESETS[self.preset or "small"])
        fill_mode, fill_words = self._fill_words()
        first = VERSION | MODES[mode] << 8 | fill_mode << 16 | (WRITTEN_ONCE if self.written_once else 0)
        first |= PREFERS_QUALITY if self.prefer == "quality" else 0
        blocks = (self.rank or 0) | (self.chunk_tiles or 0) << 8
        return (first, predictor << 8 | coder, blocks, *_words(bound), *fill_words)

    def _fill_words(self) -> tuple[int, tuple[int, ...]]:
        if self.fill == "auto":
            return AUTO, ()
        if self.fill is None or self.fill == "none":
            return NO_FILL, ()
        return ONE_FILL, _words(self.fill)

    def __getitem__(self, name: str) -> Any:
        return {"compression": FILTER_ID, "compression_opts": self.compression_opts}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("compression", "compression_opts"))

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        defaults = (None, False, "ratio")
        settings = {name: value for name, value in vars(self).items() if name == "fill" or value not in defaults}
        return f"Ferrosz({', '.join(f'{name}={value!r}' for name, value in settings.items())})"


_is_warned = False


def _warn_of_number() -> None:
    global _is_warned
    if _is_warned:
        return
    _is_warned = True
    warn_of_small_chunks()
    warn(
        f"{FILTER_ID}, the number of the HDF5 filter of ferrosz, is one for tests: files with it are not for keeping, until "
        "the HDF Group has assigned one",
        TestNumber,
    )


def _words(number: Any) -> tuple[int, ...]:
    """The bits of a number as a double, the low word first."""
    return struct.unpack("<II", struct.pack("<d", number))


def filter_for(
    array: Any,
    *,
    range: float | None = None,
    max: float | None = None,
    fill: float | Sequence[float] | None = None,
    chunks: Sequence[int] | None = None,
    **settings: Any,
) -> Ferrosz:
    """The filter whose absolute bound is `range` times the range of the whole array, or `max` times its largest
    magnitude.

    The array, the elements that do not count, and the warning about one that was compressed before, are those of
    `ferrosz.zarr.codec_for`. The filter knows the fill value
    of the dataset, which NetCDF sets from `_FillValue`, and finds others in a chunk that has values beside them. If the
    whole array has only one, which is not its `_FillValue`, the filter is told that one, so that it is kept in every
    chunk. The other settings are those of `Ferrosz`.

    With `chunks`, the shape of the dataset's chunks, the codec is chosen here and is that of all chunks, as by
    `ferrosz.zarr.codec_for`.

    >>> filter_for(np.array([0, 1, 5, 1e20], "float32"), range=1 / 64, fill=1e20)
    Ferrosz(abs=0.078125, fill=1e+20)
    """
    if "abs" in settings or "pwrel" in settings:
        raise ArgumentError("filter_for makes the bound of range or max; with abs or pwrel there is Ferrosz(abs=...)")
    cf.note_error(array)
    known = fill_values_of(array, fill)
    bound = absolute_error(array, range=range, max=max, fill=known)
    found = Ferrosz(abs=bound, fill=told_fill(known, cf.fill_values(array, ["_FillValue"])), **settings)
    return found if chunks is None else chosen_once(found, values_of(array), chunks, ["auto", *known])


def chosen_once(given: Ferrosz, values: Any, chunks: Sequence[int], fill: Any) -> Ferrosz:
    """A filter with the codec of all chunks of this shape in the place of its preset: see `settings_of_chunks`. `fill`
    are the fill values of chunks."""
    if given.codec is not None:
        return given
    names = ["codec", *(name for name in ("rank", "chunk_tiles") if getattr(given, name) is None)]

    def with_settings(chosen: dict[str, Any]) -> Ferrosz:
        if not chosen:
            return given
        # A codec without levels refuses a preference of quality.
        prefer = given.prefer if has_splines(chosen["codec"]) else "ratio"
        return Ferrosz(**{**vars(given), "preset": None, "prefer": prefer, **chosen})

    chosen = settings_of_chunks(values, chunks, names, lambda settings: with_settings(settings).compressor(fill))
    return with_settings(chosen)


def told_fill(known: list[float], of_dataset: list[Any]) -> float | Literal["auto"]:
    """The setting `fill` of the filter for an array with these fill values, and a dataset with that one."""
    is_told = len(known) == 1 and not of_dataset and not math.isnan(known[0])
    return known[0] if is_told else "auto"


def has_streams(dataset: h5py.Dataset) -> bool:
    """Whether the chunks of a dataset are streams of ferrosz alone, with elements that NumPy has."""
    if dataset.chunks is None:
        return False
    properties = dataset.id.get_create_plist()
    if properties.get_nfilters() != 1 or properties.get_filter(0)[0] != FILTER_ID:
        return False
    # h5py reads bfloat16 as wider floats, and complex numbers under other names than its own as structures.
    return bool(dataset.id.get_type().get_size() == dataset.dtype.itemsize and dataset.dtype.names is None)
