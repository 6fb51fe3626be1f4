"""Archives in the shape of ERA5, CMIP6 and WRF, with known precision: what a plan must find in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

TIMES, Y, X = 12, 60, 120


def smooth(seed: int, *shape: int) -> np.ndarray:
    """Maps of a few long waves that move."""
    shape = shape or (TIMES, Y, X)
    rng = np.random.default_rng(seed)
    places = np.meshgrid(*(np.linspace(0, 1, length) for length in shape), indexing="ij")
    found = np.zeros(shape)
    for _ in range(4):
        waves = rng.uniform(0.5, 2.5, len(shape))
        found += np.sin(2 * np.pi * (sum(wave * place for wave, place in zip(waves, places, strict=True)) + rng.uniform()))
    return found


def add(file: Any, name: str, kind: Any, dims: tuple[str, ...], values: Any, **attributes: Any) -> None:
    variable = file.createVariable(name, kind, dims, fill_value=attributes.pop("fill", None))
    variable.setncatts(attributes)
    variable.set_auto_maskandscale(False)
    variable[...] = values


def grid(file: Any) -> None:
    for name, length in {"time": None, "latitude": Y, "longitude": X}.items():
        file.createDimension(name, length)
    add(file, "time", "f8", ("time",), np.arange(float(TIMES)), units="hours since 2020-01-01", standard_name="time")
    add(file, "latitude", "f4", ("latitude",), np.linspace(90, -90, Y), units="degrees_north")
    add(file, "longitude", "f4", ("longitude",), np.linspace(0, 357, X), units="degrees_east")


DIMS = ("time", "latitude", "longitude")


def era5(path: Path) -> None:
    """Packed by the old store, with short names as names, or as floats with attributes of GRIB."""
    with netCDF4.Dataset(path, "w") as file:
        grid(file)
        kelvin = np.rint(smooth(1) * 4000).astype("i2")
        kelvin[0, :3] = -32767
        packed = {"scale_factor": 0.002, "add_offset": 280.0, "fill": -32767, "missing_value": np.int16(-32767)}
        add(file, "t2m", "i2", DIMS, kelvin, units="K", long_name="2 metre temperature", **packed)
        # A requirement with a limit: packed values stay as they are.
        rain = np.maximum(np.rint(smooth(2) * 4000), 0).astype("i2")
        add(file, "tp", "i2", DIMS, rain, units="m", scale_factor=1e-6, add_offset=0.0)
        # Nobody requires anything of it.
        add(file, "xyz", "i2", DIMS, np.rint(smooth(3) * 4000).astype("i2"), units="K", scale_factor=0.01, add_offset=0.0)
        grib = {"GRIB_shortName": "msl", "GRIB_typeOfLevel": "meanSea", "standard_name": "unknown"}
        noise = np.random.default_rng(4).normal(0, 0.3, (TIMES, Y, X))
        add(file, "pressure", "f4", DIMS, 101325 + 1500 * smooth(4) + noise, units="Pa", **grib)
        rain = np.maximum(smooth(5), 0) * 1e-3 * (1 + np.random.default_rng(5).normal(0, 0.05, (TIMES, Y, X)))
        add(file, "lsp", "f4", DIMS, rain, units="m")
        # Of the community's units only their kind must fit: 0.01 of 1 are 1 of 100.
        add(file, "siconc", "f4", DIMS, np.clip(smooth(6) * 60, 0, 100), units="%", standard_name="sea_ice_area_fraction")


def cmip6(path: Path) -> None:
    """Floats with standard names, on levels of pressure and on one level."""
    with netCDF4.Dataset(path, "w") as file:
        grid(file)
        file.createDimension("plev", 3)
        file.createDimension("lev", 3)
        levels = {"standard_name": "air_pressure", "axis": "Z", "positive": "down"}
        add(file, "plev", "f8", ("plev",), [85000.0, 50000.0, 25000.0], units="Pa", **levels)
        add(file, "lev", "f8", ("lev",), [1.0, 2.0, 3.0], axis="Z", standard_name="atmosphere_hybrid_sigma_pressure_coordinate")
        add(file, "height", "f8", (), 2.0, units="m", axis="Z", positive="up", standard_name="height")
        noise = np.random.default_rng(7).normal(0, 0.05, (TIMES, 3, Y, X))
        values = 260 + 15 * smooth(7, TIMES, 3, Y, X) + noise
        pressure, model = ("time", "plev", "latitude", "longitude"), ("time", "lev", "latitude", "longitude")
        add(file, "ta", "f4", pressure, values, units="K", standard_name="air_temperature")
        add(file, "ta_lev", "f4", model, values, units="K", standard_name="air_temperature")
        add(file, "hus", "f4", pressure, np.exp(values / 20 - 20), units="1", standard_name="specific_humidity")
        # The requirement is in J m-2, and this is in W m-2: a bound of 1000 would leave nothing.
        flux = 80 * smooth(8) + np.random.default_rng(8).normal(0, 0.5, (TIMES, Y, X))
        add(file, "hfls", "f4", DIMS, flux, units="W m-2", standard_name="surface_upward_latent_heat_flux")
        add(file, "tas", "f4", DIMS, values[:, 0], units="K", standard_name="air_temperature", coordinates="height")
        add(file, "psl", "f4", DIMS, 1013.25 + 15 * smooth(9), units="hPa", standard_name="air_pressure_at_mean_sea_level")


def wrf(path: Path) -> None:
    """No standard names: values alone tell, or nothing."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in {"Time": None, "south_north": Y, "west_east": X}.items():
            file.createDimension(name, length)
        dims = ("Time", "south_north", "west_east")
        places = np.broadcast_to(np.linspace(40, 50, Y)[None, :, None], (TIMES, Y, X))
        add(file, "XLAT", "f4", dims, places, units="degree_north")
        rng = np.random.default_rng(10)
        white = 280 + 8 * smooth(10) + rng.normal(0, 0.1, (TIMES, Y, X))
        add(file, "T2", "f4", dims, white, units="K", description="TEMP at 2 M")
        add(file, "RAINNC", "f4", dims, np.round(np.abs(white - 275), 2), units="mm")
        add(file, "QUANTIZED", "f4", dims, rounded_bits(np.exp(white - 280), 9), units="kg kg-1")
        walk = np.exp(rng.normal(0, 0.01, (TIMES, Y, X)).cumsum(2))
        add(file, "QVAPOR", "f4", dims, walk, units="kg kg-1")
        add(file, "ACCUM", "f4", dims, np.rint(white * 10), units="")
        add(file, "EXACT", "f8", dims, np.random.default_rng(11).uniform(-1, 1, (TIMES, Y, X)), units="")
        add(file, "LU_INDEX", "f4", dims, rng.integers(1, 21, (TIMES, Y, X)), description="LAND USE CATEGORY")


def rounded_bits(values: Any, bits: int) -> np.ndarray:
    """Floats with so many bits in their mantissas, rounded to nearest."""
    words = np.asarray(values, "f4").view("u4").astype("u8")
    rest = 23 - bits
    return ((words + (1 << (rest - 1)) >> rest) << rest).astype("u4").view("f4")
