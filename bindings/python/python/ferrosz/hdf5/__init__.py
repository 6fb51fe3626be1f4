"""ferrosz in HDF5 and NetCDF-4: the filter, and reading and writing of datasets on all cores.

Importing this module is all that h5py, netCDF4 and xarray need to read datasets with the filter:

>>> import h5py
>>> field = np.sin(np.arange(250000, dtype="float32") / 1000).reshape(500, 500)
>>> file = h5py.File("field.h5", "w", driver="core", backing_store=False)
>>> dataset = file.create_dataset("t", data=field, chunks=(250, 500), **Ferrosz(abs=1e-3))
>>> bool(abs(dataset[...] - field).max() <= 1e-3)
True

`write` and `read` do the same on all cores:

>>> dataset = write(file, "u", field, range=1e-3)
>>> bool((read(dataset, np.s_[7, 20:30]) == dataset[7, 20:30]).all())
True

`HDF5_PLUGIN_PATH=$(python -m ferrosz.hdf5)` is for other programs, such as h5dump and nccopy.
"""

from ._filter import FILTER_ID, Ferrosz, filter_for
from ._plugin import PLUGIN_PATH, register
from ._read import read
from ._write import write

__all__ = ["FILTER_ID", "PLUGIN_PATH", "Ferrosz", "filter_for", "read", "register", "write"]

register()
