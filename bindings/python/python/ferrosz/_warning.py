"""Warnings at the line of the user."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection


def warn(message: str, category: type[Warning], through: Collection[str] = ()) -> None:
    """Warns, with the place of the first caller that is neither of this package nor of those that the call went
    through."""
    inner = {"ferrosz", *through}
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inner:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
