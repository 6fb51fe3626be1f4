"""The blocks of docs/archives.md run, one after the other, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "archives.md"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    names: dict[str, object] = {"__name__": "__main__"}
    shown = ""
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)
            continue
        run = subprocess.run(
            ["bash", "-euc", block], env={**os.environ, "PATH": path}, check=True, stdout=subprocess.PIPE, text=True
        )
        shown += run.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"months", "t.zarr", "u.zarr", "v.zarr", "repository"}
    assert shown.count("bound kept;") == 1
    assert "1 shards written" in shown.splitlines()[-1]
