"""Modules that a script compiles, with the functions and kernels in them."""

from __future__ import annotations

import ctypes
import os
import weakref
from numbers import Integral
from operator import index
from typing import TYPE_CHECKING, Any

from proteus import engine
from proteus.arguments import converted
from proteus.memory import Receiver
from proteus.types import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Function", "Kernel", "Module", "compile", "compile_strict"]

_GPU_TARGETS = ("cuda", "hip")
_MOST_DIMS = 3
_LARGEST_DIM = 2**32 - 1


class Function:
    """A function of the host; it is called as any function of Python."""

    def __init__(
        self, module: Module, name: str, restype: Type | None, argtypes: list[Type]
    ) -> None:
        self._module = module  # which has to live as long
        self._name = name
        self._restype = restype
        self._argtypes = argtypes
        result = None if restype is None else restype.ctype
        prototype = ctypes.CFUNCTYPE(result, *(argtype.ctype for argtype in argtypes))
        self._call = prototype(module.get_function_address(name))

    def __call__(self, *args: object) -> Any:  # noqa: ANN401
        """Call it.

        Raises:
            TypeError: If an argument is of another type, or their number another one.
        """
        receiver = Receiver(on_device=False, is_strict=self._module.is_strict)
        values = converted(self._name, self._argtypes, args, receiver)
        result = self._call(*values)
        # ctypes has None for a null pointer.
        return 0 if result is None and self._restype is not None else result

    def __repr__(self) -> str:
        return _described(self, self._name, self._restype, self._argtypes)


class Kernel:
    """A kernel of a GPU."""

    def __init__(self, module: Module, name: str, argtypes: list[Type]) -> None:
        self._module = module
        self._name = name
        self._argtypes = argtypes
        self._kernel = engine.kernel(module.handle, name)

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object],
        shmem: int = 0,
        stream: int | None = None,
    ) -> None:
        """Launch it; it runs as launches of the vendor's runtime do.

        Raises:
            TypeError: If dimensions or arguments are not what they have to be.
            RuntimeError: If the runtime refuses it.
        """
        grid_dims, block_dims = _dims(grid, "grid"), _dims(block, "block")
        queue = index(stream or 0)
        receiver = Receiver(on_device=True, stream=queue, is_strict=self._module.is_strict)
        values = converted(self._name, self._argtypes, args, receiver)
        status = engine.launch(
            *(self._module.handle, self._kernel, grid_dims, block_dims),
            *(values, index(shmem), queue),
        )
        if status:
            raise RuntimeError(f"Proteus kernel launch failed with error code {status}")

    def __repr__(self) -> str:
        return _described(self, self._name, None, self._argtypes)


class Module:
    """What `compile` returns: code that is loaded, and stays so."""

    def __init__(self, handle: int, target: str, *, is_strict: bool = False) -> None:
        self.handle = handle
        self.target = target
        self.is_strict = is_strict
        # Functions may be called while the interpreter ends.
        weakref.finalize(self, engine.close, handle).atexit = False

    def get_function(self, name: str, restype: Type | None, argtypes: Sequence[Type]) -> Function:
        """Return a function by its symbol: `extern "C"`, or mangled.

        Raises:
            ValueError: If the module is for a GPU.
            RuntimeError: If there is no such function.
        """
        if self.target in _GPU_TARGETS:
            raise ValueError("Target is a GPU model, cannot directly run functions, use launch()")
        if restype is not None:
            _check_types([restype], "restype")
        return Function(self, name, restype, _check_types(argtypes, "argtypes"))

    def get_kernel(self, name: str, argtypes: Sequence[Type]) -> Kernel:
        """Return a kernel by its symbol.

        Raises:
            RuntimeError: If there is no such kernel, or the module is for the host.
        """
        return Kernel(self, name, _check_types(argtypes, "argtypes"))

    def get_function_address(self, name: str) -> int:
        """Return where a function of the host is.

        Raises:
            RuntimeError: If there is none.
        """
        return engine.function(self.handle, name)


