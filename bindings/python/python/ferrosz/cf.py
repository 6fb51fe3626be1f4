"""The conventions CF and NUG for variables of NetCDF and Zarr: values of missing elements, and attributes that say
which error a lossy compression has left.

>>> import ferrosz.zarr
>>> found = attributes(ferrosz.zarr.FerroszCodec(abs=0.05, preset="fast"), range=1e-3)
>>> found["ferrosz_mode"], found["ferrosz_bound"], found["ferrosz_preset"], found["ferrosz_range"]
('abs', 0.05, 'fast', 0.001)
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from . import ArgumentError, RepeatedCompression, __version__
from ._rewriting import preset_of
from ._settings import number
from ._warning import warn

__all__ = ["attributes", "fill_values", "valid_range"]


class Settings(Protocol):
    """The settings of a compression, such as `ferrosz.zarr.FerroszCodec` and `ferrosz.hdf5.Ferrosz`."""

    @property
    def abs(self) -> float | None: ...
    @property
    def pwrel(self) -> float | None: ...
    @property
    def preset(self) -> str | None: ...
    @property
    def codec(self) -> str | None: ...
    @property
    def written_once(self) -> bool: ...


def attributes(
    settings: Settings, *, range: float | None = None, max: float | None = None, variable: Any = None
) -> dict[str, str | float]:
    """The attributes of a variable that say which error its compression has left.

    settings
        A `ferrosz.zarr.FerroszCodec` or a `ferrosz.hdf5.Ferrosz`.
    range, max
        The relative bound that the absolute one was computed from, as it was given to `codec_for` or `filter_for`.
    variable
        The variable that is compressed, or its attributes. If it has some of these already, its values have an error,
        and a `RepeatedCompression` warns that the errors add.

    The attributes are

    ferrosz_version
        The version of ferrosz, a string.
    ferrosz_mode
        The mode of the bound, a string: `abs`, or `pwrel` if it is relative to each value.
    ferrosz_bound
        The bound: no value is off by more; with `pwrel`, by more than this share of it.
    ferrosz_preset, ferrosz_codec
        The preset that chose, or the codec, a string. Of data that may be written in parts the preset `small` is
        `balanced`.
    ferrosz_written_once
        1 if each chunk was written once; a chunk that is written again may then be off by one bound more. Otherwise the
        bound holds however often chunks are written.
    ferrosz_range, ferrosz_max
        The relative bound, if the bound was computed from one.

    CF allows attributes that it does not define. Its attribute `quantization` is for algorithms that round the bits of
    each value, from a list in which error-bounded compression is not (CF 1.12, section 8.4), so it is not used.
    """
    note_error(variable)
    mode, bound = ("abs", settings.abs) if settings.abs is not None else ("pwrel", settings.pwrel)
    found: dict[str, Any] = {"version": __version__, "mode": mode, "bound": bound}
    if settings.codec is not None:
        found["codec"] = settings.codec
    else:
        found["preset"] = preset_of(settings.preset, None, settings.written_once)
    if settings.written_once:
        found["written_once"] = 1
    relative = {"range": number("range", range), "max": number("max", max)}
    found |= {name: value for name, value in relative.items() if value is not None}
    return {f"ferrosz_{name}": value for name, value in found.items()}


def note_error(variable: Any) -> None:
    """Warns if a variable has the attributes of a compression: its values have an error, to which another one adds."""
    known = variable if isinstance(variable, dict) else _attributes_of(variable)
    if "ferrosz_bound" in known:
        mode = "each value times " if known.get("ferrosz_mode") == "pwrel" else ""
        name = f" {variable.name!r}" if getattr(variable, "name", None) else ""
        warn(
            f"the variable{name} has been compressed with an error of at most {mode}{known['ferrosz_bound']}, as its "
            "attribute ferrosz_bound says; the error of this compression adds to it",
            RepeatedCompression,
        )


def fill_values(variable: Any, names: Sequence[str] = ("_FillValue", "missing_value")) -> list[float]:
    """The values of missing elements by these attributes of a variable of xarray, netCDF4, h5py or Zarr; none of an
    object without attributes.

    >>> import xarray
    >>> fill_values(xarray.DataArray([1.0, 1e20], attrs={"missing_value": 1e20}))
    [1e+20]
    """
    known = _attributes_of(variable)
    given = [(name, known[name]) for name in names if known.get(name) is not None]
    found = [_fill_value(name, value) for name, values in given for value in np.ravel(values).tolist()]
    return list(dict.fromkeys(found))


def _fill_value(name: str, value: Any) -> float:
    """A fill value as a number. xarray writes that of floats as base64 of a double in the attributes of Zarr v3."""
    if isinstance(value, str | bytes):
        try:
            return float(value)
        except ValueError:
            pass
        try:
            return float(struct.unpack("<d", base64.b64decode(value, validate=True))[0])
        except (binascii.Error, struct.error) as error:
            raise ArgumentError(f"the attribute {name} is no number: {value!r}") from error
    found = number(f"the attribute {name}", value)
    assert found is not None
    return found


def valid_range(variable: Any) -> tuple[float, float] | None:
    """The least and the greatest valid value by the attributes `valid_range`, `valid_min` and `valid_max` of a
    variable.

    None if there are no such attributes, or `scale_factor` or `add_offset` beside them: then they are for packed
    values.

    >>> import xarray
    >>> valid_range(xarray.DataArray([1.0, 1e20], attrs={"valid_min": 0.0}))
    (0.0, inf)
    """
    known = _attributes_of(variable)
    limits = known.get("valid_range", (known.get("valid_min", -np.inf), known.get("valid_max", np.inf)))
    if np.size(limits) != 2 or np.asarray(limits).dtype.kind not in "iuf":
        raise ArgumentError(f"valid_range, valid_min and valid_max are not two numbers: {limits!r}")
    low, high = (float(limit) for limit in np.ravel(limits))
    packing = {name: known[name] for name in ("scale_factor", "add_offset") if known.get(name) is not None}
    for name, value in packing.items():
        if np.size(value) != 1 or np.asarray(value).dtype.kind not in "iuf":
            raise ArgumentError(f"the attribute {name} is not a number: {value!r}")
    is_packed = bool(packing)
    return None if is_packed or (low, high) == (-np.inf, np.inf) else (low, high)


def _attributes_of(variable: Any) -> dict[str, Any]:
    if hasattr(variable, "ncattrs"):
        return {name: variable.getncattr(name) for name in variable.ncattrs()}
    # xarray moves attributes that it has decoded to `encoding`.
    return {**getattr(variable, "encoding", {}), **getattr(variable, "attrs", {})}
