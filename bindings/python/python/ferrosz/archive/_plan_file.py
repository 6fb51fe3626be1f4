"""A plan as the text of a file of YAML, with comments that say what its lines are."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._temporary import written
from ._choice import OPTIONS
from ._entry import Entry, entry_of
from ._plan import Planned
from ._plan_reader import VERSION

HEAD = """\
# A plan of ferrosz: within which bound each variable is coded. Change what you like, and then:
#   python -m ferrosz convert SOURCE TARGET --plan {file}
#   python -m ferrosz verify SOURCE TARGET --plan {file}
# The bound of a variable is one of these lines; variables that are not named stay exact.
#   abs: 0.01      no value is off by more, in the units of the variable
#   range: 1e-3    no value is off by more than this part of max - min of the whole variable
#   max: 1e-3      no value is off by more than this part of the largest magnitude
#   pwrel: 1e-3    no value is off by more than this part of itself; beside abs, both hold
#   digits: 4      each value keeps so many significant digits: pwrel of 0.5 * 10^(1 - digits)
#   exact: true    every bit stays
# A variable may also have: {options} and fill.
# `source` and `reason` say where a bound comes from; `predicted` is what samples promised. Neither changes what is done.
"""

UNITS = {"abs": "in {units}", "range": "of max - min", "max": "of the largest magnitude", "pwrel": "of each value"}


def save_plan(path: str | os.PathLike[str], plan: Mapping[str, Planned | Entry]) -> None:
    """Writes a plan as a file of YAML, with comments that say what its lines are. It is there as a whole or not at all.

    Raises `OSError`.

    >>> import xarray
    >>> field = np.random.default_rng(1).normal(280, 1, (30, 60, 80)).cumsum(axis=0)
    >>> source = xarray.Dataset({"t": (("time", "y", "x"), np.round(field, 1))}, coords={"x": np.arange(80.0)})
    >>> save_plan(folder / "plan.yaml", plan(source))
    >>> found = load_plan(folder / "plan.yaml")
    >>> found["t"].settings, found["t"].source, found["x"].settings, found["x"].source
    ({'abs': 0.05}, 'rounding', None, 'kind')
    """
    with written(path) as unfinished:
        unfinished.write_text(text_of(plan, Path(path).name), encoding="utf-8")


def text_of(plan: Mapping[str, Planned | Entry], file: str) -> str:
    """The text of a file that has this name."""
    head = HEAD.format(file=file, options=", ".join(OPTIONS))
    lines = [f"ferrosz-plan: {VERSION}", "variables:"] if plan else [f"ferrosz-plan: {VERSION}", "variables: {}"]
    for name, found in plan.items():
        planned = found if isinstance(found, Planned) else None
        lines += ["", f"  {_scalar(name)}:{_shape(planned)}", *_lines(entry_of(found), planned.units if planned else "")]
    return head + "\n".join(lines) + "\n"


def _shape(planned: Planned | None) -> str:
    if planned is None:
        return ""
    dims = ", ".join(f"{name} {length}" for name, length in planned.dims.items())
    return f"  # {planned.dtype}{', ' if dims else ''}{dims}"


def _lines(entry: Entry, units: str) -> list[str]:
    if entry.settings is None:
        lines = ["exact: true"]
    else:
        lines = [f"{key}: {_value(value)}{_comment(key, units)}" for key, value in entry.settings.items()]
    lines += [f"source: {_scalar(entry.source)}", f"reason: {_scalar(entry.reason)}"]
    if entry.requirements:
        lines += ["requirements:", *(f"  - {_value(dict(each))}" for each in entry.requirements)]
    known = {"ratio": entry.ratio, "bytes": entry.stored_bytes, "seconds": entry.seconds}
    predicted = {key: float(f"{value:.3g}") if key != "bytes" else value for key, value in known.items() if value is not None}
    if predicted:
        lines.append(f"predicted: {_value(predicted)}")
    return [f"    {line}" for line in lines]


def _comment(key: str, units: str) -> str:
    """What a number is a number of."""
    found = UNITS.get(key, "").format(units=units)
    return f"  # {found}" if found and found != "in " else ""


def _scalar(text: str) -> str:
    """A text in double quotes, whose rules are those of JSON, unless it is a plain word."""
    is_plain = text.replace("_", "").replace("/", "").isalnum() and text.isascii() and text[0].isalpha()
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _value(value: Any) -> str:
    """A number, yes or no, a text, a list or a mapping, in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _scalar(value) if isinstance(value, str) else repr(value)
