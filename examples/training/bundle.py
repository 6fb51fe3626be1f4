"""Several tensors in one call.

A call of ferrosz takes one array and one bound, and waits for its work. So the values of several tensors are put behind
each other, each divided by its scale: the largest power of two that is not above its root mean square. Dividing by a power
of two is exact, and one absolute bound e then means, for every tensor, at most e times its root mean square. The scales stay
on the device: the host does not wait for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .store import Store


def scales_of(tensors: Sequence[Tensor]) -> Tensor:
    """The scale of each tensor, float32. It is 1 where the root mean square is 0 or not finite, so that infinities and NaNs
    come back as they are. Squares of small and large values need float64."""
    norms = [torch.linalg.vector_norm(tensor, dtype=torch.float64) for tensor in tensors]
    means = torch.stack([norm / math.sqrt(max(1, tensor.numel())) for norm, tensor in zip(norms, tensors, strict=True)])
    # A number by its mantissa is a power of two, which division gives exactly.
    powers = means / (2 * torch.frexp(means).mantissa)
    return torch.where(powers.isfinite() & (powers > 0), powers, 1.0).float()


class Bundle:
    """Tensors of one element type and device that a store keeps as one array."""

    def __init__(self, tensors: Sequence[Tensor], store: Store) -> None:
        self.store = store
        self.counts = [tensor.numel() for tensor in tensors]
        self.scales = scales_of(tensors)
        values = tensors[0].new_empty(sum(self.counts))
        for part, tensor, scale in zip(values.split(self.counts), tensors, self.scales, strict=True):
            torch.div(tensor.reshape(-1), scale, out=part)
        self.raw_bytes = values.nbytes
        self.like = values.new_empty(0)
        self.kept: Any = store.encode(values)
        self.bytes = store.bytes_of(self.kept)

    def decoded(self) -> list[Tensor]:
        """The tensors, each with one dimension; they share memory."""
        values = self.like.new_empty(sum(self.counts))
        self.store.decode(self.kept, values)
        parts = list(values.split(self.counts))
        for part, scale in zip(parts, self.scales, strict=True):
            part.mul_(scale)
        return parts


def exchange(gradients: Sequence[Tensor], store: Store) -> Bundle:
    """Replaces gradients by what the other members of a data-parallel training would receive: compressed and
    decompressed, in one call for all tensors."""
    bundle = Bundle(gradients, store)
    for gradient, received in zip(gradients, bundle.decoded(), strict=True):
        gradient.copy_(received.view_as(gradient))
    return bundle
