"""`mneme export`: everything that was measured, as tables in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from mneme.cli import _console

__all__ = ["export"]


def export(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Results of 'mneme tune', 'optimize' or 'compare', or directories above some; "
            "with --features recordings, too.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write a row for each measured configuration: .parquet, .csv or .jsonl.",
            show_default=False,
        ),
    ] = None,
    features: Annotated[
        Optional[Path],
        typer.Option(
            "--features",
            metavar="FILE",
            help="Write a row for each IR: counts of instructions, memory accesses, loops, ...",
            show_default=False,
        ),
    ] = None,
    ir2vec: Annotated[
        Optional[Path],
        typer.Option(
            "--ir2vec",
            metavar="VOCABULARY",
            help="With --features: IR2Vec embeddings, too, by LLVM's llvm-ir2vec.",
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        str,
        typer.Option(
            "--program",
            metavar="NAME",
            help="What to call the program; else as 'optimize' or a corpus names it.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Write what was measured and what the code is like as tables: Parquet, CSV or JSON lines.

    A search may still run, or have been killed.
    """
    from mneme.data.files import check_name  # noqa: PLC0415 - slow to import

    if output is None and features is None:
        raise typer.BadParameter("name the file to write: -o FILE, --features FILE, or both")
    if ir2vec is not None and features is None:
        raise typer.BadParameter("--ir2vec needs --features FILE")
    for path in filter(None, (output, features)):
        check_name(path)
    if output is not None:
        _write_configurations(results, output, program)
    if features is not None:
        _write_code(results, features, ir2vec, program)


def _write_configurations(results: list[Path], output: Path, program: str) -> None:
    from mneme.data.configurations import CONFIGURATIONS  # noqa: PLC0415 - slow to import
    from mneme.data.files import write_table  # noqa: PLC0415
    from mneme.data.sources import find_results, rows_of  # noqa: PLC0415

    found = find_results(results)
    count = write_table(output, CONFIGURATIONS, rows_of(found, program=program))
    places = "directory" if len(found) == 1 else "directories"
    _console.say(f"{count} configurations from {len(found)} {places}")
    _console.print_line(str(output))


def _write_code(
    results: list[Path], output: Path, vocabulary: Optional[Path], program: str
) -> None:
    from mneme.data.code import CODE, code_rows, embedder_with, find_records  # noqa: PLC0415
    from mneme.data.files import write_table  # noqa: PLC0415
    from mneme.data.sources import find_searches  # noqa: PLC0415

    embedder = embedder_with(vocabulary)
    records = find_records(results)
    searches = find_searches(results, may_be_none=bool(records))
    rows = code_rows(records, searches, program=program, embedder=embedder, tell=_console.say)
    count = write_table(output, CODE, rows)
    _console.say(f"features of {count} modules of IR")
    _console.print_line(str(output))
