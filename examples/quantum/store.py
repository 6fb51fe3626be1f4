"""How a chunk of amplitudes is kept: compressed, in a shorter type, or as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import ferrosz


class Store(Protocol):
    """Keeps chunks. A chunk is an array of NumPy or CuPy of two planes, the real and the imaginary parts."""

    @property
    def name(self) -> str:
        """For tables and pictures."""

    def encode(self, planes: Any) -> Any:
        """What is kept for a chunk."""

    def decode(self, kept: Any, planes: Any) -> None:
        """Writes a chunk to `planes`."""

    def bytes_of(self, kept: Any) -> int:
        """The bytes of what is kept."""


class Ferrosz:
    """Within an absolute error: `share` times 2 ** (-qubits / 2), the root mean square of the moduli of all amplitudes. 0 is
    lossless. The codec is named once, as a preset would read a sample of every chunk again."""

    def __init__(self, share: float, qubits: int, codec: str) -> None:
        self.name, self.share, self.codec = "ferrosz", share, codec
        self.compressor = ferrosz.Compressor(abs=share * 2 ** (-qubits / 2), codec=codec, rank=1, fill=None)
        self.decompressor = ferrosz.Decompressor()

    def encode(self, planes: Any) -> Any:
        return self.compressor.compress(planes.reshape(-1))

    def decode(self, kept: Any, planes: Any) -> None:
        self.decompressor.decompress(kept, out=planes.reshape(-1))

    def bytes_of(self, kept: Any) -> int:
        # In device memory it is a `DeviceArray`.
        return kept.nbytes if isinstance(kept, ferrosz.DeviceArray) else len(kept)


@dataclass(frozen=True)
class Cast:
    """In another type, the amplitudes times a power of two, which keeps them clear of the least numbers of float16."""

    dtype: str
    qubits: int

    @property
    def name(self) -> str:
        return self.dtype

    def encode(self, planes: Any) -> Any:
        return (planes * 2.0 ** (self.qubits // 2)).astype(self.dtype)

    def decode(self, kept: Any, planes: Any) -> None:
        planes[...] = kept.astype(planes.dtype) * 2.0 ** -(self.qubits // 2)

    def bytes_of(self, kept: Any) -> int:
        return int(kept.nbytes)


@dataclass(frozen=True)
class Raw:
    """As they are: the baseline, and the reference in float64."""

    name: str = "uncompressed"

    def encode(self, planes: Any) -> Any:
        return planes.copy()

    def decode(self, kept: Any, planes: Any) -> None:
        planes[...] = kept

    def bytes_of(self, kept: Any) -> int:
        return int(kept.nbytes)
