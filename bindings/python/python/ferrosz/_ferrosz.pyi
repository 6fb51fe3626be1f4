"""The compiled part of ferrosz."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, SupportsIndex, final, overload

import numpy as np
import numpy.typing as npt

from ._damage import Damage
from ._group import Group
from ._info import Info
from ._types import Box, Buffer, Fill, Preset
from ._verification import Verification
from .bare import Format, Outline, Parameters
from .stages import Parts, Pipeline

__all__ = [
    "Compressor",
    "Decompressor",
    "DeviceArray",
    "FrameReader",
    "FrameWriter",
    "Frames",
    "PartialStream",
    "Stream",
    "__version__",
    "bare_check",
    "bare_compress",
    "bare_decompress",
    "bare_outline",
    "bare_replace",
    "codec_id",
    "command",
    "compact",
    "compress_batch",
    "decompress_batch",
    "detect_fill",
    "has_splines",
    "info",
    "release_memory",
    "report_page",
    "salvage",
    "update",
    "update_in_place",
    "stage_compose",
    "stage_compress",
    "stage_decompose",
    "stage_decompress",
    "verify_arrays",
    "verify_stream",
    "find",
    "stats",
]

__version__: str

@final
class Compressor:
    def __new__(
        cls,
        *,
        abs: float | None = None,
        range: float | None = None,
        max: float | None = None,
        pwrel: float | None = None,
        psnr: float | None = None,
        rmse: float | None = None,
        mae: float | None = None,
        ratio: float | None = None,
        preset: Preset | None = None,
        codec: str | None = None,
        rank: Literal[1, 2, 3] | None = None,
        axes: str | None = None,
        chunk_tiles: Literal[4, 16, 64] | None = None,
        levels: int = 0,
        prefer: Literal["ratio", "quality"] = "ratio",
        wavelets: float | None = None,
        fill: Fill = "auto",
        keep_sign: bool = False,
        keep_zero: bool = False,
        keep: Literal["auto", "none"] | None = "auto",
        rewritable: bool = False,
        safeguards: dict[str, Any] | None = None,
        statistics: bool = False,
        device: str = "auto",
        threads: int | None = None,
    ) -> Compressor: ...
    @overload
    def compress(
        self,
        array: npt.NDArray[Any],
        *,
        out: None = None,
        progress: Callable[[int], object] | None = None,
        cuda_stream: Any = None,
    ) -> Stream: ...
    @overload
    def compress(
        self,
        array: Any,
        *,
        out: Any = None,
        progress: Callable[[int], object] | None = None,
        cuda_stream: Any = None,
    ) -> Stream | DeviceArray: ...
    def compress_part(
        self, array: Any, group: Group, *, box: Box, shape: SupportsIndex | Sequence[SupportsIndex]
    ) -> int: ...
    def max_stream_bytes(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Decompressor:
    def __new__(
        cls, *, device: str = "auto", verify_checksums: bool = True, threads: int | None = None
    ) -> Decompressor: ...
    def decompress(
        self,
        stream: Buffer,
        *,
        out: Any = None,
        box: Box | None = None,
        level: int = 0,
        progress: Callable[[int], object] | None = None,
        cuda_stream: Any = None,
    ) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class DeviceArray:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Literal[
        "uint8", "float32", "float64", "float16", "bfloat16", "int16", "uint16", "complex64", "complex128"
    ]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device_id(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...

@final
class Stream:
    def __new__(cls, stream: Buffer) -> Stream: ...
    @property
    def info(self) -> Info: ...
    def __len__(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Stream], tuple[bytes]]: ...
    # Python calls it so from 3.12 on; before, it has no name.
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class PartialStream:
    FIRST_BYTES: ClassVar[int]
    def __new__(cls, first: Buffer) -> PartialStream: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def missing(self, box: Box, *, level: int = 0) -> list[tuple[int, int]]: ...
    def put(self, start: int, bytes: Buffer) -> None: ...
    def decompress(self, box: Box, *, level: int = 0, out: Any = None, device: str = "auto") -> Any: ...

@final
class FrameWriter:
    def __new__(cls, file: Any, compressor: Compressor) -> FrameWriter: ...
    def write(self, frame: Any) -> None: ...
    def write_all(self, frames: Iterable[Any]) -> None: ...
    def close(self) -> None: ...
    @property
    def frames(self) -> int: ...
    def __enter__(self) -> FrameWriter: ...
    def __exit__(self, *_error: object) -> None: ...

@final
class Frames:
    def __new__(cls, file: str | os.PathLike[str] | Buffer, *, device: str = "auto") -> Frames: ...
    @property
    def end(self) -> Literal["indexed", "bad_index", "stopped"]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> npt.NDArray[Any]: ...
    def stream(self, number: int) -> Stream: ...

@final
class FrameReader:
    def __new__(cls, file: Any) -> FrameReader: ...
    @property
    def has_ended(self) -> bool: ...
    def __iter__(self) -> Iterator[Stream]: ...
    def __next__(self) -> Stream: ...

def compress_batch(arrays: Iterable[Any], compressor: Compressor) -> list[Any]: ...
def decompress_batch(streams: Iterable[Buffer], decompressor: Decompressor | None = None) -> list[Any]: ...
def salvage(stream: Buffer) -> tuple[npt.NDArray[Any], list[Damage]]: ...
@overload
def update(stream: DeviceArray, values: Any, *, box: Box, cuda_stream: Any = None) -> DeviceArray: ...
@overload
def update(stream: Buffer, values: Any, *, box: Box, cuda_stream: Any = None) -> Stream: ...
def update_in_place(target: bytearray | str | os.PathLike[str], values: Any, *, box: Box) -> int: ...
@overload
def compact(stream: DeviceArray, *, cuda_stream: Any = None) -> DeviceArray: ...
@overload
def compact(stream: Buffer, *, cuda_stream: Any = None) -> Stream: ...
def codec_id(codec: str) -> tuple[int, int]: ...
def has_splines(codec: str) -> bool: ...
def info(stream: Buffer) -> Info: ...
def verify_arrays(
    original: Any, decoded: Any, bound: tuple[str, float] | None, stream_bytes: int | None
) -> Verification: ...
def verify_stream(original: Any, stream: Buffer, device: str) -> Verification: ...
def command(words: list[str]) -> int: ...
def report_page(
    original: Any, name: str, units: str, streams: list[tuple[str, Buffer, str]], device: str
) -> tuple[str, list[bool]]: ...
def detect_fill(array: Any) -> list[float]: ...
def release_memory() -> None: ...
def stats(
    source: Any,
) -> tuple[tuple[float | None, float | None, float | None, int, int, int, int], bool] | None: ...
def find(
    source: Any, above: float | None, below: float | None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], list[int], list[int]]: ...

def bare_compress(
    array: Any,
    format: Format,
    bound: tuple[str, float],
    *,
    float_bound: bool,
    strict: bool,
    device: str,
) -> tuple[bytes, float]: ...
def bare_decompress(
    stream: Buffer,
    parameters: Parameters,
    *,
    elements: tuple[int, int] | None,
    box: Box | None,
    allow_missing: bool,
    device: str,
) -> npt.NDArray[Any]: ...
def bare_replace(
    stream: Buffer,
    parameters: Parameters,
    values: Any,
    *,
    elements: tuple[int, int] | None,
    box: Box | None,
) -> bytes: ...
def bare_check(stream: Buffer, parameters: Parameters) -> None: ...
def bare_outline(stream: Buffer, parameters: Parameters) -> Outline: ...

def stage_compress(array: Any, settings: Pipeline, bound: tuple[str, float]) -> bytes: ...
def stage_decompress(container: Buffer, device: str) -> npt.NDArray[Any]: ...
def stage_decompose(
    array: Any, settings: Pipeline, bound: tuple[str, float]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.uint32], bytes]: ...
def stage_compose(parts: Parts, device: str) -> npt.NDArray[Any]: ...
