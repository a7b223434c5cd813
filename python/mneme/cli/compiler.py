"""`mneme compiler`: kernel compilers that hold another LLVM."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.cli import _console
from mneme.cli._interrupt import interrupt_on_request
from mneme.cli._options import JsonOption
from mneme.cli._unused import tell_unused

if TYPE_CHECKING:
    from mneme.other_compilers import Compiler

__all__ = ["compiler"]


class Action(str, Enum):
    """Actions on kernel compilers."""

    add = "add"
    ls = "ls"
    remove = "remove"


def compiler(
    action: Annotated[
        Action, typer.Argument(metavar="ACTION", help=", ".join(one.value for one in Action))
    ],
    llvm: Annotated[
        Optional[str],
        typer.Argument(
            metavar="[LLVM]",
            help="add: the prefix of an installed LLVM; remove: a name.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        Optional[str],
        typer.Option("--name", metavar="NAME", help="add: its name, else llvm-VERSION."),
    ] = None,
    source: Annotated[
        Optional[Path],
        typer.Option(
            "--source",
            metavar="DIR",
            help="add: a checkout of mneme to build from, else the one that runs.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        Optional[int],
        typer.Option(
            "-j",
            "--jobs",
            metavar="N",
            min=1,
            help="add: parallel compilations, else one a core.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build kernel compilers with other LLVMs, for --llvm of other verbs.

    A compiler is mneme's own, built with the LLVM that you name, and compiles in processes of its
    own: one command compares two LLVMs on the same recordings.
    """
    from mneme.install.compiler_building import (  # noqa: PLC0415 - `--help` stays light
        BuildOptions,
        build_compiler,
    )
    from mneme.other_compilers import compilers, remove_compiler  # noqa: PLC0415

    if action is not Action.add:
        tell_unused({"--name": name, "--source": source, "--jobs": jobs}, f"for {action.value}")
    if action is Action.ls:
        if llvm is not None:
            raise typer.BadParameter(f"ls takes no LLVM, but got '{llvm}'")
        _show(compilers(), as_json=json)
        return
    if llvm is None:
        what = "the prefix of an LLVM" if action is Action.add else "the name of a compiler"
        raise typer.BadParameter(f"{action.value} needs {what}")
    if action is Action.remove:
        tell_unused({"--json": json}, "for remove")
        remove_compiler(llvm)
        _console.say(f"removed {llvm}")
        return
    if not llvm:
        raise typer.BadParameter("the prefix of the LLVM is empty")
    interrupt_on_request()
    _console.say(f"building a kernel compiler with the LLVM in {llvm}; this takes some minutes")
    options = BuildOptions(prefix=Path(llvm), name=name or "", source=source, jobs=jobs or 0)
    made = build_compiler(options)
    _console.say(f"built {made.name}; use it with --llvm {made.name}")
    if json:
        _show([made], as_json=True)


def _show(found: list[Compiler], *, as_json: bool) -> None:
    if as_json:
        _console.print_json([one.to_dict() for one in found])
        return
    if not found:
        _console.say("there are no kernel compilers yet; build one: mneme compiler add PREFIX")
        return
    columns = ("name", "LLVM", "commit", "assertions", "pass plugins", "prefix")
    content = _console.table("Kernel compilers", columns)
    for one in found:
        content.add_row(
            one.name,
            one.llvm,
            one.commit[:12] or "-",
            "on" if one.assertions else "off",
            "yes" if one.pass_plugins else "no",
            one.prefix,
        )
    _console.print_table(content)
