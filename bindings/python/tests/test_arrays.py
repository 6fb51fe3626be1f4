"""Arrays of every type, shape and order come back within the bound, by NumPy's own arithmetic."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ferrosz

TYPES = ["float32", "float64", "float16", ml_dtypes.bfloat16, "int16", "uint16", "int32", "uint32"]


def errors(array: np.ndarray, back: np.ndarray) -> np.ndarray:
    """The errors in float64, which holds all differences of these tests exactly."""
    return np.abs(array.astype("float64") - back.astype("float64"))


def values_of(dtype: object, field: np.ndarray) -> np.ndarray:
    """A field of a type, around 100."""
    return (field * 20 + 100).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("preset", ["fast", "balanced", "small"])
def test_every_type_keeps_the_bound(dtype: object, preset: str, field: np.ndarray) -> None:
    array = values_of(dtype, field)
    stream = ferrosz.compress(array, abs=2, preset=preset)
    back = ferrosz.decompress(stream)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert errors(array, back).max() <= 2
    assert (back != array).any(), "a bound of 2 leaves errors"
    assert np.dtype(stream.info.dtype) == array.dtype
    exact = ferrosz.decompress(ferrosz.compress(array, abs=0, preset=preset))
    assert exact.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "option, limit",
    [
        ({"abs": 0.01}, lambda x: 0.01),
        ({"range": 1e-3}, lambda x: 1e-3 * (x.max() - x.min())),
        ({"max": 1e-3}, lambda x: 1e-3 * np.abs(x).max()),
        ({"pwrel": 1e-3}, lambda x: 1e-3 * np.abs(x)),
    ],
    ids=["abs", "range", "max", "pwrel"],
)
def test_every_bound_holds(option: dict[str, float], limit, field: np.ndarray) -> None:
    array = field.astype("float64")
    back = ferrosz.decompress(ferrosz.compress(array, **option))
    assert (errors(array, back) <= limit(array)).all()
    assert (errors(array, back) > 0.1 * limit(array)).any(), "the bound is used"


@pytest.mark.parametrize(
    "option, reached",
    [
        ({"psnr": 60.0}, lambda x, y, s: 20 * np.log10(np.ptp(x) / np.sqrt(np.mean((x - y) ** 2))) >= 60 - 1e-6),
        ({"rmse": 0.01}, lambda x, y, s: np.sqrt(np.mean((x - y) ** 2)) <= 0.01 + 1e-9),
        ({"mae": 0.01}, lambda x, y, s: np.mean(np.abs(x - y)) <= 0.01 + 1e-9),
        ({"ratio": 12.0}, lambda x, y, s: x.nbytes / len(s) >= 12),
    ],
    ids=["psnr", "rmse", "mae", "ratio"],
)
def test_targets_are_reached(option: dict[str, float], reached, field: np.ndarray) -> None:
    array = field.astype("float64")
    stream = ferrosz.compress(array, **option)
    assert reached(array, ferrosz.decompress(stream), stream)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.asfortranarray(x),
        lambda x: x.transpose(2, 0, 1),
        lambda x: x[::2, ::-1, 3:40:7],
        lambda x: x.astype(">f4"),
        lambda x: unaligned(x),
        lambda x: x[:, 10],
        lambda x: readonly(x),
        lambda x: np.broadcast_to(x[0, 0], (7, 60)),
    ],
    ids=["fortran", "transposed", "strided", "big-endian", "unaligned", "part", "read-only", "broadcast"],
)
def test_every_order_has_the_stream_of_the_plain_array(change, field: np.ndarray) -> None:
    array = change(field)
    plain = np.array(array, dtype="float32", order="C")
    stream = ferrosz.compress(array, abs=0.01)
    assert stream == ferrosz.compress(plain, abs=0.01)
    assert errors(plain, ferrosz.decompress(stream)).max() <= 0.01


def unaligned(array: np.ndarray) -> np.ndarray:
    raw = np.zeros(array.nbytes + 1, "uint8")
    raw[1:] = np.frombuffer(array.tobytes(), "uint8")
    found = raw[1:].view("float32").reshape(array.shape)
    assert not found.flags.aligned
    return found


def readonly(array: np.ndarray) -> np.ndarray:
    found = array.copy()
    found.flags.writeable = False
    return found


@pytest.mark.parametrize("shape", [(), (0,), (0, 5), (3, 0, 2), (1,), (1, 1, 1), (7,), (2,) * 8, (1, 1, 5000)])
def test_every_shape_comes_back(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype="float64").reshape(shape)
    stream = ferrosz.compress(array, abs=0.25)
    assert stream.info.shape == shape
    back = ferrosz.decompress(stream)
    assert back.shape == shape
    assert (errors(array, back) <= 0.25).all()


def test_a_single_element_has_no_dimension() -> None:
    for element in (np.float32(3.5), np.array(3.5, "float32"), 3.5):
        back = ferrosz.decompress(ferrosz.compress(element, abs=0))
        assert back.shape == () and back == 3.5


def test_what_numpy_makes_an_array_of() -> None:
    assert ferrosz.decompress(ferrosz.compress([[1.0, 2.0], [3.0, 4.0]], abs=0)).tolist() == [[1, 2], [3, 4]]


def test_not_finite_values_come_back_bit_for_bit(field: np.ndarray) -> None:
    array = field.copy()
    array[3, 4, :9] = [np.nan, -np.nan, np.inf, -np.inf, np.nan, np.inf, np.nan, np.nan, np.inf]
    array.view("uint32")[5, 5, 5] = 0x7FC0_1234
    for fill in ("auto", None, float("nan")):
        back = ferrosz.decompress(ferrosz.compress(array, range=1e-3, fill=fill))
        finite = np.isfinite(array)
        assert (array.view("uint32")[~finite] == back.view("uint32")[~finite]).all()


@pytest.mark.parametrize("fill", ["auto", -9999.0, [-9999.0, 1e20], np.float32(-9999)], ids=str)
def test_fill_values_come_back_and_do_not_count(fill: object, field: np.ndarray) -> None:
    array = field.copy()
    array[10:20, :30] = -9999
    stream = ferrosz.compress(array, range=1e-3, fill=fill)
    assert stream.info.absolute_error <= 1e-3 * np.ptp(field)
    assert -9999.0 in stream.info.fill
    back = ferrosz.decompress(stream)
    assert (back[10:20, :30] == -9999).all()
    without = ferrosz.compress(array, range=1e-3, fill=None)
    assert without.info.absolute_error > 1 and without.info.fill == []


def test_a_known_fill_value_and_those_that_are_found(field: np.ndarray) -> None:
    """`"auto"` and a number: the number is a fill value where it occurs, also where none is found."""
    array = field.copy()
    array[2:4] = -9999
    found = ferrosz.compress(array, abs=0.01, fill="auto")
    assert -9999.0 in found.info.fill
    for known in (-9999.0, 7.0, np.nan):
        assert ferrosz.compress(array, abs=0.01, fill=["auto", known]) == found
    array[5, 6] = 7
    assert {-9999.0, 7.0} <= set(ferrosz.compress(array, abs=0.01, fill=["auto", 7.0]).info.fill)
    # And where values are so close to it that they could become it.
    for near, is_taken in ((7.005, True), (7.02, False)):
        array[5, 6] = near
        stream = ferrosz.compress(array, abs=0.01, fill=["auto", 7.0])
        assert (7.0 in stream.info.fill) == is_taken and (ferrosz.decompress(stream)[5, 6] != 7).all()
    array[5, 6] = 7
    one = np.full((30, 40), -9999, "float32")
    assert ferrosz.compress(one, abs=2, fill="auto").info.fill == []
    assert (ferrosz.decompress(ferrosz.compress(one, abs=2, fill=["auto", -9999])) == -9999).all()
    # A bound relative to each value has room for three.
    array[8, :40] = [1e20, -1e20, np.nan, -np.nan] * 10 + [0] * 20
    relative = ferrosz.compress(array, pwrel=0.01, fill=["auto", 7.0])
    assert np.array_equal(ferrosz.decompress(relative)[5, 6], array[5, 6])
    with pytest.raises(ferrosz.ArgumentError, match="1e20"):
        ferrosz.compress(field.astype("int16"), abs=1, fill=["auto", 1e20])
    for wrong in (["none", 1.0], ["auto", "x"], [None]):
        with pytest.raises(ferrosz.ArgumentError, match="fill"):
            ferrosz.compress(field, abs=1, fill=wrong)


def test_signs_and_zeros_are_kept(field: np.ndarray) -> None:
    array = np.where(np.abs(field) < 0.3, 0, field)
    stream = ferrosz.compress(array, abs=0.2, codec="interp", keep_sign=True, keep_zero=True)
    back = ferrosz.decompress(stream)
    assert (np.sign(back) * np.sign(array) >= 0).all() and (back[array == 0] == 0).all()
    plain = ferrosz.decompress(ferrosz.compress(array, abs=0.2, codec="interp"))
    assert (plain[array == 0] != 0).any(), "the options are needed"


def test_codec_rank_and_axes(field: np.ndarray) -> None:
    info = ferrosz.compress(field, abs=0.01, codec="lorenzo", rank=2).info
    assert (info.codec, info.rank) == ("lorenzo", 2)
    info = ferrosz.compress(field, abs=0.01, codec="lorenzo", axes="s,y,x").info
    assert info.axes == "s,y,x"
    assert info.chunk_tiles is None and info.chunks > 1 and info.ratio > 2


def test_memory_maps_are_read(tmp_path, field: np.ndarray) -> None:
    np.save(tmp_path / "x.npy", field)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert ferrosz.compress(mapped, abs=0.01) == ferrosz.compress(field, abs=0.01)


@pytest.mark.parametrize("shape", [(40, 100, 120), (3, 400, 400), (300_000,)])
@pytest.mark.parametrize("preset", ["fast", "balanced", "small"])
def test_what_a_preset_chose_can_be_named(shape: tuple[int, ...], preset: str) -> None:
    array = np.sin(np.arange(np.prod(shape)) * 1e-4).astype("float32").reshape(shape)
    stream = ferrosz.compress(array, abs=1e-3, preset=preset)
    names = ["codec", "rank", "axes", "chunk_tiles", "keep_sign", "keep_zero"]
    chosen = {name: getattr(stream.info, name) for name in names}
    named = ferrosz.Compressor(abs=1e-3, **chosen)
    assert bytes(named.compress(array)) == bytes(stream), chosen
    assert eval(repr(named), {"ferrosz": ferrosz}) == named


def test_wavelets_that_a_target_found_can_be_named() -> None:
    z, y, x = np.ogrid[:20, :60, :70]
    array = (np.sin(0.05 * z + 0.11 * y) + np.cos(0.07 * x - 0.03 * z)).astype("float32")
    stream = ferrosz.compress(array, psnr=50)
    info = stream.info
    assert info.coefficient_error is not None
    names = ["codec", "rank", "axes", "chunk_tiles", "keep_sign", "keep_zero"]
    chosen = {name: getattr(info, name) for name in names}
    named = ferrosz.Compressor(abs=info.bound, wavelets=info.coefficient_error, **chosen)
    assert bytes(named.compress(array)) == bytes(stream)
    assert eval(repr(named), {"ferrosz": ferrosz}) == named
    assert np.abs(ferrosz.decompress(stream) - array).max() <= info.bound
    for wrong in ({"codec": "interp"}, {"preset": "small"}):
        with pytest.raises(ferrosz.ArgumentError, match=r"wavelets: the codec is direct\+rans"):
            ferrosz.compress(array, abs=0.1, wavelets=0.1, **wrong)
    with pytest.raises(ferrosz.ArgumentError, match="wavelets: give a bound"):
        ferrosz.compress(array, psnr=50, wavelets=0.1)
    with pytest.raises(ferrosz.ArgumentError, match="wavelets: "):
        ferrosz.compress(array, abs=0.1, wavelets=-1.0)


def test_a_length_of_chunks_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ferrosz.ArgumentError, match="chunks of 5 tiles do not exist"):
        ferrosz.Compressor(abs=1, codec="lorenzo+rans", chunk_tiles=5)
