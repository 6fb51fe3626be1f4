"""What an archive says of itself: an attribute of its group, by which a run that was interrupted is resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import zarr

from .. import ArgumentError
from ..zarr import FerroszCodec
from ._source import ARCHIVE
from ._target import StoreTarget, Target

FORMAT = 1


class Record:
    """`settings`, which are those of all runs; `codecs`, what the first pass found; `is_copied` and `is_complete`;
    and `header`."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.settings: dict[str, Any] = found["settings"]
        self.codecs: dict[str, Any] = found.get("codecs", {})
        self.is_copied: bool = found.get("copied", False)
        self.is_complete: bool = found.get("complete", False)
        # What the source has and Zarr has no place for.
        self.header: dict[str, Any] | None = found.get("header")

    def codec_of(self, name: str) -> FerroszCodec:
        return FerroszCodec(**self.codecs[name]["codec"])

    def bound_of(self, name: str) -> float:
        """The absolute bound of a variable; with `pwrel`, the share of each value."""
        found = self.codecs[name]
        # An earlier ferrosz left no bound, and had no packed integers.
        return float(found.get("bound", found["codec"].get("abs", found["codec"].get("pwrel"))))

    def is_relative(self, name: str) -> bool:
        """Whether the bound is a share of each value."""
        codec = self.codecs[name]["codec"]
        return codec.get("pwrel") is not None and codec.get("abs") is None

    def attribute(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "settings": self.settings,
            "codecs": self.codecs,
            "copied": self.is_copied,
            "complete": self.is_complete,
            "header": self.header,
        }

    def save(self, target: Target, message: str) -> None:
        with target.session(message) as session:
            zarr.open_group(session.store, mode="r+").attrs[ARCHIVE] = self.attribute()


def begin(target: Target, settings: dict[str, Any]) -> Record:
    """The record of a new archive, or of one that an earlier run with the same settings has begun."""
    settings = json.loads(json.dumps(settings))
    with target.session("A new archive") as session:
        group = zarr.open_group(session.store, mode="a", zarr_format=3)
        if ARCHIVE not in group.attrs:
            if any(True for _ in group.keys()):
                raise ArgumentError("target: this Zarr group has arrays, and is no archive that this function has made")
            group.attrs[ARCHIVE] = Record({"settings": settings}).attribute()
        record = _record_of(group)
    differences = _differences(record.settings, settings, "")
    other = [f"{name} is {there!r} there and {here!r} here" for name, there, here in differences]
    if other:
        place = f"{target.store} " if isinstance(target, StoreTarget) and isinstance(target.store, str) else ""
        raise ArgumentError(f"target: this archive {place}was begun with other settings: {'; '.join(other)}")
    return record


def read(target: Target) -> Record:
    """The record of an archive that is there."""
    group = zarr.open_group(target.reading(), mode="r")
    if ARCHIVE not in group.attrs:
        raise ArgumentError(f"target: it has no attribute {ARCHIVE}, so it is no archive that `convert` has made")
    return _record_of(group)


def _record_of(group: Any) -> Record:
    found: dict[str, Any] = group.attrs[ARCHIVE]
    if found.get("format") != FORMAT:
        raise ArgumentError(f"target: the archive has format {found.get('format')!r}, and this ferrosz knows {FORMAT}")
    return Record(found)


def _differences(there: Any, here: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**there, **here}:
            yield from _differences(there.get(key), here.get(key), f"{name}.{key}" if name else key)
    elif there != here:
        yield name, there, here
