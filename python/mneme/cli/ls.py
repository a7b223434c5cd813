"""`mneme ls`: the content of a recording directory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli._recording import DatabaseOption, KernelArgument, RecordingArgument, tell_apart
from mneme.cli.exit_codes import ExitCode
from mneme.kernel_names import names_in_tables
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.recording.graphs import RecordedGraph
    from mneme.recording.inventory import DirectorySummary

__all__ = ["ls"]


def ls(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    record_database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List the recorded kernels of a directory, or those that KERNEL fits.

    Also says what is unfinished and what could not be recorded.
    """
    from mneme.recording.inventory import summarize_directory  # noqa: PLC0415

    here = Path() if recording is None and record_database is None else record_database
    words = tell_apart(recording, kernel, database=here)
    summary = summarize_directory(words.recording, words.kernel)
    if json:
        _console.print_json(summary.to_dict())
    else:
        _show(summary)
    for reason in summary.damaged.values():
        _console.say(reason)
    raise typer.Exit(ExitCode.RECORD_UNREADABLE if summary.damaged else ExitCode.OK)


def _show(summary: DirectorySummary) -> None:
    columns = ("kernel", "place", "~record", "device", ">recorded", ">launches", ">stored", ">time")
    content = _console.table(f"Recording {summary.path}", columns)
    names = names_in_tables(summary.names)
    places = places_in_tables([one.place for one in summary.names])
    for name, place, kernel in zip(names, places, summary.kernels, strict=True):
        content.add_row(
            name,
            place,
            kernel.file,
            kernel.device,
            str(kernel.instances),
            str(kernel.occurrences),
            _console.format_bytes(kernel.stored_bytes),
            _console.format_ns(kernel.recorded_ns),
        )
    _console.print_table(content)
    if bare := [name for name, one in zip(names, summary.kernels, strict=True) if one.code_form]:
        _console.print_line(f"no IR ('mneme show' says what is possible): {', '.join(bare)}")
    if summary.graphs:
        _show_graphs(summary.graphs)
    for note, count in Counter(summary.notes).items():
        _console.print_line(f"lost: {note}" + (f" ({count} times)" if count > 1 else ""))
    for name in summary.unfinished:
        _console.print_line(f"unfinished: {name}")


def _show_graphs(graphs: Sequence[RecordedGraph]) -> None:
    content = _console.table("Graphs", ("graph", ">kernels", ">nodes", "label"))
    for graph in graphs:
        label = "/".join(graph.labels)
        content.add_row(graph.graph_hash, str(len(graph.kernels)), str(len(graph.nodes)), label)
    _console.print_table(content)
