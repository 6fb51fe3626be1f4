"""Trains with and without compression, and writes numbers as JSON.

    python -m examples.training OUT.json [--size small|large] [--device cuda] [--dtypes float32,bfloat16]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import ferrosz

from ..page import processor, shortened
from .calls import measured
from .loop import Kind, Size, train
from .store import Cast, Ferrosz, Store
from .task import Language

FORMAT = "ferrosz training 1"
SIZES = {
    "tiny": Size(8, 32, 8, 32, 1, 2, steps=6, rate=3e-3, least_bytes=2**12, group_bytes=2**16),
    "small": Size(8, 32, 32, 64, 2, 4, steps=300, rate=3e-3, least_bytes=2**16, group_bytes=2**20),
    "large": Size(16, 512, 16, 1024, 8, 16, steps=300, rate=5e-4, least_bytes=2**21, group_bytes=2**26),
}
# The number of the seed of the language; those of the parameters are 0 and 1.
LANGUAGE = 5


def kinds(dtype: torch.dtype, shares: Sequence[float], codec: str) -> list[Kind]:
    """The runs of an element type: without compression, with another seed, and with activations, gradients or both
    compressed."""
    casts: list[Store] = [Cast(torch.float8_e4m3fn)]
    if dtype == torch.float32:
        casts.insert(0, Cast(torch.bfloat16))
    bounded = [Ferrosz(share, codec) for share in shares]
    found = [Kind(dtype), Kind(dtype, seed=1)]
    found += [Kind(dtype, activations=store) for store in (*casts, *bounded)]
    found += [Kind(dtype, gradients=store) for store in (*casts, *bounded)]
    middle = bounded[(len(bounded) - 1) // 2]
    found.append(Kind(dtype, middle, middle))
    found.append(Kind(dtype, middle, group_bytes=0))
    return found


def described(kind: Kind) -> dict[str, Any]:
    """The settings of a run."""

    def share(store: Store | None) -> float | None:
        return store.error if isinstance(store, Ferrosz) else None

    return {
        "dtype": str(kind.dtype).removeprefix("torch."),
        "seed": kind.seed,
        "activations": kind.activations and kind.activations.name,
        "activations_share": share(kind.activations),
        "gradients": kind.gradients and kind.gradients.name,
        "gradients_share": share(kind.gradients),
        "group_bytes": kind.group_bytes,
    }


def told(run: dict[str, Any]) -> str:
    """A line about a run."""
    saved = run["saved"]
    return (
        f"{run['dtype']} seed {run['seed']} activations {run['activations']} gradients {run['gradients']}: "
        f"loss {run['last_loss']:.4f}, {1e3 * run['step_seconds']:.1f} ms a step, "
        f"saved {saved['raw_bytes'] / 2**20:.1f} MiB kept as {saved['kept_bytes'] / 2**20:.1f}, "
        f"{saved['compressions']} calls for {saved['packed_tensors']} tensors, "
        f"gradients {run['gradient_bytes']} to {run['exchanged_bytes']} bytes, apart {run['gradient_error']:.2e}, "
        f"peak {run['peak_bytes']}"
    )


def numbers(settings: argparse.Namespace) -> dict[str, Any]:
    """All runs. What is done so far is written after each."""
    size = SIZES[settings.size]
    size = dataclasses.replace(size, steps=settings.steps or size.steps, rate=settings.rate or size.rate)
    # As is usual on GPUs that have it, for float32.
    torch.backends.cuda.matmul.allow_tf32 = True
    language = Language(size.symbols, LANGUAGE, settings.device)
    sequences = language.batches(size.steps, size.batch, size.length)
    found: dict[str, Any] = {
        "format": FORMAT,
        "machine": torch.cuda.get_device_name() if settings.device == "cuda" else processor(),
        "device": settings.device,
        "ferrosz": ferrosz.__version__,
        "torch": torch.__version__,
        "codec": settings.codec,
        "size": dataclasses.asdict(size),
        "entropy": language.entropy,
        "calls": {},
        "runs": [],
    }
    for name in settings.dtypes.split(","):
        dtype = getattr(torch, name)
        found["calls"][name] = measured(Ferrosz(1e-2, settings.codec), dtype, settings.device, settings.most_call_bytes)
        for kind in kinds(dtype, settings.shares, settings.codec):
            ferrosz.release_memory()
            run = described(kind) | train(size, kind, language, sequences)
            found["runs"].append(run)
            print(told(run), flush=True)
            settings.out.write_text(json.dumps(shortened(found), indent=1) + "\n")
    return found


def shares(text: str) -> list[float]:
    """Numbers with commas between them."""
    return [float(part) for part in text.split(",")]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings. Their defaults are those for a CPU."""
    parser = argparse.ArgumentParser(prog="python -m examples.training", description="a training, compressed")
    parser.add_argument("out", type=Path, help="the file of JSON")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--steps", type=int, help="in place of those of the size")
    parser.add_argument("--rate", type=float, help="the optimiser's, in place of that of the size")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--shares", type=shares, default=[1e-2, 1e-1, 5e-1, 2.0], help="bounds")
    parser.add_argument("--codec", default="fixed")
    parser.add_argument("--most-call-bytes", type=int, default=2**22, help="the largest tensor whose calls are timed")
    return parser.parse_args(given)


if __name__ == "__main__":
    numbers(arguments())
