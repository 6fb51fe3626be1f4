"""Runs circuits on states that are kept compressed, beside uncompressed ones, and writes numbers as JSON.

    python -m examples.quantum OUT.json [--device cuda] [--qubits 26 --low 20] [--circuit random,qft,grover]
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ferrosz

from ..page import processor, shortened
from .circuit import Gate, Stage, fourier_transform, grover, random_circuit, stages
from .state import Comparison, State
from .store import Cast, Ferrosz, Raw, Store

FORMAT = "ferrosz quantum 1"
# The bound at which codecs are compared.
MIDDLE = 1e-3
# A run is compared with its reference so many times.
MOST_POINTS = 60


def circuit(name: str, settings: argparse.Namespace) -> list[Gate]:
    """The gates of a circuit by its name."""
    match name:
        case "random":
            return random_circuit(settings.qubits, settings.depth, settings.seed)
        case "qft":
            return fourier_transform(settings.qubits, settings.seed)
        case "grover":
            return grover(settings.qubits, settings.rounds, settings.seed)
    raise SystemExit(f"--circuit: {name} is not random, qft or grover")


@dataclass(frozen=True)
class Kind:
    """A way to keep a state: the type that gates work in, the store, and whether gates share a stage."""

    real: str
    store: Store
    fuse: bool = True


def kinds(settings: argparse.Namespace) -> list[Kind]:
    """All ways, the baselines first."""

    def bounded(real: str, share: float, codec: str, fuse: bool = True) -> Kind:
        return Kind(real, Ferrosz(share, settings.qubits, codec), fuse)

    found = [] if settings.no_baselines else [Kind("float32", Raw()), Kind("float32", Cast("float16", settings.qubits))]
    found += [bounded("float32", share, settings.codec) for share in settings.shares]
    found += [bounded("float32", MIDDLE, codec) for codec in settings.other_codecs]
    found += [bounded("float32", share, settings.codec, fuse=False) for share in settings.unfused_shares]
    if settings.double_shares:
        found += [Kind("float64", Raw()), Kind("float64", Cast("float32", settings.qubits))]
        found += [bounded("float64", share, settings.double_codec) for share in settings.double_shares]
    return found


class Machine:
    """An array module and its clock."""

    def __init__(self, device: str) -> None:
        self.device = device
        if device == "cuda":
            import cupy

            self.xp: Any = cupy
            self.name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        else:
            self.xp, self.name = np, processor()

    def seconds(self) -> float:
        """The time at which all work so far has ended."""
        if self.device == "cuda":
            self.xp.cuda.Device().synchronize()
        return time.perf_counter()

    def used_bytes(self) -> int | None:
        """Memory of the GPU that is not free, of all programs; what CuPy's pool keeps for later is given back before."""
        if self.device != "cuda":
            return None
        self.xp.get_default_memory_pool().free_all_blocks()
        free, total = self.xp.cuda.runtime.memGetInfo()
        return int(total - free)


def run(machine: Machine, settings: argparse.Namespace, made: Sequence[Stage], kind: Kind) -> dict[str, Any]:
    """Applies all stages to a new state of this kind and to a reference in float64, and compares them after each."""
    store, before = kind.store, machine.used_bytes()
    state = State(settings.qubits, settings.low, store, machine.xp, kind.real)
    reference = None if settings.no_reference else State(settings.qubits, settings.low, Raw(), machine.xp, "float64")
    points, gates, spent = [], 0, 0.0
    every = len(made) // MOST_POINTS + 1
    for number, stage in enumerate(made, 1):
        start = machine.seconds()
        state.apply(stage)
        spent += machine.seconds() - start
        gates += len(stage.gates)
        if reference:
            reference.apply(stage)
        if number % every == 0 or number == len(made):
            point = {"gates": gates, "recompressions": state.recompressions, "bytes": state.bytes}
            points.append(point | (vars(Comparison.of(state, reference)) if reference else {"norm": state.norm()}))
    after = machine.used_bytes()
    of_reference = reference.bytes if reference else 0
    return {
        "store": store.name,
        "share": store.share if isinstance(store, Ferrosz) else None,
        "codec": store.codec if isinstance(store, Ferrosz) else None,
        "real": kind.real,
        "fused": kind.fuse,
        "gates": gates,
        "stages": len(made),
        "raw_bytes": 2**settings.qubits * 2 * np.dtype(kind.real).itemsize,
        "window_bytes": 2 ** (settings.low + settings.high) * 2 * np.dtype(kind.real).itemsize,
        "peak_bytes": state.peak_bytes,
        "device_bytes": None if before is None or after is None else after - before - of_reference,
        "encodings": state.encodings,
        "seconds": spent,
        "points": points,
    }


