"""A campaign: random arrays through the ways in of Python, each result judged exactly.

    python campaign.py --cases 20000 --seed 7

A case follows from the seed and its number: `--first 1234 --cases 1` runs that one alone, and `--first` goes on where a
campaign was interrupted. FERROSZ names the command, which is then one of the ways. The status is 1 if a case failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import zarr
from exact import beyond

import ferrosz
import ferrosz.hdf5
import ferrosz.numcodecs
from ferrosz.zarr import FerroszCodec

CODED = ["f4", "f8", "f2", "i2", "u2", "i4", "u4"]
# Where a way in knows the type of an array.
WIDER = ["i1", "u1", "i8", "u8"]
SAFE = ["fixed", "plain", "outlier", "lorenzo", "layered", "lorenzo+rans", "lorenzo+huffman", "lorenzo+bitplane"]
SPLINES = ["interp", "interp-square", "stencil", "slices"]


class Case:
    """A random array, a bound, and settings."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = np.random.default_rng([seed, number])
        self.way = self.pick(WAYS, [weight for _, weight in WAYS.values()])
        self.is_rewritten = self.way not in ("compress", "command") and self.chance(0.4)
        self.values = self.array()
        self.pwrel = self.values.dtype.kind == "f" and self.values.dtype.itemsize > 2 and self.chance(0.15)
        self.bound = self.pwrel_bound() if self.pwrel else self.abs_bound()
        self.settings = self.coding()

    def pick(self, items: Any, weights: Any = None) -> Any:
        items = list(items)
        share = None if weights is None else np.array(weights) / np.sum(weights)
        return items[int(self.random.choice(len(items), p=share))]

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def array(self) -> np.ndarray:
        axes = self.pick([0, 1, 2, 3, 4], [1, 5, 8, 8, 2])
        most = {0: 1, 1: 3000, 2: 60, 3: 16, 4: 7}[axes]
        shape = tuple(int(length) for length in self.random.integers(1, most + 1, axes))
        if axes and self.way == "compress" and self.chance(0.02):
            shape = (0, *shape[1:])
        name = self.pick(self.types())
        dtype = np.dtype(ml_dtypes.bfloat16) if name == "bf16" else np.dtype(self.pick("<>") + name)
        values = self.numbers(shape)
        if dtype.kind in "iu":
            return self.integers(values, dtype)
        scale = 10.0 ** self.random.uniform(-4, 4) if dtype.itemsize == 2 else 10.0 ** self.random.uniform(-30, 30)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            found = (values * scale).astype(dtype)
        if found.size and self.chance(0.2):
            places = self.random.integers(0, found.size, max(found.size // 20, 1))
            found.reshape(-1)[places] = self.random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], len(places)).astype(
                dtype
            )
        return found

    def types(self) -> list[str]:
        if self.way in ("compress", "command"):
            return [*CODED, "bf16"] if self.way == "compress" else CODED
        # NetCDF has no halves; netCDF4 ends the process at such a variable, with any filter or none.
        return [name for name in CODED + WIDER if name != "f2" or self.way != "NetCDF"]

    def numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        """Smooth values, noise, steps, or spikes on zeros."""
        kind = self.pick(["smooth", "noise", "steps", "spikes"], [5, 2, 1, 1])
        if kind == "noise":
            return self.random.normal(0, 1, shape)
        grid = np.indices(shape).astype(float) if shape else np.zeros((0,))
        phase = sum((axis * self.random.uniform(0, 0.4) for axis in grid), np.zeros(shape)) + self.random.uniform(0, 6)
        values = np.asarray(np.sin(phase) + self.random.uniform(-2, 2) + self.random.normal(0, 0.01, shape))
        if kind == "steps":
            return np.round(values * 2)
        return values * (self.random.random(shape) < 0.05) if kind == "spikes" else values

    def integers(self, values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        limits = np.iinfo({1: dtype, 2: dtype, 4: dtype, 8: np.dtype(dtype.kind + "4")}[dtype.itemsize])
        least, most = int(limits.min), int(limits.max)
        reach = (most - least) // 2
        middle = least + reach + int(self.random.integers(-reach // 2, reach // 2))
        scaled = np.clip(np.round(values * min(10.0 ** self.random.uniform(0, 9), reach / 3)), -(2.0**62), 2.0**62)
        return np.clip(scaled.astype("int64") + middle, least, most).astype(dtype)

    def abs_bound(self) -> float:
        finite = self.values[np.isfinite(self.values.astype("f8"))].astype("f8") if self.values.size else np.zeros(1)
        extent = float(np.ptp(finite)) if finite.size else 1.0
        bound = (extent or 1.0) * 10.0 ** self.random.uniform(-6, 0)
        bound = 0.0 if self.chance(0.05) else min(bound, 1e300)
        return float(round(bound)) if self.values.dtype.kind in "iu" and self.chance(0.5) else bound

    def pwrel_bound(self) -> float:
        return float(10.0 ** self.random.uniform(-5, -0.3))

    def coding(self) -> dict[str, Any]:
        found: dict[str, Any] = {"pwrel" if self.pwrel else "abs": self.bound}
        once = self.way != "compress" and not self.is_rewritten and self.chance(0.3)
        if once:
            found["written_once"] = True
        codecs = SAFE + (SPLINES if once or self.way == "compress" else [])
        kind = self.pick(["codec", "fast", "balanced", "small"], [80, 14, 3, 3])
        found["codec" if kind == "codec" else "preset"] = self.pick(codecs) if kind == "codec" else kind
        return found

    def chunks(self) -> tuple[int, ...]:
        return tuple(int(self.random.integers(max(length // 3, 1), length + 1)) for length in self.values.shape)

    def rewrite(self, array: Any) -> None:
        """Writes boxes of the original values again."""
        for _ in range(int(self.random.integers(1, 6)) if self.is_rewritten and self.values.size else 0):
            starts = [int(self.random.integers(0, length)) for length in self.values.shape]
            lengths = [
                int(self.random.integers(1, length - at + 1))
                for at, length in zip(starts, self.values.shape, strict=True)
            ]
            box = tuple(slice(at, at + length) for at, length in zip(starts, lengths, strict=True))
            array[box] = self.values[box]

    def check(self, found: Any) -> None:
        found = np.asarray(found)
        assert found.dtype == self.values.dtype, f"the type is {found.dtype}"
        wrong = beyond(self.values, found, self.bound, pwrel=self.pwrel)
        assert wrong == 0, f"{wrong} of {found.size} elements are beyond the bound"

    def __str__(self) -> str:
        kind = "rewritten" if self.is_rewritten else "written"
        return f"{self.way}, {self.values.dtype.str} {self.values.shape}, {kind}, {self.settings}"


def compress(case: Case) -> None:
    case.settings.pop("written_once", None)
    values = case.values
    kind = case.pick(["plain", "masked", "strided", "fortran"], [6, 2, 1, 1])
    fill: Any = case.pick(["auto", None], [2, 1])
    if kind == "masked" and values.size > 1 and values.dtype != ml_dtypes.bfloat16:
        return masked(case)
    given = {
        "strided": lambda: np.repeat(values, 2, axis=-1)[..., ::2] if values.ndim else values,
        # NumPy gives an array without dimensions one.
        "fortran": lambda: np.asfortranarray(values) if values.ndim else values,
    }
    stream = ferrosz.compress(given.get(kind, lambda: values)(), fill=fill, **case.settings)
    found = ferrosz.decompress(stream)
    case.check(found.astype(values.dtype, copy=False))
    assert ferrosz.verify(values, stream) or case.pwrel or not values.size
    if values.ndim and values.size:
        box = tuple(slice(length // 3, length // 3 + 1 + length // 2) for length in values.shape)
        part = ferrosz.decompress(stream, box=box)
        assert part.tobytes() == found[box].tobytes(), "a box has other values"


def masked(case: Case) -> None:
    values = case.values
    mask = case.random.random(values.shape) < 0.3
    values = np.where(mask, values.dtype.type(0), values).astype(values.dtype)
    candidates = np.unique(values[~mask].astype("f8")) if (~mask).any() else np.zeros(1)
    fill = next(value for value in (7, 1, 2, 3, 5, 11, 13, 17) if value not in candidates)
    array = np.ma.masked_array(case.values, mask, fill_value=fill)
    found = (
        ferrosz.decompress(ferrosz.compress(array, **case.settings))
        .astype(values.dtype, copy=False)
        .reshape(values.shape)
    )
    assert (found[mask] == fill).all(), "masked elements have another value"
    case.values = case.values[~mask]
    case.check(found[~mask])


def zarr_v3(case: Case, shards: bool = False) -> None:
    chunks = case.chunks()
    # A shard has whole chunks.
    options: dict[str, Any] = {"shards": tuple(2 * length for length in chunks)} if shards and chunks else {}
    fill = case.pick([0, 1])
    array = zarr.create_array(
        {},
        shape=case.values.shape,
        chunks=chunks or "auto",
        dtype=case.values.dtype,
        fill_value=fill,
        serializer=FerroszCodec(**case.settings),
        compressors=None,
        **options,
    )
    array[...] = case.values
    case.rewrite(array)
    case.check(array[...])


def zarr_v2(case: Case) -> None:
    order = case.pick(["C", "F"])
    codec = ferrosz.numcodecs.Ferrosz(dtype=case.values.dtype, order=order, **case.settings)
    array = zarr.create_array(
        {},
        shape=case.values.shape,
        chunks=case.chunks() or "auto",
        dtype=case.values.dtype,
        zarr_format=2,
        order=order,
        compressors=codec,
    )
    array[...] = case.values
    case.rewrite(array)
    case.check(array[...])


def through_h5py(case: Case) -> None:
    values = case.values if case.values.ndim else case.values.reshape(1)
    case.values = values
    # Without a cache each write is one of the filter.
    with h5py.File("campaign.h5", "w", driver="core", backing_store=False, rdcc_nbytes=0) as file:
        dataset = file.create_dataset(
            "x",
            values.shape,
            values.dtype,
            chunks=case.chunks(),
            fillvalue=case.pick([None, 1]),
            **ferrosz.hdf5.Ferrosz(**case.settings),
        )
        dataset[...] = values
        case.rewrite(dataset)
        case.check(dataset[...])
        assert ferrosz.hdf5.read(dataset).tobytes() == dataset[...].tobytes(), "read has other values"


def by_write(case: Case) -> None:
    case.settings["written_once"] = not case.is_rewritten
    with h5py.File("campaign.h5", "w", driver="core", backing_store=False, rdcc_nbytes=0) as file:
        dataset = ferrosz.hdf5.write(file, "x", case.values, chunks=case.chunks() or None, **case.settings)
        case.rewrite(dataset)
        case.check(dataset[()])


def through_netcdf(case: Case) -> None:
    """xarray writes, netCDF4 writes again, and both read."""
    import netCDF4
    import xarray as xr

    case.values = case.values if case.values.ndim else case.values.reshape(1)
    names = tuple(f"d{axis}" for axis in range(case.values.ndim))
    encoding = {"x": {**ferrosz.hdf5.Ferrosz(**case.settings), "chunksizes": case.chunks(), "_FillValue": None}}
    xr.Dataset({"x": (names, case.values)}).to_netcdf("campaign.nc", engine="h5netcdf", encoding=encoding)
    with netCDF4.Dataset("campaign.nc", "a") as file:
        file["x"].set_auto_maskandscale(False)
        case.rewrite(file["x"])
        case.check(file["x"][...].astype(case.values.dtype, copy=False))


def by_command(case: Case) -> None:
    case.settings.pop("written_once", None)
    np.save("campaign.npy", case.values)
    options = [
        word
        for name, value in case.settings.items()
        for word in ([f"--{value}"] if name == "preset" else [f"--{name}", str(value)])
    ]
    for arguments in (
        ["compress", "campaign.npy", "campaign.fsz", *options],
        ["decompress", "campaign.fsz", "back.npy"],
    ):
        subprocess.run([os.environ["FERROSZ"], *arguments, "--force", "--quiet"], check=True, capture_output=True)
    found = np.load("back.npy").reshape(case.values.shape)
    assert found.tobytes() == ferrosz.decompress(Path("campaign.fsz").read_bytes()).tobytes(), (
        "Python decodes other values"
    )
    case.check(found.astype(case.values.dtype, copy=False))


# The ways in, and how often each is taken: those that take long less often.
WAYS: dict[str, tuple[Callable[[Case], None], float]] = {
    "compress": (compress, 60),
    "h5py": (through_h5py, 18),
    "hdf5.write": (by_write, 6),
    "Zarr v3": (zarr_v3, 6),
    "Zarr v3 with shards": (lambda case: zarr_v3(case, shards=True), 3),
    "Zarr v2": (zarr_v2, 6),
    "NetCDF": (through_netcdf, 1),
}
if "FERROSZ" in os.environ:
    WAYS["command"] = (by_command, 0.5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--cases", type=int, default=2000, help="how many")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what they follow from; by default the time")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    os.chdir(tempfile.mkdtemp())
    warnings.simplefilter("ignore")
    done: Counter[str] = Counter()
    failed: Counter[tuple[str, str, bool]] = Counter()
    start = time.monotonic()
    for number in range(given.first, given.first + given.cases):
        case = Case(given.seed, number)
        text = str(case)
        done[case.way] += 1
        try:
            WAYS[case.way][0](case)
        except Exception as error:
            failed[case.way, case.values.dtype.str, case.is_rewritten] += 1
            print(f"case {number}: {text}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError) and given.cases == 1:
                traceback.print_exc()
        if (number + 1) % 1000 == 0:
            print(f"{number + 1} cases, {sum(failed.values())} failed, {time.monotonic() - start:.0f} s", flush=True)
    print("; ".join(f"{way} {count}" for way, count in sorted(done.items())))
    for (way, dtype, is_rewritten), count in sorted(failed.items()):
        print(f"failed: {way}, {dtype}, {'rewritten' if is_rewritten else 'written once'}: {count}")
    print(f"{given.cases} cases, {sum(failed.values())} failed, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
