"""The command line: the only room that prints and that turns exceptions into exit codes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; None takes the process's own.

    Returns:
        The exit code; see `mneme.cli.exit_codes`.
    """
    from mneme.cli.app import run  # noqa: PLC0415 - `import mneme.cli` stays light

    return run(argv)
