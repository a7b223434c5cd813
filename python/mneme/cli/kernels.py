"""`mneme kernels`: the kernels in a file, built with mneme or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli.exit_codes import ExitCode
from mneme.kernel_names import KernelName, names_in_tables
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from mneme.programs.device_code import CodeKernel, DeviceCode

__all__ = ["kernels"]


def kernels(
    file: Annotated[Path, typer.Argument(help="A program, library, fat binary, cubin or PTX.")],
    arch: Annotated[
        str, typer.Option(help="Read what a GPU of this architecture runs; default: the newest.")
    ] = "",
    json: JsonOption = False,
) -> None:
    """List the CUDA kernels in a file, of any compiler.

    Bytes of arguments, registers, shared memory, launch bounds, and whether the IR is there.
    """
    from mneme.programs.device_code import device_code  # noqa: PLC0415

    found = device_code(file, arch=arch)
    if json:
        _console.print_json(found.to_dict())
    else:
        _show(file, found)
    for problem in found.problems:
        _console.say(f"'{file}': {problem}")
    if not found.kernels and found.problems:
        raise typer.Exit(ExitCode.UNAVAILABLE)


def _show(file: Path, found: DeviceCode) -> None:
    if not found.kernels:
        if not found.problems:
            _console.print_line(f"'{file}' has no kernels")
        return
    columns = ("kernel", "place", "arguments", ">registers", ">shared", ">threads", "IR")
    content = _console.table(f"Kernels in {file}", columns)
    known = [KernelName(demangled=one.demangled_name, place=one.place) for one in found.kernels]
    names = names_in_tables(known)
    places = places_in_tables([one.place for one in found.kernels])
    for name, place, kernel in zip(names, places, found.kernels, strict=True):
        content.add_row(name, place, *_facts(kernel))
    _console.print_table(content)
    for variable in found.variables:
        kind = "constant" if variable.is_constant else "variable"
        _console.print_line(f"{kind} {variable.name}: {_console.format_bytes(variable.size_bytes)}")
    held = f" of {', '.join(found.members)}" if found.members else ""
    _console.print_line(f"read: {', '.join(found.code) or 'nothing'}{held}")


def _facts(kernel: CodeKernel) -> tuple[str, ...]:
    parameters = kernel.parameters
    return (
        "unknown" if parameters is None else " ".join(str(size) for _, size in parameters),
        "" if kernel.registers is None else str(kernel.registers),
        "" if kernel.shared_bytes is None else _console.format_bytes(kernel.shared_bytes),
        str(kernel.max_threads or ""),
        "yes" if kernel.has_ir else "no",
    )
