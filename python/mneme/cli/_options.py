"""Options that several verbs share."""

from __future__ import annotations

import contextlib
import math
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

__all__ = [
    "CompareOption",
    "CompareToleranceOption",
    "DestinationArgument",
    "DeviceOption",
    "JsonOption",
    "LogLevel",
    "RecordArguments",
    "RecordIdOption",
    "finite",
    "kernels_named",
    "launches_named",
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


def _named_records(ctx: typer.Context) -> list[Any]:
    """Return the records that the command line names so far, for completion in a shell."""
    import mneme  # noqa: PLC0415 - when a shell asks
    from mneme.errors import MnemeError  # noqa: PLC0415

    found: list[Any] = []
    for value in ctx.params.values():
        with contextlib.suppress(MnemeError):
            if isinstance(value, str | Path) and Path(value).exists():
                opened: Any = mneme.load(value)
                found += opened.values() if Path(value).is_dir() else [opened]
    return found


def launches_named(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of recorded launches with this prefix."""
    ids = [str(name) for record in _named_records(ctx) for name in record]
    return [name for name in ids if name.startswith(incomplete)]


def kernels_named(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the mangled names of recorded kernels with this prefix."""
    names = [record.kernel_name for record in _named_records(ctx)]
    return [name for name in names if name.startswith(incomplete)]


RecordIdOption = Annotated[
    Optional[str],
    typer.Option(
        "-rid",
        "-record-id",
        "--record-id",
        metavar="ID",
        help="Record id (dynamic hash); not needed if there is only one.",
        autocompletion=launches_named,
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

DestinationArgument = Annotated[
    Path, typer.Argument(metavar="DEST", help="Directory; made if it does not exist.")
]
