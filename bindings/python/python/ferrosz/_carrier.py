"""Integers of 8 and 64 bits, which streams have as those of 16 and 32, where a way in knows the type of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ArgumentError, DamagedStream, UnsupportedType

CARRIERS = {"int8": "int16", "uint8": "uint16", "int64": "int32", "uint64": "uint32"}


def carrier_of(dtype: Any) -> np.dtype[Any]:
    """The type that a stream has for elements of a type, in the byte order of this machine."""
    native: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    return np.dtype(CARRIERS[native.name]) if native.name in CARRIERS else native


def to_carrier(array: Any) -> Any:
    """An array as a stream has it: integers of 8 and 64 bits as those of 16 and 32, and others as they are."""
    name = array.dtype.name
    if name not in CARRIERS:
        return array
    carrier = np.dtype(CARRIERS[name])
    limits = np.iinfo(carrier)
    values = array.compressed() if isinstance(array, np.ma.MaskedArray) else array
    if carrier.itemsize < array.dtype.itemsize and values.size:
        low, high = int(values.min()), int(values.max())
        if low < limits.min or high > limits.max:
            raise ArgumentError(
                f"array: a stream has {name} as {carrier}, so values from {limits.min} to {limits.max}, and the array "
                f"has values from {low} to {high}"
            )
    return array.astype(carrier)


def from_carrier(array: Any, dtype: Any) -> Any:
    """The array of a stream as one of a type, in its byte order."""
    dtype = np.dtype(dtype)
    if array.dtype != carrier_of(dtype):
        raise DamagedStream(f"it has the stream of an array of {array.dtype}, where {carrier_of(dtype)} is needed")
    if dtype.itemsize == 1:
        # The bound may lead beyond the limits of the type, where the limit is nearer.
        array = array.clip(np.iinfo(dtype).min, np.iinfo(dtype).max)
    return array.astype(dtype, copy=False)


def fills_in_carrier(fill: Any, dtype: Any) -> list[float]:
    """The values of a stream that stand for a fill value: both parts of a complex one, and none if the stream's type does
    not have it, as then no element does."""
    carrier = carrier_of(dtype)
    if np.dtype(dtype).name in CARRIERS and not np.iinfo(carrier).min <= int(fill) <= np.iinfo(carrier).max:
        return []
    if carrier.kind != "c":
        return [float(fill)]
    parts = [float(np.real(fill)), float(np.imag(fill))]
    return parts[:1] if np.array_equal(parts[:1], parts[1:], equal_nan=True) else parts


def refuse_type(dtype: Any, of: str) -> None:
    """An error that helps if a stream has no elements of a type."""
    from . import detect_fill

    try:
        detect_fill(np.empty(0, carrier_of(dtype)))
    except UnsupportedType as error:
        raise UnsupportedType(f"{of} has no arrays of {dtype}: {error}") from error
