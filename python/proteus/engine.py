"""The library's C interface (runtime/core/abi/mneme_frontend.h), as Python calls it."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

from proteus.backends import active

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["close", "compile_source", "function", "has_mlir", "kernel", "launch"]

_ABI = 1
_LANGUAGES = {"cpp": 0, "llvmir": 1, "mlir": 2}
_COMPILERS = {"clang": 0, "nvcc": 1}


class _Source(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("language", ctypes.c_uint32),
        ("target", ctypes.c_char_p),
        ("code", ctypes.c_char_p),
        ("codeBytes", ctypes.c_uint64),
        ("extraArguments", ctypes.POINTER(ctypes.c_char_p)),
        ("extraCount", ctypes.c_uint32),
        ("compiler", ctypes.c_uint32),
    )


@cache
def _loaded() -> ctypes.CDLL:
    native = active().load()
    dims = ctypes.c_uint32 * 3
    address, text = ctypes.c_void_p, ctypes.c_char_p
    native.mneme_frontend_compile.argtypes = [ctypes.POINTER(_Source)]
    native.mneme_frontend_compile.restype = address
    native.mneme_frontend_close.argtypes = [address]
    native.mneme_frontend_close.restype = None
    for find in (native.mneme_frontend_function, native.mneme_frontend_kernel):
        find.argtypes = [address, text]
        find.restype = address
    native.mneme_frontend_launch.argtypes = [
        *(address, address, dims, dims, ctypes.POINTER(address)),
        *(ctypes.c_uint64, address, ctypes.POINTER(ctypes.c_int)),
    ]
    native.mneme_frontend_mlir_opt.argtypes = []
    native.mneme_frontend_mlir_opt.restype = text
    native.mneme_frontend_error.argtypes = []
    native.mneme_frontend_error.restype = text
    return native


def _error(native: ctypes.CDLL) -> RuntimeError:
    return RuntimeError(native.mneme_frontend_error().decode(errors="replace"))


def compile_source(
    code: bytes, frontend: str, target: str, extra: Sequence[bytes], compiler: str
) -> int:
    """Return the handle of a compiled module.

    Raises:
        RuntimeError: With the compiler's words.
        ImportError: If there is no backend.
    """
    active()  # which may be another one than was asked for since
    native = _loaded()
    source = _Source(
        version=_ABI,
        language=_LANGUAGES[frontend],
        target=target.encode(),
        code=code,
        codeBytes=len(code),
        extraArguments=(ctypes.c_char_p * len(extra))(*extra),
        extraCount=len(extra),
        compiler=_COMPILERS[compiler],
    )
    module = native.mneme_frontend_compile(ctypes.byref(source))
    if not module:
        raise _error(native)
    return int(module)


def has_mlir() -> bool:
    """Return whether the programs that lower MLIR are found.

    Raises:
        ImportError: If there is no backend.
    """
    return bool(_loaded().mneme_frontend_mlir_opt())


def close(module: int) -> None:
    """Forget a module; its code stays."""
    _loaded().mneme_frontend_close(module)


def function(module: int, name: str) -> int:
    """Return the address of a function of the host.

    Raises:
        RuntimeError: If there is none.
    """
    return _found(_loaded().mneme_frontend_function(module, name.encode()))


def kernel(module: int, name: str) -> int:
    """Return the handle of a kernel.

    Raises:
        RuntimeError: If there is none.
    """
    return _found(_loaded().mneme_frontend_kernel(module, name.encode()))


def _found(address: int | None) -> int:
    if not address:
        raise _error(_loaded())
    return address


def launch(  # noqa: PLR0913, PLR0917 - what a launch has
    module: int,
    handle: int,
    grid: Sequence[int],
    block: Sequence[int],
    values: Sequence[Any],
    shared_bytes: int,
    stream: int,
) -> int:
    """Return what the vendor's runtime returns.

    Raises:
        RuntimeError: If it could not be asked.
    """
    native = _loaded()
    dims = ctypes.c_uint32 * 3
    pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    status = ctypes.c_int(0)
    failed = native.mneme_frontend_launch(
        *(module, handle, dims(*grid), dims(*block), pointers),
        *(shared_bytes, stream, ctypes.byref(status)),
    )
    if failed:
        raise _error(native)
    return status.value
