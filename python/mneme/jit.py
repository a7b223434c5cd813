"""The package `proteus` under a name of mneme's own, and stricter about arguments.

`compile` makes modules whose functions and kernels refuse read-only arrays and arrays that are not
contiguous in C order; the error names the argument. `proteus.compile` accepts them, because scripts
of the reference tool may pass them.
"""

from __future__ import annotations

import proteus
from proteus import (
    Function,
    Kernel,
    Module,
    Type,
    available_backend_variants,
    available_backends,
    f32,
    f64,
    i8,
    i32,
    i64,
    ptr,
    u32,
    u64,
)
from proteus.modules import compile_strict as compile  # noqa: A004 - documented name

__all__ = [
    "Function",
    "Kernel",
    "Module",
    "Type",
    "available_backend_variants",
    "available_backends",
    "compile",
    "f32",
    "f64",
    "i8",
    "i32",
    "i64",
    "ptr",
    "u32",
    "u64",
]


def __getattr__(name: str) -> object:
    # Attributes about the backend; the first access chooses it.
    return getattr(proteus, name)
