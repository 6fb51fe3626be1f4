"""The kind of level that a variable is on, as requirements of the community tell it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import xarray as xr

from ._units import factor_between

SINGLE, PRESSURE = "single", "pressure"

# Names of vertical dimensions, where no variable says what they are.
VERTICAL = re.compile(
    r"(p?lev(els?)?|height|depth[tuvw]?|altitude|alt|z(lev)?|model_level.*|hybrid.*|pressure.*|isobaric.*|bottom_top.*"
    r"|soil_layers.*|num_.*_layers.*|olevel|nav_lev)$",
    re.IGNORECASE,
)
ON_ONE_LEVEL = ("surface", "meanSea", "heightAboveGround", "heightAboveSea", "depthBelowLandLayer", "entireAtmosphere")


def level_kind(variables: Mapping[str, xr.Variable], name: str) -> str | None:
    """`single` of a variable without a vertical axis, `pressure` of one on levels of pressure; None of others, such as
    levels of a model."""
    variable = variables[name]
    known = {**variable.encoding, **variable.attrs}
    of_grib = str(known.get("GRIB_typeOfLevel", ""))
    if of_grib:
        return PRESSURE if of_grib.startswith("isobaricIn") else SINGLE if of_grib in ON_ONE_LEVEL else None
    named = [word for word in str(known.get("coordinates") or "").split() if word in variables]
    if any(_is_pressure(variables[word]) for word in named if not variables[word].shape):
        return PRESSURE
    vertical = [str(dim) for dim in variable.dims if _is_vertical(variables.get(str(dim)), str(dim))]
    if not vertical:
        return SINGLE
    axis = variables.get(vertical[0])
    return PRESSURE if len(vertical) == 1 and axis is not None and _is_pressure(axis) else None


def _known(variable: xr.Variable) -> dict[str, Any]:
    return {**variable.encoding, **variable.attrs}


def _is_pressure(variable: xr.Variable) -> bool:
    known = _known(variable)
    if known.get("standard_name"):
        return bool(known["standard_name"] == "air_pressure")
    return factor_between(str(known.get("units", "")), "Pa") is not None


def _is_vertical(axis: xr.Variable | None, dim: str) -> bool:
    if axis is None:
        return VERTICAL.match(dim) is not None
    known = _known(axis)
    return known.get("axis") == "Z" or "positive" in known or _is_pressure(axis) or VERTICAL.match(dim) is not None
