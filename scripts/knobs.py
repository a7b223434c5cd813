#!/usr/bin/env python3
"""Python's side of the table of knobs: writes python/mneme/knobs.py from runtime/core/abi/knobs.def.

scripts/knobs.py            says whether the file is as the table has it; exit code 1 if not
scripts/knobs.py --write    writes it
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "runtime" / "core" / "abi" / "knobs.def"
WRITTEN = ROOT / "python" / "mneme" / "knobs.py"
_ENTRY = re.compile(r"^MNEME_CODE_NUMBER\((\w+),(.*?)\)$", re.MULTILINE | re.DOTALL)

_HEAD = '''# fmt: off
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


'''


@dataclass(frozen=True)
class Number:
    """An entry."""

    key: str
    default: int
    high: int
    deployed: str
    searched: tuple[int, ...]
    devices: str
    label: str
    text: str

    def made(self) -> str:
        """Return the entry as Python makes it."""
        values = {
            "key": self.key,
            "default": self.default,
            "high": self.high,
            "deployed": self.deployed,
            "searched": self.searched,
            "is_for_gpus": self.devices == "gpu",
            "label": self.label,
            "text": self.text,
        }
        lines = "".join(f"        {name}={_quoted(value)},\n" for name, value in values.items())
        return f"    CodeNumber(\n{lines}    ),\n"

    def declared(self) -> str:
        """Return the entry as a field."""
        return f'    {self.key}: int = {self.default}\n    """{self.text}"""\n'

    def searched_fields(self) -> str:
        """Return the options that say which values are tried."""
        listed = f'None, _SPACE, "Values that are tried besides {self.default}: {self.label}."'
        only = f'None, _SPACE, "The only value: {self.label}."'
        return (
            f"    {self.key}_range: str | Sequence[int] | None = option(\n"
            f'        {listed}, metavar="LOW:HIGH[:STEP]"\n    )\n'
            f"    fixed_{self.key}: int | None = option(\n"
            f'        {only}, metavar="N"\n    )\n'
        )


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def read_numbers() -> list[Number]:
    """Return the entries of the table."""
    found = []
    for entry in _ENTRY.finditer(TABLE.read_text()):
        key, default, high, deployed, searched, *words = ast.literal_eval(f"({entry[2]})")
        values = tuple(int(one) for one in searched.split(",") if one)
        found.append(Number(key, default, high, deployed, values, *words))
    return found


def written(numbers: list[Number]) -> str:
    """Return the text of the file."""
    fields = "\n".join(one.declared() for one in numbers)
    searched = "\n".join(one.searched_fields() for one in numbers)
    return (
        f"{_HEAD}CODE_NUMBERS: Final = (\n{''.join(one.made() for one in numbers)})\n"
        '"""The table."""\n\n\n'
        f'@dataclass(kw_only=True)\nclass CodeNumbers:\n    """Their values."""\n\n{fields}\n\n'
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        f'class FixedCodeNumbers:\n    """Their values, which do not change."""\n\n{fields}\n\n'
        "@dataclass(kw_only=True)\n"
        f'class SearchedCodeNumbers:\n    """Which of their values are tried."""\n\n{searched}'
    )


def main() -> int:
    """Compare, or write."""
    text = written(read_numbers())
    if "--write" in sys.argv[1:]:
        WRITTEN.write_text(text)
        return 0
    if not WRITTEN.is_file() or WRITTEN.read_text() != text:
        print(
            "python/mneme/knobs.py is not as runtime/core/abi/knobs.def has it: scripts/knobs.py --write"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
