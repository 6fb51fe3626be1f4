"""Pipelines of the predictor alone and stages, and its parts as arrays."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest

import ferrosz
import ferrosz.stages
from ferrosz.stages import Pipeline, compose, decompress

STAGES = ["rans", "huffman", "bit-planes", "fixed-length", "ferrosz", "plain"]


def example(dtype: str = "float32") -> np.ndarray:
    z, y, x = np.meshgrid(np.arange(20), np.arange(30), np.arange(40), indexing="ij")
    field = (np.sin(0.1 * x + 0.05 * z) + np.cos(0.2 * y)).astype(dtype)
    field[3, 4, 5] = np.nan
    return field


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_come_back(stage: str, dtype: str) -> None:
    field = example(dtype)
    for code_bytes, radius in ((1, None), (2, "fits"), (4, 99)):
        pipeline = Pipeline(stage, abs=1e-3, code_bytes=code_bytes, by_level=code_bytes == 2, radius=radius)
        container = pipeline.compress(field)
        back = decompress(container, device="cpu")
        assert back.dtype == field.dtype and back.shape == field.shape
        assert np.nanmax(np.abs(back.astype("float64") - field)) <= 1e-3
        assert np.isnan(back[3, 4, 5])
        assert (compose(pipeline.decompose(field)).view("uint8") == back.view("uint8")).all()


def test_parts_are_arrays_of_numpy() -> None:
    field = example()
    parts = Pipeline(range=1e-3, code_bytes=1, radius=50).decompose(field)
    assert parts.codes.dtype == "uint8" and parts.codes.shape == (field.size,)
    assert (parts.anchors == field[::16, ::16, ::16].ravel()).all()
    assert (np.flatnonzero(parts.codes == 0) == parts.outlier_indices).all()
    values = field.ravel()[parts.outlier_indices]
    assert (parts.outlier_values.view("uint32") == values.view("uint32")).all()
    unpacked = np.frombuffer(zlib.decompress(zlib.compress(parts.codes)), "uint8")
    assert compose(replace(parts, codes=unpacked)).shape == field.shape
    with pytest.raises(ferrosz.ArgumentError, match="number of codes"):
        compose(replace(parts, codes=parts.codes[1:]))
    with pytest.raises(ferrosz.ArgumentError, match="outlier"):
        compose(replace(parts, outlier_indices=parts.outlier_indices[:0], outlier_values=parts.outlier_values[:0]))


def test_rules_of_the_page() -> None:
    field = example()
    fits = Pipeline(range=1e-4, radius="fits").decompose(field)
    assert list(fits.outlier_indices) == [np.ravel_multi_index((3, 4, 5), field.shape)]
    for mode in range(6):
        assert decompress(Pipeline("plain", abs=1e-3, mode=mode).compress(field)).shape == field.shape
    both = Pipeline(abs=1e-3, mode=5, alpha=1.5, beta=4).decompose(field)
    assert Pipeline(abs=1e-3, mode=5, alpha=1.5).decompose(field).recipe == both.recipe
    with pytest.raises(ferrosz.ArgumentError):
        Pipeline(abs=1e-3, mode=5, alpha=0.5).compress(field)
    with pytest.raises(ferrosz.ArgumentError):
        Pipeline(abs=1e-3, alpha=1.5).compress(field)


def test_faults_are_named() -> None:
    field = example()
    with pytest.raises(ferrosz.ArgumentError, match="'zstd'"):
        Pipeline("zstd", abs=1e-3).compress(field)  # type: ignore[arg-type]
    with pytest.raises(ferrosz.ArgumentError, match="one of the bounds"):
        Pipeline("rans")
    with pytest.raises(ferrosz.ArgumentError, match="code_bytes"):
        Pipeline(abs=1e-3, code_bytes=3).compress(field)
    with pytest.raises(ferrosz.UnsupportedType):
        Pipeline(abs=1).compress(field.astype("float16"))
    container = bytearray(Pipeline(abs=1e-3).compress(field))
    for at, part in ((100, "header"), (420, "codes"), (len(container) - 6, "outliers")):
        damaged = bytearray(container)
        damaged[at] ^= 1
        with pytest.raises(ferrosz.DamagedStream, match=part) as error:
            decompress(damaged)
        assert error.value.kind == "damaged_part"
    with pytest.raises(ferrosz.DamagedStream):
        decompress(container[:-4])
