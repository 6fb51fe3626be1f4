"""Files that are written under a temporary name, so that nobody finds half of one under the final name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".partial"


def temporary(path: Path) -> Path:
    """The name under which a file or folder is written before it has its own. It is in the same folder."""
    return path.with_name(path.name + SUFFIX)


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The temporary name of a file, which then replaces the one at `path`; after an error it is removed. What a killed
    process left there, the next one writes over."""
    final = Path(path)
    unfinished = temporary(final)
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(final)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
