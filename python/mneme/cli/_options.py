"""Options that several verbs share."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

__all__ = [
    "DeviceOption",
    "JsonOption",
    "LogLevel",
    "RecordArguments",
    "RecordIdOption",
    "finite",
]


class LogLevel(str, Enum):
    """How much mneme says on stderr."""

    trace = "trace"
    debug = "debug"
    info = "info"
    warn = "warn"
    error = "error"
    critical = "critical"
    off = "off"


def finite(value: Optional[float]) -> Optional[float]:
    """Refuse what is no number, which passes any check of a range."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number.")
    return value


DeviceOption = Annotated[
    Optional[str],
    typer.Option(
        "--device",
        envvar="MNEME_DEVICE",
        metavar="DEVICE",
        help="cpu, or a GPU as 'mneme devices' names it; else the first GPU, else the CPU.",
        show_default=False,
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]

RecordIdOption = Annotated[
    Optional[str],
    typer.Option(
        "-rid",
        "-record-id",
        "--record-id",
        metavar="ID",
        help="Record id (dynamic hash); not needed if there is only one.",
        show_default=False,
    ),
]

RecordArguments = Annotated[
    list[Path],
    typer.Argument(
        metavar="DB...",
        help="Record files (<static hash>.json), or directories of them.",
        show_default=False,
    ),
]
