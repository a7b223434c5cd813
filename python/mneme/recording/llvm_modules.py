"""Loads IR files into llvmlite modules: linking, pruning, internalising."""

from __future__ import annotations

from typing import TYPE_CHECKING

import llvmlite.binding as llvm

from mneme.errors import ArtifactCorrupt, CompileFailed, IoFailed, NotFound
from mneme.files.regular_file import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from llvmlite.binding import ModuleRef

__all__ = [
    "hide_all_but",
    "link_modules",
    "link_parsed",
    "parse_module",
    "prune_module",
    "replace_content",
]

_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def parse_module(content: bytes, name: str) -> ModuleRef:
    """Parse bitcode or textual IR; `name` is for messages.

    Raises:
        ArtifactCorrupt: If it is not IR this llvmlite can read.
    """
    try:
        if content.startswith(_BITCODE_MAGIC):
            return llvm.parse_bitcode(content)
        return llvm.parse_assembly(content.decode())
    except (RuntimeError, UnicodeDecodeError) as error:
        version = ".".join(str(part) for part in llvm.llvm_version_info)
        reason = str(error).strip().splitlines()[0]
        raise ArtifactCorrupt(
            f"'{name}' is not IR that llvmlite with LLVM {version} can read: {reason}"
        ) from error


def link_modules(
    files: Sequence[Path], kernel: str, *, prune: bool, internalize: bool
) -> ModuleRef:
    """Link IR files into one module.

    Raises:
        NotFound: If a file is missing or none has the kernel.
        ArtifactCorrupt: If a file is not IR.
        CompileFailed: If the modules contradict one another.
    """
    if not files:
        raise NotFound(f"the record of '{kernel}' names no IR file")
    parsed = []
    for path in files:
        try:
            parsed.append(parse_module(read_bytes(path), str(path)))
        except FileNotFoundError as error:
            raise NotFound(f"cannot open '{path}': {error.strerror}") from error
        except OSError as error:
            raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    return link_parsed(parsed, kernel, prune=prune, internalize=internalize, place=str(files[0]))


def link_parsed(
    modules: Sequence[ModuleRef], kernel: str, *, prune: bool, internalize: bool, place: str = ""
) -> ModuleRef:
    """Link modules into the first one, which is returned; the others are consumed.

    Args:
        modules: At least one.
        kernel: Mangled name.
        prune: Drop everything the kernel does not reach.
        internalize: Hide everything but the kernel.
        place: The place, for messages.

    Raises:
        NotFound: If none has the kernel.
        CompileFailed: If the modules contradict one another.
    """
    module = modules[0]
    try:
        for other in modules[1:]:
            module.link_in(other)
        module.get_function(kernel)
    except NameError as error:
        raise NotFound(f"'{place or module.name}' has no kernel '{kernel}'") from error
    except RuntimeError as error:
        raise CompileFailed(f"cannot link the modules of '{kernel}': {error}") from error
    hidden = hide_all_but(module, kernel) if internalize or prune else {}
    if prune:
        prune_module(module)
    if not internalize:
        _show_again(module, hidden)
    return module


def hide_all_but(module: ModuleRef, kernel: str) -> dict[str, llvm.Linkage]:
    """Make everything but the kernel internal; return what was not, by name."""
    hidden = {}
    for value in (*module.functions, *module.global_variables):
        is_fixed = value.is_declaration or value.name == kernel or value.name.startswith("llvm.")
        if not is_fixed and value.linkage not in (llvm.Linkage.internal, llvm.Linkage.private):
            hidden[value.name] = value.linkage
            value.linkage = llvm.Linkage.internal
    return hidden


def _show_again(module: ModuleRef, hidden: dict[str, llvm.Linkage]) -> None:
    for value in (*module.functions, *module.global_variables):
        if value.name in hidden:
            value.linkage = hidden[value.name]


def prune_module(module: ModuleRef) -> None:
    """Drop internal functions and variables that nothing uses, and unused declarations."""
    with llvm.create_new_module_pass_manager() as passes:
        passes.add_global_dead_code_eliminate_pass()
        passes.add_strip_dead_prototype_pass()
        builder = llvm.create_pass_builder(
            _any_target_machine(), llvm.create_pipeline_tuning_options()
        )
        passes.run(module, builder)


def _any_target_machine() -> llvm.TargetMachine:
    # The passes above do not need a target, but the pass builder requires one.
    llvm.initialize_native_target()
    return llvm.Target.from_default_triple().create_target_machine()


def replace_content(module: ModuleRef, ir: str) -> ModuleRef:
    """Replace the IR of a module in place, so that all its holders see the change; return it.

    Objects taken from the module before, such as its functions, must not be used afterwards.

    Raises:
        ArtifactCorrupt: If it is not IR.
    """
    other = parse_module(ir.encode(), module.name or "changed module")
    # The module that is destroyed at the end of this function has the old content.
    for name in ("_ptr", "_as_parameter_"):
        mine, its = getattr(module, name), getattr(other, name)
        setattr(module, name, its)
        setattr(other, name, mine)
    return module
