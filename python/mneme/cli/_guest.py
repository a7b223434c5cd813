"""Code shared by `record` and `run`: parsing the `--`, and becoming the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from mneme.cli._console import say
from mneme.cli._help import GroupedCommand
from mneme.cli._leave import is_own_process
from mneme.cli._streams import give_back_streams
from mneme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["GuestCommand", "OptionalGuestCommand", "become"]

_SEPARATOR = "--"
_SIGNALLED = 128


class GuestCommand(GroupedCommand):
    """A verb whose own options end at `--`; a program with its arguments follows."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own type
        """Parse the arguments before `--` and keep the rest in `ctx.args`."""
        verb = self.name
        if _SEPARATOR not in args:
            if ctx.resilient_parsing:  # a shell completes the line
                return list(super().parse_args(ctx, args))
            for asked in ("--help", "--help-all"):
                if asked in args:
                    return list(super().parse_args(ctx, [asked]))
            ctx.fail(f"put '--' before the program: mneme {verb} [OPTIONS] -- PROGRAM [ARGUMENTS]")
        position = args.index(_SEPARATOR)
        command = args[position + 1 :]
        ctx.allow_extra_args = True
        super().parse_args(ctx, args[:position])
        if ctx.args:
            ctx.fail(
                f"'{ctx.args[0]}' stands before '--': only options of mneme {verb} do, the program "
                "and its arguments come after it"
            )
        if not command and not ctx.resilient_parsing:
            ctx.fail(f"no program after '--': mneme {verb} [OPTIONS] -- PROGRAM [ARGUMENTS]")
        ctx.args = command
        return command

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Show the `--` in the usage line."""
        return [*super().collect_usage_pieces(ctx), _SEPARATOR, "PROGRAM [ARGUMENTS]..."]


class OptionalGuestCommand(GuestCommand):
    """A verb that takes a program only with its option `--measure`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse as a verb without program unless one is asked for."""
        own = args[: args.index(_SEPARATOR)] if _SEPARATOR in args else args
        if "--measure" in own:
            return super().parse_args(ctx, args)
        return list(GroupedCommand.parse_args(self, ctx, args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Show that there may be a program."""
        pieces = GroupedCommand.collect_usage_pieces(self, ctx)
        return [*pieces, "[--measure -- PROGRAM [ARGUMENTS]...]"]


def become(
    command: Sequence[str],
    environment: Mapping[str, str],
    remark: Callable[[str], str] | None = None,
) -> NoReturn:
    """Replace this process by a program, so that streams, signals and exit code are its own.

    If a script called the command, the program runs as a child, and its exit code becomes ours (128
    plus the signal's number if a signal ended it, as in shells).

    Args:
        command: The program and its arguments.
        environment: Its environment.
        remark: A message about the program's file to print first; "" for none.
    """
    program = command[0]
    found = shutil.which(program, path=environment.get("PATH"))
    if found is None:
        exists = os.sep in program and os.path.exists(program)  # noqa: PTH110
        reason = "cannot be executed" if exists else "is not found"
        say(f"the program '{program}' {reason}")
        raise typer.Exit(ExitCode.CANNOT_EXECUTE if exists else ExitCode.PROGRAM_NOT_FOUND)
    if remark is not None and (sentence := remark(found)):
        say(sentence)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if not is_own_process():
            code = subprocess.run(
                list(command), executable=found, env=dict(environment), check=False
            ).returncode
            raise typer.Exit(code if code >= 0 else _SIGNALLED - code)
        give_back_streams()
        os.execve(found, list(command), dict(environment))  # noqa: S606 - the user named it
    except OSError as error:
        say(f"the program '{program}' cannot be executed: {error.strerror}")
        raise typer.Exit(ExitCode.CANNOT_EXECUTE) from error
