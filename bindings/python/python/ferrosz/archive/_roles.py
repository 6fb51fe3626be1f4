"""Why a variable must stay exact, by what its attributes and those of other variables say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import xarray as xr

# What variables are to others that name them.
NAMED_BY = {
    "bounds": "bounds",
    "climatology": "bounds",
    "coordinates": "coordinate",
    "formula_terms": "formula term",
    "grid_mapping": "grid mapping",
    "cell_measures": "cell measure",
    "ancillary_variables": "ancillary variable",
}

PLACES = re.compile(r"degrees?_?(north|east|[NE])$", re.IGNORECASE)
COORDINATES = re.compile(
    r"([cev]?(lat|lon)|latitude|longitude|nav_lat|nav_lon|(xlat|xlong)(_[a-z]+)?|(glam|gphi)[tuvf])$",
    re.IGNORECASE,
)
BOUNDS = re.compile(r"(_bnds|_bounds|_vertices)$")
CLASSES = re.compile(
    r"\b(categor(y|ies)|class(es)?|mask|land.?use|type of (soil|vegetation)"
    r"|(soil|vegetation|surface|cloud|precipitation) type)\b",
    re.IGNORECASE,
)
CLASS_NAMES = ("area_type", "soil_type", "region")


def roles_of(variables: Mapping[str, xr.Variable], coordinates: frozenset[str]) -> dict[str, str]:
    """The reasons by the names of variables. Variables without one are measured, or have a type that tells."""
    found: dict[str, str] = {}
    for name, variable in variables.items():
        for other, role in _named_by(variable):
            if other in variables:
                found.setdefault(other, role)
    for name, variable in variables.items():
        own = _own_role(name, variable, coordinates)
        if own is not None:
            found[name] = own
    return found


def _own_role(name: str, variable: xr.Variable, coordinates: frozenset[str]) -> str | None:
    """What a variable says of itself."""
    known = {**variable.encoding, **variable.attrs}
    units = str(known.get("units", ""))
    standard = str(known.get("standard_name", ""))
    if (
        variable.dims == (name,)
        or name in coordinates
        or "axis" in known
        or PLACES.match(units)
        or COORDINATES.match(name)
    ):
        return "coordinate"
    if " since " in units or "calendar" in known or variable.dtype.kind in "mM":
        return "time"
    if BOUNDS.search(name):
        return "bounds"
    if "grid_mapping_name" in known:
        return "grid mapping"
    if any(key in known for key in ("flag_values", "flag_masks", "flag_meanings")) or "status_flag" in standard:
        return "flags"
    return None


def speaks_of_classes(variable: xr.Variable) -> bool:
    """Whether a description has a word for classes. That of measured values may, too: of the thickness of ice in
    categories."""
    known = {**variable.encoding, **variable.attrs}
    texts = " ".join(str(known.get(key, "")) for key in ("long_name", "description", "units"))
    return bool(CLASSES.search(texts)) or str(known.get("standard_name", "")) in CLASS_NAMES


def _named_by(variable: xr.Variable) -> Iterator[tuple[str, str]]:
    known = {**variable.encoding, **variable.attrs}
    for key, role in NAMED_BY.items():
        for word in str(known.get(key) or "").replace(":", " ").split():
            yield word, role
