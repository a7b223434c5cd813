"""The application: verbs, the options before them, and exit codes for exceptions."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Optional

import typer

from mneme.cli._console import print_line, say, say_error, say_text
from mneme.cli._help import GroupedCommand, GroupedVerbs
from mneme.cli._options import LogLevel
from mneme.cli.exit_codes import ExitCode, code_of

__all__ = ["command_of", "make_app", "run"]

_LEVEL_VARIABLE = "MNEME_LOG_LEVEL"
_COMPLETE_VARIABLE = "_MNEME_COMPLETE"

_RUN = "Run a program, or one of its kernels"
_LOOK = "Look"
_TUNE = "Tune"
_SHIP = "Ship"
_KEEP = "Keep recordings"

# The verbs in the order of the help text: module and function of each, its group, an example.
_VERBS = {
    "record": ("record.record", _RUN, "mneme record -rdb recording -- ./app input.dat"),
    "run": ("run.run", _RUN, "mneme run --device cpu -- ./app input.dat"),
    "replay": ("replay.replay", _RUN, "mneme replay recording spmv 'default<O2>'"),
    "compile": ("compile.compile_kernel", _RUN, "mneme compile recording spmv --arch sm_90"),
    "ls": ("ls.ls", _LOOK, "mneme ls recording"),
    "show": ("show.show", _LOOK, "mneme show recording spmv@2"),
    "kernels": ("kernels.kernels", _LOOK, "mneme kernels ./app"),
    "explain": ("explain.explain", _LOOK, "mneme explain ./app daxpy --value n=100"),
    "bisect": ("bisect.bisect", _LOOK, "mneme bisect recording spmv 'default<O3>,my-pass'"),
    "devices": ("devices.devices", _LOOK, "mneme devices --json"),
    "doctor": ("doctor.doctor", _LOOK, "mneme doctor"),
    "compiler": ("compiler.compiler", _LOOK, "mneme compiler add /usr/lib/llvm-19"),
    "config": ("config.config", _LOOK, "cmake -S . -B build $(mneme config cmake-args)"),
    "optimize": ("optimize.optimize", _TUNE, "mneme optimize --budget 10m -- ./app input.dat"),
    "compare": ("compare.compare", _TUNE, "mneme compare recordings --passes 'default<O2>'"),
    "tune": ("tune.tune", _TUNE, "mneme tune recording --all --trials 500"),
    "suggest": ("suggest.suggest", _TUNE, "mneme suggest recording spmv"),
    "report": ("report.report", _TUNE, "mneme report mneme-tune-results"),
    "export": ("export.export", _TUNE, "mneme export mneme-tune-results -o data.parquet"),
    "dashboard": ("dashboard.dashboard", _TUNE, "mneme dashboard mneme-tune-results/RUN"),
    "study": ("study.study", _TUNE, "mneme study study.journal"),
    "deploy": ("deploy.deploy", _SHIP, "mneme deploy mneme-tune-results/* -o tuned.json"),
    "scaffold": ("scaffold.scaffold", _SHIP, "mneme scaffold slurm recording spmv --out jobs"),
    "cache": ("cache.cache", _SHIP, "mneme cache export /shared/site --from .proteus"),
    "completion": ("completion.completion", _SHIP, "mneme completion bash > ~/.bash_completion"),
    "trim": ("trim.trim", _KEEP, "mneme trim recording spmv -o spmv-small"),
    "copy": ("copy.copy", _KEEP, "mneme copy recording backup"),
    "move": ("move.move", _KEEP, "mneme move recording /scratch/recording"),
    "clean": ("clean.clean", _KEEP, "mneme clean recording"),
    "corpus": ("corpus.corpus", _KEEP, "mneme corpus add corpus recording --program spmv"),
}
# What the parser says of numbers that are none of an option's, in contrast to what is no number.
_INVALID_VALUES = ("is not in the range", "is not a finite number")
# Verbs that start a program, which follows `--`.
_GUEST_VERBS = ("optimize", "record", "run")


def _version(*, is_wanted: bool) -> None:
    if is_wanted:
        from mneme import __version__  # noqa: PLC0415

        print_line(f"mneme {__version__}")
        raise typer.Exit(ExitCode.OK)


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
        # The native libraries and the programs we start read this variable, too.
        os.environ[_LEVEL_VARIABLE] = verbosity.value
    _version(is_wanted=version)
    if ctx.invoked_subcommand is None:
        say_text(ctx.get_help())
        raise typer.Exit(ExitCode.USAGE)


def make_app(verb: str | None = None, *, is_list: bool = False) -> typer.Typer:
    """Return the application with one verb, or with all verbs if `verb` is not one.

    Args:
        verb: The verb that will run; no other is loaded.
        is_list: Whether verbs may lack their options, which are slow to make: for the list of
            verbs, and for errors before the verb.
    """
    app = typer.Typer(
        name="mneme",
        cls=GroupedVerbs,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
    )
    app.callback()(_main)
    for name in (verb,) if verb in _VERBS else _VERBS:
        place, group, example = _VERBS[name]
        module, _, function = place.partition(".")
        kind = GroupedCommand
        if name in _GUEST_VERBS:
            from mneme.cli._guest import GuestCommand  # noqa: PLC0415 - only these need it

            kind = GuestCommand
        elif name == "deploy":
            from mneme.cli._guest import OptionalGuestCommand  # noqa: PLC0415

            kind = OptionalGuestCommand
        elif name == "tune":
            from mneme.cli._tune_command import TuneCommand  # noqa: PLC0415 - it has lists

            kind = TuneCommand
        elif name == "scaffold":
            from mneme.cli.scaffold import ScaffoldCommand  # noqa: PLC0415 - its options vary

            kind = ScaffoldCommand
        action = getattr(import_module(f"mneme.cli.{module}"), function)
        is_only_named = is_list and verb not in _VERBS
        register = app.command(name, cls=kind, rich_help_panel=group, epilog=example)
        register(_only_named(action) if is_only_named else action)
    return app


def command_of(verb: str) -> Any:  # noqa: ANN401 - of the parser, whose module moved
    """Return the parser of one verb."""
    from typer.main import get_command  # noqa: PLC0415 - as the application does, when it runs

    group: Any = get_command(make_app(verb))
    return group.commands[verb]


def _only_named(action: Callable[..., None]) -> Callable[[], None]:
    """Return a verb without options that has the help text of another."""

    def named() -> None: ...

    named.__doc__ = action.__doc__
    return named


def _verb_of(arguments: list[str]) -> str | None:
    """Return the first argument that is no option or value; None if help comes first."""
    skips = False
    for argument in arguments:
        if argument == "--help":
            return None
        if skips or argument.startswith("-"):
            skips = not skips and argument in ("-v", "--verbosity")
        else:
            return argument
    return None


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    code = int(ExitCode.OK)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed it.
        _drop_output()
        return ExitCode.OK
    except OSError as error:
        code = code or _report(error)
        _drop_output()
    return code


def _drop_output() -> None:
    """Discard output that could not be printed: the interpreter would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    try:
        if _COMPLETE_VARIABLE in os.environ:
            from mneme.cli.completion import complete  # noqa: PLC0415 - a shell asks, nobody else

            complete(_COMPLETE_VARIABLE, lambda words: make_app(_verb_of(words)))
        app = make_app(_verb_of(arguments), is_list=True)
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
        say_text("".join(traceback.format_exception(error)))
    # The parser's errors have a message and an exit code. Their class moved between releases, so
    # they are recognised by their methods.
    if hasattr(error, "format_message"):
        sentence = _usage_sentence(error)
        say(sentence)
        if any(text in sentence for text in _INVALID_VALUES):
            return ExitCode.INVALID_CONFIGURATION
        return int(getattr(error, "exit_code", ExitCode.USAGE))
    code = code_of(error)
    if isinstance(error, ImportError):
        say(
            f"a part of mneme cannot be loaded ({error}); install mneme again, or build it and set "
            "MNEME_BUILD_DIR"
        )
    elif code is ExitCode.INTERNAL:
        say(f"internal error: {type(error).__name__}: {error} ('mneme -v debug ...' shows where)")
    elif isinstance(error, FileNotFoundError) and error.filename is None and _is_nowhere():
        say("the current directory does not exist any more")
    elif isinstance(error, OSError) and error.filename is None and _cannot_print():
        say(f"standard output cannot be written: {error.strerror}")
    else:
        say_error(error)
    return code


def _cannot_print() -> bool:
    try:
        sys.stdout.write("\n")  # what could not be written is not kept where nothing is buffered
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _is_nowhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd() is no more than this
    except FileNotFoundError:
        return True
    return False


def _usage_sentence(error: Exception) -> str:
    sentence = " ".join(str(error.format_message()).split())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if getattr(error, "option_name", None) in ("-v", "--verbosity"):
        return (
            f"{sentence.rstrip('.')} here; it stands before the verb, as in 'mneme -v info replay'"
        )
    path = context.command_path if context is not None else "mneme"
    return f"{sentence} ('{path} --help' lists what there is)"
