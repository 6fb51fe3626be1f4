"""The first pass over a variable: its range, and the settings that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from .. import cf
from ..hdf5 import Ferrosz
from ..zarr import FerroszCodec
from ._bounds import (
    bound_of,
    codec_of,
    extremes_of_part,
    extremes_together,
    filter_of,
    unpacked_extremes,
    valid_range_of,
)
from ._choice import Choice
from ._layout import boxes_of
from ._run import Progress, counted, run


def codec_found(choice: Choice, client: Any, progress: Progress | None) -> tuple[FerroszCodec, dict[str, Any]]:
    """The codec of a variable in Zarr, and what is known of it then: its bound and its extremes."""
    extremes = extremes_found(choice, client, progress)
    codec = codec_of(choice.field, choice.chunks, choice.bound, extremes, choice.options)
    return codec, _known(choice, codec, extremes)


def filter_found(choice: Choice, client: Any, progress: Progress | None) -> tuple[Ferrosz, dict[str, Any]]:
    """The same for a file of NetCDF-4."""
    extremes = extremes_found(choice, client, progress)
    found = filter_of(choice.field, choice.chunks, choice.bound, extremes, choice.options)
    return found, _known(choice, found, extremes)


def error_attributes(choice: Choice, settings: FerroszCodec | Ferrosz, known: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that say which error is left."""
    relative = {key: value for key, value in choice.bound.items() if key in ("range", "max")}
    left = {**cf.attributes(settings, **relative), "ferrosz_bound": known["bound"]}
    return left | {f"ferrosz_{key}": known[key] for key in ("minimum", "maximum") if key in known}


def extremes_found(choice: Choice, client: Any, progress: Progress | None) -> tuple[float, float]:
    """The least and the greatest value of a variable; zeros if its bound does not follow from them."""
    field = choice.field
    if not choice.needs_extremes:
        return 0.0, 0.0
    valid, ask = valid_range_of(field), choice.ask and choice.is_relative
    calls = ((field.part(box), valid, ask) for box in boxes_of(field.shape, choice.shards))
    with closing(run(client, extremes_of_part, calls)) as results:
        return extremes_together(field, counted(results, progress, f"{field.name}: range", choice.shard_count))


def _known(choice: Choice, settings: FerroszCodec | Ferrosz, extremes: tuple[float, float]) -> dict[str, Any]:
    field = choice.field
    found: dict[str, Any] = {"bound": bound_of(field, settings)}
    if choice.is_relative:
        found |= dict(zip(("minimum", "maximum"), unpacked_extremes(field, extremes), strict=True))
    return found
