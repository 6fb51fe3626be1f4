"""Parts of a page that a script makes from numbers, and the numbers."""

from __future__ import annotations

import json
import platform
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def replaced(page: str, name: str, text: str) -> str:
    """The page with this text between `<!-- begin NAME -->` and `<!-- end NAME -->`."""
    marks = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    if not re.search(pattern, page, flags=re.DOTALL):
        raise ValueError(f"the page has no part {name}")
    return re.sub(pattern, lambda _: f"{marks[0]}\n{text}\n{marks[1]}", page, flags=re.DOTALL)


def wrapped(text: str) -> str:
    """The same in lines of at most 120 characters."""
    return "\n".join(textwrap.wrap(text, 120))


def update(folder: Path, picture: Callable[[Any], str], section: Callable[[Any, str], str]) -> None:
    """Makes the picture of each file of numbers in a folder, and its part of the README.md there."""
    page = folder / "README.md"
    text = page.read_text()
    for path in sorted(folder.glob("*.json")):
        numbers = json.loads(path.read_text())
        path.with_suffix(".svg").write_text(picture(numbers))
        text = replaced(text, path.stem, section(numbers, path.stem))
    page.write_text(text)


def processor() -> str:
    """The name of this machine's processor."""
    described = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", described.read_text()) if described.exists() else []
    return f"{len(names)} cores of {names[0]}" if names else platform.machine()


def shortened(value: Any) -> Any:
    """The same with five digits of each number that is no integer."""
    match value:
        case float():
            return float(f"{value:.5g}")
        case dict():
            return {key: shortened(part) for key, part in value.items()}
        case list():
            return [shortened(part) for part in value]
    return value
