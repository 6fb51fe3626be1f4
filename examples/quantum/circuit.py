"""Circuits of controlled gates on one qubit, and their division into stages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Matrix = tuple[tuple[complex, complex], tuple[complex, complex]]

HADAMARD: Matrix = ((math.sqrt(0.5), math.sqrt(0.5)), (math.sqrt(0.5), -math.sqrt(0.5)))
NOT: Matrix = ((0, 1), (1, 0))
SIGN: Matrix = ((1, 0), (0, -1))


@dataclass(frozen=True)
class Gate:
    """A matrix of 2 x 2 on the qubit `target`, where all qubits of `controls` are 1."""

    matrix: Matrix
    target: int
    controls: tuple[int, ...] = ()

    @property
    def qubits(self) -> set[int]:
        """All qubits that the gate concerns."""
        return {self.target, *self.controls}

    @property
    def mixes(self) -> bool:
        """Whether it mixes amplitudes. A diagonal gate only multiplies each of them."""
        # The zeros are exact: they are those of the matrices above.
        return self.matrix[0][1] != 0 or self.matrix[1][0] != 0


def phase(angle: float) -> Matrix:
    """diag(1, exp(i angle))."""
    return ((1, 0), (0, complex(math.cos(angle), math.sin(angle))))


def random_circuit(qubits: int, depth: int, seed: int) -> list[Gate]:
    """`depth` layers, each with a random rotation of every qubit, and controlled signs of every second pair of
    neighbours. After some layers the amplitudes are like complex Gaussian noise, which is the hardest to compress."""
    random = np.random.default_rng(seed)
    gates = []
    for layer in range(depth):
        for qubit in range(qubits):
            a, b, c, d = (float(number) for number in random.normal(size=4))
            norm = math.sqrt(a * a + b * b + c * c + d * d)
            u, v = complex(a, b) / norm, complex(c, d) / norm
            gates.append(Gate(((u, -v.conjugate()), (v, u.conjugate())), qubit))
        gates += [Gate(SIGN, qubit, (qubit + 1,)) for qubit in range(layer % 2, qubits - 1, 2)]
    return gates


def fourier_transform(qubits: int, seed: int) -> list[Gate]:
    """The quantum Fourier transform of a random basis state, without the reversal of qubits at its end."""
    ones = np.flatnonzero(np.random.default_rng(seed).integers(0, 2, qubits))
    gates = [Gate(NOT, int(qubit)) for qubit in ones]
    for qubit in reversed(range(qubits)):
        gates.append(Gate(HADAMARD, qubit))
        gates += [Gate(phase(math.pi / 2 ** (qubit - other)), qubit, (other,)) for other in reversed(range(qubit))]
    return gates


def grover(qubits: int, rounds: int, seed: int) -> list[Gate]:
    """Grover's search of a random basis state."""
    everywhere = [Gate(HADAMARD, qubit) for qubit in range(qubits)]
    flipped = [Gate(NOT, qubit) for qubit in range(qubits)]
    wanted = np.random.default_rng(seed).integers(0, 2, qubits)
    zeros = [Gate(NOT, int(qubit)) for qubit in np.flatnonzero(wanted == 0)]
    sign = [Gate(SIGN, qubits - 1, tuple(range(qubits - 1)))]
    round_of = [*zeros, *sign, *zeros, *everywhere, *flipped, *sign, *flipped, *everywhere]
    return everywhere + round_of * rounds


@dataclass(frozen=True)
class Stage:
    """Gates between two compressions of the state. They mix amplitudes of one chunk, and along the qubits `high` those of
    chunks whose numbers differ in these bits."""

    high: tuple[int, ...]
    gates: tuple[Gate, ...]


def stages(gates: Sequence[Gate], low: int, most_high: int, fuse: bool = True) -> Iterator[Stage]:
    """Divides a circuit for chunks of `2 ** low` amplitudes, of which `2 ** most_high` are decoded together.

    A stage takes gates in their order. One that mixes along a further high qubit waits for a later stage, and so do those
    behind it that share a qubit with a waiting one. Diagonal gates, and controls, need no other chunk. Without `fuse` each
    gate is a stage."""
    if most_high < 1:
        raise ValueError("most_high: a gate on a high qubit mixes two chunks, so at least one such qubit is needed")
    if not fuse:
        yield from (Stage(_high({gate.target}, low) if gate.mixes else (), (gate,)) for gate in gates)
        return
    left = list(gates)
    while left:
        high: set[int] = set()
        taken, waiting, blocked = [], [], set[int]()
        for gate in left:
            wanted = high | set(_high({gate.target}, low)) if gate.mixes else high
            if len(wanted) <= most_high and blocked.isdisjoint(gate.qubits):
                high = wanted
                taken.append(gate)
            else:
                blocked |= gate.qubits
                waiting.append(gate)
        yield Stage(tuple(sorted(high)), tuple(taken))
        left = waiting


def _high(qubits: set[int], low: int) -> tuple[int, ...]:
    return tuple(sorted(qubit for qubit in qubits if qubit >= low))
