"""A few boxes of a field, from all parts of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._field import Field

# So many boxes, with at most so many elements each.
BOXES, MOST_ELEMENTS = 4, 1 << 18

# So few values, all of them whole numbers, are classes, flags or a mask.
MOST_CLASSES, FEWEST_CLASSES = 40, 2


def sample(field: Field, shape: tuple[int, ...]) -> list[Any]:
    """The values of boxes of a shape, evenly over the field."""
    counts = [max(length // part, 1) for length, part in zip(field.shape, shape, strict=True)]
    total = math.prod(counts)
    number = min(BOXES, total) if field.size else 0
    places = [np.unravel_index((2 * each + 1) * total // (2 * number), counts) for each in range(number)]
    return [
        field[
            tuple(slice(int(place) * part, (int(place) + 1) * part) for place, part in zip(corner, shape, strict=True))
        ]
        for corner in places
    ]


def box_of(field: Field) -> tuple[int, ...]:
    """What the source has as a chunk, or a part of it."""
    shape = [max(min(stored, length), 1) for stored, length in zip(field.stored_chunks, field.shape, strict=True)]
    while math.prod(shape) > MOST_ELEMENTS:
        longest = shape.index(max(shape))
        shape[longest] = -(-shape[longest] // 2)
    for axis in reversed(range(len(shape))):
        while shape[axis] < field.shape[axis] and 2 * math.prod(shape) <= MOST_ELEMENTS:
            shape[axis] = min(2 * shape[axis], field.shape[axis])
    return tuple(shape)


def looks_like_classes(field: Field, most: int = MOST_CLASSES) -> bool:
    """Whether a field has a few whole numbers, as far as a sample shows. One number alone says nothing."""
    found: set[float] = set()
    for values in sample(field, box_of(field)):
        counted = values[np.isfinite(values)]
        if not (counted == np.rint(counted)).all():
            return False
        found.update(np.unique(counted)[: most + 1].tolist())
    return FEWEST_CLASSES <= len(found) <= most
