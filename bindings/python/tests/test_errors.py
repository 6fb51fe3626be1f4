"""Wrong arguments, damage and missing devices are typed errors that name their cause; nothing panics."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

import ferrosz


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "abs, range, max, pwrel, psnr, rmse, mae or ratio"),
        ({"abs": 1, "range": 1}, "only one .* abs, range"),
        ({"abs": 1, "psnr": 60, "ratio": 2}, "abs, psnr, ratio"),
        ({"abs": -1}, "negative"),
        ({"abs": float("nan")}, "finite"),
        ({"ratio": 0}, "ratio"),
        ({"abs": 1, "preset": "tiny"}, "preset: 'tiny'"),
        ({"abs": 1, "codec": "zip"}, "codec: 'zip'"),
        ({"abs": 1, "codec": "plain", "preset": "fast"}, "preset or codec"),
        ({"abs": 1, "rank": 4}, "rank 4"),
        ({"abs": 1, "codec": "layered", "rank": 3}, "rank 3"),
        ({"abs": 1, "axes": "q"}, "axes"),
        ({"abs": 1, "axes": "y,x"}, "axes y,x"),
        ({"abs": 1, "fill": "often"}, "fill"),
        ({"abs": 1, "fill": [1, 2, 3, 4, 5]}, "fill"),
        ({"abs": 1, "device": "tpu"}, "device: 'tpu'"),
    ],
    ids=str,
)
def test_wrong_options(options: dict, message: str, field: np.ndarray) -> None:
    with pytest.raises(ferrosz.ArgumentError, match=message) as error:
        ferrosz.compress(field, **options)
    assert isinstance(error.value, ValueError) and isinstance(error.value, ferrosz.Error)


@pytest.mark.parametrize(
    "dtype, advice",
    [
        ("int64", "astype.'int32'"),
        (">i8", "astype.'int32'"),
        ("uint64", "astype.'uint32'"),
        ("int8", "astype.'int16'"),
        ("uint8", "astype.'uint16'"),
        ("clongdouble", "astype.'complex128'"),
        ("bool", "packbits"),
        ("longdouble", "astype.'float64'"),
        ("S3", "not numbers"),
        (object, "not numbers"),
        ("M8[s]", "view.'int64'"),
    ],
)
def test_wrong_types(dtype: object, advice: str) -> None:
    with pytest.raises(ferrosz.UnsupportedType, match=f"float32, float64, float16, bfloat16, int16.*{advice}") as error:
        ferrosz.compress(np.zeros(4, dtype), abs=1)
    assert isinstance(error.value, TypeError)


def test_structured_arrays_and_nine_dimensions() -> None:
    with pytest.raises(ferrosz.UnsupportedType):
        ferrosz.compress(np.zeros(4, [("a", "f2"), ("b", "f2")]), abs=1)
    with pytest.raises(ferrosz.ArgumentError, match="up to eight"):
        ferrosz.compress(np.zeros((1,) * 9), abs=1)


def test_what_is_for_floats_alone(field: np.ndarray) -> None:
    with pytest.raises(ferrosz.UnsupportedType):
        ferrosz.compress((field * 100).astype("int16"), pwrel=1e-3)


def test_a_target_that_no_bound_reaches() -> None:
    with pytest.raises(ferrosz.TargetNotReached) as error:
        ferrosz.compress(np.arange(1000.0), ratio=1e6)
    assert (error.value.target, error.value.wanted) == ("ratio", 1e6)
    assert 1 < error.value.best < 1e6


def test_what_is_no_stream() -> None:
    for other in (3, None, [1, 2]):
        with pytest.raises(ferrosz.UnsupportedType, match="buffer"):
            ferrosz.decompress(other)
    # A text is a path.
    with pytest.raises(FileNotFoundError, match="text"):
        ferrosz.decompress("text")
    with pytest.raises(ferrosz.ArgumentError, match="one piece"):
        ferrosz.info(np.zeros(100, "uint8")[::2])
    for other, kind in ((b"", "truncated"), (b"x", "not_ferrosz"), (bytes(10_000), "not_ferrosz")):
        with pytest.raises(ferrosz.DamagedStream) as error:
            ferrosz.info(other)
        assert error.value.kind == kind and error.value.chunk is None


def test_damage_has_its_fields(field: np.ndarray) -> None:
    stream = bytes(ferrosz.compress(field, abs=1e-3, codec="plain"))
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.decompress(stream[:-1])
    assert (error.value.kind, error.value.needed, error.value.found) == ("truncated", len(stream), len(stream) - 1)
    with pytest.raises(ferrosz.DamagedStream) as error:
        ferrosz.decompress(stream + b"x")
    assert error.value.kind == "trailing_bytes"
    damaged = stream[:-1] + bytes([stream[-1] ^ 1])
    with pytest.raises(ferrosz.DamagedStream, match="chunk") as error:
        ferrosz.decompress(damaged)
    assert error.value.kind == "chunk_checksum"
    assert error.value.chunk == ferrosz.info(stream).chunks - 1
    other = pickle.loads(pickle.dumps(error.value))
    assert (str(other), other.kind, other.chunk) == (str(error.value), "chunk_checksum", error.value.chunk)
    assert ferrosz.decompress(damaged, box=np.s_[0, 0, 0]) is not None, "other chunks are whole"


def test_no_damage_ends_the_process(field: np.ndarray) -> None:
    random = np.random.default_rng(17)
    streams = [bytes(ferrosz.compress(field, abs=1e-2, codec=codec)) for codec in ("plain", "lorenzo+rans", "interp")]
    found = 0
    for number in range(600):
        data = bytearray(streams[number % 3])
        for at in random.integers(0, len(data) if number % 2 else 400, 3):
            data[at] ^= random.integers(1, 256)
        for check in (True, False):
            try:
                array = ferrosz.decompress(data[: None if number % 5 else len(data) // 2], verify_checksums=check)
                assert array.shape == field.shape
            except ferrosz.DamagedStream:
                found += 1
    assert found > 600


def test_huge_claims_are_errors() -> None:
    """A header with a right checksum that claims 2^60 elements."""
    stream = bytearray(ferrosz.compress(np.zeros(8192 * 64, "float32"), abs=1))
    claims = huge(stream)
    for data in claims:
        with pytest.raises((ferrosz.DamagedStream, ferrosz.OutOfMemory)):
            ferrosz.decompress(bytes(data))
        with pytest.raises((ferrosz.DamagedStream, ferrosz.OutOfMemory)):
            ferrosz.PartialStream(bytes(data)).decompress(np.s_[:])


def huge(stream: bytearray) -> list[bytearray]:
    """The stream with each of its words replaced by a large number."""
    found = []
    for at in range(8, 128, 8):
        data = bytearray(stream)
        struct.pack_into("<Q", data, at, 1 << 60)
        found.append(data)
    return found


def test_a_device_that_is_not_there(field: np.ndarray) -> None:
    with pytest.raises(ferrosz.DeviceError, match="no device") as error:
        ferrosz.compress(field, abs=1, device="cuda:77")
    assert isinstance(error.value, RuntimeError)
    with pytest.raises(ferrosz.DeviceError):
        ferrosz.decompress(ferrosz.compress(field, abs=1), device="cuda:77")


def test_the_original_must_be_that_of_the_stream(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, abs=1)
    for other in (field[1:], field.astype("float64"), field.ravel()):
        with pytest.raises(ferrosz.ArgumentError, match="original"):
            ferrosz.verify(other, stream)