def compile(  # noqa: A001, PLR0913, PLR0917 - documented signature
    source: str | bytes | os.PathLike[str],
    frontend: str,
    target: str = "host",
    extra_args: Sequence[str] = (),
    compiler: str = "clang",
    verify: bool = False,  # noqa: FBT001, FBT002
) -> Module:
    """Compile a module, or take it from the cache.

    Args:
        source: Text or bitcode, or the path of a file with it.
        frontend: cpp, llvmir or mlir.
        target: host, cuda or hip; C++ also host_cuda and host_hip.
        extra_args: For C++: last on the compiler's command line.
        compiler: For C++: clang or nvcc.
        verify: IR is verified in any case.

    Raises:
        ValueError: If these do not go together, or MLIR is to be compiled without mlir-opt.
        RuntimeError: With the compiler's words.
        ImportError: If there is no backend.
    """
    del verify
    return Module(_compiled(source, frontend, target, extra_args, compiler), target)


def compile_strict(  # noqa: PLR0913, PLR0917 - the signature of compile
    source: str | bytes | os.PathLike[str],
    frontend: str,
    target: str = "host",
    extra_args: Sequence[str] = (),
    compiler: str = "clang",
    verify: bool = False,  # noqa: FBT001, FBT002
) -> Module:
    """Compile a module whose functions and kernels look closer at their arguments.

    They take no read-only arrays and none that are not contiguous (the last index first), and say
    which argument they refuse. Otherwise as `proteus.compile`.
    """
    del verify
    handle = _compiled(source, frontend, target, extra_args, compiler)
    return Module(handle, target, is_strict=True)


def _compiled(
    source: str | bytes | os.PathLike[str],
    frontend: str,
    target: str,
    extra_args: Sequence[str],
    compiler: str,
) -> int:
    if frontend not in ("cpp", "llvmir", "mlir"):
        raise ValueError("frontend must be 'cpp', 'llvmir', or 'mlir'")
    if compiler not in ("clang", "nvcc"):
        raise ValueError("compiler must be 'clang' or 'nvcc'")
    if frontend != "cpp" and compiler == "nvcc":
        raise ValueError(f"{frontend.upper()} frontend does not support compiler='nvcc'")
    if frontend != "cpp" and extra_args:
        raise ValueError(f"{frontend.upper()} frontend does not support extra_args")
    extra = [os.fsencode(word) for word in extra_args]
    try:
        return engine.compile_source(_read(source), frontend, target, extra, compiler)
    except RuntimeError as error:
        if frontend != "mlir" or engine.has_mlir():
            raise
        # Scripts look for the reference tool's words; what is stored would have been found.
        raise ValueError(f"MLIR frontend requires PROTEUS_ENABLE_MLIR: {error}") from error


def _read(source: str | bytes | os.PathLike[str]) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        with open(source, "rb") as file:  # noqa: PTH123 - most texts are not paths
            return file.read()
    except (OSError, ValueError):
        if not isinstance(source, str):
            raise
    return source.encode()


def _check_types(types: Sequence[Type], what: str) -> list[Type]:
    for one in types:
        if not isinstance(one, Type):
            raise TypeError(f"{what}: {one!r} is not a type of proteus, such as proteus.i32")
    return list(types)


def _dims(value: object, what: str) -> list[int]:
    given = [value] if isinstance(value, Integral) else value
    if not isinstance(given, list | tuple) or not all(isinstance(one, Integral) for one in given):
        raise TypeError(f"{what} must be an int or a tuple/list of 1 to 3 ints")
    if not 1 <= len(given) <= _MOST_DIMS:
        raise TypeError(f"{what} must contain between 1 and 3 dimensions")
    dims = [int(one) for one in given]
    if not all(0 <= one <= _LARGEST_DIM for one in dims):
        raise ValueError(f"{what} has a dimension that is negative or above {_LARGEST_DIM}")
    return [*dims, 1, 1][:_MOST_DIMS]


def _described(one: object, name: str, restype: Type | None, argtypes: list[Type]) -> str:
    return f"<proteus.{type(one).__name__} name='{name}' restype={restype!r} argtypes={argtypes!r}>"
