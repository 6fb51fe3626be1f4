"""Arrays on an NVIDIA GPU: tests and times them. Needs a GPU, CuPy and PyTorch.

    python tests/gpu.py [MIB [FILE.f32]]

The streams must be those of the CPU, byte for byte, on the default stream and on others; the times are those of whole
calls on arrays of MIB mebibytes (256 by default). The field is written to the file, so that
`ferrosz-lab bench --device cuda --dtype f32 --range 1e-3 --codec plain,lorenzo+rans,interp --rank 3 FILE.f32:4*MIB,256,256`
measures the same calls in Rust.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import torch

import ferrosz

BOUND = 1e-3


def field_of(mib: int, dtype: str) -> np.ndarray:
    """A smooth field with noise."""
    size = mib * 2**20 // np.dtype(dtype).itemsize
    depth = max(1, size // 2**16)
    z, y, x = np.ogrid[:depth, :256, :256]
    noise = np.random.default_rng(19).normal(0, 0.01, (depth, 256, 256))
    scale = 1000 if np.dtype(dtype).kind in "iu" else 1
    return (scale * (np.sin(z / 20) * np.cos(y / 30) + np.sin(x / 25) + noise)).astype(dtype)


def check_equal_bytes(dtype: str, codec: str) -> None:
    """CPU and GPU make the same stream, whatever library owns the array and whatever stream is current."""
    array = field_of(4, dtype)
    expected = ferrosz.compress(array, range=BOUND, codec=codec, fill=None, device="cpu")
    whole = ferrosz.decompress(expected, device="cpu")
    on_cupy = cupy.asarray(array)
    on_torch = torch.from_dlpack(on_cupy)
    for owned in (on_cupy, on_torch):
        stream = ferrosz.compress(owned, range=BOUND, codec=codec)
        assert stream.dtype == "uint8" and stream.shape == (len(expected),)
        assert cupy.asnumpy(cupy.from_dlpack(stream)).tobytes() == bytes(expected)
        assert bytes(torch.from_dlpack(stream).cpu().numpy()) == bytes(expected)
        assert cupy.asnumpy(cupy.asarray(stream)).tobytes() == bytes(expected), "by __cuda_array_interface__"
        back = ferrosz.decompress(stream)
        assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(back)), whole)
        assert np.array_equal(torch.from_dlpack(back).cpu().numpy(), whole)
        out = cupy.empty_like(on_cupy)
        assert ferrosz.decompress(cupy.from_dlpack(stream), out=out) is out
        assert np.array_equal(cupy.asnumpy(out), whole)
    part = ferrosz.decompress(stream, box=np.s_[3:9, :, 7:20])
    assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(part)), whole[3:9, :, 7:20])


def check_complex(dtype: str) -> None:
    """Complex numbers, whose parts are slices in device memory."""
    parts = field_of(8, {"complex64": "float32", "complex128": "float64"}[dtype])
    array = np.ascontiguousarray((parts + 1j * parts[::-1]).astype(dtype))
    axes = ",".join(["z", "y", "x"][-array.ndim :] + ["s"])
    for codec in ("plain", "lorenzo", "interp"):
        expected = bytes(ferrosz.compress(array, range=BOUND, codec=codec, axes=axes, fill=None, device="cpu"))
        whole = ferrosz.decompress(expected, device="cpu")
        on_cupy = cupy.asarray(array)
        for owned in (on_cupy, torch.from_dlpack(on_cupy)):
            stream = ferrosz.compress(owned, range=BOUND, codec=codec)
            assert bytes_of(stream) == expected
            back = ferrosz.decompress(stream)
            assert back.dtype == dtype and back.shape == array.shape
            assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(back)), whole)
            assert np.array_equal(torch.from_dlpack(back).cpu().numpy(), whole)
        out = cupy.empty_like(on_cupy)
        assert ferrosz.decompress(cupy.from_dlpack(stream), out=out) is out
        assert np.array_equal(cupy.asnumpy(out), whole)


def check_streams() -> None:
    """A call sees what was put into the caller's stream before it, and what comes behind sees its result."""
    array = field_of(64, "float32")
    expected = bytes(ferrosz.compress(array * 2 + 1, abs=BOUND, codec="plain", fill=None, device="cpu"))
    source = cupy.asarray(array)
    cupy.cuda.Device().synchronize()
    for _ in range(20):
        with cupy.cuda.Stream(non_blocking=True):
            changed = source * 2 + 1
            stream = ferrosz.compress(changed, abs=BOUND, codec="plain")
            changed[...] = 0
            assert cupy.asnumpy(cupy.from_dlpack(stream)).tobytes() == expected
        with torch.cuda.stream(torch.cuda.Stream()):
            changed = torch.from_dlpack(source) * 2 + 1
            stream = ferrosz.compress(changed, abs=BOUND, codec="plain")
            changed.zero_()
            assert bytes(torch.from_dlpack(stream).cpu().numpy()) == expected
    given = cupy.cuda.Stream(non_blocking=True)
    stream = ferrosz.compress(cupy.asarray(array * 2 + 1), abs=BOUND, codec="plain", cuda_stream=given)
    assert cupy.asnumpy(cupy.from_dlpack(stream)).tobytes() == expected


