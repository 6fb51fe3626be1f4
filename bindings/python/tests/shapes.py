"""Files in the shape of those of ERA5, CMIP6, NEMO and WRF, of any size: seeded fields with the spectra, the zonal
structure, the land and the values of missing elements of the real ones, and the conventions of those who write them.

Each function writes one file without compression, and takes the number of times and of grid points along y and x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from netCDF4 import Dataset

from folders import add

Grid = tuple[int, int, int]

FILL = np.float32(1e20)
SHORT = np.int16(-32767)


def turbulence(shape: tuple[int, ...], seed: int, slope: float = 5 / 3) -> np.ndarray:
    """A Gaussian random field of unit variance, whose power falls by this exponent with the wave number. Axes before the
    last two, which are times and levels, change slowly."""
    modes = np.fft.rfftn(np.random.default_rng(seed).standard_normal(shape, "f4"))
    squares = np.zeros((), "f4")
    for axis, length in enumerate(shape):
        last = axis == len(shape) - 1
        numbers = np.fft.rfftfreq(length, 1 / length) if last else np.fft.fftfreq(length, 1 / length)
        weight = 1 if axis >= len(shape) - 2 else 3
        squares = np.add.outer(squares, (weight * numbers.astype("f4")) ** 2)
    squares.flat[0] = np.inf
    modes *= squares ** np.float32(-(slope + len(shape) - 1) / 4)
    field = np.fft.irfftn(modes, shape)
    return (field / field.std()).astype("f4")


def land(y: int, x: int) -> np.ndarray:
    """Where there is land: two fifths of a map."""
    relief = turbulence((y, x), 99, 3)
    return relief > np.quantile(relief, 0.6)


def zonal(latitudes: Any) -> np.ndarray:
    """Temperatures at the surface by latitude, in K, as columns of maps."""
    return np.asarray(300 - 45 * np.sin(np.radians(latitudes)) ** 2, "f4")[:, None]


def rain(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Rare and skewed: zero in most places."""
    return np.maximum(np.exp(1.5 * turbulence(shape, seed)) - 2, 0)


def sized(file: Dataset, **lengths: int | None) -> None:
    for name, length in lengths.items():
        file.createDimension(name, length)


def axes_of_era5(file: Dataset, kind: str, y: int, x: int) -> np.ndarray:
    latitudes = np.linspace(90, -90, y)
    known = {"units": "degrees_north", "long_name": "latitude", "standard_name": "latitude"}
    add(file, "latitude", kind, ("latitude",), latitudes, {**known, "stored_direction": "decreasing"})
    known = {"units": "degrees_east", "long_name": "longitude", "standard_name": "longitude"}
    add(file, "longitude", kind, ("longitude",), np.arange(x) * 360 / x, known)
    return latitudes


def surface(grid: Grid, latitudes: Any) -> dict[str, tuple[np.ndarray, str, str]]:
    """Variables of ERA5 with their units and names."""
    times, y, x = grid
    temperature = zonal(latitudes) + 4 * turbulence(grid, 1)
    sea = np.where(land(y, x), np.float32(np.nan), np.maximum(zonal(latitudes) + turbulence(grid, 2, 3), 271.46))
    return {
        "t2m": (temperature, "K", "2 metre temperature"),
        "msl": (101325 + 1200 * turbulence(grid, 3, 3), "Pa", "Mean sea level pressure"),
        "u10": (5 * turbulence(grid, 4), "m s**-1", "10 metre U wind component"),
        "sst": (sea, "K", "Sea surface temperature"),
        "tp": (rain(grid, 5) / 1000, "m", "Total precipitation"),
    }


