"""Whole calls on arrays of PyTorch on a GPU: with a preset, with what the preset chose, and of the module. Needs a GPU.

    python benches/calls.py [--edges 64 128 256 512] [--dtypes float32 float64 float16 masked turned] [--repeat 15]

A row has the milliseconds, as medians, of `Compressor(range=1e-3, preset=...).compress(tensor)`; of the same object with
the codec, rank, axes and length of chunks that the preset chose; of `ferrosz.compress(tensor, ...)` with these; of
`ferrosz.decompress(stream)`; and of `Decompressor().decompress(stream, out=...)`. `masked` is float32 with a ball of NaN,
`turned` is float32 that is coded in another order of axes.
With `--start` it prints how long the first calls of this process take instead.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

START = time.perf_counter()

import torch  # noqa: E402

import ferrosz  # noqa: E402

BOUND = 1e-3
# Arguments of all calls for a kind of field.
GIVEN: dict[str, dict[str, Any]] = {"masked": {"fill": float("nan")}, "turned": {"axes": "y,x,z"}}
WARM_UP = 3


def field_of(edge: int, kind: str) -> torch.Tensor:
    """Waves and noise, in single precision converted to the type."""
    at = torch.arange(edge, dtype=torch.float32, device="cuda") / edge
    z, y, x = torch.meshgrid(at, at, at, indexing="ij")
    noise = torch.randn((edge, edge, edge), generator=torch.Generator("cuda").manual_seed(19), device="cuda")
    field = torch.sin(7 * z + 3 * y) * torch.cos(9 * y) + torch.sin(11 * x * z) + 2e-3 * noise
    if kind == "masked":
        center = (z - 0.5) ** 2 + (y - 0.5) ** 2 + (x - 0.5) ** 2
        field[center < 0.415**2] = float("nan")
        return field
    return field if kind in GIVEN else field.to(getattr(torch, kind))


def milliseconds(call: Callable[[], Any], repeat: int) -> float:
    times = []
    for _ in range(WARM_UP + repeat):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[WARM_UP:])


def chosen(stream: Any) -> dict[str, Any]:
    """The arguments that name what a preset chose."""
    info = ferrosz.info(torch.from_dlpack(stream).cpu().numpy())
    named: dict[str, Any] = {"codec": info.codec, "rank": info.rank}
    for name in ("axes", "chunk_tiles"):
        if getattr(info, name, None) is not None:
            named[name] = getattr(info, name)
    return named


def row(edge: int, kind: str, preset: str, repeat: int) -> str:
    field = field_of(edge, kind)
    given = GIVEN.get(kind, {})
    of_preset = ferrosz.Compressor(range=BOUND, preset=preset, **given)
    stream = of_preset.compress(field)
    named = {**chosen(stream), **given}
    of_codec = ferrosz.Compressor(range=BOUND, **named)
    same = of_codec.compress(field)
    is_same = torch.equal(torch.from_dlpack(same), torch.from_dlpack(stream))
    out, reader = torch.empty_like(field), ferrosz.Decompressor()
    call = milliseconds(lambda: of_preset.compress(field), repeat)
    engine = milliseconds(lambda: of_codec.compress(field), repeat)
    module = milliseconds(lambda: ferrosz.compress(field, range=BOUND, **named), repeat)
    back = milliseconds(lambda: ferrosz.decompress(stream), repeat)
    into = milliseconds(lambda: reader.decompress(stream, out=out), repeat)
    size = field.numel() * field.element_size()
    return (
        f"| {edge} | {kind} | {preset} | {named['codec']} {named['rank']}{'' if is_same else ' (other bytes)'} | "
        f"{size / stream.nbytes:.2f} | {call:.3f} | {engine:.3f} | {call / engine:.1f} | {module:.3f} | {back:.3f} | "
        f"{into:.3f} |"
    )


def start() -> None:
    """The first calls of a process that has PyTorch."""
    field = field_of(64, "float32")
    torch.cuda.synchronize()
    print(f"PyTorch and its context: {time.perf_counter() - START:.3f} s")
    for shape in ((64, 64, 64), (32, 64, 128), (64, 64, 64)):
        for preset in ("fast", "balanced", "small"):
            begin = time.perf_counter()
            stream = ferrosz.compress(field.reshape(shape), range=BOUND, preset=preset)
            torch.cuda.synchronize()
            middle = time.perf_counter()
            ferrosz.decompress(stream)
            torch.cuda.synchronize()
            end = time.perf_counter()
            print(f"{shape} {preset}: compress {1e3 * (middle - begin):.1f} ms, decompress {1e3 * (end - middle):.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64", "float16", "masked", "turned"])
    parser.add_argument("--presets", nargs="+", default=["fast", "balanced", "small"])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--start", action="store_true")
    arguments = parser.parse_args()
    if arguments.start:
        return start()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, milliseconds\n")
    print("| edge | kind | preset | chosen | ratio | call | chosen codec | times | module | decompress | into |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind in arguments.dtypes:
        for edge in arguments.edges:
            for preset in arguments.presets:
                print(row(edge, kind, preset, arguments.repeat), flush=True)


if __name__ == "__main__":
    main()