def bytes_of(stream: Any) -> bytes:
    return cupy.asnumpy(cupy.from_dlpack(stream)).tobytes()


def check_batches() -> None:
    """A batch has the streams and arrays of single calls, wherever its arrays are."""
    arrays = [np.sin(np.arange(1000 + 7 * k, dtype="float32") / 50) for k in range(200)]
    compressor = ferrosz.Compressor(range=BOUND, codec="plain", fill=None, device="cuda")
    expected = [bytes(ferrosz.compress(array, range=BOUND, codec="plain", fill=None, device="cpu")) for array in arrays]
    streams = ferrosz.compress_batch(arrays, compressor)
    assert [bytes(stream) for stream in streams] == expected
    on_gpu = ferrosz.compress_batch([cupy.asarray(array) for array in arrays], compressor)
    assert [bytes_of(stream) for stream in on_gpu] == expected
    decompressor = ferrosz.Decompressor(device="cuda")
    back = ferrosz.decompress_batch([*streams, *on_gpu], decompressor)
    for found, stream in zip(back, [*expected, *expected], strict=True):
        values = found if isinstance(found, np.ndarray) else cupy.asnumpy(cupy.from_dlpack(found))
        assert values.tobytes() == ferrosz.decompress(stream, device="cpu").tobytes()


def check_kept_memory() -> None:
    """An object makes the right bytes whatever it was used for before: sizes, types, ranks, streams, boxes, errors."""
    decompressor = ferrosz.Decompressor()
    for codec in ("plain", "lorenzo+rans", "interp"):
        compressor = ferrosz.Compressor(range=BOUND, codec=codec)
        made = []
        for mib, dtype in ((4, "float32"), (1, "float64"), (16, "float32"), (2, "int16"), (8, "float16"), (4, "float32")):
            field = field_of(mib, dtype)
            for array in (field, field.reshape(-1, 256), field.ravel()[:12345]):
                expected = bytes(ferrosz.compress(array, range=BOUND, codec=codec, fill=None, device="cpu"))
                whole = ferrosz.decompress(expected, device="cpu")
                room = cupy.empty(compressor.max_stream_bytes(array.shape, array.dtype), "uint8")
                for out in (None, room, torch.from_dlpack(room)):
                    with cupy.cuda.Stream(non_blocking=True):
                        on_gpu = cupy.asarray(array)
                        stream = compressor.compress(on_gpu, out=out)
                        assert bytes_of(stream) == expected
                        if out is not None:
                            assert cupy.from_dlpack(stream).data.ptr == room.data.ptr
                        back = decompressor.decompress(stream)
                        # The header of other arrays is read.
                        copy = decompressor.decompress(cupy.from_dlpack(stream), out=cupy.empty_like(on_gpu))
                        assert np.array_equal(cupy.asnumpy(copy), whole)
                    made.append((stream if out is None else None, expected, back, whole))
                    if len(made) % 7 == 0:
                        ferrosz.release_memory()
        del compressor
        for stream, expected, back, whole in made:
            assert stream is None or bytes_of(stream) == expected, "results keep their memory"
            assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(back)), whole)
    turned = ferrosz.Compressor(abs=BOUND, codec="plain", axes="x,y,z", fill=-9.0)
    for depth in (40, 20, 60):
        array = field_of(16, "float32")[:depth]
        array[3:5] = -9.0
        expected = bytes(turned.compress(array))
        stream = turned.compress(cupy.asarray(array))
        assert bytes_of(stream) == expected
        back = cupy.asnumpy(cupy.from_dlpack(decompressor.decompress(stream)))
        assert np.array_equal(back, ferrosz.decompress(expected))
    preset = ferrosz.Compressor(abs=BOUND, fill=None)
    room = cupy.empty(2**23, "uint8")
    for mib in (4, 1, 2):
        array = field_of(mib, "float32")
        stream = preset.compress(cupy.asarray(array), out=room)
        assert abs(cupy.asnumpy(cupy.from_dlpack(decompressor.decompress(stream))) - array).max() <= BOUND


