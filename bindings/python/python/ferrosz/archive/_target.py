"""Where the archive is written: a Zarr store, or a repository of Icechunk.

In a store an object is there as soon as it is written, and each is written by one call: whole, or not at all. In a
repository nothing is there before the session that wrote it is committed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .. import ArgumentError

# zarr writes an object of a folder to a file with such a name, and renames it.
UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.partial$")


@dataclass
class Writer:
    """What a worker writes to."""

    store: Any


class Session(Protocol):
    """Changes that belong together."""

    @property
    def store(self) -> Any:
        """The store for changes of this process."""

    def writer(self) -> Any:
        """What calls on workers write to: it has a `store`, and is given back to `take`."""

    def take(self, writers: Iterable[Any]) -> None:
        """Takes over what workers have written."""


class Target(Protocol):
    """Where the archive is written."""

    @property
    def batch(self) -> int | None:
        """After so many shards their session ends."""

    def reading(self) -> Any:
        """A store to read from."""

    def session(self, message: str) -> Any:
        """A context whose value is a `Session`, whose changes are kept at its end."""

    def sweep(self) -> int:
        """Removes what workers left behind that died while they wrote, and says how many files that were."""


class StoreSession:
    def __init__(self, store: Any) -> None:
        self.store = store

    def writer(self) -> Writer:
        return Writer(self.store)

    def take(self, writers: Iterable[Any]) -> None:
        pass


class StoreTarget:
    """A folder, a URL, or a store of zarr."""

    batch: int | None = None

    def __init__(self, store: Any) -> None:
        self.store = str(store) if isinstance(store, Path) else store

    def reading(self) -> Any:
        return self.store

    @contextmanager
    def session(self, message: str) -> Iterator[StoreSession]:
        yield StoreSession(self.store)

    def sweep(self) -> int:
        root = self.store if isinstance(self.store, str) else getattr(self.store, "root", None)
        if root is None or "://" in str(root):
            return 0
        left = [path for path in Path(root).rglob("*.partial") if UNFINISHED.search(path.name)]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)


class RepositorySession:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.store = session.store

    def writer(self) -> Any:
        return self.session.fork()

    def take(self, writers: Iterable[Any]) -> None:
        # In this process all calls had the same one.
        self.session.merge(*{id(writer): writer for writer in writers}.values())


class RepositoryTarget:
    """A branch of a repository of Icechunk."""

    def __init__(self, repository: Any, branch: str, batch: int) -> None:
        self.repository, self.branch = repository, branch
        self.batch: int | None = batch

    def reading(self) -> Any:
        return self.repository.readonly_session(self.branch).store

    @contextmanager
    def session(self, message: str) -> Iterator[RepositorySession]:
        session = self.repository.writable_session(self.branch)
        yield RepositorySession(session)
        if session.has_uncommitted_changes:
            session.commit(message)

    def sweep(self) -> int:
        return 0


def target_of(target: Any, branch: str = "main", batch: int = 256) -> Target:
    """A path, a URL or a store of zarr; or a repository of Icechunk, with the branch, and the shards of a commit."""
    if hasattr(target, "writable_session"):
        return RepositoryTarget(target, branch, batch)
    path = Path(target) if isinstance(target, str | Path) and "://" not in str(target) else None
    if path is not None and path.exists() and not (path / "zarr.json").exists():
        if not path.is_dir() or any(path.iterdir()):
            raise ArgumentError(f"target: {path} exists, and is no archive")
    return StoreTarget(target)
