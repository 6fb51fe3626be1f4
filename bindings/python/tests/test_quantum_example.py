"""`examples/quantum`: circuits on compressed states, beside dense matrices and the prediction of the error."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT))

from examples.page import update  # noqa: E402
from examples.quantum import report  # noqa: E402
from examples.quantum.__main__ import arguments, numbers  # noqa: E402
from examples.quantum.circuit import Gate, Stage, fourier_transform, grover, random_circuit, stages  # noqa: E402
from examples.quantum.state import Comparison, State  # noqa: E402
from examples.quantum.store import Cast, Ferrosz, Raw, Store  # noqa: E402

pytestmark = pytest.mark.long

QUBITS = 6
CIRCUITS = {
    "random": random_circuit(QUBITS, 5, seed=3),
    "qft": fourier_transform(QUBITS, seed=3),
    "grover": grover(QUBITS, 3, seed=3),
}


def dense(gate: Gate, qubits: int) -> np.ndarray:
    """The gate as a matrix of all amplitudes: where the controls are 1, `matrix` in the place of `target`."""
    matrix = np.eye(1, dtype=complex)
    for qubit in range(qubits):
        matrix = np.kron(np.array(gate.matrix) if qubit == gate.target else np.eye(2), matrix)
    controlled = [all(number >> qubit & 1 for qubit in gate.controls) for number in range(2**qubits)]
    return np.where(np.array(controlled)[:, None], matrix, np.eye(2**qubits))


def exact(gates: list[Gate], qubits: int) -> np.ndarray:
    state = np.zeros(2**qubits, complex)
    state[0] = 1
    for gate in gates:
        state = dense(gate, qubits) @ state
    return state


def run(made: list[Stage], store: Store, qubits: int, low: int, real: str) -> State:
    state = State(qubits, low, store, np, real)
    for stage in made:
        state.apply(stage)
    return state


def amplitudes(state: State) -> np.ndarray:
    planes = [state.planes(chunk) for chunk in range(len(state.kept))]
    return np.concatenate([real + 1j * imaginary for real, imaginary in planes])


@pytest.mark.parametrize("fuse", [True, False], ids=["stages", "gates"])
@pytest.mark.parametrize("low, high", [(1, 1), (2, 2), (3, 1), (6, 1)])
@pytest.mark.parametrize("name", CIRCUITS)
def test_any_chunks_give_the_state_of_dense_matrices(name: str, low: int, high: int, fuse: bool) -> None:
    gates = CIRCUITS[name]
    made = list(stages(gates, low, high, fuse))
    assert sum(len(stage.gates) for stage in made) == len(gates)
    assert all(len(stage.high) <= high for stage in made)
    for store in (Raw(), Ferrosz(0, QUBITS, "fixed"), Ferrosz(1e-9, QUBITS, "outlier")):
        found = amplitudes(run(made, store, QUBITS, low, "float64"))
        assert abs(found - exact(gates, QUBITS)).max() < 1e-7


def test_the_transform_is_that_of_numpy() -> None:
    found = exact(CIRCUITS["qft"], QUBITS)
    places = np.arange(2**QUBITS)
    turned = sum((places >> bit & 1) << (QUBITS - 1 - bit) for bit in range(QUBITS))
    start = np.zeros(2**QUBITS)
    start[sum(1 << gate.target for gate in CIRCUITS["qft"] if gate.matrix == ((0, 1), (1, 0)))] = 1
    assert np.allclose(found[turned], np.fft.ifft(start, norm="ortho"))


def test_grover_finds_its_state() -> None:
    odds = abs(exact(grover(QUBITS, 6, seed=3), QUBITS)) ** 2
    wanted = np.random.default_rng(3).integers(0, 2, QUBITS)
    assert odds[int((wanted << np.arange(QUBITS)).sum())] > 0.99


def test_gates_of_a_stage_share_recompressions() -> None:
    gates = random_circuit(12, 8, seed=1)
    fused, single = (run(list(stages(gates, 8, 2, fuse)), Raw(), 12, 8, "float32") for fuse in (True, False))
    assert fused.recompressions * 10 < single.recompressions


@pytest.mark.parametrize("codec", ["fixed", "lorenzo+rans"])
def test_errors_grow_as_predicted(codec: str) -> None:
    """By the square root of the number of recompressions, within a tenth; and never beyond the guarantee."""
    share, qubits, low = 1e-2, 12, 8
    state = State(qubits, low, Ferrosz(share, qubits, codec), np, "float32")
    reference = State(qubits, low, Raw(), np, "float64")
    for number, stage in enumerate(stages(random_circuit(qubits, 24, seed=2), low, 1), 1):
        state.apply(stage)
        reference.apply(stage)
        found = Comparison.of(state, reference)
        assert found.error <= math.sqrt(2) * share * number * (1 + 1e-3)
    predicted = report.error_of(share, state.recompressions)
    assert state.recompressions > 20
    assert 0.9 < found.error / predicted < 1.1
    assert 0.8 < found.infidelity / predicted**2 < 1.2
    assert abs(found.norm**2 - 1 - predicted**2) < 3 * predicted * math.sqrt(2 / 2**qubits)
    assert state.norm() == pytest.approx(found.norm)


def test_kept_bytes_are_counted() -> None:
    for store, ratio in ((Raw(), 1), (Cast("float16", 12), 2)):
        state = run(list(stages(random_circuit(12, 3, seed=1), 8, 1)), store, 12, 8, "float32")
        assert state.peak_bytes * ratio == 2**12 * 8
    state = run(list(stages(random_circuit(12, 3, seed=1), 8, 1)), Ferrosz(1e-1, 12, "fixed"), 12, 8, "float32")
    assert state.bytes == sum(len(kept) for kept in state.kept) <= state.peak_bytes < 2**12 * 8 / 3


def test_the_command_and_its_page(tmp_path: Path) -> None:
    given = ["numbers.json", "--qubits", "8", "--low", "5", "--depth", "4", "--rounds", "1"]
    found = numbers(arguments(given))
    assert {run["circuit"] for run in found["runs"]} == {"random", "qft", "grover"}
    (tmp_path / "README.md").write_text("<!-- begin numbers -->\n<!-- end numbers -->\n")
    (tmp_path / "numbers.json").write_text(json.dumps(found))
    update(tmp_path, report.picture, report.section)
    assert (tmp_path / "README.md").read_text().count("\n| ") == 2 + len(found["runs"])
    assert (tmp_path / "numbers.svg").read_text().count("<polyline") > 12


def test_the_page_has_the_numbers_of_its_files(tmp_path: Path) -> None:
    folder = ROOT / "examples/quantum"
    for path in [*folder.glob("*.json"), folder / "README.md"]:
        shutil.copy(path, tmp_path)
    update(tmp_path, report.picture, report.section)
    for path in [*folder.glob("*.svg"), folder / "README.md"]:
        assert (tmp_path / path.name).read_text() == path.read_text(), f"run python -m examples.quantum.report: {path.name}"
