"""Significant decimal digits, judged by the decimal arithmetic of Python."""

from __future__ import annotations

import decimal
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import ferrosz
from ferrosz import archive
from ferrosz._datasets import main
from ferrosz.xarray import encoding

pytestmark = pytest.mark.filterwarnings("ignore")


def values() -> np.ndarray:
    """Of all magnitudes and both signs, with zeros of both signs, and values whose digits are all 1 or all 9."""
    rng = np.random.default_rng(3)
    found = rng.choice([-1, 1], 100000) * rng.uniform(1, 10, 100000) * 10.0 ** rng.integers(-30, 30, 100000)
    found[:1000], found[1000:2000] = 0.0, -0.0
    found[2000:2010], found[2010:2020] = 1.0000000001, 9.9999999999
    found[2020:2023] = np.nan, np.inf, -np.inf
    return found


@pytest.mark.parametrize("digits", [1, 2, 4, 7, 12])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_each_value_keeps_its_digits(digits: int, kind: str) -> None:
    """By fractions of Python: the error is at most 5 * 10^-digits of the value. Zeros keep their bits."""
    with np.errstate(over="ignore", under="ignore"):
        original = values().astype(kind)
    back = ferrosz.decompress(ferrosz.compress(original, digits=digits))
    with decimal.localcontext(prec=400):
        share = Decimal(f"5e-{digits}")
        pairs = [(Decimal(float(x)), Decimal(float(y))) for x, y in zip(original[2000::17], back[2000::17]) if np.isfinite(x)]
        # The bound is a double, which differs from the decimal number by 2^-53 of it at most.
        slack = 1 + Decimal(2) ** -52
        assert all(abs(y - x) <= share * slack * abs(x) for x, y in pairs)
    still = ~np.isfinite(original) | (original == 0)
    assert back[still].tobytes() == original[still].tobytes()
    assert digits > 4 or (back != original)[~still].any(), "some error is left"


@pytest.mark.parametrize("digits", range(1, 10))
def test_the_bound_is_the_largest_error_of_rounding_to_so_many_digits(digits: int) -> None:
    """Rounded by Python's decimals, no value is off by more, and the worst one nearly so."""
    assert ferrosz.pwrel_of_digits(digits) == float(f"5e-{digits}")
    context = decimal.Context(prec=digits)
    share = Decimal(f"5e-{digits}")
    # 1.0004999..., which four digits round to 1.000.
    worst = 1 + share - Decimal("1e-20")
    with decimal.localcontext(prec=60):
        for value in [*map(Decimal, ("9.99999", "1.0", "5.55555", "273.15", "101325")), worst]:
            assert abs(context.plus(value) - value) <= share * value
        assert abs(context.plus(worst) - worst) / worst > share / (1 + share) - Decimal("1e-15")


def test_digits_are_the_bound_pwrel(field: np.ndarray, tmp_path: Path) -> None:
    stream = ferrosz.compress(field, pwrel=5e-4)
    assert ferrosz.compress(field, digits=4) == stream
    saved = ferrosz.save(tmp_path / "t.fsz", field, digits=4)
    assert saved == ferrosz.info(stream)
    rounded = field * np.float32(1 + 4e-4)
    assert ferrosz.verify(field, rounded, digits=4) and not ferrosz.verify(field, rounded, digits=5)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"digits": 0}, "^digits: 0 is no number of significant digits from 1 to 17"),
        ({"digits": 18}, "^digits: 18 is no number"),
        ({"digits": 2.5}, "^digits: 2.5 is not a whole number"),
        ({"digits": True}, "^digits: True is no number"),
        ({"digits": "4"}, "^digits: '4' is not a whole number"),
        ({"digits": 4, "abs": 1.0}, "give only one of the bounds and targets abs, digits"),
        ({"digits": 4, "pwrel": 1.0}, "give only one of the bounds and targets pwrel, digits"),
        ({"digits": 4, "psnr": 60}, "give only one of the bounds and targets psnr, digits"),
    ],
)
def test_wrong_digits_say_what_is_wrong(settings: dict[str, Any], message: str, field: np.ndarray) -> None:
    with pytest.raises(ferrosz.ArgumentError, match=message):
        ferrosz.compress(field, **settings)


def dataset() -> xr.Dataset:
    walk = np.random.default_rng(1).normal(0, 0.1, (40, 60, 80)).cumsum(axis=2).astype("f4")
    walk[:, :, 0] = 0
    return xr.Dataset({"t": (("time", "y", "x"), 280 + walk), "u": (("time", "y", "x"), walk)})


@pytest.mark.parametrize("name", ["out.nc", "out.zarr"])
def test_archives_take_digits(name: str, tmp_path: Path) -> None:
    """In the command, with digits of one variable's own; in Python; and in an encoding of xarray."""
    found = dataset()
    found.to_netcdf(tmp_path / "in.nc")
    target = tmp_path / name
    command = ["convert", tmp_path / "in.nc", target, "--digits", 5, "--bound", "u=digits:2", "--quiet", "--verify"]
    assert main([*map(str, command)]) == 0
    with xr.open_dataset(target, engine="h5netcdf") if name == "out.nc" else xr.open_zarr(target, consolidated=False) as back:
        for variable, digits in (("t", 5), ("u", 2)):
            assert back[variable].attrs["ferrosz_mode"] == "pwrel" and back[variable].attrs["ferrosz_bound"] == float(f"5e-{digits}")
            errors = abs(back[variable].values.astype("f8") - found[variable].values.astype("f8"))
            assert (errors <= 5 * 10.0**-digits * abs(found[variable].values.astype("f8")) * (1 + 1e-12)).all()
        assert (back["u"].values[:, :, 0] == 0).all()
    done = archive.convert(tmp_path / "in.nc", tmp_path / f"again.{name}", digits=5, bounds={"u": {"digits": 2}})
    assert {key: variable.bound for key, variable in done.items()} == {"t": 5e-5, "u": 5e-2}
    assert encoding(found, digits=3).attributes["t"]["ferrosz_bound"] == 5e-3


def test_digits_beside_another_bound_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset().to_netcdf(tmp_path / "in.nc")
    assert main(["convert", str(tmp_path / "in.nc"), str(tmp_path / "out.nc"), "--digits", "4", "--abs", "1"]) == 2
    assert "t: give one of abs, range, max, pwrel, digits, or abs and pwrel, not ['abs', 'digits']" in capsys.readouterr().err
    assert not (tmp_path / "out.nc").exists()
