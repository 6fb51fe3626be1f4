"""Prints the folder of the plugin: `export HDF5_PLUGIN_PATH=$(python -m ferrosz.hdf5)`."""

from . import PLUGIN_PATH

if __name__ == "__main__":
    print(PLUGIN_PATH)
