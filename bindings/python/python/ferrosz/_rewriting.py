"""Chunks that are written in parts.

Zarr and HDF5 decode a chunk and encode it again whenever a part of it is written. The decoded values of codecs without
splines encode to themselves, so the bound holds however often that happens. Those of splines do not: each time may add
a bound. So splines are for chunks of which a user says that they are written once, as a whole.
"""

from __future__ import annotations

from typing import Any

from . import ArgumentError
from ._ferrosz import has_splines


def coded(preset: str | None, codec: str | None, written_once: bool) -> dict[str, Any]:
    """The preset and the codec that chunks are compressed with: without splines, unless each chunk is written once."""
    if codec is not None and not written_once and has_splines(codec):
        raise ArgumentError(
            f"codec: {codec!r} has splines, whose errors add each time that a part of a chunk is written; give "
            "written_once=True, which makes streams shorter, if each chunk is written once and as a whole"
        )
    return {"preset": preset_of(preset, codec, written_once), "codec": codec, "rewritable": not written_once}


def preset_of(preset: str | None, codec: str | None, written_once: bool) -> str | None:
    """The preset that chooses among the codecs that may be taken: `balanced` has all without splines."""
    if codec is None and preset in (None, "small"):
        return "small" if written_once else "balanced"
    return preset
