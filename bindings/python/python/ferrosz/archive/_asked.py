"""The arguments of a conversion that say what is coded, and how."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import ArgumentError
from ._choice import GIVEN, Choice, Lengths, Variables, choose
from ._entry import Entry, entry_of
from ._groups import check_groups, names_of, of_group
from ._plan_reader import load_plan
from ._source import Source

PlanGiven = str | os.PathLike[str] | Mapping[str, Any] | None
"""A plan: its file, or what `plan` or `load_plan` returns."""


@dataclass(frozen=True)
class Asked:
    """The arguments of a conversion that say what is coded, and how, by the paths of variables."""

    variables: Variables
    bounds: Mapping[str, Mapping[str, Any]]
    defaults: dict[str, Any]
    chunks: Lengths | None
    shards: Lengths | None
    as_stored: bool = False

    def check(self, groups: Sequence[str]) -> None:
        """An error if a variable that is named is in no group."""
        named = [self.variables] if isinstance(self.variables, str) else self.variables or ()
        check_groups(groups, [*named, *self.bounds])

    def choices(self, source: Source, group: str, may_be_none: bool) -> list[Choice]:
        """What is coded in a group."""
        variables: Variables = None
        if isinstance(self.variables, Mapping):
            variables = of_group(group, self.variables)
        elif self.variables is not None:
            named = [self.variables] if isinstance(self.variables, str) else self.variables
            variables = list(names_of(group, named))
        return choose(
            source,
            variables,
            self.defaults,
            self.chunks,
            self.shards,
            bounds=of_group(group, self.bounds),
            as_stored=self.as_stored and source.is_stored,
            may_be_none=may_be_none,
        )


def asked_for(
    variables: Variables,
    bounds: Mapping[str, Mapping[str, Any]] | None,
    plan: PlanGiven,
    given: Mapping[str, Any],
    chunks: Lengths | None,
    shards: Lengths | None = None,
    *,
    as_stored: bool,
) -> Asked:
    """The arguments as they are given. A plan has the bounds of all variables, and stands alone."""
    defaults = {name: value for name, value in given.items() if value is not None}
    if plan is not None:
        others = {"variables": variables, "bounds": bounds or None, **{name: defaults.get(name) for name in GIVEN}}
        beside = [name for name, value in others.items() if value is not None]
        if beside:
            raise ArgumentError(f"plan: it has the bounds of all variables; give no {', '.join(beside)} beside it")
        variables = coded_by(entries_of(plan))
    return Asked(variables, bounds or {}, defaults, chunks, shards, as_stored)


def entries_of(plan: PlanGiven) -> dict[str, Entry]:
    """The variables of a plan by their paths; none without a plan."""
    if plan is None:
        return {}
    if isinstance(plan, Mapping):
        return {name: entry_of(found) for name, found in plan.items()}
    return load_plan(plan)


def coded_by(entries: Mapping[str, Entry]) -> dict[str, Mapping[str, Any]]:
    """The settings of the variables that are coded."""
    return {name: entry.settings for name, entry in entries.items() if entry.settings is not None}
