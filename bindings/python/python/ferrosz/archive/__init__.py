"""Archives: files of NetCDF and Zarr groups of any size become a Zarr v3 group with shards of ferrosz.

`convert` makes two passes over the source, on the workers of a Dask cluster: the first finds the range of each
variable, from which its bound follows; the second writes shards, each by one call. It can be killed at any time and run
again. `plan` says what it would do, and `verify` compares the archive with its source. In a shell: `python -m
ferrosz.archive`.
"""

from __future__ import annotations

from importlib import import_module


def _import_extra() -> None:
    """Of a package that is not installed the message says how to install it."""
    try:
        for name in ("xarray", "zarr", "dask", "distributed", "netCDF4", "h5netcdf"):
            import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"ferrosz.archive needs {error.name}, of the extra `archive`: pip install 'ferrosz[archive]', "
            "or the packages xarray, zarr, distributed, netCDF4 and h5netcdf",
            # So `python -m` shows the message alone.
            name=__name__,
        ) from error


_import_extra()

from ._convert import convert
from ._files import convert_files
from ._plan import Planned, plan
from ._variable import Variable
from ._verified import Verified
from ._verify import verify

__all__ = ["Planned", "Variable", "Verified", "convert", "convert_files", "plan", "verify"]
