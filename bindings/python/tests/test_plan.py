"""Plans: a bound for each variable, the file of a plan, and what follows from it. Archives have known noise, steps and
digits; errors are counted by NumPy, from what netCDF4 and xarray read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import plans
import pytest
import xarray as xr
import yaml
from exact import beyond

import ferrosz
from ferrosz import archive
from ferrosz._datasets import main
from ferrosz.archive import Entry, _checked, _community, _information, _many, _noise, _precision, _units
from ferrosz.archive.__main__ import main as archive_main
from ferrosz.xarray import encoding

pytestmark = pytest.mark.filterwarnings("ignore")

# Of each archive and variable: where its bound comes from, and the bound.
EXPECTED: dict[str, dict[str, tuple[str, dict[str, Any] | None]]] = {
    "era5": {
        "t2m": ("community", {"abs": 0.01}),
        "tp": ("community", {"abs": 5e-7}),
        "xyz": ("packing", {"abs": 0.005}),
        "pressure": ("community", {"abs": 1.0}),
        "lsp": ("community", {"abs": 1e-5, "preset": "balanced"}),
        "siconc": ("community", None),
        "time": ("kind", None),
        "latitude": ("kind", None),
        "longitude": ("kind", None),
    },
    "cmip6": {
        "ta": ("community", {"abs": 0.01}),
        "hus": ("community", {"pwrel": 0.01}),
        "psl": ("community", {"abs": 0.01}),
        "plev": ("kind", None),
        "height": ("kind", None),
    },
    "wrf": {
        "XLAT": ("kind", None),
        "RAINNC": ("rounding", {"abs": 0.005}),
        "QUANTIZED": ("rounding", {"pwrel": 2.0**-11}),
        "ACCUM": ("kind", None),
        "EXACT": ("unknown", None),
        "LU_INDEX": ("kind", None),
    },
}


@pytest.fixture(autouse=True)
def fewer_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of requirements takes 30 us for a value."""
    monkeypatch.setattr(_checked, "MOST_VALUES", 1 << 13)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("archives")
    for write in (plans.era5, plans.cmip6, plans.wrf):
        write(found / f"{write.__name__}.nc")
    return found


@pytest.fixture(scope="module")
def planned(folder: Path) -> dict[str, dict[str, archive.Planned]]:
    return {name: archive.plan(folder / f"{name}.nc", target="out.nc") for name in EXPECTED}


def command(*arguments: Any) -> int:
    return main([*map(str, arguments)])


@pytest.mark.parametrize("name", EXPECTED)
def test_bounds_come_from_where_they_must(planned: dict[str, Any], name: str) -> None:
    for variable, (source, settings) in EXPECTED[name].items():
        entry = planned[name][variable].entry
        assert (entry.source, entry.settings) == (source, settings), (variable, entry)
        assert entry.reason and (settings is None) == (planned[name][variable].bound is None)


def test_all_recommendations_are_read_as_by_their_package() -> None:
    from compression_recommendations import Recommendations

    found = _community._recommendations()
    assert found is not None and [each.get_config() for each in found] == [
        each.get_config() for each in Recommendations.provide.recommendations
    ]


def test_requirements_are_those_of_the_package(planned: dict[str, Any]) -> None:
    """In the units of the variable: 1 Pa is 0.01 hPa, and 1 of 1 is 100 %."""
    from compression_recommendations import Recommendations

    for marker, variable, factor in (("msl", planned["era5"]["pressure"], 1), ("msl", planned["cmip6"]["psl"], 0.01)):
        markers = {"grib-short-name": marker, "level-kind": "single"}
        (required,) = Recommendations.provide.search(markers=markers)
        numbers = [float(number) for number in re.findall(r"value: (\S+)", required.dumps())]
        assert [each["value"] for each in variable.entry.requirements] == [number * factor for number in numbers]
    limits = [each for each in planned["era5"]["siconc"].entry.requirements if each["kind"] == "data-limits"]
    assert limits == [{"kind": "data-limits", "minimum": 0.0, "maximum": 100.0}]


def test_a_requirement_in_other_units_is_refused(folder: Path, planned: dict[str, Any]) -> None:
    """1000 J m-2 are required of the latent heat flux. In W m-2 that would be all of it."""
    entry = planned["cmip6"]["hfls"].entry
    assert entry.source in ("noise", "information") and not entry.requirements
    assert "the requirement is in J m**-2, and the variable in W m-2" in entry.reason
    with xr.open_dataset(folder / "cmip6.nc", decode_times=False) as found:
        largest = float(abs(found.hfls).max())
    assert entry.settings.get("abs", largest * entry.settings.get("pwrel", 0.0)) < 10


