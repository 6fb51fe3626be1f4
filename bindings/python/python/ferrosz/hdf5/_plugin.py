"""The filter plugin, and the HDF5 libraries that have to find it."""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import sys
from pathlib import Path

from .._warning import warn
from ..errors import SmallChunks

__all__ = ["PLUGIN_PATH", "register", "warn_of_small_chunks"]

PLUGIN_PATH = str(Path(__file__).parents[1] / "plugins")
"""The folder of the filter plugin, for the variable `HDF5_PLUGIN_PATH` of other programs."""

VARIABLE = "HDF5_PLUGIN_PATH"

# Where HDF5 looks if the variable is not set.
DEFAULT_PATH = "/usr/local/hdf5/lib/plugin"


def register() -> None:
    """Makes the plugin known to the HDF5 libraries of this process: to those of h5py and netCDF4 if they are loaded, and
    by the variable `HDF5_PLUGIN_PATH` to those that are loaded later, and to programs that this process starts.

    Importing `ferrosz.hdf5` does this.
    """
    _set_variable()
    if "h5py" in sys.modules:
        h5pl = sys.modules["h5py"].h5pl
        known = [h5pl.get(place) for place in range(h5pl.size())]
        if PLUGIN_PATH.encode() not in known:
            h5pl.prepend(PLUGIN_PATH.encode())
    if "netCDF4" in sys.modules:
        # netCDF4 has no function for it. The search begins at its module, so it ends at the HDF5 that this one has loaded.
        module = ctypes.CDLL(sys.modules["netCDF4"]._netCDF4.__file__)
        module.H5PLprepend(PLUGIN_PATH.encode())


def warn_of_small_chunks() -> None:
    """Warns once, by `ferrosz.SmallChunks`, of a program whose chunks are small."""
    for path in Path(PLUGIN_PATH).glob("*ferrosz*"):
        listen = ctypes.CDLL(str(path)).ferrosz_hdf5_on_small_chunks
        listen.restype = None
        listen(_LISTENER)
        # The plugin may write the last chunks when there is no interpreter any more.
        atexit.register(listen, None)


def _small_chunks(size: int) -> None:
    warn(
        f"chunks of {size} bytes are small for ferrosz, which takes long for many of them: give chunks of 1 MiB or more, as "
        "chunks=(...) in h5py, and as 'chunksizes' in an encoding of xarray",
        SmallChunks,
        ("h5py", "h5netcdf", "netCDF4", "xarray"),
    )


# The plugin calls it as long as the process lives.
_LISTENER = ctypes.CFUNCTYPE(None, ctypes.c_size_t)(_small_chunks)


def _set_variable() -> None:
    paths = os.environ.get(VARIABLE, "").split(os.pathsep)
    if paths == [""]:
        # A variable that is set hides what HDF5 and netCDF4 would have taken without it.
        paths = [*_netcdf_plugins(), DEFAULT_PATH]
    if PLUGIN_PATH not in paths:
        os.environ[VARIABLE] = os.pathsep.join([PLUGIN_PATH, *paths])


def _netcdf_plugins() -> list[str]:
    """The folder of the plugins that netCDF4 brings, if it is installed."""
    package = importlib.util.find_spec("netCDF4")
    folders = package.submodule_search_locations if package else None
    return [str(Path(folder) / "plugins") for folder in folders or []]
