"""A small transformer that predicts the next symbol."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal attention with several heads. Queries, keys and values have weights of their own, so that each is one dense
    tensor."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, inputs: Tensor) -> Tensor:
        batch, length, width = inputs.shape
        layers = (self.query, self.key, self.value)
        query, key, value = (layer(inputs).view(batch, length, self.heads, -1).transpose(1, 2) for layer in layers)
        found = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        result: Tensor = self.out(found.transpose(1, 2).reshape(batch, length, width))
        return result


class Layer(nn.Module):
    """Attention and two linear maps, each behind a normalisation and added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before_attention, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.before_maps = nn.LayerNorm(width)
        self.maps = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = inputs + self.attention(self.before_attention(inputs))
        result: Tensor = inputs + self.maps(self.before_maps(inputs))
        return result


class Transformer(nn.Module):
    """Embeddings of symbols and places, layers, and logits."""

    def __init__(self, symbols: int, length: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.symbol, self.place = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.last, self.logits = nn.LayerNorm(width), nn.Linear(width, symbols)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, symbols: Tensor) -> Tensor:
        hidden = self.symbol(symbols) + self.place(torch.arange(symbols.shape[1], device=symbols.device))
        for layer in self.layers:
            hidden = layer(hidden)
        result: Tensor = self.logits(self.last(hidden))
        return result


def loss_of(logits: Tensor, sequences: Tensor) -> Tensor:
    """The mean loss in nats of each next symbol."""
    return functional.cross_entropy(logits.flatten(0, 1).float(), sequences[:, 1:].flatten())
