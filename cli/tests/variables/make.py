"""Makes the files of tests/variables.rs, which has the same values as a formula.

Made with netCDF4 1.7.5 and h5py 3.16.0: python make.py FOLDER
"""

import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np

folder = Path(sys.argv[1])
z, y, x = np.indices((3, 10, 12))
field = (280 + (7 * z + 3 * y + x) % 32 * 0.25).astype("f4")
missing = (4 <= y) & (y < 7) & (x >= 5)

for name, form in {"classic": "NETCDF3_CLASSIC", "cdf5": "NETCDF3_64BIT_DATA", "netcdf4": "NETCDF4"}.items():
    with netCDF4.Dataset(folder / f"{name}.nc", "w", format=form) as file:
        for dimension, length in {"z": None, "y": 10, "x": 12}.items():
            file.createDimension(dimension, length)
        chunks = {"zlib": True, "shuffle": True, "chunksizes": (2, 4, 5)} if form == "NETCDF4" else {}
        t = file.createVariable("t", "f4", ("z", "y", "x"), fill_value=np.float32(281), **chunks)
        t[:] = np.where(missing, np.float32(281), field + np.float32(2))
        two = file.createVariable("two", "f8", ("y", "x"))
        two.missing_value = np.array([-5.0, -6.0])
        two.set_auto_maskandscale(False)
        two[:] = np.where(y[0] == 3, -5.0, np.where(x[0] == 4, -6.0, field[0].astype("f8")))
        packed = file.createVariable("packed", "i2", ("z", "y", "x"), fill_value=np.int16(-32767))
        packed.scale_factor, packed.add_offset = np.float32(0.25), np.float32(280)
        packed.set_auto_maskandscale(False)
        packed[:] = np.where(missing, -32767, (field - 280) * 4)
        double = file.createVariable("double", "i1", ("y", "x"))
        double.add_offset = np.float64(280)
        double.set_auto_maskandscale(False)
        double[:] = (field[0] - 280) * 4
        unsigned = file.createVariable("unsigned", "i2", ("y", "x"))
        unsigned.setncattr("_Unsigned", "true")
        unsigned.set_auto_maskandscale(False)
        unsigned[:] = (500 * np.arange(120).reshape(10, 12)).astype("u2").view("i2")
        if form == "NETCDF4":
            inner = file.createGroup("inner")
            inner.createVariable("t", "f8", ("y", "x"))[:] = field[1]
            inner.createVariable("long", "i8", ("y", "x"))[:] = 1

with h5py.File(folder / "plain.h5", "w") as file:
    file["whole"] = field
    file.create_dataset("group/big", data=field.astype(">f8"), chunks=(2, 3, 4), compression="gzip", fletcher32=True)
    filled = np.where(missing, 281, field + 2)
    file.create_dataset("filled", data=filled, dtype=">f4", chunks=(3, 4, 5), fillvalue=281)
    file["half"] = field.astype(">f2")
    file["number"] = np.float32(3.5)
    file["empty"] = np.zeros((0, 3), "f4")
    file["text"] = "nothing"
