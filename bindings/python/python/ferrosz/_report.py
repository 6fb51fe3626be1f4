"""`report`: a page about an array and its streams, to look at and to show to others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _ferrosz
from ._html import framed
from ._info import Info, info
from ._mapped import mapped
from ._temporary import written
from .errors import ArgumentError

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """A page about an array and its streams: one file of HTML without scripts, which needs no network. A notebook shows
    it. It is true if all streams keep their bounds."""

    name: str
    """The name of the array."""
    kept: tuple[bool, ...]
    """For each stream, whether it keeps its bound and its promises."""
    html: str = field(repr=False)
    """The page."""

    def __bool__(self) -> bool:
        return all(self.kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, which may replace one."""
        with written(path) as unfinished:
            unfinished.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return framed(self.html, f"report about {self.name}")


def report(
    original: Any,
    *streams: Any,
    name: str | None = None,
    units: str | None = None,
    ranges: Sequence[float] = (1e-2, 1e-3, 1e-4),
    device: str = "auto",
    **settings: Any,
) -> Report:
    """A page about an array and its streams: slices of the original, the reconstruction and the error, where the worst
    errors are, how they are distributed, spectra, quality by slice, where the bits are, and rate over distortion.

    original
        The array before it was compressed, as `compress` takes it; anything with a name, such as an array of xarray, is
        called so on the page.
    streams
        Streams of the array, or paths of files that have one. Without any, the array is compressed for each of the
        `ranges`.
    name
        What the array is called.
    units
        The units of its values, by default those that its attributes name, as those of an array of xarray do.
    ranges
        Bounds relative to the range, if there are no streams.
    device
        Where streams are made and decoded.
    settings
        Those of `compress`, such as `preset` or `fill`, if there are no streams.

    Raises what `compress` and `verify` raise.

    >>> field = np.sin(np.arange(100000, dtype="float32") / 1000).reshape(100, 1000)
    >>> page = ferrosz.report(field, ferrosz.compress(field, range=1e-3), name="waves")
    >>> page
    Report(name='waves', kept=(True,))
    >>> page.save(folder / "waves.html")
    """
    if streams and settings:
        raise ArgumentError(f"{', '.join(settings)}: a stream has been compressed; these are for an array without streams")
    name = name or str(getattr(original, "name", None) or "array")
    if not streams:
        from . import compress

        streams = tuple(compress(original, range=bound, device=device, **settings) for bound in ranges)
    named = [_named(stream, name) for stream in streams]
    if units is None:
        units = str(getattr(original, "attrs", {}).get("units", ""))
    html, kept = _ferrosz.report_page(original, name, units, named, device)
    return Report(name, tuple(kept), html)


def _named(stream: Any, original: str) -> tuple[str, Any, str]:
    """A stream with its name and the call that makes it."""
    opened = mapped(stream)
    of_stream = info(opened)
    is_path = isinstance(stream, str | os.PathLike)
    title = os.fspath(stream) if is_path else f"{of_stream.mode} {of_stream.bound:g}"
    return str(title), opened, _call(of_stream, original)


def _call(made: Info, original: str) -> str:
    """The call that makes a stream with these properties."""
    settings: dict[str, Any] = {made.mode: made.bound, "codec": made.codec, "rank": made.rank, "axes": made.axes}
    settings |= {"chunk_tiles": made.chunk_tiles, "levels": made.levels_apart or None, "fill": made.fill or None}
    settings |= {"wavelets": made.coefficient_error, "keep_sign": made.keep_sign or None, "keep_zero": made.keep_zero or None}
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items() if value is not None)
    return f"ferrosz.compress({original}, {given})"
