"""The charts of README.md are those of the tables that they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("script", "chart"), [("peers.py", "peers.svg"), ("peers_cpu.py", "peers-cpu.svg")])
def test_charts(script: str, chart: str, tmp_path: Path) -> None:
    made = tmp_path / chart
    subprocess.run([sys.executable, f"benches/{script}", "--out", made], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    assert made.read_text() == (ROOT / "docs" / chart).read_text()
