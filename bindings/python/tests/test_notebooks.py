"""The notebooks of the book run, each in a kernel of its own. Their cells assert what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = pytest.mark.long

BOOK = Path(__file__).parents[3] / "docs" / "book"
NOTEBOOKS = sorted((BOOK / "notebooks").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, 4)


def run(notebook: Any, folder: Path) -> None:
    NotebookClient(notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()


def test_the_book_names_all() -> None:
    assert len(NOTEBOOKS) == 3
    text = (BOOK / "start.md").read_text()
    assert all(f"docs/book/notebooks/{path.name})" in text for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "notebooks are committed without outputs"
    assert sum("assert " in cell.source for cell in code) >= 4
    run(notebook, tmp_path)


def test_a_notebook_whose_bound_is_not_kept_is_found(tmp_path: Path) -> None:
    """A field that differs by half of a kelvin in one place from the one that was compressed."""
    notebook = read(BOOK / "notebooks" / "field.ipynb")
    (cell,) = [cell for cell in notebook.cells if cell.source.startswith("back = ")]
    cell.source += "\nfield[5, 6, 7] += 0.5"
    with pytest.raises(CellExecutionError, match="assert largest <= 0.01"):
        run(notebook, tmp_path)
