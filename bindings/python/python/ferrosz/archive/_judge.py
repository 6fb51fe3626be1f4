"""The comparison of a target with its source by a plan, whatever its attributes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from .. import ArgumentError
from ._asked import Asked, coded_by
from ._bounds import limits_of
from ._checked import check
from ._choice import Choice
from ._compare import Comparison, compare_values
from ._entry import Entry
from ._first_pass import extremes_found
from ._groups import groups_of, name_in, place_in
from ._netcdf import is_file
from ._run import Progress
from ._source import Source, open_as_stored, open_source
from ._target import target_of
from ._verified import Verified
from ._verify_file import compared, verify_exact


def judge(
    source: Any,
    target: Any,
    plan: Mapping[str, Entry],
    dimension: str | None,
    client: Any,
    progress: Progress | None,
    branch: str,
) -> dict[str, Verified]:
    """All variables of all groups: those that the plan codes by its bounds, and all others as exact copies."""
    asked = Asked(coded_by(plan), {}, {}, None, None, as_stored=is_file(target))
    groups = groups_of(source)
    asked.check(groups)
    found: dict[str, Verified] = {}
    for group in groups:
        opening = open_as_stored if is_file(target) else open_source
        with closing(opening(source, dimension, group=group)) as opened, closing(_copied(target, group, branch)) as copied:
            choices = {choice.field.name: choice for choice in asked.choices(opened, group, may_be_none=True)}
            for name in opened.names:
                path = name_in(group, name)
                if name in choices:
                    entry = plan[path] if path in plan else Entry(None)
                    found[path] = _coded(opened, copied, choices[name], entry, client, progress)
                else:
                    found[path] = verify_exact(opened, copied, name)
    return found


def _copied(target: Any, group: str, branch: str) -> Source:
    if not is_file(target):
        return open_source(target_of(place_in(target, group), branch).reading(), None)
    if group not in groups_of(target):
        raise ArgumentError(f"target: {target} has no group {group}")
    return open_as_stored(target, None, group=group)


def _coded(
    source: Source, copied: Source, choice: Choice, entry: Entry, client: Any, progress: Progress | None
) -> Verified:
    field = choice.field
    limit, share = limits_of(field, choice.bound, extremes_found(choice, client, progress))
    found = Verified(share if limit is None else limit * float(field.step or 1), is_relative=limit is None)
    if field.name not in copied.names:
        found.faults.append(f"{field.name}: it is not there")
        return found
    compared(found, field, copied.stored(field.name), _within(field.missing, limit, share), client, progress)
    if not found.faults:
        found.checked = check(source, copied, field, entry.requirements)
    return found


def _within(missing: tuple[float, ...], limit: float | None, share: float) -> Callable[[Any, Any], Comparison]:
    def compare(values: Any, decoded: Any) -> Comparison:
        return compare_values(values, decoded, missing, limit, share)

    return compare
