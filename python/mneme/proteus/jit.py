"""The steps of compiling a kernel, one function per step, on llvmlite modules.

Functions that change a module return it too. `kernel` is a mangled name. A `hash` is accepted where
existing scripts pass one, but the cache computes its own keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mneme._vendors import codegen_of
from mneme.device import ObjectBuffer, get_device_arch
from mneme.errors import InvalidArgument, NotFound
from mneme.recording import llvm_modules as _llvm_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from llvmlite.binding import ModuleRef

    from mneme.mneme_types import dim3

__all__ = [
    "codegen_object",
    "get_proteus_codegen_method",
    "internalize",
    "link_llvm_modules",
    "optimize",
    "pruneIR",
    "set_launch_bounds",
    "specialize_args",
    "specialize_dims",
    "specialize_dims_assume",
]

_KERNEL = re.compile(
    r'^define [^@\n]*\b(?:ptx_kernel|amdgpu_kernel)\b[^@\n]*@("?)([^"(\n]+)\1\(', re.MULTILINE
)
_MARKED = re.compile(r'!\{ptr @("?)([^",\n]+)\1, !"kernel", i32 1\}')
_DEFINED = re.compile(r'^define [^@\n]*@("?)([^"(\n]+)\1\(', re.MULTILINE)
_MADE_FOR = re.compile(r'"target-cpu"="([^"]+)"')
_LARGEST_LEVEL = 3


def link_llvm_modules(
    modules: Sequence[ModuleRef],
    kernel_name: str,
    prune: bool = True,  # noqa: FBT001, FBT002 - documented signature
    internalize: bool = True,  # noqa: FBT001, FBT002
) -> ModuleRef:
    """Link modules into the first and return it; the others become unusable.

    Raises:
        NotFound: If no module has the kernel.
        CompileFailed: If the modules conflict.
    """
    if not modules:
        raise InvalidArgument("there is no module to link")
    return _llvm_modules.link_parsed(
        list(modules), kernel_name, prune=prune, internalize=internalize
    )


def pruneIR(mod: ModuleRef, kernel_name: str = "") -> ModuleRef:  # noqa: N802 - documented name
    """Remove what no kernel uses or, with a name, what that kernel does not use."""
    kernels = {kernel_name} if kernel_name else set(_kernels(mod))
    hidden = {}
    for value in (*mod.functions, *mod.global_variables):
        is_kept = value.name in kernels or value.name.startswith("llvm.") or value.is_declaration
        if not is_kept and value.linkage.name not in ("internal", "private"):
            hidden[value.name] = value.linkage
            value.linkage = "internal"
    _llvm_modules.prune_module(mod)
    for value in (*mod.functions, *mod.global_variables):
        if value.name in hidden:
            value.linkage = hidden[value.name]
    return mod


def internalize(mod: ModuleRef, kernel_name: str) -> ModuleRef:
    """Make everything but the kernel internal.

    Raises:
        NotFound: If the module has no such kernel.
    """
    _check_kernel(mod, kernel_name)
    _llvm_modules.hide_all_but(mod, kernel_name)
    return mod


def optimize(
    mod: ModuleRef,
    device_arch: str = "",
    opt_level: int | str = 3,
    codegen_opt_level: int = 3,
) -> ModuleRef:
    """Run a pass pipeline.

    Args:
        mod: Changed.
        device_arch: The target to compile for; empty: the module's own target.
        opt_level: 0 to 3, "s", "z", or a pipeline such as "default<O2>".
        codegen_opt_level: As for `codegen_object`, which forms one step with the pipeline.

    Raises:
        InvalidArgument: If there is no such pipeline.
        CompileFailed: If a pass refuses the module.
    """
    level = str(opt_level)
    is_level = level in ("0", "1", "2", "3", "s", "z")
    passes = f"default<O{level}>" if is_level else level
    options = {"passes": passes, "codegen_opt": _level(codegen_opt_level)}
    return _changed(mod, "", device_arch, **options)


def specialize_args(  # noqa: PLR0913, PLR0917 - documented signature
    mod: ModuleRef,
    hash: object,  # noqa: A002 - documented name
    kernel: str,
    args: Sequence[bytes],
    num_args: int | None = None,
    idxs: Iterable[int] = (),
) -> ModuleRef:
    """Replace arguments by their values.

    Args:
        mod: Changed.
        hash: Not needed.
        kernel: Mangled name.
        args: Value of each argument, as in `MemStateRef.args`.
        num_args: Number of arguments; None: count them.
        idxs: Indices of those to replace.

    Raises:
        InvalidArgument: If there are fewer arguments.
    """
    del hash
    count = len(args) if num_args is None else min(num_args, len(args))
    wanted = [int(index) for index in idxs]
    if any(not 0 <= index < count for index in wanted):
        raise InvalidArgument(f"there are {count} arguments, so not all of {wanted}")
    values = {index: bytes(args[index]) for index in wanted}
    return _changed(mod, kernel, "", specialized_args=values)


def specialize_dims(
    mod: ModuleRef,
    hash: object,  # noqa: A002 - documented name
    kernel: str,
    grid: dim3,
    block: dim3,
) -> ModuleRef:
    """Replace the extents of grid and block by constants."""
    del hash
    return _changed(
        mod,
        kernel,
        "",
        specialize_dims=True,
        grid=(grid.x, grid.y, grid.z),
        block=(block.x, block.y, block.z),
    )


def specialize_dims_assume(
    mod: ModuleRef,
    hash: object,  # noqa: A002 - documented name
    kernel: str,
    grid: dim3,
    block: dim3,
) -> ModuleRef:
    """Let the optimiser rely on the extents of grid and block, by making them constants."""
    return specialize_dims(mod, hash, kernel, grid, block)


def set_launch_bounds(
    mod: ModuleRef,
    hash: object,  # noqa: A002 - documented name
    kernel: str,
    max_threads: int,
    min_blocks: int = 0,
) -> ModuleRef:
    """Set the maximum number of threads per block and the minimum number of blocks that must fit.

    Raises:
        InvalidArgument: If a number is negative, or no block can have so many threads.
    """
    del hash
    if max_threads < 1 or min_blocks < 0:
        raise InvalidArgument(
            f"launch bounds need max_threads >= 1 and min_blocks >= 0, not {max_threads} and "
            f"{min_blocks}"
        )
    bounds = {"max_threads": max_threads, "min_blocks_per_sm": min_blocks}
    return _changed(mod, kernel, "", set_launch_bounds=True, **bounds)


def codegen_object(
    mod: ModuleRef, device_arch: str = "", codegen_opt_level: int = 3
) -> ObjectBuffer:
    """Return machine code that `mneme.device.DeviceModule` can load.

    Args:
        mod: Not changed.
        device_arch: As returned by `mneme.device.get_device_arch`; empty: the module's own target.
        codegen_opt_level: 0 to 3.

    Raises:
        CompileFailed: If no code can be generated.
        InvalidArgument: If it is for the CPU device and the module has several kernels.
    """
    kernels = _kernels(mod)
    if device_arch == "cpu" and len(kernels) > 1:
        raise InvalidArgument(
            f"the module has the kernels {', '.join(kernels)}, and an image for the CPU device has "
            "one; link_llvm_modules([module], KERNEL) keeps one"
        )
    compiled = _compiled(
        mod, "", device_arch, passes="", codegen_opt=_level(codegen_opt_level), want_ir=False
    )
    return ObjectBuffer.of(compiled["image"], kernels[0])


def get_proteus_codegen_method() -> str:
    """Return existing tools' name for the code generator of this machine's device."""
    return codegen_of(get_device_arch())


def _changed(module: ModuleRef, kernel: str, arch: str, **options: Any) -> ModuleRef:  # noqa: ANN401
    compiled = _compiled(module, kernel, arch, want_ir=True, **{"passes": "", **options})
    return _llvm_modules.replace_content(module, compiled["ir"])


def _compiled(module: ModuleRef, kernel: str, arch: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    made_for = _made_for(module)
    is_object = not options["want_ir"]
    # Code for the CPU is translated during code generation, so the IR keeps its original target.
    target = (arch or made_for) if is_object or arch != "cpu" else made_for
    chosen = kernel or next(iter(_kernels(module)), "")
    if not chosen:
        raise NotFound("the module defines no kernel")
    _check_kernel(module, chosen)
    return dict(
        _native.compile_ir(
            [module.as_bitcode()],
            chosen,
            target=target,
            prune=False,
            internalize=False,
            **options,
        )
    )


def _made_for(module: ModuleRef) -> str:
    found = _MADE_FOR.search(str(module))
    if found is None:
        raise InvalidArgument(
            'the module does not say which GPU it is made for ("target-cpu"); name it'
        )
    return found[1]


def _kernels(module: ModuleRef) -> list[str]:
    text = str(module)
    found = [match[2] for pattern in (_KERNEL, _MARKED) for match in pattern.finditer(text)]
    return list(dict.fromkeys(found)) or [match[2] for match in _DEFINED.finditer(text)][:1]


def _check_kernel(module: ModuleRef, kernel: str) -> None:
    try:
        module.get_function(kernel)
    except NameError as error:
        raise NotFound(f"the module has no kernel '{kernel}'") from error


def _level(level: int) -> int:
    if not 0 <= int(level) <= _LARGEST_LEVEL:
        raise InvalidArgument(f"the code generation level goes from 0 to 3, not {level}")
    return int(level)