def test_what_is_on_no_level_of_pressure_has_no_requirement_of_one(planned: dict[str, Any]) -> None:
    """Temperatures on levels of a model, and at one height."""
    for name in ("ta_lev", "tas"):
        assert planned["cmip6"][name].entry.source in ("noise", "information")


def test_without_the_package_values_tell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a note says so: nothing is left out silently."""
    monkeypatch.setattr(_community, "_recommendations", lambda: None)
    notes: list[str] = []
    found = archive.plan(folder / "era5.nc", note=notes.append)
    assert {name for name, variable in found.items() if variable.entry.source == "community"} == set()
    assert found["t2m"].entry.settings == {"abs": 0.001} and found["t2m"].entry.source == "packing"
    assert len(notes) == 1 and "pip install 'ferrosz[plan]'" in notes[0]


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_plan_is_converted_and_judged(folder: Path, tmp_path: Path, name: str, suffix: str, capsys: Any) -> None:
    """From the suggestion to the judgement, by the command; and each error by NumPy, from the source and the target."""
    source, target, file = folder / f"{name}.nc", tmp_path / f"out.{suffix}", tmp_path / "plan.yaml"
    assert command("plan", source, "--format", suffix, "--out", file) == 0
    assert command("convert", source, target, "--plan", file, "--quiet") == 0
    capsys.readouterr()
    assert command("verify", source, target, "--plan", file, "--card", tmp_path / "card.html", "--quiet") == 0
    shown = capsys.readouterr().out
    entries = archive.load_plan(file)
    assert "NO" not in shown and shown.count("bound kept;") == sum(not entry.is_exact for entry in entries.values())
    assert shown.count("requirements kept: ") == sum(bool(each.requirements) and not each.is_exact for each in entries.values())
    opened = xr.open_dataset(target, decode_times=False) if suffix == "nc" else xr.open_zarr(target, consolidated=False, decode_times=False)
    with xr.open_dataset(source, decode_times=False) as old, opened as new:
        for variable, entry in entries.items():
            before, after = old[variable].values, new[variable].values
            if entry.settings is None:
                assert before.tobytes() == after.astype(before.dtype).tobytes(), variable
            elif "pwrel" in entry.settings:
                assert beyond(before, after, entry.settings["pwrel"], pwrel=True) == 0, variable
            else:
                # Packed values are compared as the floats that xarray makes of them.
                slack = 1 + 1e-4 * ("scale_factor" in old[variable].encoding)
                assert beyond(before, after, entry.settings["abs"] * slack) == 0, variable
    if name == "era5":
        assert (after_of(target, suffix, "lsp") >= 0).all()


def after_of(target: Path, suffix: str, variable: str) -> np.ndarray:
    opened = xr.open_dataset(target, decode_times=False) if suffix == "nc" else xr.open_zarr(target, consolidated=False, decode_times=False)
    with opened as found:
        return found[variable].values


def test_a_prediction_is_near_what_comes(folder: Path, tmp_path: Path, planned: dict[str, Any]) -> None:
    """These variables are one chunk, which is the sample: the predicted length is the length."""
    done = archive.convert(folder / "cmip6.nc", tmp_path / "out.nc", plan=planned["cmip6"])
    assert done.keys() == {name for name, variable in planned["cmip6"].items() if variable.bound is not None}
    for name, variable in done.items():
        predicted = planned["cmip6"][name]
        assert abs(predicted.stored_bytes - variable.stored_bytes) <= 0.02 * variable.stored_bytes + 64, name
        assert predicted.bound == variable.bound and predicted.seconds > 0
        assert predicted.entry.ratio == predicted.ratio


def test_the_file_of_a_plan_comes_back(planned: dict[str, Any], tmp_path: Path) -> None:
    """Also by PyYAML alone: it is YAML, and floats are floats."""
    for name, of_name in planned.items():
        archive.save_plan(tmp_path / "plan.yaml", of_name)
        found = archive.load_plan(tmp_path / "plan.yaml")
        assert found.keys() == of_name.keys()
        by_yaml = yaml.safe_load((tmp_path / "plan.yaml").read_text())["variables"]
        for variable, entry in found.items():
            given = of_name[variable].entry
            assert (entry.settings, entry.source, entry.reason) == (given.settings, given.source, given.reason)
            assert entry.requirements == given.requirements
            assert entry.ratio == pytest.approx(given.ratio, rel=0.01) and entry.stored_bytes == given.stored_bytes
            assert by_yaml[variable]["reason"] == given.reason
            assert by_yaml[variable].get("exact", False) == (given.settings is None)


def test_names_are_not_guessed_at(tmp_path: Path) -> None:
    """YAML takes `no` for false and 1e-3 for a text. Groups have slashes."""
    entries = {name: Entry({"abs": 1e-3}) for name in ("no", "1", "a b", "a: b", "#1", 'quo"te', "sub/q", "null", "é")}
    archive.save_plan(tmp_path / "plan.yaml", entries)
    found = archive.load_plan(tmp_path / "plan.yaml")
    assert list(found) == list(entries) and all(entry.settings == {"abs": 1e-3} for entry in found.values())
    (tmp_path / "mine.yaml").write_text("ferrosz-plan: 1\nvariables:\n  no: {abs: 1e-3}\n  off: {exact: true}\n")
    found = archive.load_plan(tmp_path / "mine.yaml")
    assert found["no"].settings == {"abs": 0.001} and found["off"].is_exact


HEAD = "ferrosz-plan: 1\nvariables:\n"


@pytest.mark.parametrize(
    "text, message",
    [
        (HEAD + "  t:\n    abss: 1\n", "plan.yaml, line 4: t: there is no key 'abss'; there are abs, range"),
        (HEAD + "  t:\n    abs: lots\n", "plan.yaml, line 4: t: abs: 'lots' is no number"),
        (HEAD + "  t:\n    abs: -1\n", "plan.yaml, line 4: t: abs: -1 is no bound"),
        (HEAD + "  t:\n    abs: .inf\n", "plan.yaml, line 4: t: abs: .inf is no bound"),
        (HEAD + "  t:\n    abs: .nan\n", "plan.yaml, line 4: t: abs: .nan is no bound"),
        (HEAD + "  t:\n    abs: [1]\n", "plan.yaml, line 4: t: abs: here is one value"),
        (HEAD + "  t:\n    abs: 1\n    abs: 2\n", "plan.yaml, line 5: t: abs is there twice"),
        (HEAD + "  t:\n    abs: 1\n    range: 2\n", r"plan.yaml, line 4: t: give one of .*, not \['abs', 'range'\]"),
        (HEAD + "  t:\n    source: given\n", "plan.yaml, line 4: t: give one of .*; or exact: true"),
        (HEAD + "  t:\n    exact: maybe\n", "plan.yaml, line 4: t: exact: 'maybe' is neither true nor false"),
        (HEAD + "  t:\n    exact: true\n    abs: 1\n", "plan.yaml, line 4: t: it is exact, and has abs"),
        (HEAD + "  t:\n    digits: 2.5\n", "plan.yaml, line 4: t: digits: '2.5' is no whole number"),
        (HEAD + "  t:\n    digits: 40\n", "plan.yaml, line 4: t: digits: 40 is no number of significant digits"),
        (HEAD + "  t:\n    abs: 1\n    preset: tiny\n", "plan.yaml, line 4: t: .*tiny"),
        (HEAD + "  t:\n    abs: 1\n    source: me\n", "plan.yaml, line 5: t: source: 'me' is none of community"),
        (HEAD + "  t:\n    abs: 1\n    fill: 3\n", "plan.yaml, line 5: t: fill: here is a list"),
        (HEAD + "  t:\n    abs: 1\n    requirements: [{value: 1}]\n", "plan.yaml, line 5: t: requirements: a requirement has a kind"),
        (HEAD + "  t: 3\n", "plan.yaml, line 3: t: here are keys and values"),
        (HEAD + "  t: {abs: 1}\n  t: {abs: 2}\n", "plan.yaml, line 4: variables: t is there twice"),
        ("ferrosz-plan: 2\nvariables: {}\n", "plan.yaml, line 1: ferrosz-plan: this ferrosz reads version 1"),
        ("variables: {}\n", "plan.yaml, line 1: there is no key 'ferrosz-plan'"),
        ("ferrosz-plan: 1\nvariable: {}\n", "plan.yaml, line 2: the plan: there is no key 'variable'"),
        ("", "plan.yaml: the plan: here are keys and values"),
        ("a: [", "plan.yaml is no YAML: "),
    ],
)
def test_a_wrong_plan_says_where(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(ferrosz.ArgumentError, match=f"^plan: {message}"):
        archive.load_plan(tmp_path / "plan.yaml")


def test_a_plan_stands_alone(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = {"t2m": Entry({"abs": 0.01})}
    for others in ({"range": 1e-3}, {"digits": 3}, {"bounds": {"t2m": {"abs": 1}}}, {"variables": ["t2m"]}):
        with pytest.raises(ferrosz.ArgumentError, match=f"^plan: .* give no {next(iter(others))} beside it"):
            archive.convert(folder / "era5.nc", tmp_path / "out.nc", plan=plan, **others)
    with pytest.raises(ferrosz.ArgumentError, match="the source has no 'nothing'"):
        archive.convert(folder / "era5.nc", tmp_path / "out.nc", plan={"nothing": Entry({"abs": 0.01})})
    archive.save_plan(tmp_path / "plan.yaml", plan)
    source = str(folder / "era5.nc")
    assert command("convert", source, tmp_path / "out.nc", "--plan", tmp_path / "plan.yaml", "--abs", 1) == 2
    assert command("convert", source, tmp_path / "out.nc", "--plan", tmp_path / "none.yaml") == 2
    assert command("verify", source, tmp_path / "out.nc", "--card", tmp_path / "card.html") == 2
    assert "--card: a score card is of one target and a plan" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.yaml"]


def test_an_edited_plan_is_what_happens(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what it names is coded; and what was coded with larger bounds is not kept, whatever its attributes say."""
    source, loose, tight = folder / "cmip6.nc", tmp_path / "loose.yaml", tmp_path / "tight.yaml"
    loose.write_text(HEAD + "  ta: {digits: 3}\n  hfls: {range: 1e-3}\n  hus: {abs: 1e-4, pwrel: 0.01}\n  tas: {exact: true}\n")
    tight.write_text(HEAD + "  ta: {digits: 5}\n  hfls: {range: 1e-4}\n  hus: {abs: 1e-6, pwrel: 0.01}\n  psl: {abs: 1}\n")
    for target in (tmp_path / "out.nc", tmp_path / "out.zarr"):
        assert command("convert", source, target, "--plan", loose, "--quiet") == 0
        assert command("verify", source, target, "--plan", loose, "--quiet") == 0
        assert command("verify", source, target, "--quiet") == 0
        capsys.readouterr()
        assert command("verify", source, target, "--plan", tight, "--quiet", "--card", tmp_path / "card.html") == 1
        wrong = {line.partition(":")[0] for line in capsys.readouterr().out.splitlines() if "NO" in line}
        assert wrong == {"ta", "hfls", "hus"}
        cells = cells_of((tmp_path / "card.html").read_text())
        assert {row[0] for row in cells if "NOT KEPT" in row[-1]} == wrong
        exact = tmp_path / "exact.yaml"
        exact.write_text(HEAD + "  tas: {exact: true}\n")
        assert command("verify", source, target, "--plan", exact, "--quiet") == 1
        shown = capsys.readouterr().out
        assert re.search(r"^ta: exact: NO; 259200 values, \d+ changed$", shown, flags=re.MULTILINE)