def check_results_that_end_early() -> None:
    """A result may end while work on it waits in its stream, with the object that made it, and after it."""
    field = torch.from_dlpack(cupy.asarray(field_of(64, "float32")))
    stream = ferrosz.compress(field, range=BOUND, codec="lorenzo")
    expected = bytes_of(stream)
    for _ in range(5):
        apart = (torch.from_dlpack(ferrosz.decompress(stream)).double() - field.double()).abs()
        again = ferrosz.Compressor(range=BOUND, codec="lorenzo").compress(field)
        # The driver crashed here, where pools of memory ended with their objects.
        assert bytes_of(again) == expected
        assert float(apart.max()) <= BOUND * float(field.max() - field.min())


def check_changed_bytes() -> None:
    """A stream is what its bytes are now, not what they were."""
    compressor, decompressor = ferrosz.Compressor(abs=BOUND, codec="plain"), ferrosz.Decompressor()
    first, second = (cupy.asarray(field_of(mib, "float32")) for mib in (1, 2))
    room = cupy.empty(compressor.max_stream_bytes(second.shape, "float32"), "uint8")
    long = compressor.compress(second, out=room)
    short = compressor.compress(first, out=room)
    back = cupy.from_dlpack(decompressor.decompress(long))
    assert back.shape == first.shape and abs(back - first).max() <= BOUND
    compressor.compress(second, out=room)
    for damaged in (short, long):
        if damaged is long:
            room[:] = 0
        try:
            decompressor.decompress(damaged)
        except ferrosz.DamagedStream:
            continue
        raise AssertionError("no DamagedStream")


def check_updates() -> None:
    """Updates in device memory are those of the host, wherever the stream and the values are, and leave the old stream."""
    for dtype, codec in (("float32", "plain"), ("float64", "layered"), ("int16", "fixed"), ("complex64", "plain")):
        array = field_of(4, "float32" if dtype == "complex64" else dtype).astype(dtype)
        stream = ferrosz.compress(array, range=BOUND, codec=codec, fill=None, device="cpu")
        room = cupy.zeros(len(stream) + 4096, "uint8")
        room[: len(stream)] = cupy.frombuffer(bytes(stream), "uint8")
        on_gpu: Any = room
        for box in (np.s_[3:5, :, 7:20], np.s_[-1, 9], np.s_[2:2], np.s_[...]):
            values = array[box][::-1].copy()
            for given in (values, cupy.asarray(values), torch.from_dlpack(cupy.asarray(values))):
                cupy.cuda.Device().synchronize()
                with cupy.cuda.Stream(non_blocking=True):
                    updated = ferrosz.update(on_gpu, given, box=box)
                assert bytes_of(updated) == bytes(ferrosz.update(stream, values, box=box)), f"{dtype} {codec} {box}"
            assert bytes_of(on_gpu)[: len(stream)] == bytes(stream), "the old stream is changed"
            on_gpu, stream = updated, ferrosz.update(stream, values, box=box)
            back = cupy.asnumpy(cupy.from_dlpack(ferrosz.decompress(on_gpu)))
            assert np.array_equal(back, ferrosz.decompress(stream, device="cpu")), f"{dtype} {codec} {box}"
        compacted, expected = ferrosz.compact(on_gpu), ferrosz.compact(stream)
        assert bytes_of(compacted) == bytes(expected) and bytes_of(ferrosz.compact(compacted)) == bytes(expected)
        back = cupy.asnumpy(cupy.from_dlpack(ferrosz.decompress(compacted)))
        assert np.array_equal(back, ferrosz.decompress(stream, device="cpu"))


def check_threads() -> None:
    """Threads share an object, each on a stream of its own."""
    from concurrent.futures import ThreadPoolExecutor

    compressor, decompressor = ferrosz.Compressor(range=BOUND, codec="lorenzo+rans"), ferrosz.Decompressor()
    arrays = [field_of(mib, "float32") for mib in (1, 8, 2, 4)]
    expected = [bytes(ferrosz.compress(array, range=BOUND, codec="lorenzo+rans", fill=None, device="cpu")) for array in arrays]
    wholes = [ferrosz.decompress(stream, device="cpu") for stream in expected]

    def work(number: int) -> bool:
        which = number % len(arrays)
        with cupy.cuda.Stream(non_blocking=True):
            stream = compressor.compress(cupy.asarray(arrays[which]))
            back = cupy.from_dlpack(decompressor.decompress(cupy.from_dlpack(stream)))
            if number % 10 == 0:
                ferrosz.release_memory()
            return bytes_of(stream) == expected[which] and np.array_equal(cupy.asnumpy(back), wholes[which])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(100)))


