"""Types of arguments, for type checkers alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy.typing as npt

if sys.version_info >= (3, 12):
    from collections.abc import Buffer as _Buffer
else:
    from typing_extensions import Buffer as _Buffer

# NumPy declares its arrays as buffers from Python 3.12 on.
Buffer: TypeAlias = _Buffer | npt.NDArray[Any]
Preset: TypeAlias = Literal["small", "balanced", "fast"]
Fill: TypeAlias = float | Sequence[float | Literal["auto"]] | Literal["auto", "none"] | None
_Index: TypeAlias = SupportsIndex | slice | EllipsisType
Box: TypeAlias = _Index | tuple[_Index, ...]
