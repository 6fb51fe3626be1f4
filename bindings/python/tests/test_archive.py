"""Archives, on a cluster of two processes: what is killed, interrupted or damaged in the middle leaves the same bytes."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from distributed import Client, LocalCluster
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

import ferrosz
from ferrosz import archive
from ferrosz.archive import _layout
from ferrosz.archive.__main__ import main
from ferrosz.archive._choice import choose, why_exact
from ferrosz.archive._field import Field
from ferrosz.archive._source import open_source

CHUNKS = {"time": 5, "lat": 30, "lon": 40}
SHARDS = {"time": 5, "lat": 60, "lon": 80}
SETTINGS: dict[str, Any] = {"variables": ["t"], "range": 1e-3, "chunks": CHUNKS, "shards": SHARDS}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def month(number: int) -> xr.Dataset:
    """20 maps of 60 x 77 temperatures, whose walk is wider in later months, so that each has another range.

    There is a mask, in which a whole chunk lies, and all elements of a shard of the third month are missing.
    """
    walk = np.random.default_rng(number).normal(0, 0.1 + number, (20, 60, 77)).cumsum(axis=2)
    values = (280 + walk).astype("float32")
    values[:, 5:9] = values[:, 30:, :40] = np.nan
    if number == 2:
        values[10:15] = np.nan
    days = ("time", np.arange(20), {"units": f"days since 2000-0{number + 1}-01", "bounds": "time_bnds"})
    return xr.Dataset(
        {
            "t": (("time", "lat", "lon"), values, {"units": "K", "grid_mapping": "crs"}),
            "flag": (("time", "lat", "lon"), (values > 280).astype("int16")),
            "time_bnds": (("time", "edge"), np.arange(40.0).reshape(20, 2)),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
        },
        coords={"time": days, "lat": np.linspace(-60, 60, 60), "lon": np.linspace(0, 1, 77)},
        attrs={"title": "months"},
    )


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files of NetCDF, packed into 16 bits by other numbers in each."""
    folder = tmp_path_factory.mktemp("months")
    for number in range(4):
        packing = {"dtype": "int16", "scale_factor": 0.004 * (number + 1), "add_offset": 280.0 + number, "_FillValue": -32768}
        month(number).to_netcdf(folder / f"{number}.nc", engine="netcdf4", encoding={"t": packing})
    return folder


