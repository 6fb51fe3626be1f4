"""The choice of a preset for chunks that come one after the other, of an array that is never seen as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from . import Compressor, PresetKept
from ._choice import MOST_BYTES, TOLERANCE
from ._settings import chosen
from ._warning import warn

# A chunk that becomes so much shorter tells nothing of others: it is constant, or missing.
EMPTY = 200

# The preset chooses again when there are so many times as many chunks.
EVERY = 4

# What one codec was so many times too long for is left to the preset.
MOST_FAILURES = 2

Make = Callable[[dict[str, Any]], Compressor]


class RunningChoice:
    """What a preset chose for the chunks of an array so far.

    It chooses for the first, the fourth, the sixteenth chunk and so on. The chunks behind one of these have its codec,
    rank and axes, so that the choice takes little of the time of all. If a codec makes chunks longer than the preset's
    next choice by more than 5 %, twice, the preset chooses for each, and a `PresetKept` says so. The streams depend on
    nothing but the chunks and their order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[Any, int] = {}
        self._found: dict[Any, Future[_Found]] = {}

    def __reduce__(self) -> tuple[type[RunningChoice], tuple[()]]:
        return RunningChoice, ()

    def ticket(self, kind: Any) -> tuple[Any, int]:
        """The number of the next chunk of a kind. Each must be redeemed by `compress` or given back by `lose`."""
        with self._lock:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            if _last_choice(number) == number:
                self._found[kind, number] = Future()
        return kind, number

    def lose(self, ticket: tuple[Any, int]) -> None:
        """Makes that no other chunk waits for this one."""
        kind, number = ticket
        if _last_choice(number) == number and not self._found[ticket].done():
            self._found[ticket].set_result(self._before(kind, number // EVERY))

    def compress(self, ticket: tuple[Any, int], make: Make, array: Any) -> Any:
        """The stream of a chunk. `make` gives the compressor with some settings, or with the preset if there are none."""
        kind, number = ticket
        try:
            if (last := _last_choice(number)) != number:
                settings = self._before(kind, last).settings
                return make(settings or {}).compress(array)
            stream, found = _chosen(self._before(kind, number // EVERY), make, array)
            self._found[ticket].set_result(found)
            return stream
        finally:
            self.lose(ticket)

    def _before(self, kind: Any, number: int) -> _Found:
        return self._found[kind, number].result() if number else _Found()


class _Found:
    """The settings that the chunks behind one have, if there are any, and how often such settings were bad."""

    def __init__(self, settings: dict[str, Any] | None = None, failures: int = 0) -> None:
        self.settings = settings
        self.failures = failures


def _chosen(before: _Found, make: Make, array: Any) -> tuple[Any, _Found]:
    """The stream of a chunk for which the preset chooses, and what that says of the chunks behind it."""
    stream = make({}).compress(array)
    if before.failures >= MOST_FAILURES or array.nbytes > MOST_BYTES:
        return stream, _Found(None, before.failures)
    if len(stream) * EMPTY < array.nbytes:
        return stream, before
    info = stream.info
    settings = chosen(info, ("codec", "rank", "axes", "chunk_tiles"))
    failures = before.failures
    if before.settings is not None and before.settings != settings:
        failures += len(make(before.settings).compress(array)) > TOLERANCE * len(stream)
    if failures >= MOST_FAILURES:
        warn("a codec is chosen for each chunk: no one suits all; give a codec if speed counts more", PresetKept)
        return stream, _Found(None, failures)
    return stream, _Found(settings, failures)


def _last_choice(number: int) -> int:
    """The number of the last chunk up to this one for which the preset chooses: a power of EVERY."""
    power = 1
    while power * EVERY <= number:
        power *= EVERY
    return power