def check_errors() -> None:
    """Wrong arrays and damage are typed errors."""
    array = cupy.asarray(field_of(4, "float32"))
    refused: list[tuple[type[Exception], Callable[[], Any]]] = [
        (ferrosz.ArgumentError, lambda: ferrosz.compress(array[:, ::2], abs=1)),
        (ferrosz.ArgumentError, lambda: ferrosz.compress(array, psnr=60)),
        (ferrosz.UnsupportedType, lambda: ferrosz.compress(array.astype("bool"), abs=1)),
        (ferrosz.UnsupportedType, lambda: ferrosz.compress(array.astype("int32"), abs=1)),
        (ferrosz.DamagedStream, lambda: ferrosz.decompress(cupy.zeros(1000, "uint8"))),
    ]
    stream = cupy.from_dlpack(ferrosz.compress(array, abs=BOUND, codec="plain"))
    damaged = stream.copy()
    damaged[-1] ^= 1
    refused += [
        (ferrosz.DamagedStream, lambda: ferrosz.decompress(damaged)),
        (ferrosz.DamagedStream, lambda: ferrosz.decompress(stream[:-16].copy())),
        (ferrosz.DamagedStream, lambda: ferrosz.update(stream[:-16].copy(), array[0], box=0)),
        (ferrosz.DamagedStream, lambda: ferrosz.compact(stream[:-16].copy())),
        (ferrosz.ArgumentError, lambda: ferrosz.update(stream, array[:2], box=0)),
        (ferrosz.ArgumentError, lambda: ferrosz.update(stream, array[0].astype("float64"), box=0)),
        (ferrosz.UnsupportedType, lambda: ferrosz.update(stream, array[0].astype("bool"), box=0)),
        (ferrosz.ArgumentError, lambda: ferrosz.update(ferrosz.compress(array, abs=1, codec="interp"), array[0], box=0)),
        (ferrosz.ArgumentError, lambda: ferrosz.decompress(stream, out=cupy.empty(3, "float32"))),
        (ferrosz.ArgumentError, lambda: ferrosz.decompress(stream, out=cupy.empty(array.shape, "float64"))),
        (ferrosz.ArgumentError, lambda: ferrosz.decompress(stream, out=np.empty(array.shape, "float32"))),
    ]
    plain = ferrosz.Compressor(abs=BOUND, codec="plain")
    needed = plain.max_stream_bytes(array.shape, array.dtype)
    for wrong in (
        cupy.empty(needed - 16, "uint8"),
        cupy.empty(needed + 8, "uint8")[8:],
        cupy.empty((2, needed), "uint8"),
        cupy.empty(needed, "int8"),
        np.empty(needed, "uint8"),
        array.ravel().view("uint8"),
    ):
        refused.append((ferrosz.ArgumentError, lambda wrong=wrong: plain.compress(array, out=wrong)))
    assert plain.compress(array, out=cupy.empty(needed, "uint8")).nbytes == stream.size
    for kind, call in refused:
        try:
            call()
        except kind:
            continue
        raise AssertionError(f"no {kind.__name__}")
    assert cupy.from_dlpack(ferrosz.compress(cupy.empty((0, 5), "float32"), abs=1)).size > 0


def check_memory() -> None:
    """Results are kept by those who use them, and freed after them."""
    array = cupy.asarray(field_of(64, "float32"))

    def round_trip(compressor: Any, decompressor: Any) -> None:
        taken = cupy.from_dlpack(decompressor.decompress(compressor.compress(array)))
        assert abs(taken - array).max() <= BOUND

    def free_bytes() -> int:
        cupy.cuda.Device().synchronize()
        cupy.get_default_memory_pool().free_all_blocks()
        free: int = cupy.cuda.runtime.memGetInfo()[0]
        return free

    compressor, decompressor = ferrosz.Compressor(abs=BOUND, codec="plain"), ferrosz.Decompressor()
    round_trip(compressor, decompressor)
    ferrosz.release_memory()
    before = free_bytes()
    for _ in range(20):
        round_trip(ferrosz.Compressor(abs=BOUND, codec="plain"), ferrosz.Decompressor())
        round_trip(compressor, decompressor)
    kept = before - free_bytes()
    # The room of the stream, a stream and an array, however many objects there are.
    assert 2**26 < kept < 2**28, f"the pool keeps {kept} bytes"
    # What the pool keeps is there for others, but for what the driver itself needs.
    others = cupy.cuda.alloc(before - 2**26)
    assert others.mem.size > free_bytes()
    del others
    free_bytes()
    round_trip(compressor, decompressor)
    result = compressor.compress(array)
    ferrosz.release_memory()
    assert before - free_bytes() < 2**26 and result.nbytes > 0, "release_memory() keeps memory"


