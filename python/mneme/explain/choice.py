"""Finds the kernel or marked host function that the user names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, NotFound
from mneme.kernel_choice import fitting
from mneme.programs.kernels import embedded_host_functions, embedded_kernels

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.arguments import Argument
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["find_kernel", "kernels_of"]

_SHOWN = 8


def kernels_of(program: str | Path) -> list[EmbeddedKernel]:
    """Return the kernels and marked host functions of a program and its libraries, by name.

    Raises:
        NotFound: If there is no such program, or it contains none.
        ArtifactCorrupt: If code in one of them is damaged.
    """
    found = (embedded_kernels([program]), embedded_host_functions([program]))
    kernels = [one for groups in found for group in groups.values() for one in group]
    if not kernels:
        raise NotFound(
            f"'{program}' has no kernel or marked function that carries its IR; build it with "
            "add_mneme()"
        )
    kernels = [replace(one, args=tuple(_as_written(arg) for arg in one.args)) for one in kernels]
    return sorted(kernels, key=lambda one: (one.demangled_name, str(one.file)))


def _as_written(argument: Argument) -> Argument:
    """Return an argument with its name in the source, if the ABI uses another one."""
    return replace(argument, name=argument.name.removesuffix(".coerce"))


def find_kernel(program: str | Path, wanted: str) -> EmbeddedKernel:
    """Return the kernel or marked host function of a program with this name.

    Args:
        program: An executable or library.
        wanted: As `mneme.kernel_choice.fitting` takes it.

    Raises:
        NotFound: If there is no such program or kernel.
        InvalidArgument: If several kernels match.
        ArtifactCorrupt: If code in the program is damaged.
    """
    kernels = kernels_of(program)
    found = fitting(kernels, wanted, lambda one: one.handles)
    if found:
        return _only(found, wanted, program)
    raise NotFound(
        f"'{program}' has no kernel '{wanted}', and no host function that it marks; it has "
        + _listed(kernels)
    )


def _only(found: list[EmbeddedKernel], wanted: str, program: str | Path) -> EmbeddedKernel:
    if len({one.kernel_name for one in found}) > 1:
        raise InvalidArgument(f"'{wanted}' fits several of '{program}': {_listed(found)}")
    if len({one.static_hash for one in found}) > 1:
        files = ", ".join(f"'{one.file}'" for one in found)
        raise InvalidArgument(f"the code of '{wanted}' differs between {files}; name one file")
    return found[0]


def _listed(kernels: list[EmbeddedKernel]) -> str:
    names = list(dict.fromkeys(one.demangled_name for one in kernels))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(names[:_SHOWN]) + more
