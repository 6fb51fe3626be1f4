"""The examples of docstrings and of README.md run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ferrosz
import ferrosz.archive
import ferrosz.bare
import ferrosz.cf
import ferrosz.frames
import ferrosz.hdf5
import ferrosz.mpi
import ferrosz.numcodecs
import ferrosz.stages
import ferrosz.xarray
import ferrosz.zarr

README = Path(__file__).parents[1] / "README.md"


def documented() -> list[tuple[str, object, ModuleType]]:
    """All public objects, those of the compiled part too, which doctest does not find by itself."""
    modules = [
        ferrosz,
        ferrosz.archive,
        ferrosz.bare,
        ferrosz.cf,
        ferrosz.frames,
        ferrosz.hdf5,
        ferrosz.xarray,
        ferrosz.zarr,
        ferrosz.numcodecs,
        ferrosz.mpi,
        ferrosz.stages,
    ]
    found: list[tuple[str, object, ModuleType]] = [(module.__name__, module, module) for module in modules]
    for module in modules:
        for name in module.__all__:
            owner = getattr(module, name)
            found.append((f"{module.__name__}.{name}", owner, module))
            if isinstance(owner, type):
                public = {entry: value for entry, value in vars(owner).items() if not entry.startswith("_")}
                # Numbers and None are defaults of fields.
                methods = [entry for entry, value in public.items() if not isinstance(value, int | str | None)]
                found += [(f"{module.__name__}.{name}.{method}", getattr(owner, method), module) for method in methods]
    return found


@pytest.mark.parametrize("name, owner, module", documented(), ids=lambda value: value if isinstance(value, str) else "")
def test_docstrings(name: str, owner: object, module: ModuleType, tmp_path: Path) -> None:
    text = getattr(owner, "__doc__", None) or ""
    if name != "ferrosz.__version__":
        assert text, f"{name} has no docstring"
    names = {**vars(module), "np": np, "ferrosz": ferrosz, "folder": tmp_path}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks run one after the other, in one namespace."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
