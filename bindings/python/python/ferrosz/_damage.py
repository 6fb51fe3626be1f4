"""`Damage`: a damaged chunk of a stream, and its lost elements."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Damage"]


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A chunk of a stream that cannot be decoded, and the elements that are lost with it."""

    chunk: int
    """The number of the chunk."""
    cause: str
    """The fault."""
    lost: list[tuple[slice, ...]]
    """The lost elements: indices of boxes of the array. No element is in two of them, nor in those of another chunk, but
    for chunks of a mask. A complex number is lost with one of its parts, and may come once for each."""
    size: int
    """The number of lost elements; of complex numbers, of their parts."""
