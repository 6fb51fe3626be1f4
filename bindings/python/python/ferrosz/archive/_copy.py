"""All that is copied exactly, one variable after the other: each has chunks of its own."""

from __future__ import annotations

import base64
import struct
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import dask
import dask.array
import numpy as np
import xarray as xr
import zarr

from ._field import REFERENCES, Field
from ._layout import SHARD_BYTES, layout_of
from ._source import Source

# What a variable of a dataset of xarray keeps, of how it was stored: xarray moved these there from its attributes.
KEPT = (
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "dtype",
    "units",
    "calendar",
    "_Unsigned",
    *REFERENCES,
)


def copy(source: Source, names: Iterable[str], store: Any, attributes: Mapping[str, Any]) -> None:
    """Writes these variables to a group, whose attributes are given.

    It is done by this process: a session of a repository cannot go to workers by way of xarray.
    """
    group = zarr.open_group(store, mode="a", zarr_format=3)
    # Of a group without such variables, too.
    group.attrs.update(attributes_of_zarr(attributes))
    for name in names:
        if name in group:
            # Of a run that was interrupted here.
            del group[name]
        dataset = xr.Dataset({name: _variable_of(source.stored(name), source.is_stored)}, attrs=attributes)
        with warnings.catch_warnings(), dask.config.set(scheduler="threads"):
            # Types of texts are not in the specification of Zarr v3 yet.
            warnings.simplefilter("ignore")
            dataset.to_zarr(store, mode="a", zarr_format=3, consolidated=False)


def attributes_of_zarr(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes in JSON, which has no NaN: xarray writes a `_FillValue` of floats as base64 of a double."""
    found = {name: _of_json(value) for name, value in attributes.items()}
    if isinstance(found.get("_FillValue"), float):
        found["_FillValue"] = base64.b64encode(struct.pack("<d", found["_FillValue"])).decode()
    return found


def _of_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _variable_of(field: Field, is_stored: bool) -> xr.Variable:
    """A variable as xarray writes it: large ones a shard's size at a time."""
    first = field.pieces[0]
    encoding = {} if is_stored else {key: value for key, value in first.encoding.items() if key in KEPT}
    if "_FillValue" not in first.attrs:
        # Otherwise xarray adds one.
        encoding.setdefault("_FillValue", None)
    if not field.shape or not field.size or field.dtype.kind not in "iufb":
        return xr.Variable(field.dims, field.whole(), first.attrs, encoding)
    chunks, shards = layout_of(field, None, None)
    lazy = field.nbytes > SHARD_BYTES
    data = dask.array.from_array(field, chunks=shards, name=False) if lazy else field.whole()
    return xr.Variable(field.dims, data, first.attrs, {**encoding, "chunks": chunks})
