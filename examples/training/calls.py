"""What a call costs: tensors one by one, and many in one bundle."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .bundle import Bundle
from .store import Ferrosz

TOGETHER = 64


def measured(store: Ferrosz, dtype: torch.dtype, device: str, most_bytes: int) -> list[dict[str, Any]]:
    """Microseconds a tensor, there and back, by the size of a tensor: of the calls of ferrosz alone, of a bundle of one
    tensor, and of a bundle of 64."""
    found = []
    nbytes = 2**12
    while nbytes <= most_bytes:
        tensors = [torch.randn(nbytes // dtype.itemsize, device=device).to(dtype) for _ in range(TOGETHER)]
        back = torch.empty_like(tensors[0])
        alone = _microseconds(partial(_there_and_back, store, tensors[0], back), device)
        of_one, of_all = (_microseconds(partial(_bundled, store, some), device) for some in (tensors[:1], tensors))
        found.append({
            "bytes": nbytes,
            "calls_us": alone,
            "bundle_of_1_us": of_one,
            "bundle_of_64_us": of_all / TOGETHER,
        })
        nbytes *= 4
    return found


def _there_and_back(store: Ferrosz, values: Tensor, back: Tensor) -> None:
    store.decode(store.encode(values), back)


def _bundled(store: Ferrosz, tensors: Sequence[Tensor]) -> None:
    Bundle(tensors, store).decoded()


def _microseconds(call: Callable[[], object], device: str, repeats: int = 12) -> float:
    """The median time of a call, with the device idle before and after it."""
    times = []
    for _ in range(repeats + 3):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e6 * sorted(times[3:])[repeats // 2]
