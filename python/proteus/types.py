"""Types of arguments and results, and how Python's values become them."""

from __future__ import annotations

import ctypes
import numbers
import operator
from typing import Any

__all__ = ["Type", "f32", "f64", "i8", "i32", "i64", "ptr", "u32", "u64"]


class Type:
    """A type of C."""

    def __init__(self, name: str, ctype: Any) -> None:  # noqa: ANN401
        self.name = name
        self.ctype = ctype

    def __repr__(self) -> str:
        return f"proteus.{self.name}"

    def from_python(self, value: object, *, on_device: bool) -> Any:  # noqa: ANN401
        """Return a ctypes object.

        Args:
            value: A number, or what stands for memory.
            on_device: Whether that memory has to be a GPU's.

        Raises:
            OverflowError: If the type cannot hold the number.
            TypeError: If it is none.
        """
        if self.ctype is ctypes.c_void_p:
            return ctypes.c_void_p(_device_address(value) if on_device else _host_address(value))
        if self.name.startswith("f"):
            return self.ctype(value)
        number = operator.index(value)  # type: ignore[arg-type] # says itself what is wrong
        held = self.ctype(number)
        if held.value != number:
            raise OverflowError(f"{self!r} cannot hold {number}")
        return held


i8 = Type("i8", ctypes.c_int8)
i32 = Type("i32", ctypes.c_int32)
i64 = Type("i64", ctypes.c_int64)
u32 = Type("u32", ctypes.c_uint32)
u64 = Type("u64", ctypes.c_uint64)
f32 = Type("f32", ctypes.c_float)
f64 = Type("f64", ctypes.c_double)
ptr = Type("ptr", ctypes.c_void_p)


class _EmptyInterfaceError(TypeError, ValueError):
    """An object of the right kind with nothing in it: scripts may expect either."""


_HOLDERS = (
    ctypes.Array,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_wchar_p,
    ctypes._Pointer,  # noqa: SLF001 - the documented name of their base
    ctypes._CFuncPtr,  # type: ignore[attr-defined] # noqa: SLF001
    type(ctypes.byref(ctypes.c_int())),
)
_OBJECTS = (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)  # noqa: SLF001


def _plain_address(value: object) -> int | None:
    """Return what both kinds of memory accept."""
    if value is None:
        return 0
    if isinstance(value, numbers.Integral):
        return int(value)
    data_ptr = getattr(value, "data_ptr", None)
    return int(data_ptr()) if callable(data_ptr) else None


def _host_address(value: object) -> int:
    address = _plain_address(value)
    if address is not None:
        return address
    if isinstance(value, _HOLDERS):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    if isinstance(value, _OBJECTS):
        return ctypes.addressof(value)
    interface = getattr(value, "__array_interface__", None)
    if isinstance(interface, dict) and isinstance(interface.get("data"), tuple):
        return _first(interface["data"], "__array_interface__")
    raise TypeError(
        "pointer argument must be an int, None, data_ptr() object, __array_interface__ object, or "
        "ctypes object"
    )


def _device_address(value: object) -> int:
    address = _plain_address(value)
    if address is not None:
        return address
    interface = getattr(value, "__cuda_array_interface__", None)
    if isinstance(interface, dict) and isinstance(interface.get("data"), tuple):
        return _first(interface["data"], "__cuda_array_interface__")
    raise TypeError(
        "pointer argument must be an int, None, data_ptr() object, or __cuda_array_interface__ "
        "object"
    )


def _first(data: tuple[object, ...], interface: str) -> int:
    if not data:
        raise _EmptyInterfaceError(f"{interface} data tuple is empty")
    return operator.index(data[0] or 0)  # type: ignore[arg-type] # says itself what is wrong
