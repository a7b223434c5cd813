"""The package `proteus` under a name of mneme's own."""

from __future__ import annotations

import proteus
from proteus import (
    Function,
    Kernel,
    Module,
    Type,
    available_backend_variants,
    available_backends,
    compile,  # noqa: A004 - documented name
    f32,
    f64,
    has_mlir,
    i8,
    i32,
    i64,
    ptr,
    u32,
    u64,
)

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
    "has_mlir",
    "i8",
    "i32",
    "i64",
    "ptr",
    "u32",
    "u64",
]


def __getattr__(name: str) -> object:
    # Questions about the backend, which the first of them chooses.
    return getattr(proteus, name)
