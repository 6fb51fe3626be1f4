"""The command `python -m ferrosz.archive`: that of `python -m ferrosz`, but a target has its name from the start. So it may
be a URL, and the same command goes on with an archive that is not complete, and repairs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .._datasets import main as command
from ._command import STATUSES

__all__ = ["STATUSES", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    return command(arguments, name="ferrosz.archive", in_place=True)


if __name__ == "__main__":
    sys.exit(main())
