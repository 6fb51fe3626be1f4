"""Arrays of other libraries, as far as they can be tested without a GPU. `gpu.py` has the rest."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import ferrosz


class Tensor:
    """An array of which only DLPack is known."""

    def __init__(self, array: np.ndarray, code: int | None = None, legacy: bool = False) -> None:
        self.array, self.code, self.legacy = array, code, legacy

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: object) -> object:
        if self.legacy:
            options.pop("max_version", None)
        capsule = self.array.__dlpack__(**options)
        if self.code is not None:
            set_code(capsule, self.code)
        return capsule


def set_code(capsule: object, code: int) -> None:
    """Sets the type code of the tensor in a versioned capsule."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # Version, context, deleter and flags are 32 bytes; data, device and ndim 20.
    ctypes.c_uint8.from_address(pointer_of(capsule, b"dltensor_versioned") + 32 + 20).value = code


@pytest.mark.parametrize("legacy", [False, True], ids=["versioned", "legacy"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "uint16", "int32", "uint32"])
def test_tensors_of_the_cpu_are_read_in_place(dtype: str, legacy: bool, field: np.ndarray) -> None:
    array = (field * 20 + 100).astype(dtype)
    assert ferrosz.compress(Tensor(array, legacy=legacy), abs=1) == ferrosz.compress(array, abs=1)


def test_bfloat16_is_known(field: np.ndarray) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = field.astype(ml_dtypes.bfloat16)
    assert ferrosz.compress(Tensor(array.view("uint16"), code=4), abs=0.1) == ferrosz.compress(array, abs=0.1)


def test_strides_are_followed(field: np.ndarray) -> None:
    for array in (field[::2, ::3], field.T):
        tensor = Tensor(array)
        tensor.__class__ = type("Array", (Tensor,), {"__array__": lambda self, dtype=None, copy=None: self.array})
        assert ferrosz.compress(tensor, abs=0.1) == ferrosz.compress(np.ascontiguousarray(array), abs=0.1)


def test_other_types_are_refused(field: np.ndarray) -> None:
    for tensor in (Tensor(field.astype("int64")), Tensor(field, code=5)):
        with pytest.raises(ferrosz.UnsupportedType):
            ferrosz.compress(tensor, abs=1)


class OnGpu:
    """An array that says it is on a GPU."""

    def __init__(self, **changes: object) -> None:
        self.__cuda_array_interface__ = {
            "shape": (16,), "typestr": "<f4", "data": (4096, False), "strides": None, "version": 3, **changes
        }


class DlpackOnGpu:
    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 99)

    def __dlpack__(self, **options: object) -> object:
        raise AssertionError("there is no such GPU")


def test_arrays_on_a_gpu_that_is_not_there() -> None:
    for array in (OnGpu(), DlpackOnGpu()):
        try:
            ferrosz.compress(array, abs=1)
        except (ferrosz.DeviceError, ferrosz.ArgumentError) as error:
            assert "GPU" in str(error) or "driver" in str(error)
        else:
            raise AssertionError("the address is no memory")
        with pytest.raises((ferrosz.DeviceError, ferrosz.ArgumentError)):
            ferrosz.decompress(array)
        with pytest.raises(ferrosz.ArgumentError, match="level: .* host memory"):
            ferrosz.decompress(array, level=1)
        with pytest.raises((ferrosz.DeviceError, ferrosz.ArgumentError)):
            ferrosz.update(array, [1.0], box=0)
        with pytest.raises((ferrosz.DeviceError, ferrosz.ArgumentError)):
            ferrosz.compact(array)


@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"data": None}, ferrosz.ArgumentError, "data"),
        ({"shape": None}, ferrosz.ArgumentError, "shape"),
        ({"mask": OnGpu()}, ferrosz.UnsupportedType, "mask"),
        ({"strides": (8,)}, ferrosz.ArgumentError, "C order"),
    ],
)
def test_interfaces_are_checked(changes: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        ferrosz.compress(OnGpu(**changes), abs=1)
