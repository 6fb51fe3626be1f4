"""A plan of many files, each of which is converted by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from .. import ArgumentError
from ._choice import BOUNDS
from ._entry import Entry
from ._groups import groups_of, name_in
from ._plan import Planned
from ._source import open_source


def parts_of(plan: Mapping[str, Entry] | None, sources: Sequence[Any], dimension: str | None) -> list[Any]:
    """Of a plan, if there is one, what each source has. A variable that is to be coded, and that no source has, is an
    error."""
    if plan is None:
        return [None] * len(sources)
    names = [_names_in(source, dimension) for source in sources]
    lost = [name for name, entry in plan.items() if not entry.is_exact and not any(name in own for own in names)]
    if lost:
        raise ArgumentError(f"plan: no source has the variable {lost[0]!r}")
    return [{name: entry for name, entry in plan.items() if name in own} for own in names]


def _names_in(source: Any, dimension: str | None) -> set[str]:
    found: set[str] = set()
    for group in groups_of(source):
        with closing(open_source(source, dimension, group=group)) as opened:
            found |= {name_in(group, name) for name in opened.names}
    return found


def together(plans: Iterable[Mapping[str, Planned]]) -> dict[str, Planned]:
    """One plan for all files. A variable of several has the strictest bound of them, and the sum of their sizes."""
    found: dict[str, Planned] = {}
    for plan in plans:
        for name, planned in plan.items():
            found[name] = _both(found[name], planned) if name in found else planned
    return found


def _both(one: Planned, other: Planned) -> Planned:
    size, stored = one.source_bytes + other.source_bytes, one.stored_bytes + other.stored_bytes
    seconds = (one.seconds or 0.0) + (other.seconds or 0.0)
    entry = replace(
        _strictest(one.entry, other.entry), ratio=size / max(stored, 1), stored_bytes=stored, seconds=seconds
    )
    bound = None if entry.is_exact or one.bound is None or other.bound is None else min(one.bound, other.bound)
    return replace(one, bound=bound, source_bytes=size, stored_bytes=stored, seconds=seconds, entry=entry)


def _strictest(one: Entry, other: Entry) -> Entry:
    """The entry that is exact or has the smaller bound. Bounds of different kinds are not compared."""
    if one.settings is None or other.settings is None:
        return one if one.settings is None else other
    if one.settings == other.settings:
        return one
    own, others = ({key: entry[key] for key in BOUNDS if key in entry} for entry in (one.settings, other.settings))
    if own.keys() != others.keys():
        kinds = " and ".join(" with ".join(bounds) for bounds in (own, others))
        return Entry(None, "unknown", f"files suggest bounds of different kinds, {kinds}, so it stays exact")
    if all(own[key] <= others[key] for key in own):
        return one
    if all(others[key] <= own[key] for key in own):
        return other
    return replace(one, settings={**one.settings, **{key: min(own[key], others[key]) for key in own}})
