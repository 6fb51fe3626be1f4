"""The comparison of a file of NetCDF-4 with its source, by the bounds that its attributes have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from typing import Any

import numpy as np

from ._choice import coded
from ._compare import Comparison, compare_values
from ._field import Field, Part
from ._groups import groups_of, name_in
from ._layout import SHARD_BYTES, boxes_of, layout_of, number_of_boxes
from ._run import Progress, counted, run
from ._source import Source, open_as_stored
from ._verified import Verified


def verify_file(
    source: Any, target: Any, dimension: str | None, client: Any, progress: Progress | None
) -> dict[str, Verified]:
    """All variables of all groups of the source."""
    found: dict[str, Verified] = {}
    there = groups_of(target)
    for group in groups_of(source):
        with closing(open_as_stored(source, dimension, group=group)) as opened:
            if group not in there:
                lost = Verified(0.0, faults=["its group is not there"], is_exact=True)
                found |= {name_in(group, name): lost for name in opened.names}
                continue
            with closing(open_as_stored(target, None, group=group)) as copied:
                for name in opened.names:
                    found[name_in(group, name)] = _verify(opened, copied, name, client, progress)
    return found


def _verify(source: Source, copied: Source, name: str, client: Any, progress: Progress | None) -> Verified:
    if name not in copied.names or "ferrosz_bound" not in copied.files[0].variables[name].attrs:
        return verify_exact(source, copied, name)
    known = copied.files[0].variables[name]
    bound = float(known.attrs["ferrosz_bound"])
    field = coded(source, name, can_be_packed=known.dtype.kind in "iu", as_stored=source.is_stored)
    limits: tuple[float | None, float] = (bound, 0.0)
    if known.attrs.get("ferrosz_mode") == "pwrel":
        limits = (None, bound)
    elif field.step is not None:
        # The bound is a whole number of steps.
        limits = (float(round(Fraction(bound) / field.step)), 0.0)

    def compare(values: Any, decoded: Any) -> Comparison:
        return compare_values(values, decoded, field.missing, *limits)

    found = Verified(bound, is_relative=limits[0] is None)
    return compared(found, field, copied.stored(name), compare, client, progress)


def verify_exact(source: Source, copied: Source, name: str) -> Verified:
    """A variable that must be the same, value for value."""
    found = Verified(0.0, is_exact=True)
    if name not in copied.names:
        found.faults.append(f"{name}: it is not there")
        return found
    return compared(found, source.exact(name), copied.stored(name), _same, None, None)


def compared(
    found: Verified, field: Field, other: Field, compare: Callable[..., Comparison], client: Any, progress: Any
) -> Verified:
    """Counts what is wrong with a variable, part by part."""
    if field.shape != other.shape or not _alike(field, other):
        was = f"{field.dtype} {field.shape}"
        found.faults.append(f"{field.name}: it is {other.dtype} {other.shape}, and {was} in the source")
        return found
    blocks = _blocks(field)
    calls = ((compare, field.part(box), other.part(box)) for box in boxes_of(field.shape, blocks))
    with closing(run(client, _compare_parts, calls)) as results:
        total = number_of_boxes(field.shape, blocks)
        for part in counted(results, progress, f"{field.name}: verified", total):
            found.add(part, float(field.step or 1))
    return found


def _blocks(field: Field) -> tuple[int, ...]:
    """Texts and what is small are compared at once."""
    if field.dtype.kind not in "iufb" or field.nbytes <= SHARD_BYTES:
        return tuple(max(length, 1) for length in field.shape)
    return layout_of(field, None, None)[1]


def _compare_parts(compare: Callable[..., Comparison], part: Part, other: Part) -> Comparison:
    return compare(part.load(), other.load())


def _alike(field: Field, other: Field) -> bool:
    """Texts may be stored in another way, and yes and no as numbers."""
    kinds = [np.dtype("int8") if each.dtype.kind == "b" else each.dtype for each in (field, other)]
    return kinds[0] == kinds[1] or all(kind.kind in "OSU" for kind in kinds)


def _same(values: Any, copied: Any) -> Comparison:
    """Values that are not the same bits, or not the same texts, have changed."""
    if values.dtype.kind in "OSU":
        changed = [_text(one) != _text(other) for one, other in zip(values.flat, copied.flat, strict=True)]
        return Comparison(values.size, 0, 0.0, 0, sum(changed))
    kind = f"u{values.itemsize}"
    is_changed = np.ascontiguousarray(values).view(kind) != np.ascontiguousarray(copied).view(kind)
    return Comparison(values.size, 0, 0.0, 0, int(is_changed.sum()))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


