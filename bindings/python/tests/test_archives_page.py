"""The blocks of docs/book/archives.md run, one after the other, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ferrosz.archive.__main__ import STATUSES

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[3] / "docs" / "book" / "archives.md"

# Columns of a dry run that do not depend on how well ferrosz compresses.
CERTAIN = ("variable", "dimensions", "type", "bound", "size", "why")


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    names: dict[str, object] = {"__name__": "__main__"}
    shown: list[str] = []
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)
            continue
        run = subprocess.run(
            ["bash", "-euc", block], env={**os.environ, "PATH": path}, check=True, stdout=subprocess.PIPE, text=True
        )
        shown.append(run.stdout)
    assert {path.name for path in tmp_path.iterdir()} == {"months", "t.zarr", "u.zarr", "v.zarr", "repository"}
    dry, *others = shown
    assert "".join(others).count("bound kept;") == 1
    assert "1 shards written" in others[-1].splitlines()[-2]
    (example,) = re.findall(r"```text\n(variable .*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert certain(dry) == certain(example), dry


def certain(table: str) -> list[list[str]]:
    """The certain columns of a table, without its line of totals."""
    rows = [re.split(r"  +", line) for line in table.splitlines()[:-1]]
    places = [rows[0].index(name) for name in CERTAIN]
    return [[row[place] for place in places] for row in rows]


def test_statuses() -> None:
    """The page has those of the command's help."""
    of_page = re.findall(r"^\| (\d+) \|", PAGE.read_text(), flags=re.MULTILINE)
    of_help = re.findall(r"^  (\d+) ", STATUSES, flags=re.MULTILINE)
    assert of_page[: len(of_help)] == of_help
