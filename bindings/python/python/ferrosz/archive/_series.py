"""The order of files along a dimension, what is there twice, and what is missing between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cftime  # type: ignore[import-untyped]
import numpy as np
import xarray as xr

from .. import ArgumentError
from ._field import read

if TYPE_CHECKING:
    from ._source import File

# A series is regular if so many of its steps are as long as the middle one, or nearly: months have 28 to 31 days.
REGULAR, NEARLY = 0.9, 0.15

# A step that is so many times the middle one is a gap.
GAP = 1.5

# How many gaps are named one by one.
MOST_NAMED = 5

ICON_DAYS = re.compile(r"day as %Y%m%d\.%f$")
WRF_TIME = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d:\d\d:\d\d)$")
CALENDARS = {"gregorian": "standard", "365_day": "noleap", "366_day": "all_leap"}


@dataclass(frozen=True)
class Positions:
    """Where the values of a file lie along a dimension: numbers, seconds if they are times, and texts for messages."""

    numbers: Any
    labels: Any
    calendar: str | None

    def label(self, at: int) -> str:
        found = self.labels[at]
        text = str(np.datetime_as_string(found, "s")) if isinstance(found, np.datetime64) else str(found)
        return text.removesuffix("T00:00:00").removesuffix(" 00:00:00")


def along_one_dimension(
    files: Sequence[File], dimension: str | None, is_list: bool, note: Callable[[str], object]
) -> tuple[Sequence[File], str | None]:
    """The files in their order, and the dimension along which they follow each other. Gaps are said to `note`."""
    if len(files) == 1:
        for text in _of_one_file(files[0]):
            note(text)
        return files, None
    along = dimension or _dimension_of(files)
    if not any(along in variable.dims for variable in files[0].variables.values()):
        raise ArgumentError(f"dimension: no variable of {files[0].name} has a dimension {along}")
    _check_coordinates(files, along)
    found = [positions_of(file, along) for file in files]
    positions = [each for each in found if each is not None]
    if len(positions) < len(files):
        return files, along
    for file, each in zip(files, positions, strict=True):
        if not each.numbers.size:
            raise ArgumentError(f"source: {file.name} has nothing along {along}")
        if not np.isfinite(each.numbers).all():
            raise ArgumentError(f"source: {along} has a missing value in {file.name}")
    _check_calendars(files, positions)
    if not is_list:
        order = _order_of(positions)
        files, positions = [files[number] for number in order], [positions[number] for number in order]
    _check_order(files, positions, along)
    for gap in _gaps(along, files, positions):
        note(gap)
    return files, along


def _of_one_file(file: File) -> Iterator[str]:
    """What is worth knowing of its times."""
    for name in (name for name, variable in file.variables.items() if variable.dims == (name,)):
        positions = positions_of(file, name)
        if positions is None or positions.calendar is None:
            continue
        try:
            _check_order([file], [positions], name)
        except ArgumentError as error:
            yield str(error).removeprefix("source: ")
        yield from _gaps(name, [file], [positions])


def positions_of(file: File, along: str) -> Positions | None:
    """By the coordinate of a dimension, or by times along it where it has none; None if there are no such."""
    if along not in file.positions:
        file.positions[along] = _found_positions(file, along)
    return file.positions[along]


def _found_positions(file: File, along: str) -> Positions | None:
    candidates = [name for name, variable in file.variables.items() if variable.dims == (along,)]
    counted = [name for name in candidates if " since " in str(file.variables[name].attrs.get("units", ""))]
    texts = [name for name in candidates if file.variables[name].dtype.kind in "SU"]
    for name in [along] * (along in candidates) + texts + counted:
        found = _positions(name, file.variables[name])
        if found is not None:
            return found
    return None


def _positions(name: str, variable: xr.Variable) -> Positions | None:
    units, values = str(variable.attrs.get("units", "")), read(name, variable)
    if values.dtype.kind in "SU":
        return _positions_of_texts([each.decode() if isinstance(each, bytes) else str(each) for each in values])
    if values.dtype.kind not in "iuf":
        return None
    if ICON_DAYS.match(units):
        dates = _dates_of_icon(values)
        return Positions(_seconds(dates), dates, "standard")
    if " since " not in units:
        return Positions(values.astype("f8"), values, None)
    calendar = str(variable.attrs.get("calendar", "standard")).lower()
    try:
        dates = xr.conventions.decode_cf_variable(name, variable, decode_timedelta=False).values
    except (ValueError, OverflowError):
        return Positions(values.astype("f8"), values, calendar)
    if dates.dtype.kind == "M":
        return Positions(_seconds(dates), dates, "standard")
    seconds = cftime.date2num(dates, "seconds since 1970-01-01", dates.flat[0].calendar) if dates.size else np.zeros(0)
    return Positions(np.asarray(seconds, "f8"), dates, CALENDARS.get(calendar, calendar))


def _positions_of_texts(texts: list[str]) -> Positions | None:
    """Of times as WRF writes them."""
    parts = [WRF_TIME.match(text) for text in texts]
    dates = np.array(["T".join(part.groups()) for part in parts if part], "M8[ns]")
    return Positions(_seconds(dates), dates, "standard") if len(dates) == len(texts) else None


def _seconds(dates: Any) -> Any:
    return np.where(np.isnat(dates), np.nan, dates.astype("M8[ns]").astype("i8") / 1e9)


def _dates_of_icon(values: Any) -> Any:
    """Of days such as 20200101.25, to the second."""
    days = np.floor(values).astype("i8")
    dates = np.array([f"{day // 10000:04}-{day // 100 % 100:02}-{day % 100:02}" for day in days.tolist()], "M8[s]")
    return dates + np.rint((values - days) * 86400).astype("m8[s]")


def _dimension_of(files: Sequence[File]) -> str:
    """The dimension along which files follow each other: the one whose coordinate is not the same in all, of several
    the one with times. Where no coordinate differs, the one that can be made longer."""
    dims = list(dict.fromkeys(str(dim) for variable in files[0].variables.values() for dim in variable.dims))
    found = [dim for dim in dims if _differs(files, dim)]
    times = [dim for dim in found if (first := positions_of(files[0], dim)) is not None and first.calendar is not None]
    if len(found) > 1 and len(times) == 1:
        return times[0]
    if not found:
        found = sorted(frozenset.intersection(*(frozenset(file.header.unlimited) for file in files)))
    if len(found) != 1:
        raise ArgumentError(
            f"dimension: name the one along which files follow each other; coordinates that differ: {found}"
        )
    return found[0]


def _differs(files: Sequence[File], dim: str) -> bool:
    first, *others = (positions_of(file, dim) for file in files)
    return first is not None and any(
        each is not None and not np.array_equal(each.numbers, first.numbers) for each in others
    )


def _check_coordinates(files: Sequence[File], along: str) -> None:
    """Files must have the same coordinates along all other dimensions."""
    first = files[0]
    for name in (name for name, variable in first.variables.items() if variable.dims == (name,) and name != along):
        known = positions_of(first, name)
        for file in files[1:]:
            found = positions_of(file, name)
            if known is None or found is None:
                is_same = same_values(name, first.variables[name], file.variables[name])
            else:
                is_same = np.array_equal(found.numbers, known.numbers)
            if not is_same:
                raise ArgumentError(f"source: the coordinate {name} in {file.name} is not that in {first.name}")


def same_values(name: str, one: xr.Variable, other: xr.Variable) -> bool:
    first, second = read(name, one), read(name, other)
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind == second.dtype.kind == "f"))


def _check_calendars(files: Sequence[File], positions: Sequence[Positions]) -> None:
    for file, found in zip(files, positions, strict=True):
        if found.calendar != positions[0].calendar:
            raise ArgumentError(
                f"source: times in {file.name} are of the calendar {found.calendar}, "
                f"and those in {files[0].name} of {positions[0].calendar}"
            )


def _order_of(positions: Sequence[Positions]) -> list[int]:
    """Files by where they begin; the other way round, if their coordinate falls within them."""
    falls = all(each.numbers[0] > each.numbers[-1] for each in positions)
    return sorted(range(len(positions)), key=lambda number: positions[number].numbers[0], reverse=falls)


def _check_order(files: Sequence[File], positions: Sequence[Positions], along: str) -> None:
    """A coordinate must rise, or fall, from the first file to the last."""
    numbers = np.concatenate([each.numbers for each in positions])
    steps = np.diff(numbers)
    if not steps.size or (steps > 0).all() or (steps < 0).all():
        return
    wanted = 1 if np.median(steps) >= 0 else -1
    values, counts = np.unique(numbers, return_counts=True)
    twice = values[counts > 1]
    if twice.size:
        places = [_place(files, positions, int(at)) for at in np.flatnonzero(numbers == twice[0])[:2]]
        more = f"; {twice.size} in all" if twice.size > 1 else ""
        raise ArgumentError(
            f"source: {along} {places[0][1]} is there twice, in {places[0][0]} and in {places[1][0]}{more}"
        )
    at = int(np.flatnonzero(steps * wanted <= 0)[0])
    (file, before), (other, behind) = _place(files, positions, at), _place(files, positions, at + 1)
    if file == other:
        raise ArgumentError(f"source: {file} is not in the order of {along}: {behind} follows {before}")
    raise ArgumentError(
        f"source: files are not in the order of {along}: {behind} in {other} follows {before} in {file}. "
        "Give files that do not overlap, as a list in their order or as a folder"
    )


def _place(files: Sequence[File], positions: Sequence[Positions], at: int) -> tuple[str, str]:
    """The file and the label of a value, by its number in all files."""
    for file, each in zip(files, positions, strict=True):
        if at < each.numbers.size:
            return file.name, each.label(at)
        at -= each.numbers.size
    raise IndexError(at)


def _gaps(along: str, files: Sequence[File], positions: Sequence[Positions]) -> Iterator[str]:
    """Of a regular series of times, the steps that are too long."""
    if positions[0].calendar is None:
        return
    steps = np.abs(np.diff(np.concatenate([each.numbers for each in positions])))
    middle = float(np.median(steps)) if steps.size else 0.0
    gaps = np.flatnonzero(steps > GAP * middle)
    if not middle or (np.abs(steps - middle) <= NEARLY * middle).sum() < REGULAR * (steps.size - gaps.size):
        return
    if gaps.size > max(MOST_NAMED, (1 - REGULAR) * steps.size):
        return
    for at in gaps[:MOST_NAMED].tolist():
        (file, before), (other, behind) = _place(files, positions, at), _place(files, positions, at + 1)
        missing = round(float(steps[at]) / middle) - 1
        where = f"in {file}" if file == other else f"from {file} to {other}"
        steps_of = "a step is" if missing == 1 else f"{missing} steps are"
        yield f"{along}: {steps_of} missing between {before} and {behind}, {where}"
    if gaps.size > MOST_NAMED:
        yield f"{along}: {gaps.size - MOST_NAMED} more gaps"
