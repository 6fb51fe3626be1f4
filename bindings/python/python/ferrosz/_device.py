"""Arrays on NVIDIA GPUs, by CuPy."""

from __future__ import annotations

from typing import Any


def is_on_gpu(array: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    # 2 is kDLCUDA.
    return hasattr(array, "__cuda_array_interface__") or (
        hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] == 2
    )


def cupy() -> Any:
    """The module, which makes and cuts arrays on a GPU. It is loaded when there is something to do for it."""
    import cupy as found

    return found
