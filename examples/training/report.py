"""Makes the tables of README.md and the pictures from the numbers.

    python -m examples.training.report
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..chart import BLACK, COLOURS, GREY, Curve, Panel, svg
from ..page import table, update, wrapped

FOLDER = Path(__file__).parent
HEAD = (
    "model",
    "activations",
    "gradients",
    "loss at the end",
    "beside uncompressed",
    "gradients apart",
    "saved, MiB",
    "kept, MiB",
    "ratio",
    "gradients, ratio",
    "calls a step",
    "ms a step",
    "peak, GiB",
)
CALLS = ("model", "a tensor, KiB", "calls alone, us", "in a bundle of 1, us", "in a bundle of 64, us")
SHORT = {"float32": "f32", "bfloat16": "bf16", "float8_e4m3fn": "fp8"}
# Losses in the picture are means of so many steps.
SMOOTH = 10


def kept(name: str | None, share: float | None) -> str:
    """How something is kept."""
    if share is not None:
        return f"e = {share:g}"
    return SHORT.get(name, name) if name else ""


def label(run: dict[str, Any]) -> str:
    """What is compressed in a run."""
    parts = [kept(run[part], run[f"{part}_share"]) for part in ("activations", "gradients")]
    if not any(parts):
        return "uncompressed" + (", another seed" if run["seed"] else "")
    return ", gradients ".join(parts) if all(parts) else "".join(parts)


def row(run: dict[str, Any], baseline: dict[str, Any]) -> list[str]:
    """A row of the table."""
    saved = run["saved"]
    alone = ", a call a tensor" if run["group_bytes"] == 0 else ""
    plain = "" if run["gradients"] else label(run)
    calls = saved["compressions"] if run["activations"] else 0
    return [
        SHORT[run["dtype"]],
        kept(run["activations"], run["activations_share"]) + alone or plain,
        kept(run["gradients"], run["gradients_share"]),
        f"{run['last_loss']:.4f}",
        f"{run['last_loss'] - baseline['last_loss']:+.4f}" if run is not baseline else "",
        f"{run['gradient_error']:.1e}" if run["activations"] or run["gradients"] else "",
        f"{saved['raw_bytes'] / 2**20:.1f}",
        f"{saved['kept_bytes'] / 2**20:.1f}",
        f"{saved['raw_bytes'] / saved['kept_bytes']:.2f}" if run["activations"] else "",
        f"{run['gradient_bytes'] / run['exchanged_bytes']:.2f}" if run["exchanged_bytes"] else "",
        str(calls + (1 if run["gradients"] else 0) or ""),
        f"{1e3 * run['step_seconds']:.1f}",
        f"{run['peak_bytes'] / 2**30:.2f}" if run["peak_bytes"] else "",
    ]


def smooth(losses: Sequence[float]) -> list[tuple[float, float]]:
    """Means of some steps, each at its last step."""
    ends = range(SMOOTH, len(losses) + 1, SMOOTH) or [len(losses)]
    return [(end, sum(losses[max(0, end - SMOOTH) : end]) / min(end, SMOOTH)) for end in ends]


def losses(numbers: dict[str, Any], dtype: str, what: str) -> Panel:
    """The losses where activations alone, or gradients alone, are compressed; those of the uncompressed runs, and the least
    loss that there can be."""
    other = {"activations": "gradients", "gradients": "activations"}[what]
    alike = [run for run in numbers["runs"] if run["dtype"] == dtype and run["group_bytes"] is None and not run[other]]
    runs, plain = [run for run in alike if run[what]], [run for run in alike if not run[what]]
    # A way to keep something has one colour in all panels.
    ways = list(dict.fromkeys(label(run) for run in numbers["runs"] if run["activations"] and not run["gradients"]))
    colours = dict(zip(ways, COLOURS, strict=False))
    curves = [Curve(label(run), smooth(run["loss"]), colours.get(label(run), GREY)) for run in runs]
    curves += [Curve(label(run), smooth(run["loss"]), colour) for run, colour in zip(plain, (BLACK, GREY), strict=False)]
    ends = [(step, numbers["entropy"]) for step in (1, len(plain[0]["loss"]))]
    curves.append(Curve("the entropy of the language", ends, GREY, dashed=True))
    return Panel(f"{SHORT[dtype]}, {what} compressed", "steps", "loss, nats", curves)


def costs(calls: Sequence[dict[str, Any]], dtype: str) -> Panel:
    """The time of a tensor over its size."""
    kinds = {"calls_us": "calls alone", "bundle_of_1_us": "in a bundle of 1", "bundle_of_64_us": "in a bundle of 64"}
    curves = [
        Curve(text, [(call["bytes"] / 1024, call[key]) for call in calls], colour)
        for (key, text), colour in zip(kinds.items(), COLOURS, strict=False)
    ]
    return Panel(f"{SHORT[dtype]}, there and back", "KiB a tensor", "us a tensor", curves, log_x=True, log_y=True)


def picture(numbers: dict[str, Any]) -> str:
    """Losses for each type of the model, and the costs of calls."""
    panels = []
    for dtype, calls in numbers["calls"].items():
        panels += [losses(numbers, dtype, what) for what in ("activations", "gradients")]
        panels.append(costs(calls, dtype))
    return svg(panels)


def section(numbers: dict[str, Any], name: str) -> str:
    """A machine's part of the page."""
    size, runs = numbers["size"], numbers["runs"]
    shown = (
        f"{numbers['machine']}, PyTorch {numbers['torch']}: {runs[0]['parameters']:,} parameters, {size['layers']} layers of "
        f"{size['width']}, {size['batch']} x {size['length']} symbols a step, {size['steps']} steps; tensors from "
        f"{size['least_bytes'] // 1024:,} KiB on, in groups of {size['group_bytes'] // 1024:,} KiB; codec "
        f"`{numbers['codec']}`. The entropy of the language is {numbers['entropy']:.4f}."
    )
    baselines = {run["dtype"]: run for run in reversed(runs) if not run["activations"] and not run["gradients"]}
    found = table(HEAD, [row(run, baselines[run["dtype"]]) for run in runs])
    calls = [
        [SHORT[dtype], f"{call['bytes'] // 1024:,}", *(f"{call[key]:.0f}" for key in list(call)[1:])]
        for dtype, all_calls in numbers["calls"].items()
        for call in all_calls
    ]
    return "\n\n".join([wrapped(shown), f"![Losses, and costs of calls]({name}.svg)", found, table(CALLS, calls)])


if __name__ == "__main__":
    update(FOLDER, picture, section)
