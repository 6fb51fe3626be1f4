"""The command `ferrosz`, also as `python -m ferrosz`: whole datasets of NetCDF, HDF5 and Zarr by Python, and arrays and
streams by the compiled part, which is the command that Rust alone has."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from . import _ferrosz

OF_DATASETS = ("convert", "plan")
# Commands of datasets, and of arrays and streams.
OF_BOTH = ("compress", "decompress", "verify")
SUFFIXES = (".nc", ".nc3", ".nc4", ".cdf", ".h5", ".hdf5", ".he5", ".zarr")
MORE = """
Whole files of NetCDF and HDF5, and groups of Zarr:
  compress, decompress, verify   if both places are such, as in: ferrosz compress in.nc out.zarr --range 1e-3
  convert                        the same as compress; its --help says more
  plan                           suggest a bound for each variable, and predict sizes"""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    words = list(sys.argv[1:] if words is None else words)
    if not _is_of_datasets(words):
        status = _ferrosz.command(["ferrosz", *words])
        if words in ([], ["-h"], ["--help"], ["help"]):
            print(MORE, file=sys.stderr if status else sys.stdout)
        return status
    try:
        from ._datasets import main as of_datasets
    except ModuleNotFoundError as error:
        print(f"ferrosz: {error}", file=sys.stderr)
        return 2
    return of_datasets(words)


def _is_of_datasets(words: Sequence[str]) -> bool:
    """Whether these words are about whole datasets: at least two places are such, or one, and a folder for the others."""
    command, *rest = words or [""]
    if command not in OF_BOTH:
        return command in OF_DATASETS
    has_folder = any(word.partition("=")[0] == "--out-dir" for word in rest)
    before = ["", *rest]
    places = [word for word, option in zip(rest, before, strict=False) if option != "--out-dir" and _is_dataset(word)]
    return len(places) > 1 or (has_folder and bool(places))


def _is_dataset(word: str) -> bool:
    return not word.startswith("-") and (Path(word).suffix.lower() in SUFFIXES or Path(word).is_dir())


if __name__ == "__main__":
    sys.exit(main())
