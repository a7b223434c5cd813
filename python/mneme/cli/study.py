"""`mneme study`: what a shared study holds so far."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli._passwords import warn_of_visible_password
from mneme.files.redaction import redacted

if TYPE_CHECKING:
    from mneme.session.study_summary import StudySummary

__all__ = ["study"]


def study(
    storage: Annotated[
        str,
        typer.Argument(
            metavar="STORAGE",
            help="As --optuna-storage of 'mneme tune': a database's URL, or a journal file.",
            envvar="MNEME_STUDY_STORAGE",
        ),
    ],
    study_name: Annotated[
        Optional[str],
        typer.Option("--study-name", metavar="NAME", help="Only this study.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what a study that several jobs share holds so far, also while they run.

    A password in the URL is visible in lists of processes; MNEME_STUDY_STORAGE hides it.
    """
    from mneme.session.study_summary import summarize_studies  # noqa: PLC0415 - slow to import

    warn_of_visible_password(storage, "STORAGE")
    found = summarize_studies(storage, study_name)
    if json:
        _console.print_json([asdict(one) for one in found])
        return
    _show(found, redacted(storage))


def _show(found: list[StudySummary], place: str) -> None:
    columns = ("study", ">ended", ">failed", ">running", ">best", ">gain", "latest")
    content = _console.table(f"Studies of {place}", columns)
    for one in found:
        gain = f"{one.gain:.2f}" if one.gain else "-"
        best = _console.format_ns(round(one.best_ns))
        numbers = (str(one.trials), str(one.failed), str(one.running))
        content.add_row(one.name, *numbers, best, gain, one.latest)
    _console.print_table(content)
    for one in found:
        if one.passes:
            _console.print_line(f"best of {one.name}: {one.passes}")
    if any(one.processes for one in found):
        content = _console.table(
            "Processes", ("study", "host", ">process", ">ended", ">running", "latest")
        )
        for one in found:
            for process in one.processes:
                numbers = (str(process.pid), str(process.finished), str(process.running))
                content.add_row(one.name, process.host, *numbers, process.latest)
        _console.print_table(content)
