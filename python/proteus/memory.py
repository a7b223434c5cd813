"""Where the memory is that a script hands to a function or kernel, by whichever protocol it has."""

from __future__ import annotations

import ctypes
import numbers
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Receiver", "address_of"]


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """What memory is handed to."""

    on_device: bool
    """A kernel, not a function of the host."""

    stream: int = 0
    """Where the kernel is launched."""

    is_strict: bool = False
    """Takes nothing that it could misread: read-only arrays, arrays with gaps or another order."""


class _EmptyInterfaceError(TypeError, ValueError):
    """An object of the right kind with nothing in it: scripts may expect either."""


# Kinds of memory, as DLPack numbers them: pinned and managed memory is for both.
_HOST = frozenset({1, 3, 11, 13})
_DEVICE = frozenset({2, 3, 10, 11, 13})
_READ_ONLY = 1
_BITS_OF_BYTE = 8
_WRONG_PLACE = {
    True: "pointer argument is in memory of the host, and a kernel takes memory of a GPU",
    False: "pointer argument is in memory of a GPU, and a function takes memory of the host",
}
_NOT_MEMORY = {
    True: "pointer argument must be an int, None, data_ptr() object, or __cuda_array_interface__ "
    "object",
    False: "pointer argument must be an int, None, data_ptr() object, __array_interface__ object, "
    "or ctypes object",
}
_INTERFACES = {True: "__cuda_array_interface__", False: "__array_interface__"}

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


def address_of(value: object, receiver: Receiver) -> tuple[int, object]:
    """Return where memory begins, and what has to live until it has been used.

    Raises:
        TypeError: If it is not memory that the receiver can reach or, where it is strict, read.
    """
    if value is None:
        return 0, None
    if isinstance(value, numbers.Integral):
        return int(value), None
    data_ptr = getattr(value, "data_ptr", None)
    if callable(data_ptr):
        return _address_of_tensor(value, receiver, int(data_ptr())), None
    if not receiver.on_device and isinstance(value, (*_HOLDERS, *_OBJECTS)):
        return _address_of_ctypes(value), None
    interface = getattr(value, _INTERFACES[receiver.on_device], None)
    if isinstance(interface, dict) and isinstance(interface.get("data"), tuple):
        return _address_of_array(interface, receiver), None
    kind = _kind(value)
    if kind is not None and kind in (_DEVICE if receiver.on_device else _HOST):
        return _address_by_dlpack(value, receiver)
    is_elsewhere = kind is not None or hasattr(value, _INTERFACES[not receiver.on_device])
    table = _WRONG_PLACE if receiver.is_strict and is_elsewhere else _NOT_MEMORY
    raise TypeError(table[receiver.on_device])


def _address_of_ctypes(value: Any) -> int:  # noqa: ANN401
    if isinstance(value, _HOLDERS):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    return ctypes.addressof(value)


def _kind(value: object) -> int | None:
    """Return the kind of memory, where the object tells it."""
    tell = getattr(value, "__dlpack_device__", None)
    return int(tell()[0]) if callable(tell) else None


def _address_of_tensor(tensor: object, receiver: Receiver, address: int) -> int:
    kind = _kind(tensor)
    if kind is not None and kind not in (_DEVICE if receiver.on_device else _HOST):
        raise TypeError(_WRONG_PLACE[receiver.on_device])
    is_contiguous = getattr(tensor, "is_contiguous", None)
    if callable(is_contiguous):
        _check(receiver, is_contiguous=bool(is_contiguous()))
    return address


def _address_of_array(interface: dict[str, Any], receiver: Receiver) -> int:
    data = interface["data"]
    if not data:
        raise _EmptyInterfaceError(f"{_INTERFACES[receiver.on_device]} data tuple is empty")
    if receiver.is_strict:
        strides = interface.get("strides")
        is_contiguous = strides is None or _is_contiguous(
            interface["shape"], strides, _item_bytes(interface["typestr"])
        )
        _check(receiver, is_contiguous=is_contiguous, is_read_only=any(data[1:2]))
    return operator.index(data[0] or 0)


def _item_bytes(typestr: str) -> int:
    return int(typestr[2:]) * (4 if typestr[1] == "U" else 1)


def _is_contiguous(shape: Sequence[int], strides: Sequence[int], item: int) -> bool:
    """Whether elements follow one another, the last index first."""
    expected = item
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != expected:
            return 0 in shape
        expected *= extent
    return True


def _check(receiver: Receiver, *, is_contiguous: bool, is_read_only: bool = False) -> None:
    if receiver.is_strict and not is_contiguous:
        raise TypeError(
            "pointer argument is not contiguous, the last index first; pass a contiguous copy, or "
            "its address if the code knows its strides"
        )
    if receiver.is_strict and is_read_only:
        raise TypeError(
            "pointer argument is read-only; pass a copy, or its address if the code only reads it"
        )


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset_bytes", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor),)


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_NAMES = ((b"dltensor_versioned", _Versioned), (b"dltensor", _Managed))
_NEWEST = (1, 1)
_holds = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_content = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _address_by_dlpack(value: object, receiver: Receiver) -> tuple[int, object]:
    # Never taken over, so that it is freed with the last reference to it.
    capsule = _exported(value, receiver)
    found = [(name, layout) for name, layout in _NAMES if _holds(capsule, name)]
    if not found:
        raise TypeError("pointer argument gives no tensor by __dlpack__()")
    ((name, layout),) = found
    managed = layout.from_address(_content(capsule, name))
    tensor = managed.tensor
    if receiver.is_strict:
        shape, strides = (
            [one[index] for index in range(tensor.ndim)] if one else None
            for one in (tensor.shape, tensor.strides)
        )
        _check(
            receiver,
            is_contiguous=strides is None or _is_contiguous(shape or [], strides, 1),
            is_read_only=bool(getattr(managed, "flags", 0) & _READ_ONLY),
        )
    return (tensor.data or 0) + tensor.offset_bytes, capsule


def _exported(value: Any, receiver: Receiver) -> object:  # noqa: ANN401
    named = {"stream": receiver.stream or None} if receiver.on_device else {}
    try:
        try:
            return value.__dlpack__(**named, max_version=_NEWEST)
        except TypeError:  # of an older protocol
            return value.__dlpack__(**named)
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"pointer argument gives no tensor by __dlpack__(): {error}") from error