def era5_packed(path: Path, grid: Grid) -> None:
    """Of the old store: integers of 16 bits that use all of their range, NetCDF-3."""
    times, y, x = grid
    with Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.setncatts({"Conventions": "CF-1.6", "history": "2026-11-30 12:00:00 GMT by grib_to_netcdf-2.25.1: all.grib"})
        sized(file, longitude=x, latitude=y, time=times)
        latitudes = axes_of_era5(file, "f4", y, x)
        hours = {"units": "hours since 1900-01-01 00:00:00.0", "long_name": "time", "calendar": "gregorian"}
        add(file, "time", "i4", ("time",), 1_060_000 + 6 * np.arange(times), hours)
        for name, (values, units, long_name) in surface(grid, latitudes).items():
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
            scale, offset = (high - low) / 65532, (high + low) / 2
            stored = np.where(np.isnan(values), SHORT, np.rint((np.nan_to_num(values, nan=low) - offset) / scale))
            known = {"scale_factor": scale, "add_offset": offset, "missing_value": SHORT, "units": units}
            known["long_name"] = long_name
            dims = ("time", "latitude", "longitude")
            add(file, name, "i2", dims, stored.astype("i2"), known, fill_value=SHORT)


def era5_float(path: Path, grid: Grid) -> None:
    """Of the new store: `float32`, `valid_time`, a scalar `number`, texts `expver`, and what GRIB knew."""
    times, y, x = grid
    with Dataset(path, "w") as file:
        centre = {"GRIB_centre": "ecmf", "GRIB_subCentre": np.int64(0), "GRIB_edition": np.int64(1)}
        file.setncatts({**centre, "Conventions": "CF-1.7", "institution": "European Centre for Medium-Range Weather Forecasts"})
        sized(file, valid_time=times, latitude=y, longitude=x)
        member = {"long_name": "ensemble member numerical id", "units": "1", "standard_name": "realization"}
        add(file, "number", "i8", (), 0, member)
        since = {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian", "standard_name": "time"}
        add(file, "valid_time", "i8", ("valid_time",), 1_700_000_000 + 21600 * np.arange(times), since)
        latitudes = axes_of_era5(file, "f8", y, x)
        versions = np.array(["0001" if at < 2 * times // 3 else "0005" for at in range(times)], object)
        add(file, "expver", str, ("valid_time",), versions)
        grib: dict[str, Any] = {
            "GRIB_paramId": np.int64(167),
            "GRIB_missingValue": 3.4028234663852886e38,
            "GRIB_Nx": np.int64(x),
            "GRIB_iDirectionIncrementInDegrees": 360 / x,
            "GRIB_gridType": "regular_ll",
            "coordinates": "number valid_time latitude longitude expver",
        }
        for name, (values, units, long_name) in surface(grid, latitudes).items():
            known = {**grib, "GRIB_shortName": name, "units": units, "long_name": long_name, "standard_name": "unknown"}
            dims = ("valid_time", "latitude", "longitude")
            add(file, name, "f4", dims, values, known, fill_value=np.float32(np.nan), chunksizes=(1, y, x))


def cmip6(path: Path, grid: Grid) -> None:
    """Months of a year of 365 days, with bounds; a scalar height; winds on 19 pressures, missing below the ground."""
    months, y, x = grid
    with Dataset(path, "w", format="NETCDF4_CLASSIC") as file:
        file.setncatts(
            {
                "Conventions": "CF-1.7 CMIP-6.2",
                "activity_id": "CMIP",
                "branch_time_in_parent": 0.0,
                "realization_index": np.int32(1),
                "variant_label": "r1i1p1f1",
                "history": "2026-11-30T12:00:00Z ; CMOR rewrote data to be consistent with CMIP6.\n",
                "title": "FERROSZ output prepared for CMIP6",
            }
        )
        sized(file, time=None, plev=19, lat=y, lon=x, bnds=2)
        lengths = np.resize([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], months)
        edges = np.concatenate([[0.0], np.cumsum(lengths)])
        since = {"units": "days since 1850-01-01", "calendar": "noleap", "bounds": "time_bnds", "axis": "T"}
        add(file, "time", "f8", ("time",), (edges[:-1] + edges[1:]) / 2, since)
        add(file, "time_bnds", "f8", ("time", "bnds"), np.stack([edges[:-1], edges[1:]], 1))
        pressures = np.geomspace(100000, 100, 19)
        known = {"units": "Pa", "axis": "Z", "positive": "down", "standard_name": "air_pressure"}
        add(file, "plev", "f8", ("plev",), pressures, known)
        latitudes = (np.arange(y) + 0.5) * 180 / y - 90
        longitudes = (np.arange(x) + 0.5) * 360 / x
        for name, places, axis, unit in (("lat", latitudes, "Y", "north"), ("lon", longitudes, "X", "east")):
            half = (places[1] - places[0]) / 2
            known = {"bounds": f"{name}_bnds", "units": f"degrees_{unit}", "axis": axis}
            add(file, name, "f8", (name,), places, known)
            add(file, f"{name}_bnds", "f8", (name, "bnds"), np.stack([places - half, places + half], 1))
        metres = {"units": "m", "axis": "Z", "positive": "up", "standard_name": "height"}
        add(file, "height", "f8", (), 2.0, metres)
        _add_atmosphere(file, grid, latitudes, pressures)


def _add_atmosphere(file: Dataset, grid: Grid, latitudes: Any, pressures: Any) -> None:
    months, y, x = grid
    season = np.cos(2 * np.pi * np.arange(months) / 12).astype("f4")[:, None, None]
    temperature = zonal(latitudes) - 12 * season * np.sin(np.radians(latitudes))[:, None] + 2 * turbulence(grid, 11)
    jets = 30 * np.exp(-(((np.abs(latitudes) - 40) / 15) ** 2))[:, None]
    jets = jets * np.exp(-(np.log(pressures / 22000) ** 2))[:, None, None]
    wind = jets.astype("f4") + 5 * turbulence((months, 19, y, x), 12)
    ground = 101325 - 40000 * np.clip(turbulence((y, x), 99, 3) - 0.3, 0, 1)
    wind[:, pressures[:, None, None] > ground] = FILL
    for name, units, dims, values, scalar in (
        ("tas", "K", ("time", "lat", "lon"), temperature, "height"),
        ("pr", "kg m-2 s-1", ("time", "lat", "lon"), rain(grid, 13) * 2e-5, None),
        ("ua", "m s-1", ("time", "plev", "lat", "lon"), wind, None),
    ):
        known = {"units": units, "cell_methods": "area: time: mean", "cell_measures": "area: areacella", "missing_value": FILL}
        if scalar:
            known["coordinates"] = scalar
        add(file, name, "f4", dims, values, known, fill_value=FILL, chunksizes=(1, *values.shape[1:]))


def nemo(path: Path, grid: Grid) -> None:
    """Places of two dimensions on a folded grid, depths with bounds, land as 1e20 and, of old tools, as 0."""
    times, y, x = grid
    levels = 31 if y > 100 else 5
    with Dataset(path, "w") as file:
        file.setncatts({"name": "ORCA2_1m_grid_T", "Conventions": "CF-1.6", "timeStamp": "2026-Nov-30 12:00:00 GMT"})
        sized(file, axis_nbounds=2, y=y, x=x, deptht=levels, time_counter=None)
        eta, xi = np.meshgrid(np.linspace(-1, 1, y), np.linspace(0, 2 * np.pi, x), indexing="ij")
        latitudes = 78 * eta + 11 * eta**2 * np.cos(2 * xi)
        longitudes = (np.degrees(xi) + 80 + 15 * eta**2 * np.sin(2 * xi)) % 360 - 180
        add(file, "nav_lat", "f4", ("y", "x"), latitudes, {"units": "degrees_north", "standard_name": "latitude"})
        add(file, "nav_lon", "f4", ("y", "x"), longitudes, {"units": "degrees_east", "standard_name": "longitude"})
        area = 2e10 * np.cos(np.radians(np.clip(latitudes, -89, 89)))
        add(file, "area", "f4", ("y", "x"), area, {"units": "m2", "standard_name": "cell_area"})
        edges = np.concatenate([[0], np.geomspace(10, 5500, levels)])
        known = {"units": "m", "positive": "down", "axis": "Z", "bounds": "deptht_bounds"}
        add(file, "deptht", "f4", ("deptht",), (edges[:-1] + edges[1:]) / 2, known)
        add(file, "deptht_bounds", "f4", ("deptht", "axis_nbounds"), np.stack([edges[:-1], edges[1:]], 1))
        seconds = 86400.0 * (30 * np.arange(times) + 15)
        since = {"units": "seconds since 1900-01-01 00:00:00", "calendar": "gregorian", "time_origin": "1900-01-01 00:00:00"}
        for name in ("time_centered", "time_counter"):
            add(file, name, "f8", ("time_counter",), seconds, {**since, "bounds": f"{name}_bounds", "standard_name": "time"})
            both = np.stack([seconds - 1296000, seconds + 1296000], 1)
            add(file, f"{name}_bounds", "f8", ("time_counter", "axis_nbounds"), both)
        _add_ocean(file, grid, latitudes, edges[1:])


def _add_ocean(file: Dataset, grid: Grid, latitudes: Any, depths: Any) -> None:
    """The deeper, the more land, and the less varies."""
    times, y, x = grid
    relief = turbulence((y, x), 98, 3)
    is_land = relief > np.quantile(relief, 0.6 - 0.5 * depths / depths.max())[:, None, None]
    fade = np.exp(-depths / 800)[:, None, None].astype("f4")
    shape = (times, len(depths), y, x)
    heat = 2 + 26 * fade * np.cos(np.radians(latitudes)).astype("f4") ** 2 + 1.5 * fade * turbulence(shape, 21, 3)
    salt = 34.7 + 1.2 * fade * turbulence(shape, 22, 3).astype("f8")
    height = 0.4 * turbulence(grid, 23, 3)
    heat[:, is_land], height[:, is_land[0]], salt[:, is_land] = FILL, FILL, 0
    known = {"cell_methods": "time: mean", "interval_operation": "5760 s", "online_operation": "average"}
    known |= {"coordinates": "time_centered nav_lat nav_lon", "cell_measures": "area: area"}
    marked: dict[str, Any] = {"fill_value": FILL}
    dims = ("time_counter", "deptht", "y", "x")
    of_heat = {**known, "units": "degC", "missing_value": FILL, "standard_name": "sea_water_potential_temperature"}
    add(file, "thetao", "f4", dims, heat, of_heat, chunksizes=(1, *shape[1:]), **marked)
    of_salt = {**known, "units": "1e-3", "standard_name": "sea_water_practical_salinity"}
    add(file, "so", "f8", dims, salt, of_salt, chunksizes=(1, *shape[1:]))
    add(file, "zos", "f4", ("time_counter", "y", "x"), height, {**known, "units": "m", "missing_value": FILL}, **marked)


# Variables of WRF along x and y, with units, mean and deviation.
OF_WRF = {
    "T2": ("TEMP at 2 M", "K", 285, 6),
    "Q2": ("QV at 2 M", "kg kg-1", 0.008, 0.002),
    "PSFC": ("SFC PRESSURE", "Pa", 97000, 2000),
    "U10": ("U at 10 M", "m s-1", 2, 4),
    "V10": ("V at 10 M", "m s-1", -1, 4),
    "TSK": ("SURFACE SKIN TEMPERATURE", "K", 287, 8),
    "HFX": ("UPWARD HEAT FLUX AT THE SURFACE", "W m-2", 50, 60),
    "LH": ("LATENT HEAT FLUX AT THE SURFACE", "W m-2", 80, 70),
    "PBLH": ("PBL HEIGHT", "m", 700, 300),
    "GLW": ("DOWNWARD LONG WAVE FLUX AT GROUND SURFACE", "W m-2", 320, 30),
    "OLR": ("TOA OUTGOING LONG WAVE", "W m-2", 240, 25),
    "UST": ("U* IN SIMILARITY THEORY", "m s-1", 0.4, 0.1),
}
# And along z, with the dimension that is staggered.
OF_WRF_IN_HEIGHT = {
    "U": ("x-wind component", "m s-1", 8, 6, "west_east"),
    "V": ("y-wind component", "m s-1", -1, 6, "south_north"),
    "W": ("z-wind component", "m s-1", 0, 0.3, "bottom_top"),
    "T": ("perturbation potential temperature theta-t0", "K", 20, 15, ""),
    "P": ("perturbation pressure", "Pa", 500, 200, ""),
    "QVAPOR": ("Water vapor mixing ratio", "kg kg-1", 0.005, 0.001, ""),
}


def wrf(path: Path, grid: Grid) -> None:
    """Times as characters and no coordinate along `Time`, staggered dimensions, many variables with a mark of each."""
    times, y, x = grid
    levels = 20 if y > 80 else 4
    with Dataset(path, "w", format="NETCDF4_CLASSIC") as file:
        title = " OUTPUT FROM WRF V4.5 MODEL"
        file.setncatts({"TITLE": title, "START_DATE": "2026-01-01_00:00:00", "DX": np.float32(3000), "MAP_PROJ": np.int32(1)})
        sized(file, Time=None, DateStrLen=19, west_east=x, south_north=y, bottom_top=levels, soil_layers_stag=4)
        sized(file, west_east_stag=x + 1, south_north_stag=y + 1, bottom_top_stag=levels + 1)
        texts = [f"2026-01-01_{hour:02}:00:00" for hour in range(times)]
        add(file, "Times", "S1", ("Time", "DateStrLen"), np.array([list(text) for text in texts], "S1"))
        marks = {"FieldType": np.int32(104), "MemoryOrder": "0  ", "stagger": ""}
        since = {"description": "minutes since 2026-01-01 00:00:00", "units": "minutes since 2026-01-01 00:00:00"}
        add(file, "XTIME", "f4", ("Time",), 60.0 * np.arange(times), {**marks, **since})
        top = {**marks, "description": "PRESSURE TOP OF THE MODEL", "units": "Pa"}
        add(file, "P_TOP", "f4", ("Time",), np.full(times, 5000), top)
        half = {**marks, "MemoryOrder": "Z  ", "description": "eta values on half (mass) levels", "units": ""}
        add(file, "ZNU", "f4", ("Time", "bottom_top"), np.tile(np.linspace(0.99, 0.01, levels), (times, 1)), half)
        _add_places(file, grid)
        _add_weather(file, grid, levels)


def _add_places(file: Dataset, grid: Grid) -> None:
    """Repeated for each time, as WRF does it, and so are classes."""
    times, y, x = grid
    for suffix, width, height, along in (("", x, y, ""), ("_U", x + 1, y, "X"), ("_V", x, y + 1, "Y")):
        dims = ("Time", "south_north" + "_stag" * (along == "Y"), "west_east" + "_stag" * (along == "X"))
        places = np.meshgrid(np.linspace(40, 43, height), np.linspace(5, 9, width), indexing="ij")
        names = ("XLAT", "XLONG"), ("LATITUDE", "LONGITUDE"), ("north", "east")
        for name, word, unit, values in zip(*names, places, strict=True):
            known = {"FieldType": np.int32(104), "MemoryOrder": "XY ", "description": f"{word}, SOUTH IS NEGATIVE"}
            known |= {"units": f"degree_{unit}", "stagger": along, "coordinates": f"XLONG{suffix} XLAT{suffix}"}
            add(file, name + suffix, "f4", dims, np.broadcast_to(values, (times, height, width)), known)
    classes = np.broadcast_to(np.digitize(turbulence((y, x), 97, 3), np.linspace(-2, 2, 19)) + 1, grid)
    known = {"MemoryOrder": "XY ", "units": "", "stagger": "", "coordinates": "XLONG XLAT XTIME"}
    dims = ("Time", "south_north", "west_east")
    add(file, "LU_INDEX", "f4", dims, classes, {"FieldType": np.int32(104), **known, "description": "LAND USE CATEGORY"})
    of_types = {"FieldType": np.int32(106), **known, "description": "DOMINANT VEGETATION CATEGORY"}
    add(file, "IVGTYP", "i4", dims, classes, of_types)
    soil = 283 + np.add.outer(np.arange(4.0), turbulence((y, x), 96, 3))
    of_soil = {**known, "FieldType": np.int32(104), "MemoryOrder": "XYZ", "stagger": "Z", "units": "K"}
    of_soil["description"] = "SOIL TEMPERATURE"
    add(file, "TSLB", "f4", ("Time", "soil_layers_stag", *dims[1:]), np.broadcast_to(soil, (times, *soil.shape)), of_soil)


def _add_weather(file: Dataset, grid: Grid, levels: int) -> None:
    known: dict[str, Any] = {"FieldType": np.int32(104), "MemoryOrder": "XY ", "stagger": "", "coordinates": "XLONG XLAT XTIME"}
    dims = ("Time", "south_north", "west_east")
    for seed, (name, (text, units, mean, spread)) in enumerate(OF_WRF.items(), 30):
        values = mean + spread * turbulence(grid, seed)
        add(file, name, "f4", dims, values, {**known, "description": text, "units": units})
    for name, (text, seed) in {"RAINC": ("CUMULUS", 50), "RAINNC": ("GRID SCALE", 51)}.items():
        grown = np.cumsum(rain(grid, seed), axis=0)
        add(file, name, "f4", dims, grown, {**known, "description": f"ACCUMULATED TOTAL {text} PRECIPITATION", "units": "mm"})
    sizes = {"bottom_top": levels, "south_north": grid[1], "west_east": grid[2]}
    for seed, (name, (text, units, mean, spread, staggered)) in enumerate(OF_WRF_IN_HEIGHT.items(), 60):
        of_name = {name + "_stag" * (name == staggered): size + (name == staggered) for name, size in sizes.items()}
        letter = {"west_east": "X", "south_north": "Y", "bottom_top": "Z", "": ""}[staggered]
        places = {"X": "XLONG_U XLAT_U XTIME", "Y": "XLONG_V XLAT_V XTIME"}.get(letter, "XLONG XLAT XTIME")
        marks = {**known, "MemoryOrder": "XYZ", "stagger": letter, "coordinates": places}
        values = mean + spread * turbulence((grid[0], *of_name.values()), seed)
        add(file, name, "f4", ("Time", *of_name), values, {**marks, "description": text, "units": units})


@dataclass(frozen=True)
class Shape:
    """A function that writes a file, two sizes, and the variables that are coded."""

    write: Callable[[Path, Grid], None]
    large: Grid
    """For a file of 20 to 60 MB."""
    small: Grid
    """For one of less than 1 MB."""
    coded: tuple[str, ...]
    """In a large file; the first two are enough for a test."""


CODED_OF_WRF = ("T2", "U", "RAINC", "RAINNC", "TSLB", *list(OF_WRF)[1:], *list(OF_WRF_IN_HEIGHT)[1:])
OF_ERA5 = ("sst", "tp", "t2m", "msl", "u10")

SHAPES = {
    "ERA5, packed": Shape(era5_packed, (72, 121, 240), (24, 46, 60), OF_ERA5),
    "ERA5, float32": Shape(era5_float, (36, 121, 240), (16, 46, 60), OF_ERA5),
    "CMIP6": Shape(cmip6, (18, 96, 144), (6, 26, 40), ("tas", "ua", "pr")),
    "NEMO": Shape(nemo, (3, 149, 182), (3, 64, 72), ("thetao", "so", "zos")),
    "WRF": Shape(wrf, (8, 97, 98), (2, 45, 46), CODED_OF_WRF),
}
