"""Folders of NetCDF files in the shape of those that weather and climate models leave: small, but with their
attributes, types, auxiliary coordinates and chunks. Each function writes one, of at least two files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from netCDF4 import Dataset

Y, X = 48, 64


def waves(times: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Smooth maps that move, with little noise."""
    noise = np.random.default_rng(seed).normal(0, 0.02, (times, *shape))
    places = np.add.outer(np.arange(times) / 7, np.arange(np.prod(shape)).reshape(shape) / 211)
    return np.sin(places) + noise


def add(
    file: Dataset,
    name: str,
    kind: Any,
    dims: tuple[str, ...],
    values: Any,
    attributes: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """A variable with values as they are stored: netCDF4 shall neither pack nor mask them."""
    variable = file.createVariable(name, kind, dims, **options)
    variable.set_auto_maskandscale(False)
    variable.setncatts(dict(attributes or {}))
    variable[...] = values


def grid(file: Dataset, latitude: str, longitude: str, kind: str) -> None:
    file.createDimension(latitude, Y)
    file.createDimension(longitude, X)
    add(
        file,
        latitude,
        kind,
        (latitude,),
        np.linspace(60, -60, Y),
        {"units": "degrees_north", "standard_name": "latitude"},
    )
    add(
        file,
        longitude,
        kind,
        (longitude,),
        np.linspace(0, 90, X),
        {"units": "degrees_east", "standard_name": "longitude"},
    )


def era5_of_the_old_store(folder: Path, packings: tuple[tuple[float, float], ...] = ((0.002, 280.0),) * 2) -> None:
    """Integers of 16 bits with `scale_factor` and `add_offset`, which use all of them; and a dimension `expver`."""
    for month, (scale, offset) in enumerate(packings):
        with Dataset(folder / f"{month + 1:02}.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
            file.createDimension("time", 30)
            grid(file, "latitude", "longitude", "f4")
            file.createDimension("expver", 2)
            add(file, "expver", "i4", ("expver",), [1, 5], {"long_name": "expver"})
            hours = {"units": "hours since 1900-01-01 00:00:00.0", "long_name": "time", "calendar": "gregorian"}
            add(file, "time", "i4", ("time",), 1_060_000 + 24 * (30 * month + np.arange(30)), hours)
            values = waves(30, 2, Y, X, seed=month)
            stored = np.rint(32766 * values / abs(values).max()).astype("i2")
            stored[0, 0, 0, :5] = -32766
            stored[:20, 1] = stored[20:, 0] = -32767
            attributes = {
                "scale_factor": scale,
                "add_offset": offset,
                "missing_value": np.int16(-32767),
                "units": "K",
                "long_name": "2 metre temperature",
            }
            add(
                file,
                "t2m",
                "i2",
                ("time", "expver", "latitude", "longitude"),
                stored,
                attributes,
                fill_value=np.int16(-32767),
            )


def era5_of_the_new_store(folder: Path) -> None:
    """Floating-point numbers along `valid_time`, a scalar `number`, and texts `expver`."""
    for month in range(2):
        with Dataset(folder / f"{month + 1:02}.nc", "w") as file:
            file.createDimension("valid_time", 30)
            grid(file, "latitude", "longitude", "f8")
            add(file, "number", "i8", (), 0, {"long_name": "ensemble member numerical id", "units": "1"})
            since = {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian", "standard_name": "time"}
            add(file, "valid_time", "i8", ("valid_time",), 1_700_000_000 + 86400 * (30 * month + np.arange(30)), since)
            add(file, "expver", str, ("valid_time",), np.array(["0001"] * 20 + ["0005"] * 10, object))
            attributes = {
                "units": "K",
                "coordinates": "number valid_time latitude longitude expver",
                "GRIB_missingValue": 3.4e38,
            }
            options: dict[str, Any] = {"fill_value": np.float32(np.nan), "zlib": True, "chunksizes": (30, Y, X)}
            values = 280 + 10 * waves(30, Y, X, seed=month)
            add(file, "t2m", "f4", ("valid_time", "latitude", "longitude"), values, attributes, **options)


def cmip6(folder: Path) -> None:
    """Bounds, cell methods and measures, 1e20 for what is missing, a year of 365 days."""
    for year in range(2):
        with Dataset(folder / f"tos_Omon_{2001 + year}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("bnds", 2)
            grid(file, "lat", "lon", "f8")
            file["lat"].bounds, file["lon"].bounds = "lat_bnds", "lon_bnds"
            edges = np.linspace(62, -62, Y + 1)
            add(file, "lat_bnds", "f8", ("lat", "bnds"), np.stack([edges[:-1], edges[1:]], 1))
            add(file, "lon_bnds", "f8", ("lon", "bnds"), np.arange(2.0 * X).reshape(X, 2))
            days = 365 * year + np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
            since = {"units": "days since 2001-01-01", "calendar": "noleap", "bounds": "time_bnds", "axis": "T"}
            options: dict[str, Any] = {"chunksizes": (512,)}
            add(file, "time", "f8", ("time",), (days[:-1] + days[1:]) / 2, since, **options)
            add(file, "time_bnds", "f8", ("time", "bnds"), np.stack([days[:-1], days[1:]], 1), chunksizes=(1, 2))
            add(file, "depth", "f8", (), 2.5, {"units": "m", "axis": "Z", "positive": "down"})
            values = (290 + 5 * waves(12, 2 * Y * X, seed=year)).reshape(12, 2, Y, X).astype("f4")
            values[..., :20, :20] = 1e20
            file.createDimension("lev", 2)
            attributes = {
                "missing_value": np.float32(1e20),
                "cell_methods": "area: mean where sea time: mean",
                "cell_measures": "area: areacello",
                "coordinates": "depth",
                "units": "degC",
            }
            add(
                file,
                "tos",
                "f4",
                ("time", "lev", "lat", "lon"),
                values,
                attributes,
                fill_value=np.float32(1e20),
                zlib=True,
            )


def nemo(folder: Path) -> None:
    """Curvilinear coordinates, and an auxiliary coordinate of time in chunks of its own."""
    for month in range(2):
        with Dataset(folder / f"ORCA1_1m_{month + 1:02}_grid_T.nc", "w") as file:
            file.createDimension("time_counter", None)
            file.createDimension("axis_nbounds", 2)
            for name, length in {"y": Y, "x": X, "deptht": 4}.items():
                file.createDimension(name, length)
            latitudes, longitudes = np.meshgrid(np.linspace(-60, 60, Y), np.linspace(0, 90, X), indexing="ij")
            add(file, "nav_lat", "f4", ("y", "x"), latitudes, {"units": "degrees_north", "standard_name": "latitude"})
            add(file, "nav_lon", "f4", ("y", "x"), longitudes, {"units": "degrees_east", "standard_name": "longitude"})
            depths = np.array([0.5, 1.6, 2.8, 4.2])
            add(
                file, "deptht", "f4", ("deptht",), depths, {"units": "m", "positive": "down", "bounds": "deptht_bounds"}
            )
            add(file, "deptht_bounds", "f4", ("deptht", "axis_nbounds"), np.stack([depths - 0.5, depths + 0.5], 1))
            seconds = 86400.0 * (10 * month + np.arange(10)) + 43200
            since = {
                "units": "seconds since 1900-01-01 00:00:00",
                "calendar": "gregorian",
                "time_origin": "1900-01-01 00:00:00",
            }
            for name, chunk in (("time_centered", 1), ("time_counter", 512)):
                dims = ("time_counter",)
                known = {**since, "bounds": f"{name}_bounds", "standard_name": "time"}
                add(file, name, "f8", dims, seconds, known, chunksizes=(chunk,))
                edges = np.stack([seconds - 43200, seconds + 43200], 1)
                add(file, f"{name}_bounds", "f8", (*dims, "axis_nbounds"), edges, chunksizes=(3 * chunk, 2))
            values = (10 + waves(10, 4, Y, X, seed=month)).astype("f4")
            values[..., 10:20, 10:20] = 1e20
            attributes = {
                "missing_value": np.float32(1e20),
                "coordinates": "time_centered nav_lat nav_lon",
                "cell_methods": "time: mean",
                "interval_operation": "2700 s",
                "units": "degC",
            }
            options: dict[str, Any] = {"fill_value": np.float32(1e20), "chunksizes": (1, 2, Y, X), "zlib": True}
            add(file, "thetao", "f4", ("time_counter", "deptht", "y", "x"), values, attributes, **options)
            few = {**attributes, "units": "m"}
            add(
                file,
                "zos",
                "f4",
                ("time_counter", "y", "x"),
                values[:, 0],
                few,
                fill_value=np.float32(1e20),
                chunksizes=(7, Y, X),
            )


def ukmo(folder: Path) -> None:
    """Scalar coordinates, a rotated pole, times of the forecast, which are other ones in each file."""
    for run in range(2):
        with Dataset(folder / f"run_{run}.nc", "w") as file:
            file.createDimension("time", 24)
            file.createDimension("bnds", 2)
            file.createDimension("grid_latitude", Y)
            file.createDimension("grid_longitude", X)
            pole = {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 37.5}
            add(file, "rotated_latitude_longitude", "i4", (), 0, pole)
            for axis, (name, length) in zip("YX", {"grid_latitude": Y, "grid_longitude": X}.items(), strict=True):
                known = {"units": "degrees", "standard_name": name, "axis": axis, "bounds": f"{name}_bnds"}
                places = np.linspace(-3, 3, length)
                add(file, name, "f4", (name,), places, known)
                add(file, f"{name}_bnds", "f4", (name, "bnds"), np.stack([places - 0.1, places + 0.1], 1))
            hours = 420_000.0 + 24 * run + np.arange(24)
            since = {"units": "hours since 1970-01-01 00:00:00", "calendar": "standard", "standard_name": "time"}
            add(file, "time", "f8", ("time",), hours, {**since, "bounds": "time_bnds"}, chunksizes=(5,))
            add(file, "time_bnds", "f8", ("time", "bnds"), np.stack([hours - 1, hours], 1), chunksizes=(24, 2))
            period = {"units": "hours", "standard_name": "forecast_period"}
            add(file, "forecast_period", "f8", ("time",), np.arange(24.0), period, chunksizes=(1,))
            add(file, "forecast_reference_time", "f8", (), 420_000.0 + 24 * run, since)
            add(file, "height", "f8", (), 1.5, {"units": "m", "positive": "up"})
            latitudes, longitudes = np.meshgrid(np.linspace(50, 60, Y), np.linspace(-10, 2, X), indexing="ij")
            add(file, "latitude", "f8", ("grid_latitude", "grid_longitude"), latitudes, {"units": "degrees_north"})
            add(file, "longitude", "f8", ("grid_latitude", "grid_longitude"), longitudes, {"units": "degrees_east"})
            attributes = {
                "grid_mapping": "rotated_latitude_longitude",
                "coordinates": "forecast_period forecast_reference_time height latitude longitude",
                "cell_methods": "time: mean",
                "ancillary_variables": "air_temperature_status",
                "units": "K",
            }
            dims = ("time", "grid_latitude", "grid_longitude")
            add(file, "air_temperature", "f4", dims, 280 + waves(24, Y, X, seed=run), attributes, chunksizes=(1, Y, X))
            status = (waves(24, Y, X, seed=run) > 0).astype("f4")
            flags = {"flag_values": np.array([0, 1], "f4"), "flag_meanings": "good bad", "standard_name": "status_flag"}
            add(file, "air_temperature_status", "f4", dims, status, flags, chunksizes=(24, Y, X))


def wrf(folder: Path) -> None:
    """Times as texts and no coordinate along time, coordinates that are repeated for each time, classes, staggered
    grids."""
    for day in range(2):
        with Dataset(folder / f"wrfout_d01_2020-01-{day + 1:02}_00_00_00.nc", "w") as file:
            file.createDimension("Time", None)
            for name, length in {"DateStrLen": 19, "south_north": Y, "west_east": X, "west_east_stag": X + 1}.items():
                file.createDimension(name, length)
            texts = [f"2020-01-{day + 1:02}_{hour:02}:00:00" for hour in range(24)]
            add(file, "Times", "S1", ("Time", "DateStrLen"), np.array([list(text) for text in texts], "S1"))
            since = {"units": "minutes since 2020-01-01 00:00:00", "description": "minutes since start"}
            add(file, "XTIME", "f4", ("Time",), 60 * (24 * day + np.arange(24)), since)
            for suffix, width, dim in (("", X, "west_east"), ("_U", X + 1, "west_east_stag")):
                places = np.meshgrid(np.linspace(40, 50, Y), np.linspace(0, 10, width), indexing="ij")
                for name, unit, values in zip(("XLAT", "XLONG"), ("degree_north", "degree_east"), places, strict=True):
                    known = {
                        "MemoryOrder": "XY ",
                        "description": f"{name}, SOUTH IS NEGATIVE",
                        "units": unit,
                        "stagger": suffix[1:],
                    }
                    repeated = np.broadcast_to(values, (24, *values.shape))
                    add(
                        file,
                        name + suffix,
                        "f4",
                        ("Time", "south_north", dim),
                        repeated,
                        known,
                        chunksizes=(1, Y, width),
                    )
            dims = ("Time", "south_north", "west_east")
            coordinates = {"coordinates": "XLONG XLAT XTIME", "MemoryOrder": "XY ", "FieldType": np.int32(104)}
            classes = np.random.default_rng(0).integers(1, 21, (Y, X)).repeat(24).reshape(Y, X, 24).transpose(2, 0, 1)
            add(file, "LU_INDEX", "f4", dims, classes, {**coordinates, "description": "LAND USE CATEGORY", "units": ""})
            add(
                file,
                "LANDMASK",
                "f4",
                dims,
                classes > 16,
                {**coordinates, "description": "LAND MASK (1 FOR LAND)", "units": ""},
            )
            add(file, "REGION", "f4", dims, 3 * (classes % 3), {"description": "", "units": ""})
            add(file, "IVGTYP", "i4", dims, classes, {"description": "DOMINANT VEGETATION CATEGORY", "units": ""})
            add(
                file,
                "T2",
                "f4",
                dims,
                280 + waves(24, Y, X, seed=day),
                {**coordinates, "description": "TEMP at 2 M", "units": "K"},
            )
            staggered = {"coordinates": "XLONG_U XLAT_U XTIME", "stagger": "X", "units": "m s-1"}
            add(file, "U10", "f4", ("Time", "south_north", "west_east_stag"), waves(24, Y, X + 1, seed=day), staggered)


def icon(folder: Path) -> None:
    """Cells without a grid, with their centres and corners, and times such as 20200101.25."""
    cells = 2048
    for day in range(2):
        with Dataset(folder / f"icon_2020010{day + 1}.nc", "w") as file:
            file.createDimension("time", None)
            for name, length in {"ncells": cells, "vertices": 3, "height": 5, "bnds": 2}.items():
                file.createDimension(name, length)
            days = 20200101 + day + np.arange(4) / 4
            add(
                file,
                "time",
                "f8",
                ("time",),
                days,
                {"units": "day as %Y%m%d.%f", "calendar": "proleptic_gregorian", "axis": "T"},
            )
            centres = np.random.default_rng(0).uniform(-1.5, 1.5, cells)
            for name, long_name in (("clon", "center longitude"), ("clat", "center latitude")):
                known = {
                    "units": "radian",
                    "long_name": long_name,
                    "bounds": f"{name}_bnds",
                    "standard_name": long_name[7:],
                }
                add(file, name, "f8", ("ncells",), centres, known)
                corners = np.stack([centres, centres + 0.01, centres - 0.01], 1)
                add(file, f"{name}_bnds", "f8", ("ncells", "vertices"), corners)
            levels = {"standard_name": "height", "axis": "Z", "bounds": "height_bnds", "units": "1"}
            add(file, "height", "f8", ("height",), np.arange(1.0, 6), levels)
            add(file, "height_bnds", "f8", ("height", "bnds"), np.arange(10.0).reshape(5, 2))
            attributes = {"CDI_grid_type": "unstructured", "coordinates": "clat clon", "units": "K", "param": "0.0.0"}
            values = 280 + waves(4, 5, cells, seed=day)
            add(file, "temp", "f4", ("time", "height", "ncells"), values, attributes, chunksizes=(1, 5, cells))
            wind = {**attributes, "units": "m s-1"}
            add(
                file,
                "u",
                "f8",
                ("time", "height", "ncells"),
                waves(4, 5, cells, seed=day),
                wind,
                chunksizes=(4, 1, cells),
            )


FOLDERS: dict[str, Callable[[Path], None]] = {
    function.__name__: function
    for function in (era5_of_the_old_store, era5_of_the_new_store, cmip6, nemo, ukmo, wrf, icon)
}

# The variables that an archive codes with an error; all others are exact.
CODED = {
    "era5_of_the_old_store": {"t2m"},
    "era5_of_the_new_store": {"t2m"},
    "cmip6": {"tos"},
    "nemo": {"thetao"},
    "ukmo": {"air_temperature"},
    "wrf": {"T2", "U10"},
    "icon": {"temp", "u"},
}
