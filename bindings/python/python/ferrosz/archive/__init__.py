"""Archives: files of NetCDF and Zarr groups of any size become a Zarr v3 group with shards of ferrosz.

`convert` makes two passes over the source, on the workers of a Dask cluster: the first finds the range of each
variable, from which its bound follows; the second writes shards, each by one call. It can be killed at any time and run
again. `plan` says what it would do, and without a bound suggests one for each variable; `verify` compares the archive
with its source. In a shell: `python -m ferrosz.archive`.
"""

from __future__ import annotations

from importlib import import_module


def _import_extra() -> None:
    """Of a package that is not installed the message says how to install it."""
    try:
        for name in ("xarray", "zarr", "dask", "distributed", "netCDF4", "h5netcdf", "yaml"):
            import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"ferrosz.archive needs {error.name}, of the extra `archive`: pip install 'ferrosz[archive]', "
            "or the packages xarray, zarr, distributed, netCDF4, h5netcdf and PyYAML",
            # So `python -m` shows the message alone.
            name=__name__,
        ) from error


_import_extra()

from ._card import score_card
from ._convert import convert
from ._entry import Entry
from ._files import convert_files
from ._plan import Planned, plan
from ._plan_file import save_plan
from ._plan_reader import load_plan
from ._variable import Variable
from ._verified import Verified
from ._verify import verify

__all__ = [
    "Entry",
    "Planned",
    "Variable",
    "Verified",
    "convert",
    "convert_files",
    "load_plan",
    "plan",
    "save_plan",
    "score_card",
    "verify",
]
