"""The command line: the only room that prints and that turns exceptions into exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mneme.cli._streams import allow_every_letter, fill_closed_streams

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; None takes the process's own.

    Returns:
        The exit code; see `mneme.cli.exit_codes`.
    """
    try:
        return _main(argv)
    except KeyboardInterrupt:  # while parts of us were loaded; what runs a verb has its own way
        from mneme.cli.exit_codes import ExitCode  # noqa: PLC0415

        return ExitCode.INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        fill_closed_streams()
        allow_every_letter()
    if _answers_without_parser(arguments):
        return 0
    from mneme.cli.app import run  # noqa: PLC0415 - `import mneme.cli` stays light

    if argv is None:
        from mneme.cli._leave import own_process  # noqa: PLC0415

        own_process()
    return run(arguments)


def _answers_without_parser(arguments: list[str]) -> bool:
    """Answer questions that build scripts ask hundreds of times, without the slow parser.

    Everything else, including mistakes, is left to the parser.
    """
    answer = ""
    if arguments == ["--version"]:
        from mneme import __version__  # noqa: PLC0415 - only here

        answer = f"mneme {__version__}"
    elif len(arguments) == 2 and arguments[0] == "config":  # noqa: PLR2004 - verb and key
        from mneme.errors import MnemeError  # noqa: PLC0415
        from mneme.install.build_settings import KEYS, build_setting  # noqa: PLC0415 - only here

        if arguments[1] in KEYS:
            try:
                answer = build_setting(arguments[1])
            except MnemeError:
                return False
    if not answer:
        return False
    try:
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    except OSError:  # which the parser's way reports
        return False
    return True
