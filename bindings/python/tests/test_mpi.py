"""Parts of arrays, messages and sums on the ranks of MPI. MPIEXEC is the command that starts them, by default that of mpich;
FERROSZ_MPI_CASES the number of decompositions and of sums for each number of ranks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import ferrosz

pytestmark = pytest.mark.long

PROGRAMS = Path(__file__).parent / "mpi"
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", str(Path(sys.executable).with_name("mpiexec"))))
CASES = os.environ.get("FERROSZ_MPI_CASES", "9")


def run(ranks: int, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a program on so many ranks. An exception of one ends all."""
    command = [*MPIEXEC, "-n", str(ranks), sys.executable, "-m", "mpi4py", PROGRAMS / program, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=250)


def output(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_any_decomposition_makes_the_bytes_of_one_process(tmp_path: Path) -> None:
    lines = output(run(7, "decompositions.py", tmp_path, CASES)).splitlines()
    assert sorted(lines) == [f"{size} ranks: {CASES} cases" for size in (1, 2, 3, 4, 7)]


def test_an_error_of_one_is_an_error_of_all(tmp_path: Path) -> None:
    assert output(run(3, "fails.py", tmp_path)) == "all failed\n"


@pytest.mark.parametrize("writes", ["collective", "pwrite"])
def test_a_rank_that_dies_leaves_no_stream(tmp_path: Path, writes: str) -> None:
    path = tmp_path / "field.fsz"
    calls = int(output(run(3, "dies.py", path, 0, -1, writes)))
    whole = path.read_bytes()
    assert ferrosz.info(whole).shape == (40, 50, 60)
    # Before all, in the middle, at the write of the chunks, at the barrier, at the write of the header.
    for rank, call in ((0, 0), (2, calls // 2), (1, calls - 5), (0, calls - 3), (0, calls - 2)):
        path.unlink(missing_ok=True)
        if call > calls - 5:
            # An older stream, which is gone when the new one has begun.
            path.write_bytes(whole)
        ended = run(3, "dies.py", path, rank, call, writes)
        assert ended.returncode != 0, f"rank {rank} lived on after call {call} of {calls}"
        if path.exists():
            with pytest.raises(ferrosz.DamagedStream):
                ferrosz.info(path.read_bytes())


def test_messages_are_streams() -> None:
    assert output(run(2, "messages.py")) == "all came\n"


def test_sums_are_within_their_bound_and_the_same_everywhere() -> None:
    lines = output(run(7, "sums.py", CASES)).splitlines()
    assert sorted(lines) == [f"{size} ranks: {CASES} cases" for size in (1, 2, 3, 4, 7)]
