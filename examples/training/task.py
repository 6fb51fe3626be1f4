"""A language that is made here, and whose least loss is known."""

from __future__ import annotations

import torch
from torch import Tensor


class Language:
    """Sequences in which a random table gives the odds of each symbol after each pair of symbols."""

    def __init__(self, symbols: int, seed: int, device: str) -> None:
        random = torch.Generator().manual_seed(seed)
        odds = torch.randn(symbols, symbols, symbols, generator=random, dtype=torch.float64).mul(2.5).softmax(-1)
        self.symbols, self.seed, self.device = symbols, seed, device
        self.entropy = _entropy(odds)
        self.limits = odds.cumsum(-1).float().to(device)

    def batches(self, steps: int, batch: int, length: int) -> Tensor:
        """Symbols for so many steps: integers, [steps, batch, length + 1]."""
        random = torch.Generator(self.device).manual_seed(self.seed + 1)
        drawn = torch.rand(length + 1, steps * batch, generator=random, device=self.device)
        rows = [(row * self.symbols).long() for row in drawn[:2]]
        for row in drawn[2:]:
            below = self.limits[rows[-2], rows[-1]] < row[:, None]
            rows.append(below.sum(-1).clamp(max=self.symbols - 1))
        return torch.stack(rows, -1).view(steps, batch, length + 1)


def _entropy(odds: Tensor) -> float:
    """The mean entropy of the next symbol in nats, over pairs as they are in long sequences."""
    pairs = torch.full(odds.shape[:2], 1 / odds.shape[0] ** 2, dtype=odds.dtype)
    for _ in range(200):
        pairs = torch.einsum("ab,abc->bc", pairs, odds)
    return float((pairs * torch.special.entr(odds).sum(-1)).sum())
