"""Options that several verbs share."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

__all__ = [
    "CompareOption",
    "CompareToleranceOption",
    "DestinationArgument",
    "DeviceOption",
    "JsonOption",
    "LogLevel",
    "RecordArguments",
    "finite",
]


class LogLevel(str, Enum):
    """How much mneme prints on stderr."""

    trace = "trace"
    debug = "debug"
    info = "info"
    warn = "warn"
    error = "error"
    critical = "critical"
    off = "off"


def finite(value: Optional[float]) -> Optional[float]:
    """Refuse NaN and infinities, which pass checks of ranges."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


CompareOption = Annotated[
    Optional[list[str]],
    typer.Option(
        "--compare",
        metavar="REGEX",
        help="Compare only numbers of the output: the groups of REGEX. More than once.",
        show_default=False,
    ),
]
CompareToleranceOption = Annotated[
    float,
    typer.Option(
        "--compare-tolerance", metavar="X", help="How far these may be apart, relatively."
    ),
]
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


RecordArguments = Annotated[
    list[Path],
    typer.Argument(
        metavar="DB...",
        help="Record files (<static hash>.json), or directories of them.",
        show_default=False,
    ),
]

DestinationArgument = Annotated[
    Path, typer.Argument(metavar="DEST", help="Directory; made if it does not exist.")
]
