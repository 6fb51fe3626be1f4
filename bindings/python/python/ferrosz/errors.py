"""The errors of ferrosz."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "DamagedStream",
    "DeviceError",
    "Error",
    "GroupError",
    "OutOfMemory",
    "PresetKept",
    "RepeatedCompression",
    "TargetNotReached",
    "SmallChunks",
    "TestNumber",
    "UnsupportedType",
]


class Error(Exception):
    """Any error of ferrosz."""


class ArgumentError(Error, ValueError):
    """The value of an argument cannot be used; the message names the argument."""


class UnsupportedType(Error, TypeError):
    """An object or its elements have a type that is not supported here; the message names it."""


class DamagedStream(Error, ValueError):
    """A stream is damaged, cut off, or no stream at all."""

    kind: str
    """The fault, such as `"chunk_checksum"`, `"truncated"` or `"not_ferrosz"`."""
    chunk: int | None
    """The number of the damaged chunk, if the damage is in one."""
    needed: int | None
    """The length in bytes of a stream that is cut off, before it was."""
    found: int | None
    """The bytes of it that are there."""
    update_at: int | None
    """The start of a damaged update, in the bytes of all updates."""

    def __init__(
        self,
        message: str,
        kind: str = "other",
        chunk: int | None = None,
        needed: int | None = None,
        found: int | None = None,
        update_at: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.chunk = chunk
        self.needed = needed
        self.found = found
        self.update_at = update_at


class DeviceError(Error, RuntimeError):
    """A device is not there, or failed."""


class GroupError(Error, RuntimeError):
    """The members of a group cannot compress an array together; the error of the member that failed has the cause."""


class OutOfMemory(Error, MemoryError):
    """There is no memory for the result."""

    bytes: int
    """The bytes that were asked for."""

    def __init__(self, message: str, bytes: int = 0) -> None:
        super().__init__(message)
        self.bytes = bytes


class RepeatedCompression(UserWarning):
    """An array was compressed with an error before, and the errors of both compressions add."""


class PresetKept(UserWarning):
    """A codec is chosen for each chunk, as no codec suits all: this takes longer than the compression of small chunks."""


class SmallChunks(UserWarning):
    """Many chunks of a dataset are small: their headers and the choices of their codecs cost more than their values."""


class TestNumber(UserWarning):
    """The number of the HDF5 filter is one for tests: files with it are not for keeping."""

    # pytest takes classes of this name for tests.
    __test__ = False


class TargetNotReached(Error):
    """No error bound reaches the target of a search."""

    target: str
    """What was to be reached: `"psnr"`, `"rmse"`, `"mae"` or `"ratio"`."""
    wanted: float
    """The number that was asked for."""
    best: float
    """The best that was found."""

    def __init__(self, message: str, target: str = "", wanted: float = 0.0, best: float = 0.0) -> None:
        super().__init__(message)
        self.target = target
        self.wanted = wanted
        self.best = best
