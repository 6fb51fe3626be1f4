"""A plan's file, read by its nodes as they are written, not by YAML's guesses: a variable may be called `no`, and 1e-3 is
a number. Every error names the line, the variable and the key.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .. import ArgumentError
from ._bounds import codec_with
from ._choice import BOUNDS, GIVEN, OPTIONS, bound_of_settings
from ._entry import SOURCES, Entry

VERSION = "1"


def load_plan(path: str | os.PathLike[str]) -> dict[str, Entry]:
    """The variables of a plan's file, which may be written by hand.

    Raises `ArgumentError`, which names the line, the variable and the key that are wrong, and `OSError`.

    >>> _ = (folder / "mine.yaml").write_text("ferrosz-plan: 1\\nvariables:\\n  t2m:\\n    digits: four\\n")
    >>> load_plan(folder / "mine.yaml")
    Traceback (most recent call last):
    ...
    ferrosz.errors.ArgumentError: plan: mine.yaml, line 4: t2m: digits: 'four' is no whole number
    """
    place = Path(path).name
    try:
        with open(path, encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ArgumentError(f"plan: {place} is no YAML: {' '.join(str(error).split())}") from error
    reader = _Reader(place)
    known = reader.mapping(root, "the plan")
    reader.refuse_others(known, ("ferrosz-plan", "variables"), "the plan")
    for key in ("ferrosz-plan", "variables"):
        if key not in known:
            raise reader.error(root, f"there is no key {key!r}; a plan has ferrosz-plan: {VERSION} and variables")
    if known["ferrosz-plan"].value != VERSION:
        raise reader.error(known["ferrosz-plan"], f"ferrosz-plan: this ferrosz reads version {VERSION}")
    variables = reader.mapping(known["variables"], "variables")
    return {name.strip("/"): reader.entry(name, node) for name, node in variables.items()}


class _Reader:
    """Reads nodes of a file, and says where what is wrong."""

    def __init__(self, place: str) -> None:
        self.place = place

    def error(self, node: Any, what: str) -> ArgumentError:
        line = f", line {node.start_mark.line + 1}" if node is not None else ""
        return ArgumentError(f"plan: {self.place}{line}: {what}")

    def mapping(self, node: Any, what: str) -> dict[str, Any]:
        """Nodes by their keys, as they are written."""
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what}: here are keys and values, such as abs: 0.01")
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, f"{what}: a key is a word")
            if key.value in found:
                raise self.error(key, f"{what}: {key.value} is there twice")
            found[key.value] = value
        return found

    def refuse_others(self, known: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
        for key, node in known.items():
            if key not in names:
                raise self.error(node, f"{what}: there is no key {key!r}; there are {', '.join(names)}")

    def entry(self, name: str, node: Any) -> Entry:
        """A variable."""
        known = self.mapping(node, name)
        self.refuse_others(known, (*KEYS, *ABOUT), name)
        values = {key: READ[key](self, each, f"{name}: {key}") for key, each in known.items()}
        settings = {key: value for key, value in values.items() if key in KEYS and key != "exact"}
        if values.get("exact"):
            if settings:
                raise self.error(node, f"{name}: it is exact, and has {', '.join(settings)}: give one of them")
            return self._with(Entry(None), values)
        self._check(name, node, settings)
        return self._with(Entry(settings), values)

    def _check(self, name: str, node: Any, settings: Mapping[str, Any]) -> None:
        """An error if there is not one bound, or if ferrosz does not take the settings."""
        options = {key: value for key, value in settings.items() if key in OPTIONS}
        try:
            bound = bound_of_settings(name, settings)
            for key, value in bound.items():
                codec_with({"pwrel" if key == "pwrel" else "abs": value, **options})
        except ArgumentError as error:
            what = str(error) if str(error).startswith(f"{name}: ") else f"{name}: {error}"
            more = "" if set(settings) & set(GIVEN) else "; or exact: true"
            raise self.error(node, f"{what}{more}") from error

    def _with(self, entry: Entry, values: Mapping[str, Any]) -> Entry:
        predicted = values.get("predicted", {})
        return Entry(
            entry.settings,
            values.get("source", "given"),
            values.get("reason", ""),
            tuple(values.get("requirements", ())),
            predicted.get("ratio"),
            predicted.get("bytes"),
            predicted.get("seconds"),
        )

    def bound(self, node: Any, what: str) -> float:
        found = self.number(node, what)
        if not 0 <= found < math.inf:
            raise self.error(node, f"{what}: {node.value} is no bound: it is at least 0, and finite")
        return found

    def number(self, node: Any, what: str) -> float:
        text = self.text(node, what)
        try:
            return float(text.replace(".nan", "nan").replace(".inf", "inf"))
        except ValueError:
            raise self.error(node, f"{what}: {node.value!r} is no number") from None

    def whole(self, node: Any, what: str) -> int:
        text = self.text(node, what)
        try:
            return int(text)
        except ValueError:
            raise self.error(node, f"{what}: {node.value!r} is no whole number") from None

    def flag(self, node: Any, what: str) -> bool:
        found = {"true": True, "false": False}.get(self.text(node, what).lower())
        if found is None:
            raise self.error(node, f"{what}: {node.value!r} is neither true nor false")
        return found

    def text(self, node: Any, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, f"{what}: here is one value")
        return str(node.value)

    def source(self, node: Any, what: str) -> str:
        found = self.text(node, what)
        if found not in SOURCES:
            raise self.error(node, f"{what}: {found!r} is none of {', '.join(SOURCES)}")
        return found

    def numbers(self, node: Any, what: str) -> list[float]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, f"{what}: here is a list, such as [1e20, -9999], or [] if no value stands for missing elements")
        return [self.number(each, what) for each in node.value]

    def predicted(self, node: Any, what: str) -> dict[str, Any]:
        known = self.mapping(node, what)
        self.refuse_others(known, ("ratio", "bytes", "seconds"), what)
        return {key: (self.whole if key == "bytes" else self.number)(each, f"{what}: {key}") for key, each in known.items()}

    def requirements(self, node: Any, what: str) -> list[Mapping[str, Any]]:
        """As they are: the package that knows them checks them."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, f"{what}: here is a list of requirements")
        return [self._requirement(each, what) for each in node.value]

    def _requirement(self, node: Any, what: str) -> Mapping[str, Any]:
        known = self.mapping(node, what)
        if "kind" not in known:
            raise self.error(node, f"{what}: a requirement has a kind")
        numbers = {key: self.number(each, f"{what}: {key}") for key, each in known.items() if key not in ("kind", "requirements")}
        below = {"requirements": self.requirements(known["requirements"], what)} if "requirements" in known else {}
        return {"kind": self.text(known["kind"], what), **numbers, **below}


READ: dict[str, Callable[[_Reader, Any, str], Any]] = {
    **{bound: _Reader.bound for bound in BOUNDS},
    "digits": _Reader.whole,
    **{name: _Reader.text for name in ("preset", "codec", "axes", "reason")},
    "rank": _Reader.whole,
    **{name: _Reader.flag for name in ("keep_sign", "keep_zero", "exact")},
    "fill": _Reader.numbers,
    "source": _Reader.source,
    "predicted": _Reader.predicted,
    "requirements": _Reader.requirements,
}

# What is done with a variable, and what is said of it.
KEYS = (*BOUNDS, "digits", "exact", *OPTIONS, "fill")
ABOUT = ("source", "reason", "requirements", "predicted")
