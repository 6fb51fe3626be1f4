"""Levels of an array, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._ferrosz import Decompressor, info
from ._mapped import mapped

if TYPE_CHECKING:
    import os

    from ._types import Box, Buffer

__all__ = ["levels"]


def levels(
    stream: Buffer | str | os.PathLike[str],
    start: int | None = None,
    *,
    box: Box | None = None,
    verify_checksums: bool = True,
) -> Iterator[tuple[int, Any]]:
    """Decompresses an array, or a box of it, coarse to fine: gives the number and the array of level `start`, then those
    of the next finer one, up to level 0, which has all values.

    stream, box, verify_checksums
        As those of `decompress`, whose `level` says which values a level has.
    start
        The first level; by default the coarsest one that is coded apart, by the `levels` of `compress`.

    A level is decoded when it is asked for, with the coarser ones that it needs. That takes little more time than the
    last level alone if levels are coded apart; without that each level takes as long as the whole box.

    Raises what `decompress` does.

    >>> field = np.sin(np.arange(90000, dtype="float32") / 1000).reshape(300, 300)
    >>> stream = ferrosz.compress(field, abs=1e-4, levels=3)
    >>> [(level, array.shape) for level, array in ferrosz.levels(stream)]
    [(3, (38, 38)), (2, (75, 75)), (1, (150, 150)), (0, (300, 300))]
    """
    found = mapped(stream)
    decompressor = Decompressor(verify_checksums=verify_checksums)
    first = info(found).levels_apart if start is None else start
    for level in reversed(range(first + 1)):
        yield level, decompressor.decompress(found, box=box, level=level)
