"""The conventions CF and NUG for variables of NetCDF and Zarr: values of missing elements, and attributes that say which
error a lossy compression has left.

>>> import ferrosz.zarr
>>> found = attributes(ferrosz.zarr.FerroszCodec(abs=0.05, preset="fast"), range=1e-3)
>>> found["ferrosz_mode"], found["ferrosz_bound"], found["ferrosz_preset"], found["ferrosz_range"]
('abs', 0.05, 'fast', 0.001)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from . import ArgumentError, __version__

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


def attributes(settings: Settings, *, range: float | None = None, max: float | None = None) -> dict[str, str | float]:
    """The attributes of a variable that say which error its compression has left.

    settings
        A `ferrosz.zarr.FerroszCodec` or a `ferrosz.hdf5.Ferrosz`.
    range, max
        The relative bound that the absolute one was computed from, as it was given to `codec_for` or `filter_for`.

    The attributes are

    ferrosz_version
        The version of ferrosz, a string.
    ferrosz_mode
        The mode of the bound, a string: `abs`, or `pwrel` if it is relative to each value.
    ferrosz_bound
        The bound: no value is off by more; with `pwrel`, by more than this share of it.
    ferrosz_preset, ferrosz_codec
        The preset or the codec, a string.
    ferrosz_range, ferrosz_max
        The relative bound, if the bound was computed from one.

    CF allows attributes that it does not define. Its attribute `quantization` is for algorithms that round the bits of
    each value, from a list in which error-bounded compression is not (CF 1.12, section 8.4), so it is not used.
    """
    mode, bound = ("abs", settings.abs) if settings.abs is not None else ("pwrel", settings.pwrel)
    found: dict[str, Any] = {"version": __version__, "mode": mode, "bound": bound}
    if settings.codec is not None:
        found["codec"] = settings.codec
    else:
        found["preset"] = settings.preset or "small"
    found |= {name: value for name, value in (("range", range), ("max", max)) if value is not None}
    return {f"ferrosz_{name}": value for name, value in found.items()}


def fill_values(variable: Any, names: Sequence[str] = ("_FillValue", "missing_value")) -> list[float]:
    """The values of missing elements by these attributes of a variable of xarray, netCDF4, h5py or Zarr; none of an object
    without attributes.

    >>> import xarray
    >>> fill_values(xarray.DataArray([1.0, 1e20], attrs={"missing_value": 1e20}))
    [1e+20]
    """
    known = _attributes_of(variable)
    given = [known[name] for name in names if known.get(name) is not None]
    return list(dict.fromkeys(float(value) for values in given for value in np.ravel(values)))


def valid_range(variable: Any) -> tuple[float, float] | None:
    """The least and the greatest valid value by the attributes `valid_range`, `valid_min` and `valid_max` of a variable.

    None if there are no such attributes, or `scale_factor` or `add_offset` beside them: then they are for packed values.

    >>> import xarray
    >>> valid_range(xarray.DataArray([1.0, 1e20], attrs={"valid_min": 0.0}))
    (0.0, inf)
    """
    known = _attributes_of(variable)
    limits = known.get("valid_range", (known.get("valid_min", -np.inf), known.get("valid_max", np.inf)))
    if np.size(limits) != 2:
        raise ArgumentError(f"valid_range, valid_min and valid_max are not two numbers: {limits!r}")
    low, high = (float(limit) for limit in np.ravel(limits))
    is_packed = "scale_factor" in known or "add_offset" in known
    return None if is_packed or (low, high) == (-np.inf, np.inf) else (low, high)


def _attributes_of(variable: Any) -> dict[str, Any]:
    if hasattr(variable, "ncattrs"):
        return {name: variable.getncattr(name) for name in variable.ncattrs()}
    # xarray moves attributes that it has decoded to `encoding`.
    return {**getattr(variable, "encoding", {}), **getattr(variable, "attrs", {})}
