# fmt: off
# ruff: noqa: E501 - lines are as long as the table's sentences
"""Knobs that are whole numbers and change the code alone. Written by scripts/knobs.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.option import option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CODE_NUMBERS", "CodeNumber", "CodeNumbers", "FixedCodeNumbers", "SearchedCodeNumbers"]

_SPACE = "Search space"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeNumber:
    """An entry of the table, runtime/core/abi/knobs.def."""

    key: str
    """Field of configurations, name of the search dimension."""

    default: int
    """The value if none is given."""

    high: int
    """The largest value."""

    deployed: str
    """Key in files of tuned kernels."""

    searched: tuple[int, ...]
    """What the larger search spaces try besides the default."""

    is_for_gpus: bool
    """It has no effect on the CPU device."""

    label: str
    """What reports call it."""

    text: str
    """A sentence that describes it."""


CODE_NUMBERS: Final = (
    CodeNumber(
        key="max_registers",
        default=0,
        high=1024,
        deployed="MaxRegisters",
        searched=(32, 48, 64, 96, 128),
        is_for_gpus=True,
        label="most registers of a thread",
        text="Registers a thread may have on a GPU; 0: no limit.",
    ),
)
"""The table."""


@dataclass(kw_only=True)
class CodeNumbers:
    """Their values."""

    max_registers: int = 0
    """Registers a thread may have on a GPU; 0: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCodeNumbers:
    """Their values, which do not change."""

    max_registers: int = 0
    """Registers a thread may have on a GPU; 0: no limit."""


@dataclass(kw_only=True)
class SearchedCodeNumbers:
    """Which of their values are tried."""

    max_registers_range: str | Sequence[int] | None = option(
        None, _SPACE, "Values that are tried besides 0: most registers of a thread.", metavar="LOW:HIGH[:STEP]"
    )
    fixed_max_registers: int | None = option(
        None, _SPACE, "The only value: most registers of a thread.", metavar="N"
    )
