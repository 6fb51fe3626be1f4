"""The blocks of docs/book/ways-in.md run, one after the other, in one folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ferrosz

PAGE = Path(__file__).parents[3] / "docs" / "book" / "ways-in.md"

# The commands of blocks of the shell that are not Python's. `pkg-config` must find the C library, too.
TOOLS = ["h5dump", "nccopy", "ncdump", "ferrosz", "cc", "pkg-config"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the blocks of Python have made."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, str(PAGE), "exec"), names)
    return tmp_path


def shell(block: str, folder: Path) -> str:
    """The output of a block. It is skipped without its tools, unless the variable ALL_TOOLS asks for all."""
    missing = [tool for tool in TOOLS if re.search(rf"\b{tool} ", block) and shutil.which(tool) is None]
    if "pkg-config" in block and not missing:
        missing = ["libferrosz"] * subprocess.run(["pkg-config", "--exists", "ferrosz"]).returncode
    if missing:
        (pytest.fail if "ALL_TOOLS" in os.environ else pytest.skip)(f"needs {', '.join(missing)}")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "HDF5_PLUGIN_PATH": "/nowhere"}
    command = ["bash", "-euc", block]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def test_python(folder: Path) -> None:
    assert len(blocks("python")) >= 4
    assert {path.name for path in folder.iterdir()} == {"t.zarr", "t.h5", "t.nc", "x.zarr", "t.fsz"}


def test_the_tools_of_hdf5_and_netcdf(folder: Path) -> None:
    import netCDF4

    shown = shell(blocks("sh")[0], folder)
    with netCDF4.Dataset(folder / "again.nc") as file, netCDF4.Dataset(folder / "t.nc") as first:
        assert np.abs(file["t"][...].astype("f8") - first["t"][...]).max() <= 0.01 * (1 + 1e-6)
    assert '_Filter = "46657,' in shown
    assert len(re.findall(r"\(7,50,10[0-3]\): [\d., ]+", shown)) >= 1


def test_the_command(folder: Path) -> None:
    shown = shell(blocks("sh")[1], folder)
    assert "10 x 100 x 200" in shown
    chunk = (folder / "t.zarr" / "c" / "0" / "0" / "0").read_bytes()
    assert np.array_equal(np.load(folder / "chunk.npy"), ferrosz.decompress(chunk))


def test_c(folder: Path) -> None:
    (program,) = blocks("c")
    (folder / "c.c").write_text(program)
    shell(blocks("sh")[2], folder)
    assert (ferrosz.decompress((folder / "c.fsz").read_bytes()) == np.zeros((100, 200), "f4")).all()
