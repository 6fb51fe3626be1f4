"""Calls on the workers of a Dask cluster, or in this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

# A failure of a disk or a network may pass. Dask itself repeats the calls of a worker that died.
RETRIES = 2

# So many calls wait for each thread of the cluster: it never idles, and its scheduler knows few calls at a time.
WAITING = 4
FEWEST = 32

Progress = Callable[[str, int, int], object]
"""Is called with what is done, such as `"t: shards"`, and how much of how much."""


def run(client: Any, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Generator[Any, None, None]:
    """The results of a function, in any order. Calls are made as they are needed, so there may be any number of
    them."""
    if client is None:
        yield from itertools.starmap(function, calls)
        return
    from distributed import as_completed

    calls = iter(calls)
    running: set[Any] = set()

    def submit(call: tuple[Any, ...]) -> Any:
        future = client.submit(function, *call, pure=False, retries=RETRIES)
        running.add(future)
        return future

    most = max(FEWEST, WAITING * sum(client.nthreads().values()))
    try:
        ended = as_completed([submit(call) for call in itertools.islice(calls, most)])
        for future in ended:
            result = future.result()
            running.discard(future)
            for call in itertools.islice(calls, 1):
                ended.add(submit(call))
            yield result
    finally:
        client.cancel(list(running), force=True)


def counted(results: Iterator[Any], progress: Progress | None, what: str, total: int, first: int = 0) -> Iterator[Any]:
    """The same results; those that came are counted from `first` on."""
    for number, result in enumerate(results, first + 1):
        if progress is not None:
            progress(what, number, total)
        yield result
