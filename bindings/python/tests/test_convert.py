"""`python -m ferrosz`: NetCDF, HDF5 and Zarr to such, judged by netCDF4, h5py, xarray and ncdump."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from exact import beyond

import ferrosz
import ferrosz.hdf5
from ferrosz import archive
from ferrosz._datasets import main
from ferrosz.archive import _field, _layout, _netcdf, _verify_file

pytestmark = pytest.mark.filterwarnings("ignore")

CODED = {"t2m", "packed", "sub/q"}
# The second one is among the values, and would come back with an error if nobody knew it.
FILL, OTHER = np.float32(1e20), np.float32(280.0123)


def walk(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, (30, 60, 80)).cumsum(axis=2)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all that NetCDF-4 has but compound types and arrays of variable length."""
    path = tmp_path_factory.mktemp("source") / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts({"title": "all", "numbers": np.array([1, 2], "i4"), "texts": ["a", "b"], "half": np.float32(0.5)})
        for name, length in {"time": None, "lat": 60, "lon": 80, "letters": 5, "of_none": 7, "none": None}.items():
            file.createDimension(name, length)
        new(file, "time", "f8", ("time",), np.arange(30) + 0.5, units="days since 2000-01-01", calendar="noleap")
        new(file, "lat", "f4", ("lat",), np.linspace(-90, 90, 60), units="degrees_north")
        new(file, "lon", "f8", ("lon",), np.linspace(0, 359, 80), units="degrees_east")
        values = (280 + walk(1)).astype("f4")
        values[0, :10], values[3, 3, 3], values[4, 4, 4:7] = FILL, OTHER, (np.nan, np.inf, -np.inf)
        new(file, "t2m", "f4", ("time", "lat", "lon"), values, fill=FILL, missing_value=OTHER, units="K", coordinates="lat lon")
        steps = np.rint(walk(2) * 100).astype("i2")
        steps[5] = -32768
        new(file, "packed", "i2", ("time", "lat", "lon"), steps, fill=-32768, scale_factor=0.01, add_offset=5.0)
        new(file, "count", "i8", ("time", "lat", "lon"), np.arange(144000).reshape(30, 60, 80))
        new(file, "bytes", "u1", ("lon",), np.arange(80), fill=255)
        new(file, "letter", "S1", ("lat", "letters"), np.full((60, 5), b"x"))
        new(file, "word", str, ("letters",), np.array(["one", "zwei", "трі", "", "5"], object))
        new(file, "crs", "i4", (), 7, grid_mapping_name="latitude_longitude")
        sky = file.createEnumType("i1", "sky_t", {"clear": 0, "cloudy": 1})
        file.createVariable("sky", sky, ("lat",))[:] = np.arange(60) % 2
        below = file.createGroup("sub")
        below.note = "below"
        new(below, "q", "f8", ("time", "lat", "lon"), walk(3))
        deeper = below.createGroup("deeper")
        deeper.createDimension("lat", 3)
        new(deeper, "lat", "i4", ("lat",), [1, 2, 3])
    return path


def new(group: Any, name: str, kind: Any, dims: tuple[str, ...], values: Any, fill: Any = None, **attributes: Any) -> None:
    variable = group.createVariable(name, kind, dims, fill_value=fill)
    variable.setncatts(attributes)
    variable.set_auto_maskandscale(False)
    variable[...] = values


def variables(group: Any, path: str = "") -> dict[str, Any]:
    found = {path + name: variable for name, variable in group.variables.items()}
    for variable in found.values():
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
    for name, below in group.groups.items():
        found |= variables(below, f"{path}{name}/")
    return found


def command(*arguments: Any) -> int:
    return main([*map(str, arguments), "--quiet"])


def attributes(owner: Any) -> dict[str, Any]:
    found = {name: owner.getncattr(name) for name in owner.ncattrs() if not name.startswith("ferrosz_")}
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in found.items()}


def assert_kept(source: Path, target: Path) -> None:
    """All of a file but the values that are coded is in another one, as netCDF4 sees it."""
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target) as new:
        for path in ("", "sub", "sub/deeper"):
            before, after = (file[path] if path else file for file in (old, new))
            assert attributes(before) == attributes(after)
            assert {name: (len(dim), dim.isunlimited()) for name, dim in before.dimensions.items()} == {
                name: (len(dim), dim.isunlimited()) for name, dim in after.dimensions.items()
            }
        before, after = variables(old), variables(new)
        assert before.keys() == after.keys()
        for name, variable in before.items():
            assert attributes(variable) == attributes(after[name]), name
            assert variable.dimensions == after[name].dimensions
            assert variable.dtype == after[name].dtype
            if name not in CODED:
                same = np.asarray(variable[...]), np.asarray(after[name][...])
                assert (same[0] == same[1]).all(), name
        assert after["sky"].datatype.enum_dict == {"clear": 0, "cloudy": 1}


