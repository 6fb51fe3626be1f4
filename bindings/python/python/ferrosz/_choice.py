"""The codec of all chunks of an array, chosen once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import ArgumentError, Compressor, PresetKept
from ._carrier import to_carrier
from ._device import cupy, is_on_gpu
from ._settings import chosen
from ._warning import warn

# A stream has at most so many dimensions.
MOST_AXES = 8

# For each larger chunk a codec is chosen: this takes little of the time of its compression.
MOST_BYTES = 8 << 20

# The sample has one of eight chunks, but at most four.
ONE_OF, MOST_SAMPLES = 8, 4

# What the chunks of the sample may be longer together than with a codec for each of them.
TOLERANCE = 1.05


def most_axes(dtype: np.dtype[Any]) -> int:
    """The most axes of an array of a type: the parts of complex numbers have one of a stream's."""
    return MOST_AXES - (dtype.kind == "c")


def settings_of_chunks(
    values: Any, chunks: Sequence[int], names: Sequence[str], compressor: Callable[[dict[str, Any]], Compressor]
) -> dict[str, Any]:
    """The settings of these names, out of `codec`, `rank`, `axes`, `keep_sign` and `keep_zero`, that all chunks of this
    shape have. There are none if chunks have more than 8 MiB, whose compression takes longer than a choice. Nor are there
    any, and a `PresetKept` says so, if a preset, which chooses for each chunk, makes those of the sample more than 5 %
    shorter together.

    values
        An array of NumPy or of Dask, on a GPU, or of which boxes can be loaded. Only the samples are.
    compressor
        Makes a compressor that has these settings, and others that are the caller's.
    """
    chunks = tuple(chunks)
    if len(chunks) != len(values.shape) or min(chunks, default=1) < 1:
        raise ArgumentError(f"chunks: {chunks!r} is no shape of chunks of an array of {tuple(values.shape)!r}")
    if len(chunks) > most_axes(values.dtype) or math.prod(chunks) * values.dtype.itemsize > MOST_BYTES:
        return {}
    samples = _sample(values, chunks)
    of_preset = [compressor({}).compress(sample) for sample in samples]
    coded = [name for name in names if not name.startswith("keep")]
    settings = [chosen(stream.info, coded) for stream in of_preset]
    if not samples:
        return {}
    # A preset keeps signs and zeros of some chunks by a mask; the codec that has a name does not.
    kept = {name: True for name in ("keep_sign", "keep_zero") if any(getattr(it.info, name) for it in of_preset)}
    if kept and "keep_sign" not in names:
        warn("a codec is chosen for each chunk: signs or zeros of some chunks are kept by a mask", PresetKept)
        return {}
    settings = [of_chunk | kept for of_chunk in settings]
    candidates = [candidate for number, candidate in enumerate(settings) if candidate not in settings[:number]]
    if len(candidates) == 1 and compressor(candidates[0]).compress(samples[0]) == of_preset[0]:
        return candidates[0]
    lengths = [sum(len(compressor(candidate).compress(sample)) for sample in samples) for candidate in candidates]
    shortest, own = min(lengths), sum(map(len, of_preset))
    if shortest > TOLERANCE * own:
        longer = 100 * (shortest / own - 1)
        message = f"a codec is chosen for each chunk: one for all would make them {longer:.0f} % longer"
        warn(f"{message}; give a codec if speed counts more", PresetKept)
        return {}
    return candidates[lengths.index(shortest)]


def _sample(values: Any, chunks: tuple[int, ...]) -> list[Any]:
    """Whole chunks, as far as there are such, from all parts of an array."""
    shape = tuple(values.shape)
    counts = [max(length // chunk, 1) for length, chunk in zip(shape, chunks, strict=True)]
    total = math.prod(counts)
    count = min(MOST_SAMPLES, -(-total // ONE_OF)) if values.size else 0
    blocks = []
    for number in range(count):
        places = np.unravel_index((2 * number + 1) * total // (2 * count), counts)
        starts = [int(place) * chunk for place, chunk in zip(places, chunks, strict=True)]
        box = tuple(slice(start, start + chunk) for start, chunk in zip(starts, chunks, strict=True))
        blocks.append(values[box])
    if hasattr(values, "dask"):
        import dask

        blocks = list(dask.compute(*blocks))
    return [to_carrier(_on_cpu(block)) for block in blocks]


def _on_cpu(block: Any) -> Any:
    if is_on_gpu(block):
        return cupy().asnumpy(cupy().from_dlpack(block))
    return block if isinstance(block, np.ma.MaskedArray) else np.asarray(block)
