"""`save` and `load`: an array in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._device import cupy, is_on_gpu
from ._info import Info, info
from ._temporary import written

if TYPE_CHECKING:
    import os

__all__ = ["load", "save"]


def save(path: str | os.PathLike[str], array: Any, **settings: Any) -> Info:
    """Compresses an array to a file, as `compress` does with these settings, and says what is in it.

    The file has the stream, so the command `ferrosz` reads it, too; give it the suffix `.fsz`. It is written as
    `PATH.partial` and then renamed: whatever ends the process, there is no half file of this name.

    Raises what `compress` raises, and `OSError`.

    >>> field = np.sin(np.arange(100000, dtype="float32") / 1000).reshape(100, 1000)
    >>> saved = ferrosz.save(folder / "field.fsz", field, range=1e-3)
    >>> saved.shape, saved.ratio > 10
    ((100, 1000), True)
    >>> bool(abs(ferrosz.load(folder / "field.fsz") - field).max() <= saved.absolute_error)
    True
    """
    from . import compress

    stream: Any = compress(array, **settings)
    if is_on_gpu(stream):
        stream = cupy().asnumpy(cupy().from_dlpack(stream))
    with written(path) as unfinished:
        unfinished.write_bytes(stream)
    return info(stream)


def load(path: str | os.PathLike[str], **settings: Any) -> Any:
    """The array of a file that `save` or the command `ferrosz` has written. The settings are those of `decompress`: of a
    file only the bytes that a `box` needs are read.

    Raises what `decompress` raises, and `OSError`.

    >>> saved = ferrosz.save(folder / "field.fsz", np.arange(100000.0).reshape(100, 1000), abs=0.1)
    >>> ferrosz.load(folder / "field.fsz", box=np.s_[7, 20:30]).shape
    (10,)
    """
    from . import decompress
    from ._mapped import mapped

    return decompress(mapped(path), **settings)
