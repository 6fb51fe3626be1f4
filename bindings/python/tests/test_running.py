"""The choice for chunks that come one after the other."""

import contextlib
import threading
from typing import Any

import numpy as np
import pytest
import zarr

import ferrosz
from ferrosz._running import RunningChoice
from ferrosz.numcodecs import Ferrosz
from ferrosz.zarr import FerroszCodec


class Counting:
    """Compressors that note what they were made for."""

    def __init__(self, lengths: dict[str, int]) -> None:
        self.made: list[dict[str, Any]] = []
        self.lengths = lengths

    def make(self, settings: dict[str, Any]) -> Any:
        self.made.append(settings)
        return self if not settings else Made(settings["codec"], self.lengths[settings["codec"]])

    def compress(self, array: np.ndarray) -> Any:
        return Made(str(array.flat[0]), self.lengths["own"])


class Made:
    """A compressor with a codec, and the stream that it makes."""

    def __init__(self, codec: str, length: int) -> None:
        self.codec, self.rank, self.axes, self.chunk_tiles, self.length = codec, 1, "x", 4, length
        self.info = self

    def compress(self, _: np.ndarray) -> Any:
        return self

    def __len__(self) -> int:
        return self.length


def chosen_for(values: list[int], lengths: dict[str, int]) -> list[str]:
    """For which chunks, whose choices are these values, the preset chose, and what the others have."""
    running, counting = RunningChoice(), Counting(lengths)
    found = []
    for value in values:
        counting.made.clear()
        array = np.full(100, value)
        running.compress(running.ticket("all"), counting.make, array)
        found.append(counting.made[0].get("codec", "?"))
    return found


def test_a_preset_chooses_for_chunks_whose_numbers_are_powers_of_four() -> None:
    own = [number for number, codec in enumerate(chosen_for([7] * 70, {"own": 50, "7": 50}), 1) if codec == "?"]
    assert own == [1, 4, 16, 64]
    # The newest choice is taken; the fourth chunk is not much longer with the one before.
    lengths = {"own": 100, "7": 104, "8": 100}
    assert chosen_for([7, 7, 7, 8, 8, 8], lengths) == ["?", "7", "7", "?", "8", "8"]


def test_the_preset_stays_where_no_codec_suits_all() -> None:
    lengths = {"own": 100, "7": 106, "8": 106}
    with pytest.warns(ferrosz.PresetKept, match="no one suits all"):
        found = chosen_for([7] * 3 + [8] + [7] * 14, lengths)
    assert found == ["?", "7", "7", "?"] + 11 * ["8"] + 3 * ["?"]
    # A chunk that is nearly empty says nothing.
    assert chosen_for([7, 7, 7], {"own": 3, "7": 100}) == ["?", "?", "?"]


def test_what_fails_is_no_reason_to_wait() -> None:
    running = RunningChoice()
    tickets = [running.ticket("all") for _ in range(3)]

    def fails(_: dict[str, Any]) -> Any:
        raise ferrosz.ArgumentError("as if")

    found: list[Any] = []
    counting = Counting({"own": 50, "7": 50})
    last = threading.Thread(
        target=lambda: found.append(running.compress(tickets[2], counting.make, np.full(100, 7)))
    )
    last.start()
    with pytest.raises(ferrosz.ArgumentError):
        running.compress(tickets[0], fails, np.zeros(3))
    running.lose(tickets[1])
    last.join(20)
    assert len(found) == 1 and counting.made == [{}]


def test_chunks_of_zarr_have_one_codec_and_the_same_bytes_again() -> None:
    rng = np.random.default_rng(0)
    smooth = np.cumsum(np.cumsum(rng.normal(size=(512, 64, 64)), 1), 2).astype("f4")
    found: list[dict[str, bytes]] = []
    for codec in [FerroszCodec(abs=1e-2), FerroszCodec(abs=1e-2)]:
        store: dict[str, Any] = {}
        array = zarr.create_array(
            store, shape=smooth.shape, chunks=(16, 64, 64), dtype="f4", serializer=codec, compressors=None
        )
        with contextlib.suppress(ferrosz.PresetKept):
            array[:] = smooth
        assert np.abs(array[:] - smooth).max() <= 1e-2
        found.append({name: item.to_bytes() for name, item in store.items() if name.startswith("c/")})
    assert len(found[0]) == 32 and found[0] == found[1]
    codecs = [ferrosz.info(found[0][f"c/{number}/0/0"]).codec for number in range(32)]
    assert len(set(codecs[1:3] + codecs[4:15] + codecs[16:])) <= 3


def test_a_codec_of_zarr_v2_chooses_for_some_chunks() -> None:
    codec = Ferrosz(abs=1e-2)
    field = np.sin(np.arange(64 * 64) / 50).reshape(64, 64)
    streams = {bytes(codec.encode(field)) for _ in range(5)}
    assert len(streams) <= 2
    assert all(np.abs(codec.decode(stream) - field).max() <= 1e-2 for stream in streams)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_without_dimensions_is_written_again(zarr_format: int) -> None:
    codecs: dict[str, Any] = {"serializer": FerroszCodec(abs=0.5)} if zarr_format == 3 else {
        "compressors": Ferrosz(abs=0.5)
    }
    array = zarr.create_array({}, shape=(), dtype="float32", zarr_format=zarr_format, **codecs)
    for value in [100.0, 200.0, 300.0, 400.0, 500.0]:
        array[...] = value
        assert abs(array[()] - value) <= 0.5
