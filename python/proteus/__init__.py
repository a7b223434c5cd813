"""Compile C++, CUDA, HIP, LLVM IR or MLIR while a script runs, and call what comes out.

For example::

    module = proteus.compile(source, frontend="cpp")
    square = module.get_function("square", proteus.f64, [proteus.f64])
    square(3.0)

The names are the reference tool's; the compiler, the cache and the devices are mneme's. The backend
of the process, which is chosen when it is first asked for, is `active_backend` ("host", "cuda" or
"rocm") and `active_backend_variant` ("host_llvm22", for example).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme import __version__
from proteus import engine
from proteus.backends import active, available_backend_variants, available_backends
from proteus.modules import Function, Kernel, Module, compile  # noqa: A004 - documented name
from proteus.types import Type, f32, f64, i8, i32, i64, ptr, u32, u64

if TYPE_CHECKING:
    active_backend: str
    active_backend_variant: str
    has_cuda: bool
    """Whether the backend's kernels are CUDA's."""
    has_hip: bool
    """Whether they are HIP's."""
    has_mlir: bool
    """Whether modules of MLIR can be compiled here: mlir-opt is installed."""

# A star chooses the backend.
__all__ = [
    "Function",
    "Kernel",
    "Module",
    "Type",
    "__version__",
    "active_backend",
    "active_backend_variant",
    "available_backend_variants",
    "available_backends",
    "compile",
    "f32",
    "f64",
    "has_cuda",
    "has_hip",
    "has_mlir",
    "i8",
    "i32",
    "i64",
    "ptr",
    "u32",
    "u64",
]


def __getattr__(name: str) -> str | bool:
    # Asking chooses a backend, which a script may want to name before.
    if name == "active_backend":
        return active().kind
    if name == "active_backend_variant":
        return active().variant
    if name in {"has_cuda", "has_hip"}:
        return active().kind == ("cuda" if name == "has_cuda" else "rocm")
    if name == "has_mlir":
        return engine.has_mlir()
    raise AttributeError(f"module 'proteus' has no attribute '{name}'")
