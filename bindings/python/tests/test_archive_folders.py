"""The command on folders of weather and climate models: what must be exact is, and nothing is off by more than the
bound.

xarray and netCDF4 read both sides. They are asked for what is stored, so nothing is exact by being decoded alike.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr

import folders
from ferrosz.archive import _copy, _layout
from ferrosz.archive.__main__ import main
from ferrosz.archive._classic import bytes_missing
from folders import CODED, FOLDERS

RAW: dict[str, Any] = {
    "mask_and_scale": False,
    "decode_times": False,
    "decode_timedelta": False,
    "decode_coords": False,
}
COMMAND = [sys.executable, "-m", "ferrosz.archive"]


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    found = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=250)
    assert "Traceback" not in found.stderr, found.stderr
    return found


def call(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """The command in this process, which is faster."""
    words, out, err = list(map(str, arguments)), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def converted(folder: Path, target: Path, *arguments: str, by: Callable[..., Any] = call) -> str:
    found = by("convert", folder, target, *(arguments or ("--range", "1e-3")), "--quiet")
    assert found.returncode == 0, found.stderr
    return found.stdout + found.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders by their names, each made once."""
    root = tmp_path_factory.mktemp("folders")

    def folder(name: str) -> Path:
        if not (root / name).exists():
            (root / name).mkdir()
            FOLDERS[name](root / name)
        return root / name

    return folder


OPENED: list[netCDF4.Dataset] = []


def reading(path: Path) -> netCDF4.Dataset:
    """A file that is closed by the main thread at the end of a test. Python might free it in another thread, while this one
    reads by the library, which is not made for two threads."""
    OPENED.append(netCDF4.Dataset(path))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def stored(folder: Path, name: str, missing: tuple[float, ...] = ()) -> tuple[np.ndarray, netCDF4.Variable]:
    """The values of a variable in all files, as they are stored, and its first variable."""
    pieces, first = [], None
    for path in sorted(folder.glob("*.nc")):
        file = reading(path)
        variable = file[name]
        variable.set_auto_maskandscale(False)
        first = variable if first is None else first
        along = [dim for dim in variable.dimensions if dim in ("time", "valid_time", "time_counter", "Time")]
        if not along and pieces:
            continue
        pieces.append(np.asarray(variable[...]))
    assert first is not None
    return np.concatenate(pieces) if len(pieces) > 1 else pieces[0], first


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_becomes_an_archive(name: str, made: Callable[[str], Path], tmp_path: Path) -> None:
    folder, target = made(name), tmp_path / "t.zarr"
    shown = converted(folder, target, by=run)
    found = xr.open_zarr(target, consolidated=False, **RAW)
    first = reading(min(folder.glob("*.nc")))
    assert set(found.variables) == set(first.variables)
    coded = {name for name, variable in found.variables.items() if "ferrosz_bound" in variable.attrs}
    assert coded == CODED[name]
    for each in first.variables:
        values, variable = stored(folder, each)
        array = found[each].values
        if variable.dtype == "S1":
            values = netCDF4.chartostring(values, encoding="none")
        if each not in coded:
            assert values.dtype == object or array.dtype == values.dtype.newbyteorder("="), each
            assert np.array_equal(array, values), each
        else:
            _check_coded(values.astype(values.dtype.newbyteorder("=")), array, found[each].attrs, 1e-3)
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
        kept = found[each].attrs
        dropped = {"_FillValue", "missing_value"} if each in coded and values.dtype.kind == "f" else set()
        assert all(
            key in kept and np.array_equal(kept[key], attributes[key], equal_nan=True)
            if not isinstance(attributes[key], str)
            else kept.get(key) == attributes[key]
            for key in attributes.keys() - dropped
        ), (each, kept, attributes)
    assert run("verify", folder, target, "--quiet").returncode == 0
    before = sum(path.stat().st_size for path in folder.iterdir())
    after = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    assert f"total: files of {before / 1e6:.1f} MB became {after / 1e6:.1f} MB, ratio {before / after:.2f}" in shown
    # Complete, so it is only read.
    assert " 0 shards written" in converted(folder, target)


