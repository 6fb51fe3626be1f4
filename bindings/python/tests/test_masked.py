"""Masked arrays: at every door what is masked is missing, and what the mask hides counts nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pytest

import ferrosz
import ferrosz.hdf5
from ferrosz.zarr import codec_for

TYPES = {"float32": 1e20, "float64": np.nan, "float16": -999, "int16": -32768, "uint32": 7, ">f4": 1e20, ">i2": -5}


def masked(dtype: str, field: np.ndarray) -> Any:
    """Values of 40 to 80, and of 1,000 where the mask hides them."""
    values = (field * 10 + 60).astype(dtype)
    mask = np.zeros(field.shape, bool)
    mask[3:9, 10:30] = True
    values[mask] = 1000
    return np.ma.masked_array(values, mask, fill_value=TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_door(dtype: str, field: np.ndarray, tmp_path: Path) -> None:
    array = masked(dtype, field)
    plain = array.filled()
    fill = float(plain[3, 10, 0])
    seen = np.ma.masked_array(array).compressed().astype("f8")
    bound = 1e-2 * (seen.max() - seen.min())

    def check(found: Any) -> None:
        np.testing.assert_array_equal(found[array.mask], plain[array.mask])
        assert (np.abs(found[~array.mask].astype("f8") - seen) <= bound).all()

    stream = ferrosz.compress(array, range=1e-2)
    assert stream == ferrosz.compress(plain, range=1e-2, fill=["auto", fill])
    assert stream == ferrosz.Compressor(range=1e-2).compress(array)
    assert ferrosz.verify(array, stream) and stream.info.absolute_error <= bound
    check(ferrosz.decompress(stream))
    assert any(value == fill or (value != value and fill != fill) for value in ferrosz.detect_fill(array))
    for option in (None, [0.0]):
        assert fill in ferrosz.compress(array, abs=1, fill=option).info.fill or fill != fill
    assert codec_for(array, range=1e-2).abs == pytest.approx(bound, rel=1e-6)
    assert codec_for(array, range=1e-2, fill=[]).abs == pytest.approx(bound, rel=1e-6)
    assert codec_for(array, range=1e-2, chunks=(20, 25, 30)).abs == codec_for(array, range=1e-2).abs
    lazy = da.from_array(array, chunks=(20, 50, 60), asarray=False)
    assert codec_for(lazy, range=1e-2, fill=[]).abs == pytest.approx(bound, rel=1e-6)
    chosen = ferrosz.hdf5.filter_for(array, range=1e-2)
    assert chosen.abs == pytest.approx(bound, rel=1e-6)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = ferrosz.hdf5.write(file, "x", array, range=1e-2, chunks=(16, 20, 30))
        assert dataset.fillvalue == fill or fill != fill
        check(dataset[...])
        dataset = ferrosz.hdf5.write(file, "y", lazy, abs=bound, chunks=(16, 20, 30), fillvalue=fill)
        check(dataset[...])


@pytest.mark.parametrize("dtype", ["complex64", "complex128", ">c8"])
@pytest.mark.parametrize("fill", [complex(1e20, 1e20), complex(1e20, -5e19), complex(np.nan, np.nan), 1e20])
def test_complex_numbers(dtype: str, fill: complex, field: np.ndarray, tmp_path: Path) -> None:
    """Both parts of the fill value are missing parts, and what the mask hides counts in neither."""
    values = (field + 2 + 1j * field[::-1] + 3j).astype(dtype)
    mask = np.zeros(field.shape, bool)
    mask[3:9, 10:30] = True
    values[mask] = 1000 - 1000j
    array = np.ma.masked_array(values, mask, fill_value=fill)
    plain, element = array.filled(), np.dtype(dtype).type(fill)
    parts = [float(part) for part in dict.fromkeys((element.real, element.imag))]
    seen = np.concatenate([values[~mask].real, values[~mask].imag]).astype("f8")
    bound = 1e-2 * np.ptp(seen)

    def check(found: Any) -> None:
        np.testing.assert_array_equal(found[mask], plain[mask])
        for one, other in ((found.real, values.real), (found.imag, values.imag)):
            assert (abs(one[~mask].astype("f8") - other[~mask]) <= bound * (1 + 1e-6)).all()

    stream = ferrosz.compress(array, range=1e-2)
    assert stream == ferrosz.compress(plain, range=1e-2, fill=["auto", *parts])
    assert [stream] == ferrosz.compress_batch([array], ferrosz.Compressor(range=1e-2))
    assert ferrosz.verify(array, stream)
    check(ferrosz.decompress(stream))
    assert codec_for(array, range=1e-2, fill=[]).abs == pytest.approx(bound, rel=1e-6)
    assert ferrosz.hdf5.filter_for(array, range=1e-2).abs == pytest.approx(bound, rel=1e-6)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = ferrosz.hdf5.write(file, "x", array, range=1e-2, chunks=(16, 20, 30))
        np.testing.assert_equal(dataset.fillvalue, element)
        check(dataset[...])
    values[0, 0, 0] = complex(parts[0], 4)
    if parts[0] == parts[0]:
        with pytest.raises(ferrosz.ArgumentError, match="1 of its elements .* in a part; set another .*complex"):
            ferrosz.compress(array, abs=1)


def test_nothing_and_everything_is_masked(field: np.ndarray) -> None:
    array = np.ma.masked_array(field, fill_value=3)
    assert ferrosz.compress(array, abs=0.01) == ferrosz.compress(field, abs=0.01)
    array[...] = np.ma.masked
    assert (ferrosz.decompress(ferrosz.compress(array, range=0.01)) == 3).all()
    assert codec_for(array, range=0.01).abs == 0


def test_fill_values_that_would_mean_something_else(field: np.ndarray, tmp_path: Path) -> None:
    doors = [
        lambda array: ferrosz.compress(array, abs=1),
        lambda array: ferrosz.detect_fill(array),
        lambda array: codec_for(array, range=1e-3),
        lambda array: ferrosz.hdf5.filter_for(array, range=1e-3),
        lambda array: ferrosz.hdf5.write(h5py.File(tmp_path / "x.h5", "w"), "x", array, abs=1),
    ]
    taken = np.ma.masked_array(np.arange(100.0), np.arange(100) < 10, fill_value=50)
    # NumPy's default, 999999, is no int16.
    other = np.ma.masked_array(np.arange(100, dtype="int16"), np.arange(100) < 10)
    for door in doors:
        with pytest.raises(ferrosz.ArgumentError, match="1 of its elements are not masked and have its fill value"):
            door(taken)
        with pytest.raises(ferrosz.ArgumentError, match="999999.* is none of int16; set another"):
            door(other)
    for settings in ({"fill": None}, {"fill": 7.0}, {"fillvalue": 7.0}):
        with h5py.File(tmp_path / "y.h5", "w") as file, pytest.raises(ferrosz.ArgumentError, match=list(settings)[0]):
            ferrosz.hdf5.write(file, "x", masked("float32", field), abs=1, **settings)
