"""The comparison of an archive with its source."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from .. import ArgumentError
from . import _record
from ._compare import compare_shard
from ._field import Field
from ._layout import boxes_of, number_of_boxes
from ._record import Record
from ._run import Progress, counted, run
from ._source import Source, open_source
from ._target import target_of


@dataclass
class Verified:
    """A variable of the archive beside its source."""

    bound: float
    elements: int = 0
    missing: int = 0
    """NaN and infinities, among them the missing elements."""
    largest_error: float = 0.0
    over: int = 0
    """Values that are off by more than the bound."""
    changed: int = 0
    """NaN and infinities that are not what they were."""
    faults: list[str] = field(default_factory=list)
    """Shards that are not there or damaged, and why."""

    def __bool__(self) -> bool:
        """Whether all shards are there and sound, and the bound holds for every value."""
        return not (self.over or self.changed or self.faults)


def verify(
    source: Any,
    target: Any,
    *,
    dimension: str | None = None,
    client: Any = None,
    progress: Progress | None = None,
    branch: str = "main",
) -> dict[str, Verified]:
    """Reads every shard of an archive as its users do, and compares it with the source that it was made of.

    Errors are computed by NumPy in this package, in exact arithmetic where they are close to the bound; nothing of the
    compressor is asked. Arguments are those of `convert`. A result is true if its variable is sound and keeps its
    bound.

    >>> import tempfile, xarray
    >>> source = xarray.Dataset({"t": ("x", np.sin(np.arange(100000) / 1000))})
    >>> target = tempfile.mkdtemp() + "/t.zarr"
    >>> done = convert(source, target, abs=1e-3)
    >>> found = verify(source, target)
    >>> bool(found["t"]), found["t"].elements, found["t"].largest_error <= 1e-3
    (True, 100000, True)
    """
    place = target_of(target, branch)
    record = _record.read(place)
    if not record.is_complete:
        raise ArgumentError("target: this archive is not complete: call `convert` once more")
    with closing(open_source(source, dimension)) as opened:
        if opened.identity != record.settings["source"]:
            raise ArgumentError(
                f"source: the archive was made of {record.settings['source']}, and this is {opened.identity}"
            )
        fields = {name: _recorded(opened, name, settings) for name, settings in record.settings["variables"].items()}
        store = place.reading()
        return {name: _verify_shards(field, store, record, client, progress) for name, field in fields.items()}


def _recorded(source: Source, name: str, settings: dict[str, Any]) -> Field:
    """A field of the source, as the archive has it."""
    if name not in source.names:
        raise ArgumentError(f"source: it has no variable {name}, which the archive has")
    found = source.packed(name) if settings.get("packed") else source.unpacked(name)
    if found is None:
        raise ArgumentError(f"source: its files do not pack {name} alike any more")
    if found.shape != tuple(settings["shape"]):
        raise ArgumentError(f"source: {name} is {found.shape}, and {tuple(settings['shape'])} in the archive")
    return replace(found, fill=() if settings["fill"] == "auto" else tuple(settings["fill"]))


def _verify_shards(field: Field, store: Any, record: Record, client: Any, progress: Progress | None) -> Verified:
    done = Verified(record.bound_of(field.name))
    shards = tuple(record.settings["variables"][field.name]["shards"])
    margin = record.margin_of(field.name)
    calls = ((store, field.name, box, field.part(box), margin) for box in boxes_of(field.shape, shards))
    with closing(run(client, compare_shard, calls)) as results:
        for found in counted(results, progress, f"{field.name}: verified", number_of_boxes(field.shape, shards)):
            done.elements += found.elements
            done.missing += found.missing
            done.largest_error = max(done.largest_error, found.largest_error * float(field.step or 1))
            done.over += found.over
            done.changed += found.changed
            if found.fault is not None:
                done.faults.append(found.fault)
    return done