@pytest.fixture(scope="module")
def undisturbed(months: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of one process alone."""
    target = tmp_path_factory.mktemp("undisturbed") / "t.zarr"
    archive.convert(months, target, **SETTINGS)
    return target


def objects(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def numbers_of_files(folder: Path) -> dict[str, tuple[int, int]]:
    """A file that is written again has another number or another time."""
    found = {path: path.stat() for path in (folder / "t" / "c").rglob("*") if path.is_file()}
    return {str(path.relative_to(folder)): (state.st_ino, state.st_mtime_ns) for path, state in found.items()}


def original(months: Path) -> xr.Dataset:
    options: dict[str, Any] = {"data_vars": "minimal", "coords": "minimal", "compat": "override"}
    return xr.open_mfdataset(sorted(months.glob("*.nc")), decode_timedelta=False, **options).load()


def test_the_archive_is_what_xarray_reads_of_the_source(months: Path, undisturbed: Path) -> None:
    source, found = original(months), xr.open_zarr(undisturbed, consolidated=False).load()
    bound = found.t.attrs["ferrosz_bound"]
    values = source.t.values
    assert bound == pytest.approx(1e-3 * (np.nanmax(values) - np.nanmin(values)), rel=1e-12)
    assert np.array_equal(np.isnan(found.t), np.isnan(values))
    assert 0 < np.nanmax(np.abs(found.t.values - values)) <= bound
    assert found.t.attrs["units"] == "K" and found.t.attrs["ferrosz_range"] == 1e-3
    assert (found.t.attrs["ferrosz_minimum"], found.t.attrs["ferrosz_maximum"]) == (np.nanmin(values), np.nanmax(values))
    for name in ("flag", "time", "lat", "lon", "time_bnds", "crs"):
        assert found[name].equals(source[name]), name
    assert found.flag.dtype == "int16" and found.attrs["title"] == "months"
    array = zarr.open_array(undisturbed / "t", mode="r")
    assert (array.chunks, array.shards) == ((5, 30, 40), (5, 60, 80))
    assert len(numbers_of_files(undisturbed)) == 16


def test_the_bound_is_that_of_the_whole_array(months: Path, undisturbed: Path) -> None:
    source, found = original(months).t.values, xr.open_zarr(undisturbed, consolidated=False).t.values
    shards = [(part, whole) for part, whole in zip(np.split(found, 16), np.split(source, 16), strict=True)]
    shards = [(part, whole) for part, whole in shards if np.isfinite(whole).any()]
    assert len(shards) == 15
    bounds = 1e-3 * np.array([np.nanmax(whole) - np.nanmin(whole) for _, whole in shards])
    errors = [np.nanmax(np.abs(part - whole)) for part, whole in shards]
    limit = 1e-3 * (np.nanmax(source) - np.nanmin(source))
    assert max(errors) <= limit
    # With a bound of its own each shard would have another one, up to a fraction of that of the whole array.
    assert bounds.min() < 0.5 * limit
    assert any(error > bound for error, bound in zip(errors, bounds, strict=True))


def test_a_worker_that_is_killed_changes_no_byte(months: Path, undisturbed: Path, tmp_path: Path, client: Client) -> None:
    killed = []

    def kill(what: str, done: int, total: int) -> None:
        if what == "t: shards" and done == 4:
            busy = next(address for address, calls in client.processing().items() if calls)
            killed.append(client.run(os.getpid)[busy])
            os.kill(killed[0], signal.SIGKILL)

    done = archive.convert(months, tmp_path / "t.zarr", client=client, verify=True, progress=kill, **SETTINGS)["t"]
    assert len(killed) == 1 and killed[0] not in client.run(os.getpid).values()
    # Those whose results died with the worker are there, and not written again.
    assert done.shards_written + done.shards_kept == 16
    assert done.largest_error is not None and 0 < done.largest_error <= done.bound
    assert objects(tmp_path / "t.zarr") == objects(undisturbed)
    found = archive.verify(months, tmp_path / "t.zarr", client=client)["t"]
    assert found and found.elements == 80 * 60 * 77
    assert found.missing == np.isnan(original(months).t).sum() > 80 * 30 * 40
    assert found.largest_error == done.largest_error


def test_a_run_that_is_interrupted_is_resumed(months: Path, undisturbed: Path, tmp_path: Path, client: Client) -> None:
    target = tmp_path / "t.zarr"

    def interrupt(at: str) -> Any:
        def progress(what: str, done: int, total: int) -> None:
            if what == at and done == 6:
                raise KeyboardInterrupt

        return progress

    for at in ("t: range", "t: shards"):
        with pytest.raises(KeyboardInterrupt):
            archive.convert(months, target, client=client, progress=interrupt(at), **SETTINGS)
    with pytest.raises(ferrosz.ArgumentError, match="not complete"):
        archive.verify(months, target)
    before = numbers_of_files(target)
    done = archive.convert(months, target, client=client, **SETTINGS)["t"]
    after = numbers_of_files(target)
    assert 6 <= len(before) <= done.shards_kept < 16 or done.shards_written == 16 - len(before)
    assert {name: after[name] for name in before} == before
    assert objects(target) == objects(undisturbed)


def test_the_command_is_killed_with_all_its_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = np.random.default_rng(9).normal(0, 1, (120, 64, 64)).cumsum(axis=2).astype("float32")
    dataset = xr.Dataset({"u": (("time", "y", "x"), walk), "v": (("time", "y", "x"), walk[:, ::-1])})
    source, target, undisturbed = (str(tmp_path / name) for name in ("source.zarr", "killed.zarr", "undisturbed.zarr"))
    dataset.to_zarr(source, consolidated=False)
    settings = ["--variable", "u", "--variable", "v:abs=0.5,preset=fast", "--range", "1e-4"]
    settings += ["--chunks", "time=2,y=32,x=32", "--shards", "time=2"]
    arguments = [sys.executable, "-m", "ferrosz.archive", "convert", source, target, *settings, "--workers", "2"]
    with subprocess.Popen(arguments, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and len(list(Path(target).glob("u/c/*/0/0"))) < 10:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
    done = len(list(Path(target).glob("u/c/*/0/0")))
    assert 10 <= done < 60, "it was killed in the middle"

    def run(*arguments: str) -> tuple[int, str]:
        status = main(arguments)
        shown = capsys.readouterr()
        return status, shown.out + shown.err

    assert f"{60 - done} shards written, {done} were there" in run("convert", source, target, *settings)[1]
    assert "60 shards written;" in run("convert", source, undisturbed, *settings)[1]
    assert objects(Path(target)) == objects(Path(undisturbed))
    status, shown = run("verify", source, target)
    assert status == 0 and shown.count("bound kept;") == 2
    (Path(target) / "u" / "c" / "7" / "0" / "0").unlink()
    status, shown = run("verify", source, target)
    assert status == 1 and "u/c/7/0/0: it is not there" in shown
    status, shown = run("convert", source, target, "--abs", "1")
    assert status == 2 and "begun with other settings" in shown


def test_damaged_shards_are_found_and_written_again(months: Path, undisturbed: Path, tmp_path: Path, client: Client) -> None:
    target = tmp_path / "t.zarr"
    shutil.copytree(undisturbed, target)
    shards = [target / "t" / "c" / str(number) / "0" / "0" for number in range(16)]
    whole = [shard.read_bytes() for shard in shards]
    shards[0].write_bytes(whole[0][:-1])
    shards[1].write_bytes(whole[1][: len(whole[1]) // 2])
    shards[2].write_bytes(b"")
    shards[3].write_bytes(bytes(len(whole[3])))
    middle = len(whole[4]) // 2
    shards[4].write_bytes(whole[4][:middle] + bytes([whole[4][middle] ^ 1]) + whole[4][middle + 1 :])
    shards[5].unlink()
    # A shard with one chunk of four: sound, but not whole.
    shards[6].unlink()
    zarr.open_array(target / "t", mode="r+")[30:35, :30, :40] = 280
    # What a worker leaves that is killed while it writes.
    left = shards[8].with_name("0.0123456789abcdef0123456789abcdef.partial")
    left.write_bytes(whole[8][:100])
    before = numbers_of_files(target)

    found = archive.verify(months, target, client=client)["t"]
    assert not found and found.over == 0
    assert sorted(fault.split(":")[0] for fault in found.faults) == [f"t/c/{number}/0/0" for number in range(7)]
    done = archive.convert(months, target, client=client, **SETTINGS)["t"]
    assert (done.shards_written, done.shards_kept) == (7, 9)
    assert objects(target) == objects(undisturbed)
    after = numbers_of_files(target)
    assert all(after[f"t/c/{number}/0/0"] == before[f"t/c/{number}/0/0"] for number in range(7, 16))
    assert archive.verify(months, target, client=client)["t"]


def test_a_shard_that_breaks_the_bound_is_found(months: Path, undisturbed: Path, tmp_path: Path) -> None:
    """A sound shard, of a coarser archive, in the place of another."""
    coarse, target = tmp_path / "coarse.zarr", tmp_path / "t.zarr"
    archive.convert(months, coarse, **{**SETTINGS, "range": 3e-3})
    shutil.copytree(undisturbed, target)
    shutil.copy(coarse / "t" / "c" / "3" / "0" / "0", target / "t" / "c" / "3" / "0" / "0")
    found = archive.verify(months, target)["t"]
    assert not found and found.faults == [] and found.over > 0 and found.largest_error > found.bound
    source = original(months).t.values
    errors = np.abs(xr.open_zarr(target, consolidated=False).t.values - source)
    assert found.over == (errors > found.bound).sum() and found.largest_error == np.nanmax(errors)
    with pytest.raises(ferrosz.DamagedStream, match="off by more than the bound"):
        archive.convert(months, target, verify=True, **SETTINGS)
    # A missing element that has become a number, and another way round.
    shutil.copy(undisturbed / "t" / "c" / "9" / "0" / "0", target / "t" / "c" / "3" / "0" / "0")
    array = zarr.open_array(target / "t", mode="r+")
    array[15, 5, 0] = 280
    array[16, 0, 0] = np.nan
    found = archive.verify(months, target)["t"]
    assert found.changed == 1 and found.largest_error == np.inf


def test_other_settings_are_refused(months: Path, undisturbed: Path, tmp_path: Path) -> None:
    before = objects(undisturbed)
    others: list[tuple[dict[str, Any], str]] = [
        ({"range": 1e-2}, r"variables\.t\.bound\.range is 0\.001 there and 0\.01 here"),
        ({"range": None, "abs": 1}, r"bound\.abs"),
        ({"chunks": {"time": 5}}, r"variables\.t\.chunks"),
        ({"shards": {"time": 10}}, r"variables\.t\.shards"),
        ({"preset": "fast"}, r"options\.preset"),
        ({"fill": [0]}, r"variables\.t\.fill"),
    ]
    for other, message in others:
        with pytest.raises(ferrosz.ArgumentError, match=message):
            archive.convert(months, undisturbed, **{**SETTINGS, **other})
    shutil.copytree(months, tmp_path / "months")
    os.utime(tmp_path / "months" / "2.nc", (1e9, 1e9))
    with pytest.raises(ferrosz.ArgumentError, match=r"source\.sha256"):
        archive.convert(tmp_path / "months", undisturbed, **SETTINGS)
    with pytest.raises(ferrosz.ArgumentError, match="the archive was made of"):
        archive.verify(tmp_path / "months", undisturbed)
    assert objects(undisturbed) == before
    foreign = tmp_path / "foreign.zarr"
    xr.Dataset({"x": ("a", [1, 2])}).to_zarr(foreign, consolidated=False)
    with pytest.raises(ferrosz.ArgumentError, match="has arrays"):
        archive.convert(months, foreign, **SETTINGS)
    with pytest.raises(ferrosz.ArgumentError, match="is no archive"):
        archive.verify(months, foreign)
    with pytest.raises(ferrosz.ArgumentError, match="exists, and is no archive"):
        archive.convert(months, months, **SETTINGS)


def test_wrong_arguments_are_errors_before_anything_is_read(months: Path, tmp_path: Path) -> None:
    target = tmp_path / "t.zarr"
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (months / "none", {}, "there is no Zarr group and no file"),
        (months, {"range": None}, "t: give one of"),
        (months, {"abs": 1}, "t: give one of"),
        (months, {"variables": ["q"]}, "has no 'q'"),
        (months, {"variables": ["flag"]}, "flag is int16"),
        (months, {"variables": {"t": {"error": 1}}}, "unknown settings"),
        (months, {"variables": {"t": {"codec": "zip"}}}, "zip"),
        (months, {"chunks": {"level": 5}}, "level"),
        (months, {"chunks": {"time": 0}}, "at least 1"),
        (months, {"shards": {"time": 7}}, "no multiples"),
        (months, {"dimension": "lat"}, "the coordinate time in .*1.nc is not that"),
        (sorted(months.glob("*.nc"))[::-1], {}, "not in the order of time"),
        ([months / "0.nc", months / "0.nc"], {}, "dimension"),
    ]
    for source, other, message in wrong:
        with pytest.raises(ferrosz.ArgumentError, match=message):
            archive.convert(source, target, **{**SETTINGS, **other})
    assert not target.exists()


def test_values_of_missing_elements(tmp_path: Path, client: Client) -> None:
    values = np.random.default_rng(3).normal(280, 1, (40, 50, 60)).cumsum(axis=2).astype("float32")
    finite = values.copy()
    # Rare in the second half: there they look like values of their own.
    values[:20, :10], values[30, 20, :2] = 1e20, 1e20
    values[3, 30, :5] = [np.nan, np.inf, -np.inf, -999, -999]
    is_missing = (values == 1e20) | ~np.isfinite(values)

    def convert(name: str, attributes: dict[str, Any], **settings: Any) -> tuple[float, np.ndarray]:
        source, target = tmp_path / f"{name}.nc", tmp_path / f"{name}.zarr"
        dataset = xr.Dataset({"t": (("time", "y", "x"), values, attributes)})
        dataset.to_netcdf(source, engine="netcdf4", encoding={"t": {"_FillValue": None}})
        done = archive.convert(source, target, range=1e-3, shards={"time": 10}, chunks={"time": 10}, client=client, **settings)
        assert archive.verify(source, target)["t"]
        return done["t"].bound, xr.open_zarr(target, consolidated=False).t.values

    for name, attributes, settings in [
        ("missing_value", {"missing_value": np.float32(1e20)}, {}),
        ("fill", {}, {"fill": [1e20]}),
        ("own", {}, {"variables": {"t": {"fill": [1e20]}}}),
    ]:
        bound, found = convert(name, attributes, **settings)
        kept = values[~is_missing].astype("f8")
        assert bound == pytest.approx(1e-3 * (kept.max() - kept.min()), rel=1e-12)
        assert np.isnan(found[values == 1e20]).all()
        assert list(found[3, 30, 1:3]) == [np.inf, -np.inf]
        assert np.abs(found[~is_missing] - kept).max() <= bound
    valid = finite[~is_missing & (values > 0)].astype("f8")
    bound, _ = convert("valid", {"missing_value": np.float32(1e20), "valid_range": np.array([0, 1e6], "f4")})
    assert bound == pytest.approx(1e-3 * (valid.max() - valid.min()), rel=1e-12)
    with pytest.raises(ferrosz.ArgumentError, match=r"t: 1e\+20 looks like the value of missing elements"):
        convert("unnamed", {})
    bound, _ = convert("values", {}, fill=[])
    assert bound == pytest.approx(1e17)


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_groups(version: int, tmp_path: Path, client: Client) -> None:
    dataset = month(1).assign(height=("level", np.arange(5.0)), count=(("lat", "lon"), np.arange(60 * 77).reshape(60, 77)))
    encoding = {"t": {"_FillValue": np.float32(-1), "chunks": (7, 60, 11)}, "count": {"_FillValue": -5}}
    dataset.to_zarr(tmp_path / "source.zarr", zarr_format=version, consolidated=False, encoding=encoding)
    target = tmp_path / "t.zarr"
    archive.convert(tmp_path / "source.zarr", target, range=1e-3, client=client)
    source = xr.open_zarr(tmp_path / "source.zarr", consolidated=False, decode_timedelta=False).load()
    found = xr.open_zarr(target, consolidated=False, decode_timedelta=False).load()
    assert zarr.open_group(target).metadata.zarr_format == 3
    assert np.nanmax(np.abs(found.t - source.t)) <= 1e-3 * (source.t.max() - source.t.min()) * (1 + 1e-6)
    for name in set(source.variables) - {"t"}:
        assert found[name].equals(source[name]), name
    # It is a source itself.
    archive.convert(target, tmp_path / "again.zarr", abs=0.1)
    assert archive.verify(target, tmp_path / "again.zarr")["t"]


def test_datasets_bounds_and_settings_of_their_own(tmp_path: Path) -> None:
    values = np.exp(np.random.default_rng(5).normal(0, 3, (32, 64, 64)))
    data = xr.Dataset({name: (("z", "y", "x"), values.astype(kind)) for name, kind in [("a", "f8"), ("b", "f4"), ("c", ">f4")]})
    data = data.assign_coords(height=(("y", "x"), values[0])).chunk({"z": 5})
    own = {"a": {"pwrel": 1e-3}, "b": {"abs": 0.25, "preset": "fast"}, "c": {}}
    done = archive.convert(data, tmp_path / "t.zarr", variables=own, max=1e-3, verify=True)
    found = xr.open_zarr(tmp_path / "t.zarr", consolidated=False)
    assert (np.abs(found.a.values - values) <= 1e-3 * values * (1 + 1e-12)).all()
    assert np.abs(found.b.values - data.b.values).max() <= 0.25 == done["b"].bound
    assert done["c"].bound == pytest.approx(1e-3 * values.max(), rel=1e-6)
    assert found.a.attrs["ferrosz_mode"] == "pwrel" and found.b.attrs["ferrosz_bound"] == 0.25
    assert all(archive.verify(data, tmp_path / "t.zarr").values())
    assert np.array_equal(found.height, values[0]) and "height" in found.b.coords


def test_which_variables_are_coded() -> None:
    """Measured numbers, and nothing that others refer to."""
    large = np.random.default_rng(0).random((256, 256), "float32")
    whole = np.arange(65536, dtype="float32").reshape(256, 256)
    packed = {"dtype": "int16", "scale_factor": 0.1}
    variables = {
        "t": xr.Variable(("y", "x"), large, {"cell_measures": "area: cell_area"}),
        "packed": xr.Variable(("y", "x"), large, encoding=packed),
        "whole": xr.Variable(("y", "x"), whole),
        "constant": xr.Variable(("y", "x"), np.zeros_like(large)),
        "masked": xr.Variable(("y", "x"), large, encoding={"dtype": "int16", "_FillValue": -1}),
        "cell_area": xr.Variable(("y", "x"), large),
        "edges": xr.Variable(("y", "x"), large),
        "few": xr.Variable(("y",), large[0]),
        "soil": xr.Variable(("y", "x"), whole % 13),
        "type": xr.Variable(("y", "x"), whole % 99, {"long_name": "soil type"}),
        "thick": xr.Variable(("y", "x"), large, {"long_name": "thickness of ice in categories"}),
        "flag": xr.Variable(("y", "x"), large.astype("int32")),
    }
    dataset = xr.Dataset(variables, coords={"y": ("y", np.arange(256.0), {"bounds": "edges"}), "z": (("y", "x"), large)})
    opened = open_source(dataset, None)
    assert {name: why_exact(opened, name) for name in opened.names} == {
        "t": None,
        "packed": None,
        "whole": None,
        "constant": None,
        "masked": "integers",
        "cell_area": "cell measure",
        "edges": "bounds",
        "few": "small",
        "soil": "few values",
        "type": "classes",
        "thick": None,
        "flag": "integers",
        "y": "coordinate",
        "z": "coordinate",
    }
    coded = [choice.field.name for choice in choose(opened, None, {"abs": 1}, None, None)]
    assert coded == ["t", "packed", "whole", "constant", "thick"]
    own = {"few": {"range": 0.1}, "soil": {}}
    assert [choice.bound for choice in choose(opened, own, {"abs": 1}, None, None)] == [{"range": 0.1}, {"abs": 1}]


def field_of(shape: tuple[int, ...], stored: tuple[int, ...]) -> Field:
    values = np.broadcast_to(np.float32(0), shape)
    names = ("time", "lat", "lon")
    return Field("t", (xr.Variable(names, values, encoding={"preferred_chunks": dict(zip(names, stored, strict=True))}),), 0)


@pytest.mark.parametrize("stored", [(1, 721, 1440), (8760, 10, 10), (100, 100, 100), (1, 1, 1440)])
def test_chunks_and_shards_that_nobody_named(stored: tuple[int, ...]) -> None:
    """A year of hours of ERA5."""
    field = field_of((8760, 721, 1440), stored)
    chunks, shards = _layout.layout_of(field, None, None)
    assert 1 << 20 < 4 * np.prod(chunks) <= 4 << 20 and max(chunks) <= 10 * min(chunks)
    assert 32 << 20 < 4 * np.prod(shards) <= 128 << 20
    assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))
    # Each shard reads of these chunks what it needs, and little else.
    assert _layout.times_read(field, shards) < 1.1
    boxes = list(itertools.islice(_layout.boxes_of((5, 3), (2, 2)), 10))
    assert boxes[-1] == (slice(4, 5), slice(2, 3)) and len(boxes) == _layout.number_of_boxes((5, 3), (2, 2)) == 6


def test_icechunk(months: Path, undisturbed: Path, tmp_path: Path, client: Client) -> None:
    """A worker is killed, then the run is interrupted: shards of commits stay, those of no commit are written again."""
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "ice")))
    killed = []

    def disturb(what: str, done: int, total: int) -> None:
        if what == "t: shards" and done == 6:
            busy = next((address for address, calls in client.processing().items() if calls), None)
            pids = client.run(os.getpid)
            killed.append(pids[busy or next(iter(pids))])
            os.kill(killed[0], signal.SIGKILL)
        if what == "t: shards" and done == 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive.convert(months, repository, client=client, batch=4, progress=disturb, **SETTINGS)
    messages = [snapshot.message for snapshot in repository.ancestry(branch="main")]
    assert messages[:3] == [f"t: shards {first} to {first + 3} of 16" for first in (9, 5, 1)]
    done = archive.convert(months, repository, client=client, batch=4, **SETTINGS)["t"]
    assert len(killed) == 1 and (done.shards_written, done.shards_kept) == (4, 12)
    assert archive.verify(months, repository, client=client)["t"]

    store = repository.readonly_session("main").store
    expected = objects(undisturbed)

    async def all_objects() -> dict[str, bytes]:
        keys = [key async for key in store.list()]
        return {key: (await store.get(key, default_buffer_prototype())).to_bytes() for key in keys}

    found = sync(all_objects())
    assert found.keys() == expected.keys()
    assert all(found[key] == expected[key] for key in expected if not key.endswith("zarr.json"))
    with pytest.raises(ferrosz.ArgumentError, match="begun with other settings"):
        archive.convert(months, repository, **{**SETTINGS, "range": 1e-2})


def test_complex_numbers_are_copied_exactly(tmp_path: Path) -> None:
    maps = month(0)
    wave = maps["t"].fillna(0) * np.exp(1j * np.arange(77))
    done = archive.convert(maps.assign(wave=wave), tmp_path / "t.zarr", range=1e-3)
    found = xr.open_zarr(tmp_path / "t.zarr", consolidated=False)["wave"]
    assert list(done) == ["t"] and found.dtype == "complex128"
    np.testing.assert_array_equal(found, wave)