def told(name: str, found: dict[str, Any]) -> str:
    """A line about a run."""
    last = found["points"][-1]
    return (
        f"{name} {found['real']} {found['store']} {found['share']} {found['codec']}{'' if found['fused'] else ', each gate by itself'}: "
        f"ratio at the peak {found['raw_bytes'] / found['peak_bytes']:.2f}, "
        f"{1e3 * found['seconds'] / found['gates']:.2f} ms a gate, {last['recompressions']:.1f} recompressions, "
        f"1 - F {last.get('infidelity', math.nan):.2e}, norm^2 - 1 {last['norm'] ** 2 - 1:.2e}"
    )


def numbers(settings: argparse.Namespace) -> dict[str, Any]:
    """All runs."""
    machine = Machine(settings.device)
    runs = []
    for name in settings.circuit.split(","):
        gates = circuit(name, settings)
        made = {fuse: list(stages(gates, settings.low, settings.high, fuse)) for fuse in (True, False)}
        for kind in kinds(settings):
            ferrosz.release_memory()
            found = run(machine, settings, made[kind.fuse], kind)
            runs.append({"circuit": name, **found})
            print(told(name, found), flush=True)
    return {
        "format": FORMAT,
        "machine": machine.name,
        "ferrosz": ferrosz.__version__,
        "settings": {key: value for key, value in vars(settings).items() if key != "out"},
        "runs": runs,
    }


def shares(text: str) -> list[float]:
    """Numbers with commas between them; an empty text has none."""
    return [float(part) for part in text.split(",") if part]


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [part for part in text.split(",") if part]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings. Their defaults are those for a CPU."""
    parser = argparse.ArgumentParser(prog="python -m examples.quantum", description="quantum circuits, compressed")
    parser.add_argument("out", type=Path, help="the file of JSON")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--qubits", type=int, default=17)
    parser.add_argument("--low", type=int, default=13, help="a chunk has 2 ** LOW amplitudes")
    parser.add_argument("--high", type=int, default=2, help="2 ** HIGH chunks are decoded together")
    parser.add_argument("--circuit", default="random,qft,grover", help="random, qft, grover")
    parser.add_argument("--depth", type=int, default=20, help="layers of a random circuit")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of Grover's search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--codec", default="lorenzo+rans")
    parser.add_argument("--double-codec", default="fixed", help="for float64: codes of codecs of tiles have 16 bits")
    parser.add_argument("--shares", type=shares, default=[0.0, 1e-4, 1e-3, 1e-2, 1e-1], help="bounds of float32")
    parser.add_argument("--double-shares", type=shares, default=[1e-6, 1e-3], help="bounds of float64")
    parser.add_argument("--unfused-shares", type=shares, default=[1e-3], help="bounds with each gate as a stage")
    parser.add_argument("--other-codecs", type=names, default=["fixed", "outlier"], help=f"beside CODEC, at {MIDDLE:g}")
    parser.add_argument("--no-baselines", action="store_true", help="no uncompressed float32, and no float16")
    parser.add_argument("--no-reference", action="store_true", help="no uncompressed state beside, and so the norm alone")
    return parser.parse_args(given)


def main() -> None:
    settings = arguments()
    settings.out.write_text(json.dumps(shortened(numbers(settings)), indent=1) + "\n")


if __name__ == "__main__":
    main()
