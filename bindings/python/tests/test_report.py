"""Pages about arrays, tables in notebooks, and the command of the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ferrosz


class Page(HTMLParser):
    """The words of a page, and what it would load or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.loaded: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "iframe"):
            self.loaded.append(tag)
        sources = [value for name, value in attributes if name in ("src", "href") and value]
        self.loaded += [value for value in sources if not value.startswith(("data:", "#"))]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_a_page_stands_alone_and_says_what_is_true(field: np.ndarray, tmp_path: Path) -> None:
    stream = ferrosz.compress(field, range=1e-3, preset="fast")
    path = tmp_path / "t.fsz"
    ferrosz.save(path, field, abs=0.05)
    report = ferrosz.report(field, stream, path, name="a <field>")
    assert report and report.kept == (True, True)
    report.save(tmp_path / "t.html")
    assert (tmp_path / "t.html").read_text(encoding="utf-8") == report.html
    page = Page(report.html)
    assert page.loaded == []
    assert "a <field>" in page.text and str(path) in page.text
    worst = np.abs(ferrosz.decompress(stream).astype(float) - field).max()
    numbers = [float(number) for number in re.findall(r"\d+\.\d+(?:e-?\d+)?", page.text)]
    assert any(number == pytest.approx(worst, rel=1e-3) for number in numbers)
    assert "ferrosz.compress(a <field>, range=0.001, codec='" in page.text


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "complex64"])
def test_any_type_and_any_number_of_axes(dtype: str) -> None:
    values = np.random.default_rng(3).normal(0, 50, (2, 3, 40, 50)).astype(dtype)
    report = ferrosz.report(values, ranges=(1e-2,))
    assert report.kept == (True,)
    assert Page(report.html).loaded == []


def test_missing_values_are_shown_as_such(field: np.ndarray) -> None:
    masked = np.ma.masked_array(field, field > 0.5, fill_value=-9999)
    report = ferrosz.report(masked, ranges=(1e-3,), preset="fast")
    assert report.kept == (True,)
    missing = int(masked.mask.sum())
    assert f"missing or not finite {missing}" in Page(report.html).text


def test_values_have_units(field: np.ndarray, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    array = xarray.DataArray(field, name="t", dims=("z", "y", "x"), attrs={"units": "degC"})
    largest = ferrosz.report(array, ranges=(1e-3,)).html
    assert " degC" in largest and "error, degC" in largest
    assert " degC" not in ferrosz.report(field, ranges=(1e-3,)).html
    assert "error, K" in ferrosz.report(array, ranges=(1e-3,), units="K").html
    for kind in ("NETCDF4", "NETCDF3_CLASSIC"):
        array.to_netcdf(tmp_path / "t.nc", format=kind)
        done = command("report", f"{tmp_path / 't.nc'}:t", "--range", "1e-3", "-o", tmp_path / f"{kind}.html")
        assert done.returncode == 0, done.stderr
        assert "error, degC" in (tmp_path / f"{kind}.html").read_text(encoding="utf-8")
    # Stored numbers have no units where they stand for values.
    packing = {"t": {"dtype": "int16", "scale_factor": 0.01, "add_offset": 10.0}}
    array.to_netcdf(tmp_path / "packed.nc", encoding=packing)
    for option, has_units in (([], True), (["--packed"], False)):
        page = tmp_path / "packed.html"
        done = command("report", f"{tmp_path / 'packed.nc'}:t", "--abs", "1", *option, "-o", page, "--force")
        assert done.returncode == 0, done.stderr
        assert ("error, degC" in page.read_text(encoding="utf-8")) == has_units


def test_a_stream_of_another_array_is_refused(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, range=1e-2, preset="fast")
    with pytest.raises(ferrosz.ArgumentError, match="original: it has the shape"):
        ferrosz.report(field[:3], stream)
    with pytest.raises(ferrosz.ArgumentError, match="preset: a stream has been compressed"):
        ferrosz.report(field, stream, preset="small")


def test_notebooks_show_tables_and_pages(field: np.ndarray) -> None:
    stream = ferrosz.compress(field, range=1e-3, preset="fast")
    assert f"{len(bytes(stream)):,}" in Page(stream.info._repr_html_()).text
    found = ferrosz.verify(field, stream)
    assert f"{found.largest_error:.4g}" in Page(found._repr_html_()).text
    wrong = ferrosz.verify(field, np.zeros_like(field), abs=1e-3)
    assert "NOT KEPT" in wrong._repr_html_()
    framed = ferrosz.report(field, stream)._repr_html_()
    assert Page(framed).loaded == ["iframe"] and "sandbox" in framed


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ferrosz", *map(str, words)], capture_output=True, text=True)


def test_the_wheel_has_the_command(field: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", field)
    done = command("compress", tmp_path / "t.npy", tmp_path / "t.fsz", "--range", "1e-3", "--fast")
    assert done.returncode == 0, done.stderr
    assert ferrosz.verify(field, tmp_path / "t.fsz")
    done = command("report", tmp_path / "t.npy", tmp_path / "t.fsz", "-o", tmp_path / "t.html")
    assert done.returncode == 0, done.stderr
    assert Page((tmp_path / "t.html").read_text(encoding="utf-8")).loaded == []
    done = command("compres", "x")
    assert done.returncode == 2 and "compress" in done.stderr
    done = command("verify", tmp_path / "t.npy", tmp_path / "no.fsz")
    assert done.returncode != 0 and "no.fsz" in done.stderr
    assert f"ferrosz {ferrosz.__version__}" in command("--version").stdout


def test_the_command_takes_whole_files(field: np.ndarray, tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "in.nc", "w") as file:
        for axis, length in zip("zyx", field.shape, strict=True):
            file.createDimension(axis, length)
        file.createVariable("t", "f4", tuple("zyx"))[:] = field
        file.title = "a test"
    done = command("compress", tmp_path / "in.nc", tmp_path / "out.nc", "--range", "1e-3")
    assert done.returncode == 0, done.stderr
    with netcdf.Dataset(tmp_path / "out.nc") as file:
        assert file.title == "a test" and file["t"].dimensions == ("z", "y", "x")
    assert command("verify", tmp_path / "in.nc", tmp_path / "out.nc").returncode == 0
    done = command("decompress", tmp_path / "out.nc", tmp_path / "plain.nc")
    assert done.returncode == 0, done.stderr
    with netcdf.Dataset(tmp_path / "plain.nc") as file:
        bound = 1e-3 * (float(field.max()) - float(field.min()))
        assert 0 < np.abs(np.asarray(file["t"][:], dtype=float) - field).max() <= bound
    # A bound that is a share of each value is called so.
    done = command("compress", tmp_path / "in.nc", tmp_path / "digits.nc", "--digits", "4")
    assert "bound pwrel 0.0005;" in done.stdout, done.stderr
    done = command("verify", tmp_path / "in.nc", tmp_path / "digits.nc")
    assert "bound kept; bound pwrel 0.0005," in done.stdout, done.stderr
    # One variable is an array.
    done = command("compress", f"{tmp_path / 'in.nc'}:t", tmp_path / "t.fsz", "--range", "1e-3")
    assert done.returncode == 0, done.stderr
    done = command("compress", f"{tmp_path / 'in.nc'}:t", tmp_path / "u.nc", "--range", "1e-3")
    assert done.returncode == 2 and "pip install" in done.stderr
    assert "convert" in command("--help").stdout
