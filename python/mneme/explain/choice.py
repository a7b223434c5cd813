"""Finds the kernel or marked host function that the user names."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, NotFound
from mneme.programs.kernels import embedded_host_functions, embedded_kernels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mneme.arguments import Argument
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["find_kernel", "kernels_of"]

_ANONYMOUS = "(anonymous namespace)"
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
        wanted: A mangled or demangled name, with or without arguments and namespaces; the beginning
            of such a name; a pattern with `*` and `?`; or a line of its body, "advec_mom.cpp:120".

    Raises:
        NotFound: If there is no such program or kernel.
        InvalidArgument: If several kernels match.
        ArtifactCorrupt: If code in the program is damaged.
    """
    kernels = kernels_of(program)
    fits: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: name.startswith(wanted),
        lambda name: fnmatchcase(name, wanted),
    )
    there = [one for one in kernels if one.place and one.place.is_named(wanted)]
    if there:
        return _only(there, wanted, program)
    for fit in fits:
        found = [one for one in kernels if any(fit(name) for name in _names(one))]
        if found:
            return _only(found, wanted, program)
    raise NotFound(
        f"'{program}' has no kernel '{wanted}', and no host function that it marks; it has "
        + _listed(kernels)
    )


def _names(kernel: EmbeddedKernel) -> set[str]:
    """Return the accepted names of a kernel; template arguments and parameters may be omitted."""
    demangled = kernel.demangled_name.replace(_ANONYMOUS, "{anonymous}")
    qualified = demangled.partition("(")[0].partition("<")[0].rpartition(" ")[2]
    without_result = demangled[demangled.index(qualified) :]
    return {
        kernel.kernel_name,
        kernel.demangled_name,
        without_result,
        qualified,
        qualified.rpartition("::")[2],
    }


def _only(found: list[EmbeddedKernel], wanted: str, program: str | Path) -> EmbeddedKernel:
    if len({one.kernel_name for one in found}) > 1:
        raise InvalidArgument(f"'{wanted}' fits several of '{program}': {_listed(found)}")
    if len({one.static_hash for one in found}) > 1:
        files = ", ".join(f"'{one.file}'" for one in found)
        raise InvalidArgument(f"{files} have '{wanted}' with other code; name one file")
    return found[0]


def _listed(kernels: list[EmbeddedKernel]) -> str:
    names = list(dict.fromkeys(one.demangled_name for one in kernels))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(names[:_SHOWN]) + more
