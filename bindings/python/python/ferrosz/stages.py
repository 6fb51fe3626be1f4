"""The interpolation predictor alone, and the stages that stand behind it: modular pipelines.

A pipeline makes a container of parts, which is no stream of `ferrosz.compress`.

>>> field = np.sin(np.arange(60000, dtype="float32") / 100).reshape(100, 600)
>>> pipeline = ferrosz.stages.Pipeline("rans", abs=1e-3)
>>> container = pipeline.compress(field)
>>> back = ferrosz.stages.decompress(container)
>>> back.shape, bool(abs(back - field).max() <= 1e-3)
((100, 600), True)

The parts are arrays of NumPy, for a stage of your own:

>>> import zlib
>>> from dataclasses import replace
>>> parts = ferrosz.stages.Pipeline(abs=1e-3, by_level=True).decompose(field)
>>> packed = zlib.compress(parts.codes)
>>> unpacked = replace(parts, codes=np.frombuffer(zlib.decompress(packed), parts.codes.dtype))
>>> bool((ferrosz.stages.compose(unpacked) == back).all())
True
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._ferrosz import stage_compose, stage_compress, stage_decompose, stage_decompress
from .errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import Buffer

__all__ = ["Parts", "Pipeline", "compose", "decompress"]


@dataclass(frozen=True)
class Pipeline:
    """The predictor within a bound, and a stage behind it. One of the bounds `abs`, `range` and `max` must be given."""

    stage: Literal["rans", "huffman", "bit-planes", "fixed-length", "ferrosz", "plain"] = "rans"
    """ferrosz's entropy coders and bit planes, cuSZp's coder, a stream of ferrosz, or the codes as they are."""
    _: KW_ONLY
    abs: float | None = None
    """The bound: an absolute error."""
    range: float | None = None
    """The bound as a share of max - min of the finite values."""
    max: float | None = None
    """The bound as a share of the largest magnitude."""
    code_bytes: Literal[1, 2, 4] = 2
    """Bytes of a code between predictor and stage."""
    by_level: bool = False
    """Whether the codes are in the order of levels, the coarsest first, in place of the order of the array."""
    radius: int | Literal["fits"] | None = None
    """Values whose codes are not below it in magnitude are outliers. `"fits"`: the least with which all codes fit. None:
    all but about a thousandth of a sample fit."""
    mode: Literal[0, 1, 2, 3, 4, 5] | None = None
    """Tune as this mode of FZGPUModules' stage does. None: for the fewest bytes."""
    alpha: float = 0.0
    """With mode 5: the bounds of coarse levels are divided by alpha for each level. 0: it follows from the bound."""
    beta: float = 0.0
    """With mode 5: and by beta at most. 0: 4."""
    rank: Literal[1, 2, 3] | None = None
    """The dimensions along which is predicted, the last ones."""
    device: str = "auto"
    """`"auto"`, `"cpu"`, `"cuda"` or `"cuda:1"`; the parts and the bytes are the same."""

    def _bound(self) -> tuple[str, float]:
        bounds = (("abs", self.abs), ("range", self.range), ("max", self.max))
        given = [(name, value) for name, value in bounds if value is not None]
        if len(given) != 1:
            raise ArgumentError("give one of the bounds abs, range and max")
        return given[0]

    def __post_init__(self) -> None:
        self._bound()

    def compress(self, array: Any) -> bytes:
        """Compresses an array of float32 or float64 to a container of parts.

        Raises `ArgumentError`, `UnsupportedType`, `DeviceError` and `OutOfMemory`.
        """
        return stage_compress(array, self, self._bound())

    def decompose(self, array: Any) -> Parts:
        """Decomposes an array of float32 or float64.

        Raises `ArgumentError`, `UnsupportedType`, `DeviceError` and `OutOfMemory`.
        """
        codes, anchors, values, indices, recipe = stage_decompose(array, self, self._bound())
        return Parts(codes, anchors, values, indices, recipe, np.shape(array))


@dataclass(frozen=True, eq=False)
class Parts:
    """An array in parts."""

    codes: npt.NDArray[Any]
    """A code for each element: the quantised difference from its prediction plus the radius; 0 for an outlier."""
    anchors: npt.NDArray[Any]
    """The values of the anchors, bit for bit."""
    outlier_values: npt.NDArray[Any]
    """The values of the outliers, bit for bit."""
    outlier_indices: npt.NDArray[np.uint32]
    """Their numbers in the array, ascending."""
    recipe: bytes
    """All else that composing needs: section 21 of FORMAT.md has the words."""
    shape: tuple[int, ...]
    """The shape of the array."""


def decompress(container: Buffer, *, device: str = "auto") -> npt.NDArray[Any]:
    """Decompresses a container of parts, whose stage is one of ferrosz's own.

    Raises `DamagedStream`, which names the part, `UnsupportedType`, `DeviceError` and `OutOfMemory`.
    """
    return stage_decompress(container, device)


def compose(parts: Parts, *, device: str = "auto") -> npt.NDArray[Any]:
    """Composes an array from its parts.

    Raises `ArgumentError` if they do not fit each other, `DamagedStream`, `DeviceError` and `OutOfMemory`.
    """
    return stage_compose(parts, device)
