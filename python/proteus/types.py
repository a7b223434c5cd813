"""Types of arguments and results."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["Type", "f32", "f64", "i8", "i32", "i64", "ptr", "u32", "u64"]


class Type:
    """A type of C."""

    def __init__(self, name: str, ctype: Any) -> None:  # noqa: ANN401
        self.name = name
        self.ctype = ctype

    def __repr__(self) -> str:
        return f"proteus.{self.name}"


i8 = Type("i8", ctypes.c_int8)
"""A signed integer of 8 bits."""
i32 = Type("i32", ctypes.c_int32)
"""A signed integer of 32 bits, C's `int`."""
i64 = Type("i64", ctypes.c_int64)
"""A signed integer of 64 bits, C's `long`."""
u32 = Type("u32", ctypes.c_uint32)
"""An unsigned integer of 32 bits."""
u64 = Type("u64", ctypes.c_uint64)
"""An unsigned integer of 64 bits, C's `size_t`."""
f32 = Type("f32", ctypes.c_float)
"""C's `float`."""
f64 = Type("f64", ctypes.c_double)
"""C's `double`."""
ptr = Type("ptr", ctypes.c_void_p)
"""A pointer to anything, or null."""
