"""Groups: the members that compress one array together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, SupportsIndex

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._types import Buffer

__all__ = ["Group"]


class Group(Protocol):
    """The members that compress one array together, as one of them sees it. `ferrosz.mpi.Ranks` is one of MPI; any object
    with these attributes and methods is one of another engine.

    All members make the same calls in the same order. A call returns when the members that it depends on have made
    theirs. If a member fails or ends, the calls of the others must fail, not wait for ever; most engines then end the whole
    program. What a method raises is raised by `compress_part` of this member.
    """

    @property
    def rank(self) -> int:
        """The number of this member, from 0 on."""

    @property
    def size(self) -> int:
        """The number of members."""

    def max(self, numbers: npt.NDArray[np.uint64]) -> Sequence[SupportsIndex] | npt.NDArray[np.uint64]:
        """The largest of each number over all members, which give equally many."""

    def sum(self, numbers: npt.NDArray[np.uint64]) -> Sequence[SupportsIndex] | npt.NDArray[np.uint64]:
        """The sum of each number over all members, modulo 2^64. The members give equally many."""

    def sum_before(self, number: int) -> int:
        """The sum of the numbers of the members with lower ranks, modulo 2^64."""

    def exchange(self, messages: list[tuple[int, bytes]]) -> Iterable[tuple[int, Buffer]]:
        """Sends messages, each with the rank that it is for, at most one to each member and none empty. Returns those for
        this member, each with the rank that it came from."""

    def write(self, pieces: list[tuple[int, bytes]]) -> None:
        """Writes pieces of the stream, each with its position in bytes from the stream's start. All members call it, also
        those that have no pieces."""

    def barrier(self) -> None:
        """Returns when all members have called it, and everything that they wrote before is visible to all."""
