"""Files that are read where they are."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any


def mapped(file: Any) -> Any:
    """The bytes of a file that has this path; other objects as they are. No bytes can be mapped of an empty file."""
    if not isinstance(file, str | os.PathLike):
        return file
    with Path(file).open("rb") as opened:
        if os.fstat(opened.fileno()).st_size == 0:
            return b""
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
