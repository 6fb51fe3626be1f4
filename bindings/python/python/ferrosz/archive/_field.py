"""A variable that is read a box at a time, by any process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from .. import ArgumentError

# Attributes that name other variables.
REFERENCES = (
    "bounds",
    "climatology",
    "coordinates",
    "formula_terms",
    "grid_mapping",
    "cell_measures",
    "ancillary_variables",
)

# Attributes with values of missing elements.
MISSING = ("_FillValue", "missing_value")

Box = tuple[slice, ...]


@dataclass(frozen=True)
class Part:
    """A box of a field. It is sent to a worker, which loads it; so it has paths and places, no values."""

    name: str
    pieces: tuple[xr.Variable, ...]
    axis: int
    fill: tuple[float, ...]
    missing: tuple[float, ...] = ()

    def load(self) -> Any:
        """The values in C order. Those of `fill` are NaN."""
        loaded = [read(self.name, piece) for piece in self.pieces]
        values = loaded[0] if len(loaded) == 1 else np.concatenate(loaded, self.axis)
        values = np.asarray(values, values.dtype.newbyteorder("="), order="C")
        if self.fill:
            missing = np.isin(values, np.asarray(self.fill).astype(values.dtype))
            values = np.where(missing, values.dtype.type(np.nan), values)
        return values


def read(name: str, variable: xr.Variable) -> Any:
    """All values of a variable."""
    import dask

    place = variable.encoding.get("source", "the source")
    try:
        # A worker's own thread loads: to ask the cluster from within a task may end in a deadlock.
        with dask.config.set(scheduler="synchronous"):
            values = np.asarray(variable.values)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(f"source: {name} cannot be read from {place}: {error}") from error
    if values.dtype.kind == "V" or (values.dtype.kind == "O" and variable.dtype.kind in "iuf"):
        raise ArgumentError(
            f"source: {name} in {place} has records, or arrays of variable length, which Zarr has not: "
            "give a dataset of xarray without it"
        )
    return values


@dataclass(frozen=True)
class Field:
    """A variable, whose pieces lie in files one behind the other along an axis."""

    name: str
    pieces: tuple[xr.Variable, ...]
    axis: int
    # Values that become NaN.
    fill: tuple[float, ...] = ()
    # Of packed integers: the difference of neighbours, and what 0 stands for.
    step: Fraction | None = None
    offset: Fraction = Fraction(0)
    # The values of missing elements, which stay what they are.
    missing: tuple[float, ...] = ()
    # Whether floats are those of the files, with their values of missing elements.
    is_stored: bool = False

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.pieces[0].dims)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.pieces[0].dtype
        return found.newbyteorder("=")

    @property
    def shape(self) -> tuple[int, ...]:
        shape = list(self.pieces[0].shape)
        if shape:
            shape[self.axis] = sum(piece.shape[self.axis] for piece in self.pieces)
        return tuple(shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def was_packed(self) -> bool:
        return "scale_factor" in self.pieces[0].encoding or "add_offset" in self.pieces[0].encoding

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes for the target, without those of an earlier compression. Of unpacked values none is of packed
        ones, and `_FillValue` is NaN where there were values of missing elements."""
        first = self.pieces[0]
        found = {**first.attrs, **{name: first.encoding[name] for name in REFERENCES if name in first.encoding}}
        is_decoded = self.step is None and not self.is_stored
        dropped = set(MISSING) if is_decoded else set()
        dropped |= {"valid_range", "valid_min", "valid_max"} if self.was_packed else set()
        kept = {
            name: value for name, value in found.items() if name not in dropped and not name.startswith("ferrosz_")
        }
        known = {**first.encoding, **first.attrs}
        if is_decoded and (self.fill or any(known.get(name) is not None for name in MISSING)):
            kept["_FillValue"] = self.dtype.type(np.nan)
        if "ferrosz_bound" in found:
            kept["ferrosz_source_bound"] = found["ferrosz_bound"]
        return kept

    @property
    def stored_chunks(self) -> tuple[int, ...]:
        """The shape of what is read at once: chunks of the source, or a row of values that are not in chunks."""
        first = self.pieces[0]
        preferred = first.encoding.get("preferred_chunks") or {}
        rows = [1] * (first.ndim - 1) + [self.shape[-1]] if first.ndim else []
        if not preferred and first.chunks is not None:
            return tuple(max(lengths) for lengths in first.chunks)
        return tuple(int(np.max(preferred.get(name, row))) for name, row in zip(first.dims, rows, strict=True))

    def part(self, box: Box) -> Part:
        import dask

        if not box:
            return Part(self.name, dask.optimize(*self.pieces), 0, self.fill, self.missing)
        low, high = box[self.axis].start, box[self.axis].stop
        found, start = [], 0
        for piece in self.pieces:
            stop = start + piece.shape[self.axis]
            if start < high and low < stop:
                within = slice(max(low, start) - start, min(high, stop) - start)
                found.append(piece[(*box[: self.axis], within, *box[self.axis + 1 :])])
            start = stop
        if not found:
            found.append(self.pieces[0][(*box[: self.axis], slice(0, 0), *box[self.axis + 1 :])])
        # Of a graph of Dask, the tasks of this box alone.
        return Part(self.name, dask.optimize(*found), self.axis, self.fill, self.missing)

    def __getitem__(self, box: Box) -> Any:
        limited = tuple(slice(*part.indices(length)) for part, length in zip(box, self.shape, strict=True))
        return self.part(limited).load()

    def whole(self) -> Any:
        return self[tuple(slice(None) for _ in self.shape)]


def unpacked(stored: Field) -> Field:
    """A field in its units: values of missing elements by its attributes become NaN, packed values numbers."""
    return replace(stored, pieces=tuple(decoded(stored.name, piece) for piece in stored.pieces))


def decoded(name: str, variable: xr.Variable) -> xr.Variable:
    try:
        found: xr.Variable = xr.conventions.decode_cf_variable(
            name, variable, decode_times=False, decode_timedelta=False
        )
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"source: {name} cannot be decoded by its attributes: {error}") from error
    return found