def check_zarr() -> None:
    """Buffers of Zarr on a GPU."""
    import zarr

    from ferrosz.zarr import FerroszCodec

    array = field_of(4, "float32")
    with zarr.config.enable_gpu():
        stored = zarr.create_array(
            {}, shape=array.shape, chunks=array.shape, dtype="float32", serializer=FerroszCodec(abs=BOUND, codec="plain"),
            compressors=None,
        )
        stored[...] = cupy.asarray(array)
        back = stored[...]
        assert isinstance(back, cupy.ndarray) and abs(back - cupy.asarray(array)).max() <= BOUND


def check_hdf5() -> None:
    """Chunks that are compressed on the GPU have the bytes of the CPU, and are read to the GPU as to the CPU."""
    import h5py

    import ferrosz.hdf5

    array = field_of(4, "float32")
    with h5py.File("gpu.h5", "w", driver="core", backing_store=False) as file:
        for codec in ("plain", "lorenzo+rans", "interp"):
            options: dict[str, Any] = {"range": BOUND, "codec": codec, "fill": None, "chunks": (7, 256, 100)}
            expected = ferrosz.hdf5.write(file, f"{codec} on the CPU", array, **options)
            for owned in (cupy.asarray(array), torch.from_numpy(array).cuda()):
                dataset = ferrosz.hdf5.write(file, None, owned, **options)
                for number in range(expected.id.get_num_chunks()):
                    place = expected.id.get_chunk_info(number).chunk_offset
                    assert dataset.id.read_direct_chunk(place) == expected.id.read_direct_chunk(place)
            for box in (np.s_[...], np.s_[3:9, 7], np.s_[..., 99:102]):
                found = ferrosz.hdf5.read(expected, box, device="cuda")
                assert isinstance(found, cupy.ndarray)
                assert np.array_equal(cupy.asnumpy(found), ferrosz.hdf5.read(expected, box, device="cpu"))


def seconds_of(call: Callable[[], object]) -> float:
    """The median of whole calls, with the device idle before and after."""
    times = []
    for _ in range(13):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times[3:])[5]


def main() -> None:
    mib = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    for dtype in ("float32", "float64", "float16", "int16"):
        for codec in ("plain", "lorenzo+rans", "interp"):
            check_equal_bytes(dtype, codec)
    for dtype in ("complex64", "complex128"):
        check_complex(dtype)
    check_streams()
    check_kept_memory()
    check_batches()
    check_results_that_end_early()
    check_changed_bytes()
    check_updates()
    check_threads()
    check_errors()
    check_memory()
    check_zarr()
    check_hdf5()
    print(f"checks passed: {cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}")
    field = field_of(mib, "float32")
    if len(sys.argv) > 2:
        field.tofile(sys.argv[2])
    array = cupy.asarray(field)
    for codec in ("plain", "lorenzo+rans", "interp"):
        compressor, decompressor = ferrosz.Compressor(range=BOUND, codec=codec), ferrosz.Decompressor()
        stream, out = compressor.compress(array), cupy.empty_like(array)
        room = cupy.empty(compressor.max_stream_bytes(array.shape, array.dtype), "uint8")
        foreign = cupy.from_dlpack(stream)
        calls: dict[str, Callable[[], object]] = {
            "compress with out": lambda: compressor.compress(array, out=room),
            "compress": lambda: compressor.compress(array),
            "decompress with out": lambda: decompressor.decompress(stream, out=out),
            "decompress with out, header read": lambda: decompressor.decompress(foreign, out=out),
            "decompress": lambda: decompressor.decompress(stream),
        }
        rates = [f"{name} {array.nbytes / 1e9 / seconds_of(call):.0f} GB/s" for name, call in calls.items()]
        print(f"{codec}: {'; '.join(rates)}; ratio {array.nbytes / stream.nbytes:.2f}")


if __name__ == "__main__":
    main()
