"""Requirements of the weather and climate community for a variable, of the package compression-recommendations.

They are read where the package is installed (it has the licence MPL-2.0), and nothing of it is here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import xarray as xr

from ._levels import level_kind
from ._units import CELSIUS, UNITS, factor_between

PACKAGE = "compression-recommendations"

Requirement = Mapping[str, Any]
"""The configuration of a requirement: its `kind`, and numbers."""

# What a marker is called in a sentence.
MARKERS = {"cf-standard-name": "standard name", "grib-short-name": "GRIB short name", "cf-short-name": "short name"}

# Requirements whose numbers have the units of the variable, and by which names.
WITH_UNITS = {
    "max-pointwise-absolute-error-bound": ("value",),
    "mean-absolute-error-bound": ("value",),
    "max-pointwise-quadratic-error-bound": ("value", "minimum", "maximum"),
    "data-limits": ("minimum", "maximum"),
    "isovalue": ("value",),
    "missing-value": ("value",),
}

# Requirements that depend on differences alone, not on where the units have their zero.
OF_DIFFERENCES = (
    "max-pointwise-absolute-error-bound",
    "mean-absolute-error-bound",
    "max-pointwise-range-relative-error-bound",
    "mean-range-relative-error-bound",
)


@dataclass(frozen=True)
class Found:
    """What the community requires of a variable."""

    by: str
    """The name by which it was found."""
    requirements: tuple[Requirement, ...]
    """All of which hold, in the units of the variable."""
    refused: str = ""
    """Why they cannot be used."""

    @property
    def origin(self) -> str:
        return f"{PACKAGE} {version(PACKAGE)}, found by the {self.by}"


def is_installed() -> bool:
    """Whether the package is there."""
    return _recommendations() is not None


@functools.cache
def _recommendations() -> tuple[Any, ...] | None:
    """All recommendations. The package's own reader of its file takes some seconds, so another one reads it."""
    try:
        from compression_recommendations import Recommendations
    except ModuleNotFoundError as error:
        if error.name != "compression_recommendations":
            raise
        return None
    file = files("compression_recommendations") / "recommendations.yaml"
    if not file.is_file():
        return tuple(Recommendations.provide.recommendations)
    import yaml

    # As in the package's reader, all that is no list and no mapping is text.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    return tuple(Recommendations.from_config(**yaml.load(file.read_text(encoding="utf-8"), loader)).recommendations)


def requirements_of(variables: Mapping[str, xr.Variable], name: str) -> Found | None:
    """The requirements for a variable, by its standard name, its GRIB short name or its own name, and the kind of its
    level; None if there are none."""
    variable = variables[name]
    known = {**variable.encoding, **variable.attrs}
    level = level_kind(variables, name)
    for kind, value in _markers(name, known):
        markers = {kind: value, "level-kind": level}
        matching = [each for each in _recommendations() or () if each.matches(markers=markers)]
        if matching:
            filters = [each.get_config()["filters"] for each in matching]
            parameters = {parameter for each in filters for parameter in _parameters(each, kind, value)}
            configurations = [each.get_config() for one in matching for each in one.requirements]
            flat = tuple(requirement for each in configurations for requirement in _flat(each))
            return _in_units(f"{MARKERS[kind]} {value}", flat, parameters, known)
    return None


def _markers(name: str, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """By what a variable may be found. A name of its own says least."""
    for kind, keys in (("cf-standard-name", ["standard_name"]), ("grib-short-name", ["GRIB_shortName", "short_name"])):
        yield from ((kind, str(known[key])) for key in keys if known.get(key))
    yield from (("cf-short-name", value) for value in (str(known.get("GRIB_cfVarName", "")), name) if value)


def _parameters(filters: Any, kind: str, value: str) -> Iterator[str]:
    """The GRIB short names beside the name that was found: the same parameter."""
    leaves = [each for each in filters if each["kind"] in MARKERS]
    if any(each["kind"] == kind and each["value"] == value for each in leaves):
        yield from (each["value"] for each in leaves if each["kind"] == "grib-short-name")
    for each in filters:
        yield from _parameters(each.get("filters", ()), kind, value)


def _flat(requirement: Requirement) -> Iterator[Requirement]:
    """Requirements of which all hold, one by one."""
    if requirement["kind"] != "all":
        yield requirement
        return
    for each in requirement["requirements"]:
        yield from _flat(each)


def _in_units(by: str, requirements: tuple[Requirement, ...], parameters: set[str], known: Mapping[str, Any]) -> Found:
    """The requirements in the units of the variable, which must be of the same kind as those of the GRIB parameter."""
    if all(each["kind"] in ("lossless", "missing-value") for each in requirements):
        return Found(by, requirements)
    units = str(known.get("units") or known.get("GRIB_units") or "").strip()
    of_parameters = sorted({UNITS.get(name, "") for name in parameters})
    if len(of_parameters) != 1 or not of_parameters[0]:
        return Found(by, requirements, f"the units of {', '.join(sorted(parameters)) or by} are not known")
    if not units:
        return Found(by, requirements, f"the requirement is in {of_parameters[0]}, and the variable has no units")
    factor = factor_between(of_parameters[0], units)
    if factor is None:
        return Found(by, requirements, f"the requirement is in {of_parameters[0]}, and the variable in {units}")
    if units in CELSIUS and not all(each["kind"] in OF_DIFFERENCES for each in requirements):
        return Found(by, requirements, f"the requirement is in {of_parameters[0]}, whose zero is not that of {units}")
    return Found(by, tuple(_scaled(each, factor) for each in requirements))


def _scaled(requirement: Requirement, factor: float) -> Requirement:
    """A requirement in other units. Numbers that have none stay what they are."""
    own = WITH_UNITS.get(requirement["kind"], ())
    return {key: float(value) * factor if key in own else value for key, value in requirement.items()}
