"""`mneme doctor`: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import typer

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli.exit_codes import ExitCode

__all__ = ["doctor"]


def doctor(json: JsonOption = False) -> None:
    """Look at what mneme needs and say what is missing and how to get it.

    Ends with 0 if recording, replaying and tuning work here.
    """
    from mneme.install.doctor import examine, is_usable, to_json  # noqa: PLC0415

    findings = examine()
    if json:
        _console.print_json(to_json(findings))
    else:
        content = _console.table("mneme doctor", ("what", "state", "found", "~what to do"))
        for finding in findings:
            content.add_row(finding.name, finding.state.value, finding.detail, finding.remedy)
        _console.print_table(content)
    if not is_usable(findings):
        broken = ", ".join(one.name for one in findings if one.state.value == "broken")
        _console.say(f"something is broken: {broken}")
        raise typer.Exit(ExitCode.UNAVAILABLE)
    if not json:
        _console.say(
            "recording, replaying and tuning work here; "
            "what is missing takes away only what it is for"
        )
