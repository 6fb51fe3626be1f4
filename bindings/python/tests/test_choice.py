"""The codec of all chunks, chosen by made-up lengths."""

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ferrosz
from ferrosz._choice import MOST_BYTES, MOST_SAMPLES, settings_of_chunks

# The codec that the preset takes for each sample, and the length of each sample by codec.
CHOSEN = ["a", "b", "a", "a"]


class Stream:
    def __init__(self, codec: str, length: int) -> None:
        self.info, self.length = SimpleNamespace(keep_sign=False, keep_zero=False, codec=codec, rank=1), length

    def __len__(self) -> int:
        return self.length


class Stand:
    """In the place of a compressor: streams have the lengths of a table."""

    def __init__(self, settings: dict[str, Any], lengths: dict[str, int]) -> None:
        self.settings, self.lengths = settings, lengths

    def compress(self, sample: np.ndarray) -> Any:
        chosen = CHOSEN[int(sample[0]) // 20]
        codec = self.settings.get("codec", chosen)
        return Stream(codec, self.lengths["own" if codec == chosen else codec])


@pytest.mark.parametrize(
    ("lengths", "found"),
    [
        # Four streams of 1000, or three and a longer one, or one and three longer ones.
        ({"own": 1000, "a": 1200, "b": 1500}, "a"),
        ({"own": 1000, "a": 1201, "b": 1067}, None),
        ({"own": 1000, "a": 1300, "b": 1066}, "b"),
    ],
)
def test_a_codec_is_taken_if_it_costs_little(lengths: dict[str, int], found: str | None) -> None:
    values = np.arange(320) // 4
    says: Any = contextlib.nullcontext() if found else pytest.warns(ferrosz.PresetKept, match="5 % longer")
    with says:
        chosen = settings_of_chunks(values, (10,), ["codec", "rank"], lambda settings: Stand(settings, lengths))  # type: ignore[arg-type,return-value]
    assert chosen == ({} if found is None else {"codec": found, "rank": 1})


def test_samples_are_whole_chunks_of_all_parts() -> None:
    seen: list[np.ndarray] = []

    class Seen(Stand):
        def compress(self, sample: np.ndarray) -> Any:
            seen.append(sample)
            return super().compress(np.zeros(1))

    def found(values: np.ndarray, chunks: tuple[int, ...]) -> list[np.ndarray]:
        seen.clear()
        settings_of_chunks(values, chunks, ["codec"], lambda settings: Seen(settings, {"own": 1}))  # type: ignore[arg-type,return-value]
        # The samples; then the first and all of them with the setting.
        return seen[: len(seen) // 2]

    values = np.arange(35 * 47).reshape(35, 47)
    samples = found(values, (5, 10))
    assert {sample.shape for sample in samples} == {(5, 10)}
    assert len({int(sample[0, 0]) // (47 * 9) for sample in samples}) == MOST_SAMPLES
    # One of eight chunks, and no chunk that is whole.
    assert len(found(values, (9, 12))) == 2
    assert {sample.shape for sample in found(values, (50, 10))} == {(35, 10)}
    assert found(values[:0], (5, 10)) == []
    large = np.zeros((3, MOST_BYTES // 4 + 1), "float32")
    assert found(large, (1, MOST_BYTES // 4 + 1)) == []
