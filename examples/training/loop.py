"""Trains a model, and measures it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .bundle import exchange
from .model import Transformer, loss_of
from .packer import Packer
from .store import Keep, Store
from .task import Language


@dataclass(frozen=True)
class Size:
    """The sizes of a training."""

    symbols: int
    length: int
    batch: int
    width: int
    layers: int
    heads: int
    steps: int
    rate: float
    least_bytes: int
    group_bytes: int


@dataclass(frozen=True)
class Kind:
    """What is compressed: `None` leaves PyTorch as it is. `group_bytes` is that of the size if none is given."""

    dtype: torch.dtype
    activations: Store | None = None
    gradients: Store | None = None
    seed: int = 0
    group_bytes: int | None = None


class Training:
    """A model, its optimiser, and what is compressed of them.

    A model in bfloat16 has a copy of its parameters in float32, to which the optimiser adds."""

    def __init__(self, size: Size, kind: Kind, device: str) -> None:
        torch.manual_seed(kind.seed)
        model = Transformer(size.symbols, size.length, size.width, size.layers, size.heads)
        self.size, self.kind, self.device = size, kind, device
        self.model = model.to(device=device, dtype=kind.dtype)
        self.parameters = list(self.model.parameters())
        single = kind.dtype == torch.float32
        self.copies = self.parameters if single else [parameter.detach().float() for parameter in self.parameters]
        self.optimiser = torch.optim.AdamW(self.copies, lr=size.rate, weight_decay=0.0, fused=device == "cuda")
        self.packer = self.packer_of(kind.activations)
        self.exchanged_bytes = self.gradient_bytes = 0

    def packer_of(self, store: Store | None) -> Packer | None:
        """A packer with the settings of this training."""
        if store is None:
            return None
        group = self.size.group_bytes if self.kind.group_bytes is None else self.kind.group_bytes
        return Packer(store, self.parameters, self.size.least_bytes, group)

    def gradients(self, sequences: Tensor, packer: Packer | None, store: Store | None) -> float:
        """Computes the gradients, and exchanges them. Returns the loss.

        The loss is outside of the packer's context: the backward pass takes the exponential of its logarithms."""
        for parameter in self.parameters:
            parameter.grad = None
        with packer.hooks() if packer else nullcontext():
            logits = self.model(sequences[:, :-1])
        loss = loss_of(logits, sequences)
        loss.backward()
        if store:
            made = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
            bundle = exchange(made, store)
            self.gradient_bytes, self.exchanged_bytes = bundle.raw_bytes, bundle.bytes
        return loss.item()

    def step(self, number: int, sequences: Tensor) -> float:
        """A step of the optimiser, at a rate that rises and falls. Returns the loss before it."""
        loss = self.gradients(sequences, self.packer, self.kind.gradients)
        done = (number + 1) / self.size.steps
        for group in self.optimiser.param_groups:
            group["lr"] = self.size.rate * min(1.0, 10 * done, 0.02 + 0.98 * math.cos(math.pi / 2 * done) ** 2)
        for parameter, copy in zip(self.parameters, self.copies, strict=True):
            if copy is not parameter and parameter.grad is not None:
                copy.grad = parameter.grad.float()
        self.optimiser.step()
        with torch.no_grad():
            for parameter, copy in zip(self.parameters, self.copies, strict=True):
                if copy is not parameter:
                    parameter.copy_(copy)
        return loss

    def gradient_error(self, sequences: Tensor) -> float:
        """The distance between the gradients with and without compression, by the length of those without."""
        self.gradients(sequences, None, None)
        exact = [parameter.grad.float() for parameter in self.parameters if parameter.grad is not None]
        self.gradients(sequences, self.packer, self.kind.gradients)
        apart = [g.grad.float() - other for g, other in zip(self.parameters, exact, strict=True) if g.grad is not None]
        return float(_norm(apart) / _norm(exact))

    def saved(self, sequences: Tensor) -> dict[str, int]:
        """What autograd saves for a step, and what is kept for it."""
        packer = self.packer or self.packer_of(Keep())
        assert packer is not None
        self.gradients(sequences, packer, None)
        return dict(vars(packer.counts))


def _norm(tensors: list[Tensor]) -> Tensor:
    return torch.stack([torch.linalg.vector_norm(tensor) for tensor in tensors]).norm()


@contextmanager
def peak_memory(device: str) -> Iterator[dict[str, int | None]]:
    """The most bytes that PyTorch has on a GPU at a time, and what the process has there beside PyTorch's at the end."""
    found: dict[str, int | None] = {"peak_bytes": None, "outside_bytes": None}
    if device != "cuda":
        yield found
        return
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    yield found
    free, total = torch.cuda.mem_get_info()
    found["peak_bytes"] = torch.cuda.max_memory_allocated()
    found["outside_bytes"] = total - free - torch.cuda.memory_reserved()


def train(size: Size, kind: Kind, language: Language, sequences: Tensor) -> dict[str, Any]:
    """Trains on all sequences, [steps, batch, length + 1], and returns the numbers of the run."""
    device = language.device
    with peak_memory(device) as memory:
        training = Training(size, kind, device)
        losses, times = [], []
        for number in range(size.steps):
            start = time.perf_counter()
            # Reading the loss waits for the backward pass, but not for the optimiser.
            losses.append(training.step(number, sequences[number]))
            if device == "cuda":
                torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
    last = losses[-max(1, size.steps // 10) :]
    return {
        "loss": losses,
        "last_loss": sum(last) / len(last),
        "step_seconds": sorted(times[len(times) // 5 :])[len(times) * 2 // 5],
        "gradient_error": training.gradient_error(sequences[-1]),
        "gradient_bytes": training.gradient_bytes,
        "exchanged_bytes": training.exchanged_bytes,
        "parameters": sum(parameter.numel() for parameter in training.parameters),
        "saved": training.saved(sequences[-1]),
        **memory,
    }
