"""The blocks of the book's pages run: those of a page one after the other, in a folder of their own.

These are all blocks of Python, and those of the shell behind the first of them. `cli/tests/pages.rs` runs the others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ferrosz

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "docs" / "book"

# These have tests of their own, which also look at what the blocks print.
OTHERS = {"archives.md": "test_archives_page.py", "plans.md": "test_plan.py", "ways-in.md": "test_ways_in.py"}


def blocks(page: Path) -> list[tuple[str, str]]:
    """Languages and texts of the blocks from the first one of Python on."""
    found = re.findall(r"^```(python|sh)\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    first = next((at for at, (language, _) in enumerate(found) if language == "python"), len(found))
    return found[first:]


PAGES = [page for page in sorted(BOOK.rglob("*.md")) if page.name not in OTHERS and blocks(page)]


def test_there_are_pages() -> None:
    assert {"python.md", "xarray.md", "zarr.md", "hdf5.md", "mpi.md", "start.md"} <= {page.name for page in PAGES}
    for name, test in OTHERS.items():
        assert blocks(BOOK / name) and (Path(__file__).parent / test).exists()


def test_front_page() -> None:
    field = np.sin(np.arange(1_000_000, dtype="float32") / 1000).reshape(100, 100, 100)
    names: dict[str, object] = {"np": np, "ferrosz": ferrosz, "field": field}
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), names)
    assert isinstance(names["plane"], np.ndarray) and names["plane"].shape == (100, 10)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The field of the demo, as in a clone.
    Path("demo").symlink_to(ROOT / "demo")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    names: dict[str, object] = {"__name__": "__main__"}
    for language, block in blocks(page):
        if language == "python":
            exec(compile(block, str(page), "exec"), names)
        else:
            subprocess.run(["bash", "-euc", block], env={**os.environ, "PATH": path}, check=True)
