"""Files in the shape of those of ERA5, CMIP6, NEMO and WRF become small, by the command, and plain again: to NetCDF and
to Zarr. The judge, `same.py`, has no line of ferrosz."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import zarr

from ferrosz._datasets import main
from folders import wrf
from same import bounds_of, faults_of_archive, faults_of_file, ncdump, stored_of
from shapes import SHAPES, SHORT

pytestmark = pytest.mark.filterwarnings("ignore")

SHARE = 1e-3


def command(*words: Any) -> None:
    assert main([*map(str, words), "--quiet"]) == 0


@dataclass(frozen=True)
class Made:
    """A file `in.nc`, in its folder `out.nc` and `out.zarr`, and of each the plain file again."""

    folder: Path
    bounds: dict[str, float]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    @functools.cache
    def make(name: str) -> Made:
        shape, folder = SHAPES[name], tmp_path_factory.mktemp("shape")
        coded = shape.coded[:2]
        shape.write(folder / "in.nc", shape.small)
        assert (folder / "in.nc").stat().st_size <= 1_000_000
        # By name, as what is so small would stay exact.
        bounds = [word for name in coded for word in ("--bound", f"{name}=range:{SHARE}")]
        for kind in ("nc", "zarr"):
            command("compress", folder / "in.nc", folder / f"out.{kind}", *bounds)
            command("decompress", folder / f"out.{kind}", folder / f"of_{kind}.nc")
        return Made(folder, bounds_of(folder / "in.nc", SHARE, coded))

    return make


@pytest.mark.parametrize("name", SHAPES)
def test_all_is_kept(name: str, made: Callable[[str], Made]) -> None:
    folder, bounds = made(name).folder, made(name).bounds
    source = folder / "in.nc"
    assert not list(faults_of_file(source, folder / "out.nc", bounds))
    assert not list(faults_of_file(source, folder / "of_nc.nc", bounds))
    assert not list(faults_of_archive(source, folder / "out.zarr", bounds))
    assert not list(faults_of_file(source, folder / "of_zarr.nc", bounds, by_archive=True))


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="ncdump is not installed")
@pytest.mark.parametrize("name", SHAPES)
def test_ncdump_shows_the_same_header(name: str, made: Callable[[str], Made]) -> None:
    folder = made(name).folder
    assert ncdump(folder / "of_nc.nc") == ncdump(folder / "out.nc") == ncdump(folder / "in.nc")


def drop_attribute(file: netCDF4.Dataset) -> None:
    file["tas"].delncattr("cell_methods")


def change_type_of_attribute(file: netCDF4.Dataset) -> None:
    file.realization_index = np.int16(1)


def change_time(file: netCDF4.Dataset) -> None:
    file["time"][3] = np.nextafter(file["time"][3], 0)


def change_coded_value(file: netCDF4.Dataset) -> None:
    """By more than the bound."""
    file["tas"][2, 3, 4] += 0.2


def change_missing_value(file: netCDF4.Dataset) -> None:
    file["ua"][0, -1, 0, 0] = 1
    place = np.argwhere(np.ma.getmaskarray(file["ua"][...]))[0]
    file["ua"][tuple(place)] = 0


@pytest.mark.parametrize(
    "fault",
    [drop_attribute, change_type_of_attribute, change_time, change_coded_value, change_missing_value],
)
def test_the_judge_finds(fault: Callable[[netCDF4.Dataset], None], made: Callable[[str], Made], tmp_path: Path) -> None:
    folder, bounds = made("CMIP6").folder, made("CMIP6").bounds
    shutil.copy(folder / "of_nc.nc", tmp_path / "copy.nc")
    with netCDF4.Dataset(tmp_path / "copy.nc", "a") as file:
        fault(file)
    assert list(faults_of_file(folder / "in.nc", tmp_path / "copy.nc", bounds))


def test_the_judge_finds_a_value_that_has_become_a_missing_one(made: Callable[[str], Made], tmp_path: Path) -> None:
    """Within the bound: packed values lie beside the one of missing elements."""
    folder, bounds = made("ERA5, packed").folder, made("ERA5, packed").bounds
    shutil.copy(folder / "of_nc.nc", tmp_path / "copy.nc")
    with netCDF4.Dataset(folder / "in.nc") as source, netCDF4.Dataset(tmp_path / "copy.nc", "a") as file:
        place = tuple(np.argwhere(stored_of(source, "tp").values == SHORT + 1)[0])
        file["tp"].set_auto_maskandscale(False)
        file["tp"][place] = SHORT
    (fault,) = faults_of_file(folder / "in.nc", tmp_path / "copy.nc", bounds)
    assert fault == "tp: 1 values have become that of missing elements"


def test_the_judge_finds_a_string_in_place_of_characters(made: Callable[[str], Made], tmp_path: Path) -> None:
    folder, bounds = made("NEMO").folder, made("NEMO").bounds
    shutil.copy(folder / "of_nc.nc", tmp_path / "copy.nc")
    with h5py.File(tmp_path / "copy.nc", "a") as file:
        file["thetao"].attrs["units"] = "degC"
    (fault,) = faults_of_file(folder / "in.nc", tmp_path / "copy.nc", bounds)
    assert "variable length: {('thetao', 'units')}" in fault


def test_the_judge_finds_what_a_zarr_group_has_no_place_for(made: Callable[[str], Made], tmp_path: Path) -> None:
    """Of an archive without a header, as those of earlier days are: it is plain again without these."""
    folder, bounds = made("WRF").folder, made("WRF").bounds
    shutil.copytree(folder / "out.zarr", tmp_path / "out.zarr")
    group = zarr.open_group(tmp_path / "out.zarr")
    group.attrs["ferrosz_archive"] = {**group.attrs["ferrosz_archive"], "header": None}
    command("decompress", tmp_path / "out.zarr", tmp_path / "copy.nc")
    faults = list(faults_of_file(folder / "in.nc", tmp_path / "copy.nc", bounds, by_archive=True))
    for what in ("dimensions: ", "Times: it is ", "the data model", "the attribute DX"):
        assert any(what in fault for fault in faults), faults


def test_files_of_wrf_become_one(tmp_path: Path) -> None:
    """Times are characters again, and the file one of the classic model."""
    wrf(tmp_path)
    command("compress", tmp_path, tmp_path / "all.nc", "--range", SHARE)
    assert (tmp_path / "all.nc").exists()
    texts = []
    for path in sorted(tmp_path.glob("wrfout*.nc")):
        with netCDF4.Dataset(path) as file:
            texts.append(stored_of(file, "Times").values)
    with netCDF4.Dataset(tmp_path / "all.nc") as file:
        found = stored_of(file, "Times")
        assert found.dims == ("Time", "DateStrLen") and (found.values == np.concatenate(texts)).all()
        assert file.dimensions["Time"].isunlimited()