def test_two_bounds_both_hold(tmp_path: Path) -> None:
    values = np.random.default_rng(2).lognormal(0, 2, (40, 60, 80)).astype("f4")
    source = xr.Dataset({"q": (("t", "y", "x"), values)})
    done = archive.convert(source, tmp_path / "q.nc", bounds={"q": {"abs": 1.0, "pwrel": 0.01}})
    with netCDF4.Dataset(tmp_path / "q.nc") as file:
        back = np.asarray(file["q"][:])
    assert beyond(values, back, 1.0) == 0 and beyond(values, back, 0.01, pwrel=True) == 0
    assert done["q"].bound == pytest.approx(1 / float(values.max())) and (back != values).any()
    loose = archive.convert(source, tmp_path / "r.nc", bounds={"q": {"abs": 1e9, "pwrel": 0.01}})
    assert loose["q"].bound == 0.01


def test_a_broken_requirement_is_found(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bound is kept, and what the community requires is not: someone has made the bound larger."""
    plan = tmp_path / "plan.yaml"
    required = "requirements: [{kind: max-pointwise-absolute-error-bound, value: 0.01}]"
    plan.write_text(HEAD + f"  ta: {{abs: 0.5, {required}}}\n  psl: {{abs: 0.01, {required}}}\n")
    source, target = folder / "cmip6.nc", tmp_path / "out.nc"
    assert command("convert", source, target, "--plan", plan, "--quiet") == 0
    assert command("verify", source, target, "--plan", plan, "--quiet") == 1
    lines = {line.partition(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "0 over the bound" in lines["ta"] and "requirements kept: NO" in lines["ta"]
    assert "requirements kept: " in lines["psl"] and "NO" not in lines["psl"]
    plan.write_text(HEAD + "  psl: {abs: 0.01, requirements: [{kind: no-such-kind}]}\n")
    assert command("verify", source, target, "--plan", plan, "--quiet") == 2
    assert "psl: requirements: compression-requirement-checks cannot judge them" in capsys.readouterr().err


def test_the_command_of_archives_has_plans_too(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is one parser. This command goes on with a target that is there."""
    source, target, plan = str(folder / "wrf.nc"), str(tmp_path / "out.zarr"), str(tmp_path / "plan.yaml")
    assert archive_main(["plan", source, "--out", plan]) == 0
    for written in (1, 0):
        capsys.readouterr()
        assert archive_main(["convert", source, target, "--plan", plan, "--quiet"]) == 0
        assert f"{written} shards written" in capsys.readouterr().out
    assert archive_main(["verify", source, target, "--plan", plan, "--quiet"]) == 0
    assert "EXACT: exact;" in capsys.readouterr().out


def test_a_folder_and_a_group_are_planned(folder: Path, tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / "runs").mkdir(exist_ok=True)
        plans.wrf(tmp_path / "runs" / f"{number}.nc")
    found = archive.plan(str(tmp_path / "runs"), dimension="Time")
    assert found["RAINNC"].dims["Time"] == 2 * plans.TIMES and found["RAINNC"].entry.settings == {"abs": 0.005}
    assert command("convert", folder / "wrf.nc", tmp_path / "wrf.zarr", "--variable", "T2:abs=0.01", "--quiet") == 0
    again = archive.plan(str(tmp_path / "wrf.zarr"))
    assert again["RAINNC"].entry.settings == {"abs": 0.005}
    # What ferrosz has coded already stays exact.
    assert again["T2"].entry.is_exact and "ferrosz has left an error of up to 0.01" in again["T2"].entry.reason


def test_files_with_different_variables_have_one_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file is planned by itself. A variable of two has the strictest bound, and each file what it has of the plan."""
    values = plans.smooth(1)
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for path, name, digits in (("a.nc", "a", 2), ("sub/a.nc", "a", 3), ("b.nc", "b", 1), ("c.zarr", "c", 1)):
        found = xr.Dataset({name: (("t", "y", "x"), np.round(values, digits)), "step": ("t", np.arange(float(plans.TIMES)))})
        (found.to_zarr if path.endswith("zarr") else found.to_netcdf)(tmp_path / "in" / path)
    file, out = tmp_path / "plan.yaml", tmp_path / "out"
    assert command("plan", tmp_path / "in", "--each", "--out", file) == 0
    entries = archive.load_plan(file)
    settings = {name: entry.settings for name, entry in entries.items()}
    assert settings == {"a": {"abs": 0.0005}, "b": {"abs": 0.05}, "c": {"abs": 0.05}, "step": None}
    assert command("convert", tmp_path / "in", "--out-dir", out, "--plan", file, "--quiet") == 0
    assert command("verify", tmp_path / "in", "--out-dir", out, "--plan", file, "--quiet") == 0
    with netCDF4.Dataset(out / "sub" / "a.nc") as one, netCDF4.Dataset(out / "a.nc") as other:
        assert one["a"].ferrosz_bound == other["a"].ferrosz_bound == 0.0005
    done = archive.convert_files(tmp_path / "in", out_dir=tmp_path / "again", format="nc", plan=file)
    assert sorted(name for variables in done.values() for name in variables) == ["a", "a", "b", "c"]
    file.write_text(HEAD + "  lost: {abs: 1}\n  gone: {exact: true}\n")
    assert command("convert", tmp_path / "in", "--out-dir", tmp_path / "none", "--plan", file, "--quiet") == 2
    assert "plan: no source has the variable 'lost'" in capsys.readouterr().err and not (tmp_path / "none").exists()


def test_of_several_files_the_strictest_bound_counts() -> None:
    exact, large, small = Entry(None, "kind"), Entry({"abs": 2.0}), Entry({"abs": 1.0, "preset": "fast"})
    relative = Entry({"pwrel": 1e-3})
    assert _many._strictest(large, small) is small and _many._strictest(small, large) is small
    assert _many._strictest(large, exact) is exact and _many._strictest(exact, large) is exact
    assert _many._strictest(large, relative).is_exact
    crossed = _many._strictest(Entry({"abs": 1.0, "pwrel": 0.5}), Entry({"abs": 2.0, "pwrel": 0.1}))
    assert crossed.settings == {"abs": 1.0, "pwrel": 0.1}


def test_groups_and_some_variables_alone(tmp_path: Path) -> None:
    values = np.round(plans.smooth(1), 2)
    for group in (None, "sub"):
        xr.Dataset({"a": (("t", "y", "x"), values), "b": (("t", "y", "x"), values)}).to_netcdf(
            tmp_path / "in.nc", group=group, mode="w" if group is None else "a"
        )
    found = archive.plan(tmp_path / "in.nc", target="out.nc")
    assert {name: each.entry.settings for name, each in found.items()} == dict.fromkeys(("a", "b", "sub/a", "sub/b"), {"abs": 0.005})
    some = archive.plan(tmp_path / "in.nc", target="out.nc", variables={"sub/a": {"preset": "fast"}})
    assert {name for name, each in some.items() if each.bound is not None} == {"sub/a"}
    assert some["sub/a"].entry.settings == {"abs": 0.005, "preset": "fast"}
    done = archive.convert(tmp_path / "in.nc", tmp_path / "out.nc", plan=some)
    assert done.keys() == {"sub/a"}


def test_values_of_all_kinds_are_planned() -> None:
    """Constants, missing values, numbers of any size, and types that have not all bounds: what cannot be judged is exact."""
    shape, rng = (12, 60, 120), np.random.default_rng(0)
    walk = rng.normal(0, 1, shape).cumsum(2)
    fields = {
        "missing": np.full(shape, np.nan, "f4"),
        "constant": np.full(shape, 5.5, "f4"),
        "two": np.where(walk > 0, 0.5, 1.5),
        "tiny": (rng.random(shape) * 1e-42).astype("f4"),
        "huge": rng.random(shape) * 1e300,
        "half": walk.astype("f2"),
    }
    judged = {
        "walk": walk,
        "endless": np.where(walk > 20, np.inf, walk),
        "swapped": walk.astype(">f4"),
        "marked": np.where(rng.random(shape) > 0.9, 1e20, walk).astype("f4"),
    }
    found = archive.plan(xr.Dataset({name: (("t", "y", "x"), values) for name, values in (fields | judged).items()}))
    assert {name for name, planned in found.items() if planned.entry.is_exact} == fields.keys()
    assert "float16 has no bound relative to each value" in found["half"].entry.reason
    for name in judged:
        # Whatever stands for missing elements, and whatever the type.
        assert found[name].entry.source == "information" and found[name].entry.settings == found["walk"].entry.settings


def test_options_are_part_of_a_plan(folder: Path) -> None:
    """A plan that was made with a preset is converted with it."""
    with xr.open_dataset(folder / "wrf.nc") as found:
        plan = archive.plan(found, preset="fast")
        given = archive.plan(found, abs=1.0, preset="fast", fill=[])
    assert plan["RAINNC"].entry.settings == {"abs": 0.005, "preset": "fast"}
    assert given["T2"].entry.settings == {"abs": 1.0, "preset": "fast", "fill": []}


def test_xarray_takes_a_plan(folder: Path, tmp_path: Path) -> None:
    with xr.open_dataset(folder / "wrf.nc", mask_and_scale=False) as found:
        plan = archive.plan(found)
        assert plan["RAINNC"].entry.settings == {"abs": 0.005}
        made = encoding(found, plan=plan, engine="zarr")
        assert made.keys() == {name for name, variable in plan.items() if variable.bound is not None}
        assert made.attributes["RAINNC"]["ferrosz_bound"] == 0.005
        done = found.ferrosz.to_netcdf(tmp_path / "out.nc", plan=plan)
    assert done["RAINNC"].bound == 0.005


class Cells(HTMLParser):
    """The texts of a table, and what a page must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "srcset", "onclick", "onload")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def cells_of(page: str) -> list[list[str]]:
    parser = Cells()
    parser.feed(page)
    return parser.rows


