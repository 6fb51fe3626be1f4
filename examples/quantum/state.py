"""A state of qubits in chunks that are decoded, changed and encoded again, a window of chunks at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .circuit import Gate, Stage
from .store import Store


class State:
    """`2 ** qubits` amplitudes in chunks of `2 ** low`, at first |0>. Bit q of an amplitude's number is qubit q, so the
    chunk's number has the high qubits.

    `xp` is the array module, NumPy or CuPy; `real` is the type of a plane, "float32" or "float64"."""

    def __init__(self, qubits: int, low: int, store: Store, xp: Any, real: str) -> None:
        if not 1 <= low <= qubits:
            raise ValueError(f"low: chunks of 2 ** {low} amplitudes do not divide a state of {qubits} qubits")
        self.qubits, self.low, self.store, self.xp, self.real = qubits, low, store, xp, real
        planes = xp.zeros((2, 2**low), real)
        empty = store.encode(planes)
        planes[0, 0] = 1
        self.kept = [store.encode(planes), *[empty] * (2 ** (qubits - low) - 1)]
        self.bytes = sum(map(store.bytes_of, self.kept))
        self.peak_bytes = self.bytes
        self.encodings = 0

    def planes(self, chunk: int) -> Any:
        """The real and the imaginary parts of a chunk."""
        planes = self.xp.empty((2, 2**self.low), self.real)
        self.store.decode(self.kept[chunk], planes)
        return planes

    def apply(self, stage: Stage) -> None:
        """Applies the gates of a stage. Chunks on which none of them acts stay as they are, and gain no error."""
        for window in windows(self.qubits, self.low, stage.high):
            gates = [gate for gate in map(window.local, stage.gates) if gate is not None]
            if not gates:
                continue
            amplitudes = self._decoded(window.chunks)
            for gate in gates:
                change(amplitudes, gate)
            self._encode(window.chunks, amplitudes)

    def _decoded(self, chunks: Sequence[int]) -> Any:
        amplitudes = self.xp.empty((len(chunks), 2**self.low), "complex64" if self.real == "float32" else "complex128")
        for row, chunk in zip(amplitudes, chunks, strict=True):
            planes = self.planes(chunk)
            row.real, row.imag = planes[0], planes[1]
        return amplitudes.reshape(-1)

    def _encode(self, chunks: Sequence[int], amplitudes: Any) -> None:
        for row, chunk in zip(amplitudes.reshape(len(chunks), -1), chunks, strict=True):
            new = self.store.encode(self.xp.stack((row.real, row.imag)))
            self.bytes += self.store.bytes_of(new) - self.store.bytes_of(self.kept[chunk])
            self.kept[chunk] = new
            self.peak_bytes = max(self.peak_bytes, self.bytes)
            self.encodings += 1

    def norm(self) -> float:
        """The square root of the sum of the squared moduli."""
        planes = (self.planes(chunk).astype("float64").reshape(-1) for chunk in range(len(self.kept)))
        return math.sqrt(sum(float(self.xp.vdot(values, values)) for values in planes))

    @property
    def recompressions(self) -> float:
        """How often an amplitude has been encoded, on average."""
        return self.encodings / len(self.kept)


@dataclass(frozen=True)
class Window:
    """Chunks that are decoded together, and where a qubit is: at a place in the window, or in the number of its chunks."""

    chunks: tuple[int, ...]
    low: int
    high: tuple[int, ...]

    def local(self, gate: Gate) -> Gate | None:
        """The gate with places of the window in place of qubits, or `None` if it changes nothing here."""
        here = [*range(self.low), *self.high]
        inside = {qubit: here.index(qubit) for qubit in gate.qubits if qubit in here}
        bits = {qubit: self.chunks[0] >> (qubit - self.low) & 1 for qubit in gate.qubits - inside.keys()}
        if any(bits.get(control) == 0 for control in gate.controls):
            return None
        controls = tuple(inside[control] for control in gate.controls if control in inside)
        if gate.target in inside:
            return Gate(gate.matrix, inside[gate.target], controls)
        # A diagonal gate: a factor for the whole window, or for its part where the other controls are 1.
        factor = gate.matrix[bits[gate.target]][bits[gate.target]]
        if factor == 1:
            return None
        if controls:
            return Gate(((1, 0), (0, factor)), controls[0], controls[1:])
        return Gate(((factor, 0), (0, factor)), 0)


def windows(qubits: int, low: int, high: Sequence[int]) -> Iterator[Window]:
    """All windows of a stage. Bit j of a chunk's place in its window is the qubit `high[j]`."""
    others = [qubit for qubit in range(low, qubits) if qubit not in high]
    inner = [_number(high, bits, low) for bits in itertools.product((0, 1), repeat=len(high))]
    for bits in itertools.product((0, 1), repeat=len(others)):
        first = _number(others, bits, low)
        yield Window(tuple(first + offset for offset in inner), low, tuple(high))


def _number(qubits: Sequence[int], bits: Sequence[int], low: int) -> int:
    """The number of a chunk, the last of `bits` changing fastest, and so at the first of `qubits`."""
    return sum(bit << (qubit - low) for qubit, bit in zip(qubits, reversed(bits), strict=True))


def change(amplitudes: Any, gate: Gate) -> None:
    """Applies a gate to `2 ** places` amplitudes in place."""
    bits: dict[int, int | None] = {gate.target: None, **dict.fromkeys(gate.controls, 1)}
    shape: list[int] = []
    index: list[slice | int | None] = []
    target, top = 0, amplitudes.size.bit_length() - 1
    for place in sorted(bits, reverse=True):
        if top - place > 1:
            shape.append(2 ** (top - 1 - place))
            index.append(slice(None))
        if place == gate.target:
            target = len(index)
        shape.append(2)
        index.append(bits[place])
        top = place
    view = amplitudes.reshape(*shape, 2**top)
    zero, one = ((*index[:target], bit, *index[target + 1 :]) for bit in (0, 1))
    (a, b), (c, d) = gate.matrix
    if gate.mixes:
        first, second = view[zero], view[one]
        new = a * first + b * second
        view[one] = c * first + d * second
        view[zero] = new
        return
    for part, factor in ((zero, a), (one, d)):
        if factor != 1:
            view[part] *= factor


@dataclass(frozen=True)
class Comparison:
    """A state beside a reference: 1 - |<a|b>|^2 / (<a|a><b|b>), the norm of the difference, and the norm of the state. The
    amplitudes are not renormalised; the fidelity is that of the state divided by its norm."""

    infidelity: float
    error: float
    norm: float

    @classmethod
    def of(cls, state: State, reference: State) -> Comparison:
        """Compares chunk by chunk, in float64."""
        xp = state.xp
        inner, own, other, difference = 0j, 0.0, 0.0, 0.0
        for chunk in range(len(state.kept)):
            (a, b), (c, d) = (planes.astype("float64") for planes in (state.planes(chunk), reference.planes(chunk)))
            inner += complex(float(xp.vdot(a, c) + xp.vdot(b, d)), float(xp.vdot(a, d) - xp.vdot(b, c)))
            own += float(xp.vdot(a, a) + xp.vdot(b, b))
            other += float(xp.vdot(c, c) + xp.vdot(d, d))
            difference += float(xp.vdot(a - c, a - c) + xp.vdot(b - d, b - d))
        return cls(1 - abs(inner) ** 2 / (own * other), difference**0.5, own**0.5)
