"""The table of a dry run: a line for each variable."""

from __future__ import annotations

from collections.abc import Mapping

from ._plan import Planned

HEAD = ("variable", "dimensions", "type", "bound", "codec", "chunks", "size", "about", "ratio", "why")
LEFT = {"variable", "dimensions", "type", "codec", "chunks", "why"}


def table_of(planned: Mapping[str, Planned], bytes_on_disk: int | None) -> str:
    """Lines of text. Sizes are those of values in the type of the source, and of the archive by samples."""
    rows = [HEAD, *(_row(name, variable) for name, variable in planned.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(*cell) for cell in zip(HEAD, row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, _totals(planned, bytes_on_disk)])


def _row(name: str, variable: Planned) -> tuple[str, ...]:
    dims = " ".join(f"{dim}={length}" for dim, length in variable.dims.items())
    bound = "exact" if variable.bound is None else f"{'pwrel ' if variable.is_relative else ''}{variable.bound:.4g}"
    sizes = (size_of(variable.source_bytes), size_of(variable.stored_bytes), f"{variable.ratio:.2f}")
    chunks = "-" if variable.chunks is None else " x ".join(map(str, variable.chunks))
    return (name, dims or "-", variable.dtype, bound, variable.codec, chunks, *sizes, _why(variable))


def _why(variable: Planned) -> str:
    """Where a bound comes from that was suggested, and how it is coded; or why it is exact."""
    source = variable.entry.source
    suggested = "" if variable.bound is None or source == "given" else source
    return "; ".join(filter(None, (suggested, variable.reason))) or "measured"


def _aligned(head: str, cell: str, width: int) -> str:
    return cell.ljust(width) if head in LEFT else cell.rjust(width)


def _totals(planned: Mapping[str, Planned], before: int | None) -> str:
    after = sum(variable.stored_bytes for variable in planned.values())
    if before is None:
        return f"total: about {size_of(after)}"
    return f"total: files of {size_of(before)} would become about {size_of(after)}, ratio {before / max(after, 1):.2f}"


def size_of(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