def test_the_score_card(folder: Path, tmp_path: Path, planned: dict[str, Any]) -> None:
    """It has a row for each variable, and needs nothing but itself."""
    page = archive.score_card(planned["era5"], title="ERA5 & <others>")
    parser = Cells()
    parser.feed(page)
    assert not parser.links and not {"script", "link", "img", "iframe", "object"} & set(parser.tags)
    assert "url(" not in page and "@import" not in page and "http" not in page
    assert 'name="viewport"' in page and "@media (max-width" in page and "ERA5 &amp; &lt;others&gt;" in page
    rows = {row[0]: row for row in parser.rows[1:]}
    assert rows.keys() == planned["era5"].keys()
    for name, variable in planned["era5"].items():
        assert rows[name][2] == variable.entry.source and rows[name][3] == variable.entry.reason
        assert f"ratio {variable.ratio:.3g}" in rows[name][4] and rows[name][5] == "not yet converted"
    assert rows["t2m"][1] == "abs 0.01" and rows["time"][1] == "exact"
    done = archive.convert(folder / "era5.nc", tmp_path / "out.nc", plan=planned["era5"])
    verified = archive.verify(folder / "era5.nc", tmp_path / "out.nc", plan=planned["era5"])
    after = {row[0]: row for row in cells_of(archive.score_card(planned["era5"], verified))[1:]}
    assert done and all("✓ kept" in row[5] for row in after.values())
    assert "largest error" in after["t2m"][5] and "every bit is the same" in after["siconc"][5]
    assert "requirements kept" in after["t2m"][5]