def _check_coded(values: np.ndarray, array: np.ndarray, attributes: dict[str, Any], share: float) -> None:
    """The bound holds for what counts, and missing elements stay such."""
    assert array.dtype == values.dtype
    if values.dtype.kind == "i":
        missing, step = values == attributes["_FillValue"], abs(attributes["scale_factor"])
        assert np.array_equal(array == attributes["_FillValue"], missing)
    else:
        missing, step = (values == np.float32(1e20)) | np.isnan(values), 1.0
        assert np.array_equal(np.isnan(array), missing)
    kept, found = values[~missing].astype("f8"), array[~missing].astype("f8")
    limit = share * (kept.max() - kept.min()) * step
    bound = attributes["ferrosz_bound"]
    coarser = 2 * step if values.dtype.kind == "i" else limit * 1e-12
    assert limit - coarser < bound <= limit * (1 + 1e-12)
    assert 0 < np.abs(found - kept).max() * step <= bound * (1 + 1e-12)
    assert attributes["ferrosz_minimum"] < attributes["ferrosz_maximum"]


@pytest.mark.parametrize("is_large", [False, True])
def test_chunks_of_a_dimension_need_not_be_alike(
    is_large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied has chunks of its own, also when a run goes on after it was interrupted there."""
    if is_large:
        # As if all variables were longer than a shard.
        monkeypatch.setattr(_layout, "CHUNK_BYTES", 1 << 14)
        monkeypatch.setattr(_layout, "SHARD_BYTES", 1 << 17)
        monkeypatch.setattr(_copy, "SHARD_BYTES", 1 << 7)
    dims, steps = ("time", "y", "x"), 40
    for number in range(3):
        with netCDF4.Dataset(tmp_path / f"{number}.nc", "w") as file:
            for dim, length in zip(dims, (None, 48, 64), strict=True):
                file.createDimension(dim, length)
            times = {"units": "hours since 2000-01-01"}
            folders.add(file, "time", "f8", ("time",), steps * number + np.arange(steps), times, chunksizes=(512,))
            for chunk in (1, 3, 7, 40):
                folders.add(
                    file,
                    f"aux{chunk}",
                    "f8",
                    ("time",),
                    np.random.default_rng(chunk).random(steps),
                    chunksizes=(chunk,),
                )
                values = np.random.default_rng(chunk).integers(0, 99, (steps, 48, 64))
                folders.add(
                    file, f"count{chunk}", "i4", dims, values, {"coordinates": f"aux{chunk}"}, chunksizes=(chunk, 9, 64)
                )
            folders.add(file, "t", "f4", dims, folders.waves(steps, 48, 64, seed=number), chunksizes=(11, 48, 5))
    target = tmp_path / "t.zarr"
    converted(tmp_path, target, "--abs", "0.01")
    # As a run leaves it that is killed while it copies.
    group = zarr.open_group(target, mode="r+")
    record = dict(group.attrs["ferrosz_archive"])
    group.attrs["ferrosz_archive"] = {**record, "copied": False, "complete": False}
    del group["aux7"]
    converted(tmp_path, target, "--abs", "0.01")
    found = xr.open_zarr(target, consolidated=False, **RAW)
    for name in found.variables.keys() - {"t"}:
        assert np.array_equal(found[name].values, stored(tmp_path, name)[0]), name
    assert (zarr.open_array(target / "count7").nchunks > 1) == is_large


def test_packed_variables_stay_packed(made: Callable[[str], Path], tmp_path: Path) -> None:
    """Where files are packed alike, the archive has their integers, within the bound in whole steps."""
    folder = made("era5_of_the_old_store")
    values, variable = stored(folder, "t2m")
    for bound, steps in (("0.0019", 0), ("0.002", 1), ("0.0119", 5), ("0.21", 105)):
        target = tmp_path / f"{steps}.zarr"
        shown = converted(folder, target, "--abs", bound, "--verify")
        found = xr.open_zarr(target, consolidated=False, **RAW).t2m
        assert found.dtype == "int16" and found.attrs["scale_factor"] == variable.scale_factor
        # Valid values are beside the one of missing elements, and do not become it.
        assert values[values != -32767].min() < -32767 + 5
        assert np.array_equal(found == -32767, values == -32767)
        errors = np.abs(found.values.astype("i4") - values)
        kept = round(found.attrs["ferrosz_bound"] / 0.002)
        # All of the bound is used, also far from the value of missing elements.
        assert errors.max() == errors[values > 0].max() == kept <= steps <= kept + 1
        decoded = xr.open_zarr(target, consolidated=False).t2m
        source = xr.open_mfdataset(sorted(folder.glob("*.nc"))).t2m
        assert decoded.dtype == source.dtype and np.nanmax(np.abs(decoded - source)) <= float(bound) * (1 + 1e-9)
        assert "t2m: values of 0.7 MB" in shown
        assert call("verify", folder, target, "--quiet").returncode == 0


@pytest.mark.parametrize("preset", ["small", "balanced", "fast"])
@pytest.mark.parametrize(
    ("kind", "missing", "least", "rows"), [("i2", -32767, 1, 0), ("u2", 0, 1, 0), ("u2", 0, 1, 9), ("i4", 0, -9999, 9)]
)
def test_packed_values_beside_the_one_of_missing_elements(
    kind: str, missing: int, least: int, rows: int, preset: str, tmp_path: Path
) -> None:
    """They use all of the bound and do not become it, in Zarr and in NetCDF, also if no element is missing."""
    source = tmp_path / "t.nc"
    waves = np.rint(1000 * folders.waves(60, 48, 64)).astype("i4")
    # Many are the least one, as those of rain.
    distances = np.maximum(waves - int(np.quantile(waves, 0.6)), least)
    packed = (missing + np.where(distances == 0, 1, distances)).astype(kind)
    packed[3, :rows] = missing
    with netCDF4.Dataset(source, "w") as file:
        for dim, length in zip(("time", "y", "x"), packed.shape, strict=True):
            file.createDimension(dim, length)
        known = {"scale_factor": 0.5, "missing_value": packed.dtype.type(missing)}
        folders.add(file, "t", kind, ("time", "y", "x"), packed, known, fill_value=packed.dtype.type(missing))
    for target in (tmp_path / "t.zarr", tmp_path / "out.nc"):
        assert call("convert", source, target, "--abs", "5", "--preset", preset, "--verify", "--quiet").returncode == 0
        found = stored_values(target)
        assert found.dtype == kind and np.array_equal(found == missing, packed == missing)
        errors = np.abs(found.astype("i8") - packed.astype("i8"))
        assert errors.max() == errors[abs(distances) > 100].max() == 10
        assert call("verify", source, target, "--quiet").returncode == 0


def stored_values(target: Path) -> np.ndarray:
    """The variable `t` of an archive, or of a file of NetCDF, as it is stored."""
    if target.suffix == ".zarr":
        return np.asarray(zarr.open_array(target / "t", mode="r")[...])
    with h5py.File(target) as file:
        return np.asarray(file["t"][...])


def test_packed_variables_whose_missing_values_are_far(tmp_path: Path) -> None:
    """All of the bound is used; types of packed integers are those of ferrosz, and others stay exact."""
    values = np.rint(1000 * folders.waves(60, 48, 64)).astype("i4") + 2000
    far = {"i2": -32768, "u2": 65535, "i4": -(2**31), "u4": 2**32 - 1, "u1": 255}
    for (kind, missing), is_named in itertools.product(far.items(), (True, False)):
        source, target = tmp_path / f"{kind}-{is_named}.nc", tmp_path / f"{kind}-{is_named}.zarr"
        packed = (values // 20 if kind == "u1" else values).astype(kind)
        if is_named:
            packed[3, :9] = missing
        with netCDF4.Dataset(source, "w") as file:
            for dim, length in zip(("time", "y", "x"), packed.shape, strict=True):
                file.createDimension(dim, length)
            folders.add(
                file,
                "t",
                kind,
                ("time", "y", "x"),
                packed,
                {"scale_factor": -0.5},
                fill_value=packed.dtype.type(missing) if is_named else None,
            )
            folders.add(file, "u", "f4", ("time", "y", "x"), packed)
        converted(source, target, "--abs", "5", "--verify")
        found = xr.open_zarr(target, consolidated=False, **RAW).t
        assert found.dtype == kind and np.array_equal(found == missing, packed == missing)
        errors = np.abs(found.values.astype("i8") - packed.astype("i8"))
        assert errors.max() == (0 if kind == "u1" else 10)
        assert ("_FillValue" in found.attrs) == is_named


def test_files_that_are_packed_by_other_numbers_come_back_unpacked(tmp_path: Path) -> None:
    folder, target = tmp_path / "era5", tmp_path / "t.zarr"
    folder.mkdir()
    folders.era5_of_the_old_store(folder, ((0.002, 280.0), (0.003, 281.0)))
    converted(folder, target, "--range", "1e-3")
    found, source = xr.open_zarr(target, consolidated=False).t2m, xr.open_mfdataset(sorted(folder.glob("*.nc"))).t2m
    assert found.dtype == source.dtype and np.array_equal(np.isnan(found), np.isnan(source))
    assert (
        0
        < np.nanmax(np.abs(found - source))
        <= found.attrs["ferrosz_bound"]
        == pytest.approx(1e-3 * float(source.max() - source.min()), rel=1e-9)
    )


@pytest.mark.parametrize(
    "attributes",
    [{"missing_value": np.nan}, {"missing_value": 1e20}, {"missing_value": np.int16(-1)}, {"_Unsigned": "true"}],
)
def test_packed_variables_that_integers_cannot_keep(attributes: dict[str, Any], tmp_path: Path) -> None:
    """They come back as xarray unpacks them."""
    source, target = tmp_path / "t.nc", tmp_path / "t.zarr"
    values = np.rint(1000 * folders.waves(30, 48, 64)).astype("i2")
    values[3] = -32768
    with netCDF4.Dataset(source, "w") as file:
        for dim, length in zip(("time", "y", "x"), values.shape, strict=True):
            file.createDimension(dim, length)
        known = {"scale_factor": np.float32(0.5), **attributes}
        folders.add(file, "t", "i2", ("time", "y", "x"), values, known, fill_value=np.int16(-32768))
    converted(source, target, "--abs", "2", "--verify")
    found, wanted = xr.open_zarr(target, consolidated=False).t, xr.open_dataset(source).t
    assert found.dtype == wanted.dtype and np.array_equal(np.isnan(found), np.isnan(wanted))
    assert 0 < np.nanmax(np.abs(found.values.astype("f8") - wanted)) <= 2


@pytest.mark.parametrize("name", FOLDERS)
def test_a_dry_run_says_what_would_be_done(name: str, made: Callable[[str], Path], tmp_path: Path) -> None:
    folder, target = made(name), tmp_path / "t.zarr"
    found = call("convert", folder, target, "--range", "1e-3", "--dry-run")
    assert found.returncode == 0 and not target.exists() and not list(tmp_path.iterdir())
    lines = found.stdout.splitlines()
    head, *others = (re.split(r"  +", line) for line in lines[:-1])
    rows = {row[0]: row for row in others}
    first = xr.open_dataset(min(folder.glob("*.nc")), **RAW)
    assert rows.keys() == set(first.variables)
    assert {name for name, row in rows.items() if row[3] != "exact"} == CODED[name]
    why = {name: row[-1] for name, row in rows.items()}
    expected = {
        "cmip6": {"time_bnds": "bounds", "lat": "coordinate", "depth": "coordinate"},
        "nemo": {"nav_lat": "coordinate", "time_centered": "time", "deptht_bounds": "bounds", "zos": "small"},
        "ukmo": {
            "air_temperature_status": "flags",
            "rotated_latitude_longitude": "grid mapping",
            "latitude": "coordinate",
        },
        "wrf": {
            "LU_INDEX": "classes",
            "LANDMASK": "classes",
            "REGION": "few values",
            "XLAT_U": "coordinate",
            "Times": "text",
        },
        "icon": {"clon": "coordinate", "clat_bnds": "bounds"},
    }.get(name, {})
    assert {name: why[name] for name in expected} == expected
    # The sizes are those that a run has, or nearly.
    done = converted(folder, target)
    for coded in CODED[name]:
        predicted = float(rows[coded][head.index("ratio")])
        ratio = re.search(rf"^{coded}: .* ratio ([0-9.]+);", done, re.MULTILINE)
        assert ratio is not None and predicted == pytest.approx(float(ratio[1]), rel=0.35)


def damage(folder: Path, at: int) -> Path:
    path = sorted(folder.glob("*.nc"))[at]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def copy_of(folder: Path, target: Path) -> Path:
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


def test_inputs_that_are_not_right_are_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    """Status 2, a line on stderr, and nothing is written."""
    target = tmp_path / "t.zarr"

    def refused(source: Any, *arguments: str) -> str:
        sources = source if isinstance(source, list) else [source]
        found = call("convert", *sources, target, *(arguments or ("--range", "1e-3")), "--quiet")
        assert found.returncode == 2 and not target.exists(), found.stderr
        return found.stderr.strip().splitlines()[-1]

    cut = copy_of(made("nemo"), tmp_path / "cut")
    assert f"{damage(cut, 1)} is no NetCDF file, or is damaged" in refused(cut)
    (cut / "ORCA1_1m_02_grid_T.nc").write_bytes(b"no NetCDF")
    assert "ORCA1_1m_02_grid_T.nc is no NetCDF file" in refused(cut)
    assert "there is no Zarr group and no file" in refused(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert "there is no Zarr group and no file" in refused(tmp_path / "empty")
    folder = made("cmip6")
    assert "one of abs, range, max, pwrel" in refused(folder, "--preset", "fast")
    assert "the source has no 'q'" in refused(folder, "--variable", "q", "--abs", "1")
    assert "'x' is no number" in refused(folder, "--variable", "tos:abs=x")
    assert "unknown setting" in refused(folder, "--variable", "tos:error=1")
    assert "give lengths as" in refused(folder, "--abs", "1", "--chunks", "time")
    assert "is the coordinate of its dimension" in refused(folder, "--variable", "time", "--abs", "1")


def with_texts_for_numbers(file: netCDF4.Dataset) -> None:
    values = np.arange(24 * 48 * 64).reshape(24, 48, 64) % 3000
    folders.add(file, "p", "i2", ("time", "y", "x"), values, {"scale_factor": "0.1"})


def with_arrays_of_variable_length(file: netCDF4.Dataset) -> None:
    file.createVariable("p", file.createVLType("i4", "ragged"), ("y",))[0] = np.arange(3, dtype="i4")


def with_records(file: netCDF4.Dataset) -> None:
    file.createVariable("p", file.createCompoundType(np.dtype([("a", "f4"), ("b", "i4")]), "record"), ("y",))


def with_a_time_that_is_missing(file: netCDF4.Dataset) -> None:
    file["time"][3] = np.nan


@pytest.mark.parametrize(
    "change, message",
    [
        (with_texts_for_numbers, "p cannot be read from .*0.nc"),
        (with_arrays_of_variable_length, "p in .*0.nc has records, or arrays of variable length"),
        (with_records, "p in .*0.nc has records, or arrays of variable length"),
        (with_a_time_that_is_missing, "time has a missing value in .*0.nc"),
    ],
)
def test_variables_that_cannot_be_kept(change: Callable[[netCDF4.Dataset], None], message: str, tmp_path: Path) -> None:
    for number in range(2):
        with netCDF4.Dataset(tmp_path / f"{number}.nc", "w") as file:
            for dim, length in zip(("time", "y", "x"), (24, 48, 64), strict=True):
                file.createDimension(dim, length)
            hours = {"units": "hours since 2000-01-01"}
            folders.add(file, "time", "f8", ("time",), 24 * number + np.arange(24), hours)
            folders.add(file, "t", "f4", ("time", "y", "x"), folders.waves(24, 48, 64))
            change(file)
    found = call("convert", tmp_path, tmp_path / "t.zarr", "--abs", "0.1", "--quiet")
    assert found.returncode == 2 and re.search(message, found.stderr), found.stderr


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("records", [["t"], ["t", "u"], ["a", "u", "time"], []])
def test_classic_files_that_are_cut_off(format: Any, records: list[str], tmp_path: Path) -> None:
    """netCDF4 reads zeros behind their end. A whole file misses no byte, and one of a byte less does."""
    path = tmp_path / "t.nc"
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("time", None)
        file.createDimension("z", 5)
        file.createDimension("y", 3)
        file.title = "not of four letters"
        folders.add(
            file, "lat", "f8", ("y",), np.arange(3), {"units": "degrees_north", "numbers": np.arange(3, dtype="i2")}
        )
        folders.add(file, "scalar", "i4", (), 3)
        for name in records:
            kind = {"t": "i2", "u": "f4", "a": "S1", "time": "f8"}[name]
            dims = ("time",) if name == "time" else ("time", "z", "y")
            values = np.full((7, 5, 3)[: len(dims)], b"x" if kind == "S1" else 1)
            folders.add(file, name, kind, dims, values, {"long_name": "of six"})
    whole = path.read_bytes()
    assert bytes_missing(str(path)) == 0
    # Behind the last value there may be padding.
    for length in (len(whole) - 4, len(whole) // 2, 20, 5):
        path.write_bytes(whole[:length])
        assert bytes_missing(str(path)) > 0, length
    path.write_bytes(whole[:-4])
    found = call("convert", path, tmp_path / "t.zarr", "--abs", "1")
    assert found.returncode == 2 and f"{path} is damaged: it is cut off" in found.stderr


def changed(made: Callable[[str], Path], tmp_path: Path, name: str, change: Callable[[xr.Dataset], xr.Dataset]) -> Path:
    """The folder `cmip6`, whose second file is changed."""
    folder = copy_of(made("cmip6"), tmp_path / name)
    last = sorted(folder.glob("*.nc"))[1]
    with xr.open_dataset(last, **RAW) as dataset:
        other = change(dataset.load())
    other.to_netcdf(last)
    return folder


def test_files_that_do_not_belong_together_are_refused(made: Callable[[str], Path], tmp_path: Path) -> None:
    def with_time(**attributes: str) -> Callable[[xr.Dataset], xr.Dataset]:
        return lambda data: data.assign_coords(time=data.time.assign_attrs(attributes))

    cases: dict[str, tuple[Callable[[xr.Dataset], xr.Dataset], str]] = {
        "lacks": (lambda data: data.drop_vars("tos"), "tos_Omon_2002.nc has other variables than .*: no tos"),
        "more": (lambda data: data.assign(sos=data.tos), "has other variables than .*2001.nc: sos"),
        "dims": (
            lambda data: data.assign(tos=data.tos.isel(lev=0, drop=True)),
            "variable tos is float32 .* in .*2002.nc",
        ),
        "dtype": (lambda data: data.assign(tos=data.tos.astype("f8")), "variable tos is float64"),
        "units": (
            lambda data: data.assign(tos=data.tos.assign_attrs(units="K")),
            "tos has the units 'K' in .*2002.nc, and 'degC'",
        ),
        "grid": (lambda data: data.assign_coords(lat=data.lat + 1), "the coordinate lat in .*2002.nc is not that in"),
        "calendar": (with_time(calendar="360_day"), "times in .*2002.nc are of the calendar 360_day"),
        "twice": (
            with_time(units="days since 2000-01-01"),
            "time 2001-01-16 12:00:00 is there twice, in .*2001.nc and in .*2002.nc; 12",
        ),
        "overlap": (with_time(units="days since 2000-01-12"), "not in the order of time"),
    }
    for name, (change, message) in cases.items():
        found = call("convert", changed(made, tmp_path, name, change), tmp_path / "t.zarr", "--abs", "0.1", "--quiet")
        assert found.returncode == 2 and re.search(message, found.stderr), (name, found.stderr)
    files = sorted(made("cmip6").glob("*.nc"))
    found = call("convert", *files[::-1], tmp_path / "t.zarr", "--abs", "0.1")
    assert found.returncode == 2 and "not in the order of time" in found.stderr
    assert not (tmp_path / "t.zarr").exists()


def test_gaps_in_time_are_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    def noted(folder: Path) -> list[str]:
        found = call("convert", folder, tmp_path / "t.zarr", "--abs", "0.1", "--dry-run")
        assert found.returncode == 0
        return [line for line in found.stderr.splitlines() if "missing between" in line]

    for name in FOLDERS:
        assert noted(made(name)) == [], name
    month = noted(changed(made, tmp_path, "month", lambda data: data.isel(time=slice(1, None))))
    assert len(month) == 1
    assert "a step is missing between 2001-12-16 12:00:00 and 2002-02-15, from" in month[0]
    days = copy_of(made("era5_of_the_new_store"), tmp_path / "days")
    with xr.open_dataset(days / "02.nc", **RAW) as dataset:
        dataset = dataset.load().isel(valid_time=[*range(10), *range(13, 30)])
    dataset.to_netcdf(days / "02.nc")
    assert "3 steps are missing between" in noted(days)[0] and "02.nc" in noted(days)[0]
    days = copy_of(made("wrf"), tmp_path / "wrf")
    (days / "wrfout_d01_2020-01-02_00_00_00.nc").rename(days / "a.nc")
    with xr.open_dataset(days / "wrfout_d01_2020-01-01_00_00_00.nc", **RAW) as dataset:
        dataset = dataset.load().isel(Time=slice(0, 22))
    dataset.to_netcdf(days / "wrfout_d01_2020-01-01_00_00_00.nc")
    assert "2 steps are missing between 2020-01-01T21:00:00 and 2020-01-02, from" in noted(days)[0]


def test_times_of_one_file_or_group_are_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    """They are taken as they are."""
    with xr.open_dataset(min(made("era5_of_the_new_store").glob("*.nc")), **RAW) as dataset:
        dataset = dataset.load()
    cases = {
        "gap": ([*range(10), *range(13, 30)], "note: valid_time: 3 steps are missing between 2023-11-23"),
        "twice": ([*range(10), *range(9, 30)], "note: valid_time 2023-11-23T22:13:20 is there twice, in"),
        "order": ([*range(10), *range(19, 9, -1), *range(20, 30)], "is not in the order of valid_time: 2023-12-02"),
    }
    for name, (places, message) in cases.items():
        dataset.isel(valid_time=places).to_netcdf(tmp_path / f"{name}.nc")
        dataset.isel(valid_time=places).drop_vars("expver").to_zarr(tmp_path / f"{name}.zarr", consolidated=False)
        for source in (tmp_path / f"{name}.nc", tmp_path / f"{name}.zarr"):
            found = call("convert", source, tmp_path / "t.zarr", "--abs", "0.1", "--dry-run")
            assert found.returncode == 0 and message in found.stderr, found.stderr
    dataset.isel(valid_time=[]).drop_encoding().to_netcdf(tmp_path / "none.nc", unlimited_dims=["valid_time"])
    found = call("convert", tmp_path / "gap.nc", tmp_path / "none.nc", tmp_path / "t.zarr", "--abs", "0.1")
    assert found.returncode == 2 and "none.nc has nothing along valid_time" in found.stderr


def test_files_come_in_the_order_of_their_times(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copy_of(made("cmip6"), tmp_path / "names")
    (folder / "tos_Omon_2002.nc").rename(folder / "a.nc")
    converted(folder, tmp_path / "t.zarr")
    times = xr.open_zarr(tmp_path / "t.zarr", consolidated=False, **RAW).time.values
    assert times.shape == (24,) and (np.diff(times) > 0).all()


def test_times_since_other_days_are_put_together(made: Callable[[str], Path], tmp_path: Path) -> None:
    """And so are their bounds, whose units are those of their coordinate."""

    def since_its_own_year(data: xr.Dataset) -> xr.Dataset:
        known = {**data.time.attrs, "units": "hours since 2002-01-01"}
        hours = {name: (data[name].dims, (data[name].values - 365) * 24) for name in ("time", "time_bnds")}
        return data.assign_coords(time=("time", hours["time"][1], known)).assign(time_bnds=hours["time_bnds"])

    folder = changed(made, tmp_path, "folder", since_its_own_year)
    converted(folder, tmp_path / "t.zarr")
    found = xr.open_zarr(tmp_path / "t.zarr", consolidated=False, **RAW)
    for name in ("time", "time_bnds"):
        assert np.array_equal(found[name].values, stored(made("cmip6"), name)[0]), name


def test_what_files_do_not_agree_on_is_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    shown = call("convert", made("ukmo"), tmp_path / "t.zarr", "--abs", "0.1", "--dry-run").stderr
    assert re.search(
        r"note: forecast_reference_time is not the same in all files: the archive has that of .*run_0.nc", shown
    )


def test_values_that_are_lossy_already_are_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    converted(made("era5_of_the_new_store"), tmp_path / "once.zarr", "--abs", "0.01")
    shown = converted(tmp_path / "once.zarr", tmp_path / "twice.zarr", "--abs", "0.02")
    assert "note: t2m: the source is lossy already, by ferrosz (abs, bound 0.01)" in shown
    attributes = xr.open_zarr(tmp_path / "twice.zarr", consolidated=False).t2m.attrs
    assert (attributes["ferrosz_bound"], attributes["ferrosz_source_bound"]) == (0.02, 0.01)


SLOW_NAMES = """
import os, time
at_once = os.replace
def replace(*places, **more):
    time.sleep(0.3)
    at_once(*places, **more)
os.replace = replace
"""


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_ctrl_c(workers: list[str], tmp_path: Path) -> None:
    """No traceback, status 130, and the same command goes on."""
    rng = np.random.default_rng(0)
    source = tmp_path / "source.nc"
    xr.Dataset({"t": (("time", "y", "x"), rng.normal(0, 1, (200, 64, 64)).astype("f4"))}).to_netcdf(source)
    settings = ["--abs", "1e-3", "--chunks", "time=2", "--shards", "time=2", *workers]
    arguments = [*COMMAND, "convert", str(source), str(tmp_path / "t.zarr"), *settings]

    def as_in_a_terminal() -> None:
        # Where the tests run in the background of a script, the signal is ignored, and so in their children.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    # Shards get their names slowly, so that some are missing when the signal comes, however busy the machine is.
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(SLOW_NAMES)
    with subprocess.Popen(
        arguments,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=as_in_a_terminal,
        env={**os.environ, "PYTHONPATH": str(slow)},
    ) as process:
        while process.poll() is None and len(list((tmp_path / "t.zarr").glob("t/c/*/0/0"))) < 5:
            time.sleep(0.01)
        # As a terminal does it: to the workers, too.
        os.killpg(process.pid, signal.SIGINT)
        _, shown = process.communicate(timeout=60)
    # Distributed may log an exception of its own when its connections end.
    assert process.returncode == 130 and "the same command goes on" in shown and "/ferrosz/archive/" not in shown, shown
    kept = len(list((tmp_path / "t.zarr").glob("t/c/*/0/0")))
    assert 5 <= kept < 100
    found = run("convert", source, tmp_path / "t.zarr", *settings, "--quiet")
    assert found.returncode == 0 and f"{100 - kept} shards written, {kept} were there" in found.stdout


def test_a_disk_that_is_full(made: Callable[[str], Path], tmp_path: Path) -> None:
    """Status 3, as the same command goes on when there is room."""
    arguments = ["convert", made("nemo"), tmp_path / "t.zarr", "--abs", "1e-4", "--quiet"]
    limit = (30_000, 30_000)
    command = [*COMMAND, *map(str, arguments)]
    found = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert found.returncode == 3 and "Traceback" not in found.stderr, found.stderr
    assert "File too large" in found.stderr.splitlines()[-1]
    assert run(*arguments).returncode == 0


@pytest.mark.parametrize("workers", [[], ["--workers", "1"]])
def test_values_that_cannot_be_read(workers: list[str], made: Callable[[str], Path], tmp_path: Path) -> None:
    """A file that can be opened, and has damage in a chunk: the message has its name."""
    folder = copy_of(made("era5_of_the_new_store"), tmp_path / "folder")
    last = folder / "02.nc"
    whole = bytearray(last.read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 1000] = bytes(1000)
    last.write_bytes(whole)
    found = run("convert", folder, tmp_path / "t.zarr", "--range", "1e-3", *workers)
    assert found.returncode == 2, found.stderr
    assert f"source: t2m cannot be read from {last}" in found.stderr.splitlines()[-1]


def test_a_source_without_measured_variables(tmp_path: Path) -> None:
    xr.Dataset({"t": (("y", "x"), np.zeros((5, 5))), "n": (("x",), np.arange(5))}).to_netcdf(tmp_path / "few.nc")
    found = call("convert", tmp_path / "few.nc", tmp_path / "t.zarr", "--abs", "1")
    assert found.returncode == 2 and "All would be exact: t (small), n (integers)" in found.stderr
    assert call("convert", tmp_path / "few.nc", tmp_path / "t.zarr", "--abs", "1", "--variable", "t").returncode == 0


def test_a_target_that_cannot_be_written(made: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    found = run("convert", made("cmip6"), tmp_path / "file" / "t.zarr", "--abs", "0.1")
    assert found.returncode == 2 and "file" in found.stderr


def test_a_bound_that_is_not_kept_is_status_1(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder, coarse, target = made("cmip6"), tmp_path / "coarse.zarr", tmp_path / "t.zarr"
    converted(folder, coarse, "--abs", "1")
    converted(folder, target, "--abs", "0.001")
    (coarse / "tos" / "c" / "0" / "0" / "0" / "0").rename(target / "tos" / "c" / "0" / "0" / "0" / "0")
    found = call("verify", folder, target)
    assert found.returncode == 1 and "bound kept: NO" in found.stdout


@pytest.mark.parametrize("package", ["xarray", "distributed", "netCDF4", "zarr", "dask"])
def test_without_the_extra(package: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{package!r}] = None")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for arguments in (["-c", "import ferrosz.archive"], ["-m", "ferrosz.archive", "verify", "a", "b"]):
        found = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
        assert found.returncode == 1
        assert re.search(f"needs {package}, .*pip install 'ferrosz\\[archive\\]'", found.stderr.splitlines()[-1])
    assert "Traceback" not in found.stderr
