"""The application: verbs, the options before them, and exceptions into exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Optional

import typer

from mneme.cli import clean, config, copy, devices, ls, move, record, replay, show
from mneme.cli import run as run_verb
from mneme.cli._console import print_line, say
from mneme.cli._guest import GuestCommand
from mneme.cli._options import LogLevel
from mneme.cli.exit_codes import ExitCode, code_of

__all__ = ["app", "run"]

_LEVEL_VARIABLE = "MNEME_LOG_LEVEL"

app = typer.Typer(
    name="mneme",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)


def _version(*, is_wanted: bool) -> None:
    if is_wanted:
        from mneme import __version__  # noqa: PLC0415

        print_line(f"mneme {__version__}")
        raise typer.Exit(ExitCode.OK)


@app.callback()
def _main(
    ctx: typer.Context,
    verbosity: Annotated[
        Optional[LogLevel],
        typer.Option("-v", "--verbosity", help="What mneme says on stderr; before the verb."),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Record a GPU kernel launch of a real application, replay it alone, tune it, deploy it."""
    if verbosity is not None:
        # The native libraries, and the programs we start, read the same variable.
        os.environ[_LEVEL_VARIABLE] = verbosity.value
    _version(is_wanted=version)
    if ctx.invoked_subcommand is None:
        sys.stderr.write(ctx.get_help() + "\n")
        raise typer.Exit(ExitCode.USAGE)


app.command(cls=GuestCommand)(record.record)
app.command(cls=GuestCommand)(run_verb.run)
for _verb in (
    *(replay.replay, devices.devices, ls.ls, show.show),
    *(config.config, clean.clean, copy.copy, move.move),
):
    app.command()(_verb)


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody to print to, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    return code


def _dispatch(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="mneme", standalone_mode=False)
    except typer.Exit as request:
        return request.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the one border where exceptions become exit codes
        return _report(error)
    return int(code) if isinstance(code, int) else ExitCode.OK


def _report(error: Exception) -> int:
    if os.environ.get(_LEVEL_VARIABLE) in (LogLevel.debug.value, LogLevel.trace.value):
        traceback.print_exception(error)
    # The parser's own errors know their sentence and their exit code; its class moved between
    # releases, so it is known by what it offers.
    if hasattr(error, "format_message"):
        say(_usage_sentence(error))
        return int(getattr(error, "exit_code", ExitCode.USAGE))
    code = code_of(error)
    if isinstance(error, ImportError):
        say(
            f"a part of mneme cannot be loaded ({error}); install mneme again, or build it and set "
            "MNEME_BUILD_DIR"
        )
    elif code is ExitCode.INTERNAL:
        say(f"internal error: {type(error).__name__}: {error} ('mneme -v debug ...' shows where)")
    else:
        say(" ".join(str(error).split()))
    return code


def _usage_sentence(error: Exception) -> str:
    sentence = " ".join(str(error.format_message()).split())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if getattr(error, "option_name", None) in ("-v", "--verbosity"):
        return (
            f"{sentence.rstrip('.')} here; it stands before the verb, as in 'mneme -v info replay'"
        )
    path = context.command_path if context is not None else "mneme"
    return f"{sentence} ('{path} --help' lists what there is)"