def assert_bounds(source: Path, target: Path, wanted: dict[str, float]) -> None:
    """The errors of files, by NumPy alone."""
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target) as new:
        before, after = variables(old), variables(new)
        for name, bound in wanted.items():
            assert after[name].ferrosz_bound <= bound * (1 + 1e-12), name
            original, back = before[name][...], after[name][...]
            marks = [FILL, OTHER] if name == "t2m" else [-32768] if name == "packed" else []
            missing = np.isin(original, marks)
            assert (np.isin(back, marks) == missing).all()
            assert back[missing].tobytes() == original[missing].tobytes()
            scale = 0.01 if name == "packed" else 1
            assert beyond(original[~missing], back[~missing], bound / scale) == 0
            assert (original != back).any(), name


def ranges(source: Path) -> dict[str, float]:
    """Of each coded variable the range of all values that count."""
    with xr.open_dataset(source, decode_times=False) as root, xr.open_dataset(source, group="sub") as below:
        values = {"t2m": root.t2m.values, "packed": root.packed.values, "sub/q": below.q.values}
        return {name: float(np.ptp(of[np.isfinite(of)].astype("f8"))) for name, of in values.items()}


@pytest.mark.parametrize("suffix", [".nc", ".h5"])
def test_a_file_becomes_a_file(source: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / f"out{suffix}"
    assert command("convert", source, target, "--range", "4e-3", "--bound", "sub/q=abs:0.01", "--verify") == 0
    assert_kept(source, target)
    whole = ranges(source)
    assert_bounds(source, target, {"t2m": 4e-3 * whole["t2m"], "packed": 4e-3 * whole["packed"], "sub/q": 0.01})
    assert command("verify", source, target) == 0
    assert capsys.readouterr().out.count("bound kept;") == 3
    assert [found.name for found in tmp_path.iterdir()] == [target.name]
    with h5py.File(target) as file:
        # The relative bound is that of the whole variable, rounded down, and h5py decodes it.
        assert file["t2m"].attrs["ferrosz_bound"] == pytest.approx(4e-3 * whole["t2m"], rel=1e-12)
        assert file["t2m"][7].shape == (60, 80)
        assert sum(file[name].id.get_storage_size() for name in CODED) < os.path.getsize(source) / 4


@pytest.mark.parametrize("first, second", [("a.zarr", None), ("a.zarr", "b.zarr"), ("a.zarr", "b.nc"), ("a.nc", "b.zarr")])
def test_all_ways(source: Path, tmp_path: Path, first: str, second: str | None) -> None:
    """Each step keeps its bound, and xarray finds all variables and attributes at the end."""
    bound, steps = 0.02, [tmp_path / name for name in (first, second) if name is not None]
    for before, after in zip([source, *steps], steps):
        assert command("convert", before, after, "--abs", bound, "--verify") == 0
        assert command("verify", before, after) == 0
    for group in ("/", "/sub", "/sub/deeper"):
        options: dict[str, Any] = {"group": group}
        with xr.open_dataset(source, **options) as old, open_any(steps[-1], group) as found:
            assert set(old.variables) == set(found.variables)
            assert old.attrs.keys() == found.attrs.keys() - {"ferrosz_archive"}
            for name in old.variables:
                assert old[name].dims == found[name].dims
                assert old[name].attrs.items() <= {**found[name].attrs, **found[name].encoding}.items(), name
                if name in ("t2m", "packed", "q"):
                    error = abs(found[name].astype("f8") - old[name].astype("f8"))
                    assert error.where(np.isfinite(old[name])).max() <= len(steps) * bound * (1 + 1e-6)
                    assert (found[name].isnull() == old[name].isnull()).all()
                else:
                    assert (np.asarray(old[name], str) == np.asarray(found[name], str)).all(), name


def open_any(path: Path, group: str) -> xr.Dataset:
    if path.suffix == ".zarr":
        return xr.open_zarr(path, group=group, consolidated=False)
    return xr.open_dataset(path, group=group)


def test_a_file_of_hdf5(tmp_path: Path) -> None:
    """Datasets without dimensions that have a name."""
    values = walk(5).astype("f4")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["a/b/field"] = values
        file["a/b/field"].attrs["unit"] = "V"
        file["a/scalar"] = 3.5
    assert command("convert", tmp_path / "in.h5", tmp_path / "out.h5", "--range", "1e-4") == 0
    with h5py.File(tmp_path / "out.h5") as file:
        found = file["a/b/field"]
        assert found.attrs["unit"] == "V" and found.attrs["ferrosz_range"] == 1e-4
        assert beyond(values, found[...], 1e-4 * float(np.ptp(values.astype("f8")))) == 0
        assert file["a/scalar"][()] == 3.5
    assert command("verify", tmp_path / "in.h5", tmp_path / "out.h5") == 0


def test_decompress_leaves_no_filter(source: Path, tmp_path: Path) -> None:
    packed, plain = tmp_path / "out.nc", tmp_path / "plain.nc"
    assert command("convert", source, packed, "--range", "1e-3") == 0
    assert command("decompress", packed, plain) == 0
    assert_kept(source, plain)
    with netCDF4.Dataset(packed) as old, netCDF4.Dataset(plain) as new:
        before, after = variables(old), variables(new)
        assert all(before[name][...].tobytes() == after[name][...].tobytes() for name in CODED)
    numbers: list[int] = []

    def note_filters(_: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            properties = found.id.get_create_plist()
            numbers.extend(properties.get_filter(each)[0] for each in range(properties.get_nfilters()))

    with h5py.File(plain) as file:
        file.visititems(note_filters)
    assert numbers and ferrosz.hdf5.FILTER_ID not in numbers


def test_verify_finds_what_is_wrong(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.nc", tmp_path / "bad.nc"
    assert command("convert", source, good, "--abs", "0.01") == 0

    def judged(change: Any) -> str:
        shutil.copy(good, bad)
        with h5py.File(bad, "r+") as file:
            change(file)
        capsys.readouterr()
        assert command("verify", source, bad) == 1
        return "".join(line for line in capsys.readouterr().out.splitlines() if "NO" in line or line.startswith("  "))

    def tighter(file: Any) -> None:
        file["t2m"].attrs["ferrosz_bound"] = 1e-6

    def other(file: Any) -> None:
        file["count"][3, 4, 5] += 1

    def text(file: Any) -> None:
        file["word"][1] = "two"

    def lost(file: Any) -> None:
        del file["sub/q"]

    assert re.match(r"t2m: bound kept: NO; .* [1-9]\d* over the bound", judged(tighter))
    assert judged(other) == "count: exact: NO; 144000 values, 1 changed"
    assert judged(text) == "word: exact: NO; 5 values, 1 changed"
    assert judged(lost).startswith("sub/q: exact: NO")


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.nc"
    assert command("convert", source, target, "--range", "1e-3", "--bound", "t2m=abs:0.5", "--dry-run") == 0
    assert not list(tmp_path.iterdir())
    lines = [re.split(r"  +", line) for line in capsys.readouterr().out.splitlines()]
    rows = {line[0]: dict(zip(lines[1], line)) for line in lines[2:-1]}
    assert rows["t2m"]["bound"] == "0.5" and rows["t2m"]["chunks"] == "30 x 60 x 80" and rows["t2m"]["type"] == "float32"
    assert rows["sub/q"]["dimensions"] == "time=30 lat=60 lon=80" and float(rows["sub/q"]["ratio"]) > 2
    assert rows["count"]["bound"] == "exact" and rows["count"]["why"] == "integers"
    done = archive.convert(source, target, range=1e-3, bounds={"t2m": {"abs": 0.5}})
    assert done["t2m"].bound == 0.5
    assert {name: variable.chunks for name, variable in done.items()} == {
        name: variable.chunks for name, variable in planned(source, target).items() if variable.chunks
    }


def planned(source: Path, target: Path) -> dict[str, archive.Planned]:
    return archive.plan(source, target=target, range=1e-3, bounds={"t2m": {"abs": 0.5}})


def test_folders_and_patterns_keep_their_structure(source: Path, tmp_path: Path) -> None:
    places = ["2025/a.nc", "2026/b.nc", "c.nc"]
    for place in places:
        (tmp_path / "in" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tmp_path / "in" / place)
    assert command("convert", tmp_path / "in" / "c.nc", tmp_path / "in" / "2026" / "d.zarr", "--abs", "0.1") == 0

    def written(folder: Path) -> list[str]:
        found = [path for path in folder.rglob("*") if path.suffix in (".nc", ".zarr")]
        return sorted(str(path.relative_to(folder)) for path in found)

    out = tmp_path / "out"
    assert command("convert", tmp_path / "in", "--out-dir", out, "--range", "1e-3") == 0
    assert written(out) == ["2025/a.nc", "2026/b.nc", "2026/d.zarr", "c.nc"]
    assert command("verify", tmp_path / "in", "--out-dir", out) == 0
    for pattern, expected in (("in/*/*.nc", ["2025/a.zarr", "2026/b.zarr"]), ("in/**/b.nc", ["2026/b.zarr"])):
        other = tmp_path / f"other{len(expected)}"
        assert command("convert", tmp_path / pattern, "--out-dir", other, "--format", "zarr", "--abs", "1") == 0
        assert written(other) == expected
    # A group is not replaced, and may be left out.
    again = ("convert", tmp_path / "in", "--out-dir", out, "--range", "1e-3")
    assert command(*again) == 2
    before = (out / "c.nc").stat().st_mtime_ns
    assert command(*again, "--skip") == 0
    assert (out / "c.nc").stat().st_mtime_ns == before
    # Two files of one name.
    assert command("convert", tmp_path / "in/c.nc", out / "c.nc", "--out-dir", tmp_path / "twice", "--abs", "1") == 2


KILLED = """
import os, signal, sys
from ferrosz.archive import _netcdf, _convert
from ferrosz._datasets import main

def killing(work, count=[0]):
    def call(*arguments):
        count[0] += 1
        if count[0] == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*arguments)
    return call

_netcdf.GroupWriter._write_coded = killing(_netcdf.GroupWriter._write_coded)
_convert.write_shard = killing(_convert.write_shard)
main([*sys.argv[2:], "--quiet"])
"""


@pytest.mark.parametrize("name", ["out.nc", "out.zarr"])
@pytest.mark.parametrize("at", [1, 3])
def test_killed_it_leaves_no_half_of_a_target(source: Path, tmp_path: Path, name: str, at: int) -> None:
    target, undisturbed = tmp_path / name, tmp_path / f"whole.{name}"
    convert = ["convert", str(source), str(target), "--range", "1e-3"]
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED, str(at), *convert])
    assert run.returncode == -signal.SIGKILL
    assert [found.name for found in tmp_path.iterdir()] == [f"{name}.partial"]
    assert command(*convert) == 0
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert command("verify", source, target) == 0
    assert command("convert", source, undisturbed, "--range", "1e-3") == 0
    if name.endswith(".zarr"):
        assert contents(target) == contents(undisturbed)


def test_other_settings_do_not_go_on(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the group that a killed process left."""
    assert command("convert", source, tmp_path / "out.zarr", "--abs", "0.01") == 0
    (tmp_path / "out.zarr").rename(tmp_path / "out.zarr.partial")
    assert command("convert", source, tmp_path / "out.zarr", "--abs", "0.02") == 2
    assert "out.zarr.partial was begun with other settings" in capsys.readouterr().err


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_error_leaves_the_old_file(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.nc"
    assert command("convert", source, target, "--abs", "0.01") == 0
    before = target.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(_netcdf, "write_chunks", fail)
    assert command("convert", source, target, "--abs", "0.01") == 3
    assert target.read_bytes() == before and [found.name for found in tmp_path.iterdir()] == ["out.nc"]


def test_a_bound_that_is_not_kept_leaves_no_file(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `--verify` finds."""
    write = _netcdf.write_chunks

    def write_others(dataset: Any, values: Any, *rest: Any) -> None:
        write(dataset, values + values.dtype.type(3), *rest)

    monkeypatch.setattr(_netcdf, "write_chunks", write_others)
    assert command("convert", source, tmp_path / "out.nc", "--abs", "0.01", "--verify") == 1
    assert not list(tmp_path.iterdir())


def test_memory_holds_a_block_at_a_time(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a file is written, and while it is compared; samples, by which a codec is chosen, have a size of their own."""
    most, loaded, within = 1 << 17, [], []
    load, write, compare = _field.Part.load, _netcdf.GroupWriter.write, _verify_file._compare_parts

    def noted(part: Any) -> Any:
        values = load(part)
        loaded.extend([values.nbytes] * len(within))
        return values

    def noting(work: Any) -> Any:
        def call(*arguments: Any) -> Any:
            within.append(True)
            try:
                return work(*arguments)
            finally:
                within.clear()

        return call

    for module in (_layout, _netcdf, _verify_file):
        monkeypatch.setattr(module, "SHARD_BYTES", most)
    monkeypatch.setattr(_layout, "CHUNK_BYTES", most // 2)
    monkeypatch.setattr(_field.Part, "load", noted)
    monkeypatch.setattr(_netcdf.GroupWriter, "write", noting(write))
    monkeypatch.setattr(_verify_file, "_compare_parts", noting(compare))
    target = tmp_path / "out.nc"
    done = archive.convert(source, target, range=4e-3, verify=True)
    assert max(loaded) <= most and len(loaded) > 80
    assert all(np.prod(variable.chunks) * 2 <= most for variable in done.values())
    assert_kept(source, target)
    whole = ranges(source)
    assert_bounds(source, target, {name: 4e-3 * whole[name] for name in CODED})
    assert done["t2m"].bound == pytest.approx(4e-3 * whole["t2m"], rel=1e-12)


def test_files_that_follow_each_other_become_one(tmp_path: Path) -> None:
    values = walk(7).astype("f4")
    for part in range(3):
        times = ("time", np.arange(10) + 10.0 * part, {"units": "days since 2001-01-01"})
        dataset = xr.Dataset({"t": (("time", "y", "x"), values[10 * part :][:10])}, {"time": times})
        dataset.to_netcdf(tmp_path / f"{part}.nc", engine="netcdf4", unlimited_dims=["time"])
    parts = [tmp_path / f"{part}.nc" for part in range(3)]
    assert command("convert", *parts, tmp_path / "all.nc", "--range", "1e-3") == 0
    assert command("verify", *parts, tmp_path / "all.nc") == 0
    with netCDF4.Dataset(tmp_path / "all.nc") as file:
        assert file.dimensions["time"].isunlimited() and file["time"][:].tolist() == list(range(30))
        assert file["time"].units == "days since 2001-01-01"
        assert beyond(values, file["t"][...].data, 1e-3 * float(np.ptp(values.astype("f8")))) == 0


def test_a_file_that_is_written_can_grow(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.nc"
    assert command("convert", source, target, "--abs", "0.01") == 0
    with netCDF4.Dataset(target, "a") as file:
        file["time"][30] = 99
        file["t2m"][30] = 281
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target) as file:
        # What is added is within the bound; chunks that are written again may be off by one bound more.
        assert abs(file["t2m"][30] - 281).max() <= 0.01 and file["count"][30].mask.all()
        original, back = (variables(each)["t2m"][:30].astype("f8") for each in (old, file))
        counts = np.isfinite(original) & (original != FILL) & (original != OTHER)
        assert abs(back - original)[counts].max() <= 0.02 and (back[~counts & ~np.isnan(back)] == original[~counts & ~np.isnan(back)]).all()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("{in}", "{in}", "--abs", "1"), "is a file of the source"),
        (("{in}", "{out}/no/out.nc", "--abs", "1"), "there is no folder"),
        (("{in}", "{out}/out.nc"), "t2m: give one of"),
        (("{in}", "{out}/out.nc", "--abs", "1", "--bound", "nothing=abs:1"), "the source has no 'nothing'"),
        (("{in}", "{out}/out.nc", "--abs", "1", "--bound", "above/t=abs:1"), "the source has no 'above/t'"),
        (("{in}", "{out}/out.nc", "--abs", "1", "--bound", "count=abs:1"), "only arrays of floating-point numbers"),
        (("{in}", "--abs", "1"), "give a source and a target"),
        (("{out}", "--out-dir", "{out}", "--abs", "1"), "there is no Zarr group and no file"),
    ],
)
def test_errors_name_what_is_wrong(
    source: Path, tmp_path: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = source.read_bytes()
    places = {"{in}": str(source), "{out}": str(tmp_path)}
    given = [re.sub(r"\{\w+\}", lambda found: places[found.group()], argument) for argument in arguments]
    assert command("convert", *given) == 2
    assert message in capsys.readouterr().err
    assert source.read_bytes() == before and not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="ncdump is not installed")
def test_ncdump_reads_it(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.nc"
    assert command("convert", source, target, "--abs", "0.01") == 0
    environment = {**os.environ, "HDF5_PLUGIN_PATH": ferrosz.hdf5.PLUGIN_PATH}
    run = subprocess.run(["ncdump", target], env=environment, check=True, capture_output=True, text=True)
    assert "time = UNLIMITED ; // (30 currently)" in run.stdout and "ferrosz_bound = 0.01" in run.stdout
