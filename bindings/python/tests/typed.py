"""What type checkers must accept, and what they must refuse. It is not run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import ferrosz
import ferrosz.archive
import ferrosz.bare
import ferrosz.cf
import ferrosz.frames
import ferrosz.hdf5
import ferrosz.mpi
import ferrosz.stages
import ferrosz.xarray
import xarray as xr
from ferrosz.zarr import FerroszCodec, codec_for

array: npt.NDArray[np.float32] = np.zeros((3, 4), "float32")

assert_type(ferrosz.Compressor(abs=1e-3, preset="fast").compress(array), ferrosz.Stream)
stream = ferrosz.Compressor(range=1e-3, fill=[1e20, -9999.0]).compress(array)
assert_type(ferrosz.decompress(stream, box=(slice(0, 2), ..., 3)), Any)
assert_type(ferrosz.decompress(stream, level=2, box=np.s_[4]), Any)
assert_type([level for level, _ in ferrosz.levels(stream)], list[int])
assert_type(FerroszCodec(abs=1e-3, levels=2, written_once=True).levels, int)
assert_type(ferrosz.update(stream, array[0], box=0), ferrosz.Stream)
assert_type(ferrosz.update_in_place(bytearray(stream), array[0], box=np.s_[0, :]), int)
assert_type(ferrosz.salvage(stream)[1], list[ferrosz.Damage])
assert_type(ferrosz.compress_batch([array, array], ferrosz.Compressor(abs=1e-3)), list[Any])
assert_type(ferrosz.frames.Frames("run.fsf")[17], npt.NDArray[Any])
assert_type([len(stream) for stream in ferrosz.frames.FrameReader(open("run.fsf", "rb"))], list[int])
assert_type(ferrosz.bare.compress(array, mode="outlier", abs=1e-3), tuple[bytes, ferrosz.bare.Parameters])
assert_type(ferrosz.info(memoryview(stream)).shape, tuple[int, ...])
assert_type(bool(ferrosz.verify(array, stream)), bool)
assert_type(codec_for(array, range=1e-3), FerroszCodec)
assert_type(FerroszCodec(abs=1e-3, written_once=True).written_once, bool)
assert_type(ferrosz.hdf5.filter_for(array, range=1e-3), ferrosz.hdf5.Ferrosz)
assert_type(ferrosz.hdf5.PLUGIN_PATH, str)
ferrosz.cf.attributes(ferrosz.hdf5.Ferrosz(abs=1e-3), range=1e-3)


def in_parts(ranks: ferrosz.mpi.Ranks) -> ferrosz.Group:
    """The ranks of MPI are a group."""
    assert_type(ferrosz.compress_part(array, ranks, box=np.s_[:2], shape=(3, 4), codec="plain", abs=1e-3), int)
    return ranks


def over_mpi(comm: MPI.Intracomm) -> None:
    """Messages and sums."""
    assert_type(ferrosz.mpi.send(array, comm, 1, ferrosz.Compressor(abs=1e-3)), int)
    assert_type(ferrosz.mpi.recv(comm, 0), npt.NDArray[Any])
    assert_type(ferrosz.mpi.allreduce(array, comm, abs=1e-3, op="mean"), npt.NDArray[Any])
    ferrosz.mpi.allreduce(array, comm, abs=1e-3, op="max")  # type: ignore[arg-type]


ferrosz.cf.attributes(FerroszCodec(abs=1e-3))
assert_type(ferrosz.archive.convert("months", "t.zarr", range=1e-3, chunks={"time": 5}), dict[str, ferrosz.archive.Variable])
assert_type(bool(ferrosz.archive.verify("months", "t.zarr")["t"]), bool)

planned = ferrosz.archive.plan("months")
assert_type(planned, dict[str, ferrosz.archive.Planned])
assert_type(ferrosz.archive.load_plan("plan.yaml")["t"].reason, str)
ferrosz.archive.save_plan("plan.yaml", planned)
ferrosz.archive.convert("months", "t.zarr", plan=planned)
assert_type(ferrosz.archive.score_card(planned, ferrosz.archive.verify("months", "t.zarr", plan="plan.yaml")), str)
assert_type(ferrosz.pwrel_of_digits(4), float)
assert_type(ferrosz.xarray.encoding(xr.Dataset(), plan="plan.yaml"), ferrosz.xarray.Encoding)

done = ferrosz.archive.convert_files("in", out_dir="out", format="nc", range=1e-3)
assert_type(done, dict[str, dict[str, ferrosz.archive.Variable]])
encoding = ferrosz.xarray.encoding(xr.Dataset(), range=1e-3, variables={"t": {"abs": 1}})
assert_type(encoding, ferrosz.xarray.Encoding)
xr.Dataset().to_netcdf("t.nc", encoding=encoding)
assert_type(ferrosz.save("t.fsz", array, abs=1e-3), ferrosz.Info)
assert_type(ferrosz.info("t.fsz"), ferrosz.Info)
assert_type(ferrosz.verify(array, array, range=1e-3), ferrosz.Verification)
assert_type(ferrosz.Compressor(abs=1e-3, threads=2).compress(array), ferrosz.Stream)

ferrosz.compress(array, digits="4")  # type: ignore[arg-type]
ferrosz.compress(array, abs="1e-3")  # type: ignore[arg-type]
ferrosz.compress(array, abs=1, preset="tiny")  # type: ignore[arg-type]
ferrosz.hdf5.Ferrosz(range=1e-3)  # type: ignore[arg-type]
FerroszCodec(range=1e-3)  # type: ignore[arg-type]
ferrosz.cf.attributes({"abs": 1e-3})  # type: ignore[arg-type]
ferrosz.archive.convert("months", "t.zarr", range="1e-3")  # type: ignore[arg-type]
ferrosz.compress_part(array, None, box=..., shape=(3, 4), codec="plain", abs=1e-3)  # type: ignore[arg-type]
ferrosz.update_in_place(bytes(stream), array[0], box=0)  # type: ignore[arg-type]
ferrosz.frames.FrameWriter("run.fsf", abs=1e-3)  # type: ignore[call-arg]
ferrosz.decompress(7)  # type: ignore[arg-type]
ferrosz.archive.convert_files("in", out_dir="out", format="h5")  # type: ignore[arg-type]
pipeline = ferrosz.stages.Pipeline("huffman", range=1e-3, radius="fits")
assert_type(pipeline.compress(array), bytes)
assert_type(pipeline.decompose(array), ferrosz.stages.Parts)
