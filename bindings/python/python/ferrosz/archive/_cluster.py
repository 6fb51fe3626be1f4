"""The cluster that the command uses: processes of its own, or one that is there."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from distributed import Client, LocalCluster


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client of a cluster, or none if neither workers nor an address are given."""
    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
    elif workers is not None:
        with _local_cluster(workers) as local, Client(local) as client:
            yield client
    else:
        yield None


def _local_cluster(workers: int) -> LocalCluster:
    """Processes that Ctrl-C does not reach, though a terminal sends it to them, too: this process ends them in
    order."""
    # It would let the signal through again when it starts.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
