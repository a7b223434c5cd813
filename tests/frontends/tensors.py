"""Stand-ins for tensors and arrays of libraries that tests do not need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

CPU, CUDA, CUDA_HOST, ROCM, CUDA_MANAGED = 1, 2, 3, 10, 13


class Tensor:
    """As torch's: an address, the device by DLPack, and whether it has gaps."""

    def __init__(self, address: int, kind: int, *, contiguous: bool = True) -> None:
        self._address, self._kind, self._contiguous = address, kind, contiguous

    def data_ptr(self) -> int:
        return self._address

    def is_contiguous(self) -> bool:
        return self._contiguous

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, 0


def cuda_array(address: int, **more: Any) -> SimpleNamespace:
    """As CuPy's arrays, which have both interfaces."""
    interface = {"shape": (32,), "typestr": "<f8", "data": (address, False), "version": 3, **more}
    return SimpleNamespace(__cuda_array_interface__=interface, __dlpack_device__=lambda: (CUDA, 0))


class Exported:
    """What has DLPack alone."""

    def __init__(self, array: np.ndarray, kind: int) -> None:
        self._array, self._kind = array, kind
        self.asked: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, 0

    def __dlpack__(self, **named: Any) -> object:
        self.asked.append(named.copy())
        named.pop("stream", None)  # for NumPy, which has none
        return self._array.__dlpack__(**named)


class OldExported(Exported):
    """The same of a library that does not know versions of the protocol."""

    def __dlpack__(self, *, stream: int | None = None) -> object:
        return super().__dlpack__()


class Copying(Exported):
    """What makes a copy for each that asks."""

    def __dlpack__(self, **named: Any) -> object:
        return self._array.copy().__dlpack__()
