"""Converts a synthetic archive to Zarr v3 with shards of ferrosz, on processes of this machine, and prints sizes and times.

The source are files of maps, packed by deflate: waves that travel over a sphere, turbulence on all scales, and a mask of
land. They are made in the folder FOLDER, once.

    python benches/archive.py FOLDER --gigabytes 2
    python benches/archive.py FOLDER --gigabytes 2 --files 4 --layouts
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import xarray as xr
import zarr
from distributed import Client, LocalCluster

import ferrosz.zarr
from ferrosz import archive

MAP = (361, 720)
MAPS_OF_A_FILE = 120


def make(folder: Path, number: int) -> None:
    """A month of maps every six hours."""
    path = folder / f"{number:03}.nc"
    if path.exists():
        return
    random = np.random.default_rng(0)
    rows, columns = np.fft.fftfreq(MAP[0]), np.fft.rfftfreq(MAP[1])
    spectrum = (rows[:, None] ** 2 + columns**2 + 1e-5) ** (-5 / 6)
    phases = random.normal(size=(2, *spectrum.shape))
    speeds = random.normal(size=spectrum.shape) * 2 * np.hypot(rows[:, None], columns)
    latitudes, longitudes = np.linspace(-90, 90, MAP[0]), np.arange(MAP[1]) / 2
    values = np.empty((MAPS_OF_A_FILE, *MAP), "float32")
    for at in range(MAPS_OF_A_FILE):
        turning = np.exp(1j * speeds * (number * MAPS_OF_A_FILE + at))
        turbulence = np.fft.irfft2(spectrum * (phases[0] + 1j * phases[1]) * turning, MAP)
        values[at] = 300 - 50 * np.sin(np.radians(latitudes))[:, None] ** 2 + 8 * turbulence / turbulence.std()
    land = np.fft.irfft2(spectrum * (phases[1] - 1j * phases[0]), MAP)
    values[:, land > np.quantile(land, 0.7)] = 1e20
    hours = ("time", (number * MAPS_OF_A_FILE + np.arange(MAPS_OF_A_FILE)) * 6.0, {"units": "hours since 2000-01-01"})
    dataset = xr.Dataset(
        {"sst": (("time", "lat", "lon"), values, {"units": "K", "missing_value": np.float32(1e20)})},
        coords={"time": hours, "lat": latitudes, "lon": longitudes},
    )
    packing = {"zlib": True, "complevel": 1, "shuffle": True, "chunksizes": (1, *MAP), "_FillValue": np.float32(1e20)}
    dataset.sst.attrs.pop("missing_value")
    dataset.to_netcdf(path.with_suffix(".part"), engine="netcdf4", encoding={"sst": packing})
    path.with_suffix(".part").rename(path)


class Memory(threading.Thread):
    """The most memory that a process of this cluster had."""

    def __init__(self, pids: list[int]) -> None:
        super().__init__(daemon=True)
        self.processes = [psutil.Process(pid) for pid in pids]
        self.most, self.is_ended = 0, False

    def run(self) -> None:
        while not self.is_ended:
            self.most = max(self.most, *(process.memory_info().rss for process in self.processes))
            time.sleep(0.05)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def processor_seconds(processes: list[psutil.Process]) -> float:
    """Depend less than times on what else runs."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def mebibytes(shape: tuple[int, ...]) -> float:
    return float(np.prod(shape)) * 4 / 2**20


def whole(paths: list[Path], folder: Path, preset: str, client: Client) -> None:
    target = folder / "target.zarr"
    shutil.rmtree(target, ignore_errors=True)
    settings: dict[str, Any] = {"range": 1e-3, "preset": preset, "client": client}
    starts: dict[str, float] = {}
    begun = time.perf_counter()
    done = archive.convert(paths, target, **settings, progress=lambda what, *_: starts.setdefault(what, time.perf_counter()) and None)
    ended = time.perf_counter()
    first_pass = starts["sst: shards"] - begun
    found, again = timed(lambda: archive.convert(paths, target, **settings))
    assert found["sst"].shards_written == 0
    verified, compared = timed(lambda: archive.verify(paths, target, client=client))
    assert all(verified.values())
    variable = done["sst"]
    size = variable.array_bytes / 1e6
    print(
        f"| {preset} | {variable.ratio:.2f} | {ended - begun:.1f} s, {size / (ended - begun):.0f} | {first_pass:.1f} s | "
        f"{again:.1f} s, {size / again:.0f} | {compared:.1f} s, {size / compared:.0f} | "
        f"{verified['sst'].largest_error / verified['sst'].bound:.4f} |",
        flush=True,
    )


def layouts(paths: list[Path], folder: Path, client: Client) -> None:
    target = folder / "target.zarr"
    pids = list(client.run(lambda: psutil.Process().pid).values())
    for chunks, shards in [
        ({"time": 8, "lat": 46, "lon": 90}, {"time": 32}),
        ({"time": 32, "lat": 91, "lon": 180}, {"time": 32}),
        ({"time": 32, "lat": 181, "lon": 180}, {"time": 32}),
        ({"time": 32, "lat": 361, "lon": 360}, {"time": 32}),
        ({"time": 1}, {"time": 32}),
        ({"time": 120, "lat": 46, "lon": 90}, {"time": 120, "lat": 46}),
        ({"time": 32, "lat": 91, "lon": 180}, {"time": 32, "lat": 182, "lon": 360}),
    ]:
        shutil.rmtree(target, ignore_errors=True)
        memory = Memory(pids)
        memory.start()
        settings: dict[str, Any] = {"range": 1e-3, "chunks": chunks, "shards": shards, "client": client}
        before = processor_seconds(memory.processes)
        done = archive.convert(paths, target, **settings)
        used = processor_seconds(memory.processes) - before
        memory.is_ended = True
        array = zarr.open_array(target / "sst", mode="r")
        _, plane = timed(lambda array=array: array[100])
        _, series = timed(lambda array=array: array[:, 180, 360])
        found = done["sst"]
        codec = ferrosz.zarr.FerroszCodec(**zarr.open_group(target).attrs["ferrosz_archive"]["codecs"]["sst"]["codec"])
        print(
            f"| {' x '.join(map(str, found.chunks))}: {mebibytes(found.chunks):.2f} MiB | {' x '.join(map(str, found.shards))}: "
            f"{mebibytes(found.shards):.0f} MiB | {found.times_read:.1f} | {found.ratio:.2f} | {codec.codec or 'of each chunk'} | "
            f"{used / found.array_bytes * 1e9:.0f} | {memory.most / 2**20:.0f} | {plane * 1e3:.0f} | {series * 1e3:.0f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--files", type=int, help="use only so many")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--layouts", action="store_true", help="compare shapes of chunks and shards")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    count = round(given.gigabytes * 1e9 / (4 * np.prod((MAPS_OF_A_FILE, *MAP))))
    for number in range(count):
        make(given.folder, number)
    paths = sorted(given.folder.glob("*.nc"))[: given.files or count]
    size = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} files, {len(paths) * 4 * np.prod((MAPS_OF_A_FILE, *MAP)) / 1e6:.0f} MB of values, {size / 1e6:.0f} MB of files")
    options: dict[str, Any] = {"n_workers": given.workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        if given.layouts:
            layouts(paths, given.folder, client)
            return
        for preset in ("small", "balanced", "fast"):
            whole(paths, given.folder, preset, client)


if __name__ == "__main__":
    main()
