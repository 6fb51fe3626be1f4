"""Objects as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and what belongs to them."""
    cells = "".join(
        f'<tr><th style="text-align: left">{escape(name)}</th><td style="text-align: left">{escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def framed(page: str, title: str) -> str:
    """A page of its own within another one. It runs no script."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="" '
        'style="width: 100%; height: 40em; border: 1px solid gray"></iframe>'
    )
