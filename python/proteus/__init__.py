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
    from collections.abc import Callable

    active_backend: str
    active_backend_variant: str

# Without active_backend and active_backend_variant: a star would choose one.
__all__ = [
    "Function",
    "Kernel",
    "Module",
    "Type",
    "__version__",
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


class _Answer:
    """Yes or no, for scripts that write `has_cuda` and for those that write `has_cuda()`."""

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask = ask

    def __call__(self) -> bool:
        return self._ask()

    def __bool__(self) -> bool:
        return self()

    def __eq__(self, other: object) -> bool:
        return bool(self) == other

    def __hash__(self) -> int:
        return hash(bool(self))

    def __repr__(self) -> str:
        return repr(bool(self))


has_cuda = _Answer(lambda: active().kind == "cuda")
"""Whether the backend's kernels are CUDA's; may be called, too."""
has_hip = _Answer(lambda: active().kind == "rocm")
"""Whether they are HIP's; may be called, too."""
has_mlir = _Answer(engine.has_mlir)
"""Whether modules of MLIR can be compiled here: mlir-opt is installed; may be called, too."""


def __getattr__(name: str) -> str:
    # Asking chooses a backend, which a script may want to name before.
    if name == "active_backend":
        return active().kind
    if name == "active_backend_variant":
        return active().variant
    raise AttributeError(f"module 'proteus' has no attribute '{name}'")
