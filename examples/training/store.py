"""How an array of numbers is kept: compressed, in a shorter type, or as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

import ferrosz


class Store(Protocol):
    """Keeps arrays of one dimension whose root mean square is between 1 and 2 (see `bundle`)."""

    @property
    def name(self) -> str:
        """For tables and pictures."""

    def encode(self, values: Tensor) -> Any:
        """What is kept for an array."""

    def decode(self, kept: Any, values: Tensor) -> None:
        """Writes the array to `values`."""

    def bytes_of(self, kept: Any) -> int:
        """The bytes of what is kept."""


class Ferrosz:
    """Within an absolute error. The codec is named once, as a preset would read a sample of every array again.

    On a GPU a stream is copied to memory of PyTorch with its own length. So it is in the memory that
    `torch.cuda.max_memory_allocated` counts, and on the same device; only ferrosz's workspace is elsewhere."""

    def __init__(self, error: float, codec: str) -> None:
        self.name, self.error, self.codec = f"ferrosz {error:g}", error, codec
        self.compressor = ferrosz.Compressor(abs=error, codec=codec, rank=1, fill=None)
        self.decompressor = ferrosz.Decompressor()

    def encode(self, values: Tensor) -> Any:
        if not values.is_cuda:
            return self.compressor.compress(values)
        dtype = str(values.dtype).removeprefix("torch.")
        room = values.new_empty(self.compressor.max_stream_bytes(values.numel(), dtype), dtype=torch.uint8)
        stream = self.compressor.compress(values, out=room)
        assert isinstance(stream, ferrosz.DeviceArray)
        return room[: stream.nbytes].clone()

    def decode(self, kept: Any, values: Tensor) -> None:
        if values.is_cuda:
            self.decompressor.decompress(kept, out=values)
        else:
            values.copy_(_of_numpy(self.decompressor.decompress(kept)))

    def bytes_of(self, kept: Any) -> int:
        return kept.nbytes if isinstance(kept, Tensor) else len(kept)


def _of_numpy(array: Any) -> Tensor:
    """An array of NumPy as a tensor; PyTorch does not know NumPy's bfloat16."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


@dataclass(frozen=True)
class Cast:
    """In a shorter type of PyTorch, such as `torch.bfloat16`. Values beyond its largest become the largest."""

    dtype: torch.dtype

    @property
    def name(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    def encode(self, values: Tensor) -> Tensor:
        most = torch.finfo(self.dtype).max
        return values.clamp(-most, most).to(self.dtype)

    def decode(self, kept: Tensor, values: Tensor) -> None:
        values.copy_(kept)

    def bytes_of(self, kept: Tensor) -> int:
        return kept.nbytes


@dataclass(frozen=True)
class Keep:
    """As they are. For counting what autograd saves."""

    name: str = "uncompressed"

    def encode(self, values: Tensor) -> Tensor:
        return values

    def decode(self, kept: Tensor, values: Tensor) -> None:
        values.copy_(kept)

    def bytes_of(self, kept: Tensor) -> int:
        return kept.nbytes
