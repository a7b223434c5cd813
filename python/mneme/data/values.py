"""Values of files as the columns of the table of configurations have them."""

from __future__ import annotations

import functools
import math
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from mneme.code_texts import OWN_CODE
from mneme.data.column import Kind, is_of_kind
from mneme.data.configurations import CONFIGURATION_FIELDS, CONFIGURATIONS
from mneme.errors import InvalidArgument
from mneme.pipelines.pipeline import flatten_passes

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["Row", "fitting", "hash_text", "known", "launch_columns", "moment"]

Row = dict[str, Any]
"""A value for each column of `CONFIGURATIONS`; None where it is missing."""

_KINDS: Final = {one.name: one.kind for one in CONFIGURATIONS.columns}


def fitting(name: str, value: Any) -> Any:  # noqa: ANN401 - of any column
    """Return a value as its column has it; what says nothing is missing.

    Raises:
        TypeError: If it is of another kind.
    """
    kind = _KINDS[name]
    if value is None or (isinstance(value, (str, list, tuple)) and not value):
        return "" if name == "specialized_args" else None
    if kind is Kind.BOOLEAN and value in (0, 1):
        return bool(value)
    if not is_of_kind(value, kind):
        raise TypeError(f"its {name} is {value!r}, not of kind {kind.value}")
    if kind is Kind.FLOAT:
        return float(value) if math.isfinite(value) else None
    return list(value) if isinstance(value, tuple) else value


def launch_columns(config: ExperimentConfiguration, config_hash: str = "") -> Row:
    """Return the columns that say how something was compiled and launched.

    Args:
        config: How it was.
        config_hash: Its hash, if it is known.
    """
    row: Row = {column: getattr(config, name) for name, column in CONFIGURATION_FIELDS.items()}
    for name in ("grid", "block"):
        row |= {f"{name}_{axis}": getattr(getattr(config, name), axis) for axis in "xyz"}
    row |= {
        "pipeline": list(_passes(config.passes)),
        "config_hash": config_hash or config.hash(),
    }
    return row if config.llvm not in OWN_CODE else {**row, "passes": None, "pipeline": None}


@functools.lru_cache(maxsize=1 << 12)  # many configurations have the same
def _passes(pipeline: str) -> tuple[str, ...]:
    """Return the passes of a pipeline; of one that LLVM refuses, the whole text."""
    try:
        return tuple(flatten_passes(pipeline))
    except InvalidArgument:
        return (pipeline,)


def moment(text: str) -> datetime | None:
    """Return the moment that a text names, in UTC; None for an empty one.

    Raises:
        ValueError: If it names none.
    """
    if not text:
        return None
    named = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return named.replace(tzinfo=named.tzinfo or timezone.utc).astimezone(timezone.utc)


def hash_text(number: str | None) -> str | None:
    """Return a hash that is written as a decimal number as 16 hexadecimal digits."""
    is_number = number is not None and number.isdecimal()
    return f"{int(number):016x}" if number is not None and is_number else None


def known(value: Any) -> str | None:  # noqa: ANN401 - what a file held
    """Return a value as text; None if it says nothing."""
    return str(value) if value not in (None, "") else None