def test_the_command_writes_what_it_shows(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file the plan itself is the output."""
    assert command("plan", folder / "wrf.nc") == 0
    shown = capsys.readouterr().out
    (tmp_path / "plan.yaml").write_text(shown)
    assert archive.load_plan(tmp_path / "plan.yaml")["RAINNC"].settings == {"abs": 0.005}
    assert command("plan", folder / "wrf.nc", "--out", tmp_path / "again.yaml", "--card", tmp_path / "card.html") == 0
    table = capsys.readouterr().out
    assert table.startswith("variable ") and "exact" in table and "LU_INDEX" in table
    assert [row[0] for row in cells_of((tmp_path / "card.html").read_text())[1:]] == list(archive.load_plan(tmp_path / "again.yaml"))
    assert command("plan", folder / "wrf.nc", "--abs", 0.5, "--out", tmp_path / "one.yaml") == 0
    one = archive.load_plan(tmp_path / "one.yaml")
    assert one["T2"].settings == {"abs": 0.5} and one["T2"].source == "given" and one["LU_INDEX"].is_exact


def test_of_a_large_variable_samples_are_read(tmp_path: Path) -> None:
    """A variable of 160 MB, of which less than a half is ever in memory, whatever its size."""
    with netCDF4.Dataset(tmp_path / "large.nc", "w") as file:
        for name, length in {"time": 40, "y": 1000, "x": 1000}.items():
            file.createDimension(name, length)
        variable = file.createVariable("v", "f4", ("time", "y", "x"), chunksizes=(1, 500, 1000))
        rows = np.round(np.random.default_rng(1).normal(280, 1, (1000, 1000)), 2).astype("f4")
        for time in range(40):
            variable[time] = rows
    archive.plan(tmp_path / "large.nc")
    tracemalloc.start()
    found = archive.plan(tmp_path / "large.nc")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["v"].entry.settings == {"abs": 0.005} and found["v"].source_bytes == 160_000_000
    assert peak < 75_000_000, peak


# What values tell, by arrays whose noise, digits and bits are known.


def maps(seed: int = 0) -> np.ndarray:
    y, x = np.meshgrid(np.linspace(0, 6, 300), np.linspace(0, 9, 400), indexing="ij")
    return 280 + 10 * np.sin(x + seed) * np.cos(y)


@pytest.mark.parametrize("sigma", [0.3, 0.03, 0.003])
def test_white_noise_is_measured(sigma: float) -> None:
    noise = np.random.default_rng(1).normal(0, sigma, (300, 400))
    assert _noise.noise_of([(maps() + noise).astype("f4")]) == pytest.approx(sigma, rel=0.05)
    with_holes = (maps() + noise).astype("f4")
    with_holes[40:60, 70:90] = np.nan
    with_holes[100:102] += 50
    assert _noise.noise_of([with_holes]) == pytest.approx(sigma, rel=0.05)


def test_what_is_no_white_noise_is_none() -> None:
    rng = np.random.default_rng(1)
    walk = rng.normal(0, 1, (300, 400))
    fields = {
        "smooth": maps(),
        "a random walk": 280 + walk.cumsum(1),
        "white along one axis alone": 280 + walk.cumsum(0),
        "a walk along both": 280 + walk.cumsum(0).cumsum(1),
        "a walk along a line": 280 + walk.ravel().cumsum(),
        "larger for larger values": np.exp(maps() - 280) * (1 + 0.01 * walk),
        "nothing but noise": walk,
        "too small": (maps() + 0.1 * walk)[:40, :40],
        "mostly constant": np.where(maps() > 285, maps() + 0.1 * walk, 280),
    }
    assert {name for name, field in fields.items() if _noise.noise_of([field.astype("f4")]) is not None} == set()


def test_rounding_is_found_and_nothing_else_taken_for_it() -> None:
    noise = np.random.default_rng(1).normal(0, 0.3, (300, 400))
    values = maps() + noise
    for digits in (-1, 0, 1, 2, 3):
        for kind in ("f4", "f8"):
            found = _precision.rounding_of([np.round(20 * (values - 280), digits).astype(kind)])
            assert found is not None and found.step == pytest.approx(10.0**-digits)
            assert found.is_whole == (digits <= 0)
    for step in (0.5, 2.0**-5):
        found = _precision.rounding_of([(np.rint(values / step) * step).astype("f4")])
        assert found is not None and found.bound == {"abs": step / 2}
    wide = np.exp(values - 280)
    for bits in (5, 9, 16):
        found = _precision.rounding_of([plans.rounded_bits(wide, bits)])
        assert found is not None and found.bits == bits and found.bound == {"pwrel": 2.0 ** -(bits + 2)}
        # Half a step of every value: rounding once more finds the value again.
        rounded = plans.rounded_bits(wide, bits).astype("f8")
        moved = rounded * (1 + 0.9 * found.bound["pwrel"])
        assert (plans.rounded_bits(moved.astype("f4"), bits) == rounded).all()
    assert _precision.rounding_of([values.astype("f4")]) is None
    assert _precision.rounding_of([values]) is None
    few = np.where(values > 280, 0.5, 1.5)
    assert _precision.rounding_of([few]) is None and _precision.rounding_of([np.full((300, 400), 5.5, "f4")]) is None
    one_is_not = np.round(values, 2)
    one_is_not[7, 7] += 0.001
    assert _precision.rounding_of([one_is_not]) is None or _precision.rounding_of([one_is_not]).step == pytest.approx(0.001)


def test_information_is_that_of_kloewer_and_others() -> None:
    """Against plain loops over pairs of bits, with NumPy's histogram; random bits have none."""
    rng = np.random.default_rng(1)
    values = (maps() + rng.normal(0, 0.05, (300, 400))).astype("f4")
    found = _information.information_along([values], 1)
    words = values.view("u4")
    for place in (0, 1, 9, 12, 15, 20, 31):
        bits = words >> (31 - place) & 1
        joint = np.histogram2d(bits[:, :-1].ravel(), bits[:, 1:].ravel(), bins=2, range=[[0, 1], [0, 1]])[0]
        joint /= joint.sum()
        alone = joint.sum(1)[:, None] * joint.sum(0)[None]
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.nansum(joint * np.log2(joint / alone))
        assert found[place] == pytest.approx(expected, abs=1e-4)
    assert found[25:].sum() < 1e-3 and found[:20].sum() > 3
    assert _information.mantissa_bits_of([rng.normal(0, 1, (300, 400)).astype("f4")]) is None
    # The more noise, the fewer bits.
    kept = [_information.mantissa_bits_of([(maps() + rng.normal(0, sigma, (300, 400))).astype("f4")]) for sigma in (1, 0.1, 0.01)]
    assert None not in kept and kept == sorted(kept) and kept[0] < kept[2]


def test_units_are_compared_by_what_they_are_made_of() -> None:
    assert all(_units.factor_between(units, units) == pytest.approx(1) for units in _units.UNITS.values())
    same = [("hPa", "Pa", 100), ("m/s", "m s**-1", 1), ("W m-2", "W m^-2", 1), ("%", "(0 - 1)", 0.01), ("mm", "m", 1e-3)]
    same += [("kg kg-1", "1", 1), ("g kg-1", "kg kg**-1", 1e-3), ("degC", "K", 1), ("J/kg", "m2 s-2", 1), ("m.s-1", "m s-1", 1)]
    for one, other, factor in same:
        assert _units.factor_between(one, other) == pytest.approx(factor), (one, other)
    for one, other in [("W m-2", "J m**-2"), ("kg m-2 s-1", "m"), ("psu", "1"), ("", "1"), ("m", "K"), ("degrees_north", "degrees")]:
        assert _units.factor_between(one, other) is None, (one, other)


def test_each_parameter_of_the_package_has_units() -> None:
    """Whoever publishes a new one must look at its units: without them it is not applied."""
    from compression_recommendations import Recommendations

    names = {name for each in Recommendations.provide.recommendations for name in re.findall(r"grib-short-name\n\s+value: (\S+)", each.dumps())}
    assert names - _units.UNITS.keys() == {"lsm", "ptype", "slt", "tvh", "tvl"} - _units.UNITS.keys()


PAGE = Path(__file__).parents[3] / "docs" / "book" / "plans.md"


@pytest.mark.long
def test_the_page_of_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks run one after the other, and its texts are what its commands print, but for times."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"np": np, "xr": xr}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shown, texts = [], []
    for language, block in re.findall(r"```(python|sh|text)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)
        elif language == "text":
            texts.append(without_times(block))
        else:
            run = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                env={**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"},
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            shown.append(without_times(run.stdout))
    assert len(shown) == len(texts) == 2
    for found, text in zip(shown, texts):
        words, numbers = apart(found)
        assert words == apart(text)[0], found
        assert numbers == pytest.approx(apart(text)[1], rel=0.05), found


def without_times(text: str) -> str:
    return re.sub(r"seconds: [-.e\d]+", "seconds: ...", text)


def apart(text: str) -> tuple[list[str], list[float]]:
    """Words, and numbers, of which lengths and errors may differ a little between machines."""
    found = text.split()
    is_number = [re.fullmatch(r"\d+(\.\d+)?[,;]?", word) is not None for word in found]
    words = [word for word, number in zip(found, is_number, strict=True) if not number]
    return words, [float(word.rstrip(",;")) for word, number in zip(found, is_number, strict=True) if number]
