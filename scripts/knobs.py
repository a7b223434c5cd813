#!/usr/bin/env python3
"""Python's side of the table of knobs: writes python/mneme/knobs.py from runtime/core/abi/knobs.def.

scripts/knobs.py            says whether the file is as the table has it; exit code 1 if not
scripts/knobs.py --write    writes it
"""

from __future__ import annotations

import ast
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "runtime" / "core" / "abi" / "knobs.def"
WRITTEN = ROOT / "python" / "mneme" / "knobs.py"
_NUMBER = re.compile(r"^MNEME_CODE_NUMBER\((\w+),(.*?)\)$", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"^MNEME_CODE_(TEXT|FILES)\((\w+),(.*?)\)$", re.MULTILINE | re.DOTALL)

_HEAD = '''# fmt: off
# ruff: noqa: E501 - lines are as long as the table's sentences
"""Knobs that change the code alone, numbers and texts. Written by scripts/knobs.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.knob_kinds import CodeNumber, CodeText
from mneme.option import option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CODE_NUMBERS",
    "CODE_TEXTS",
    "CodeKnobs",
    "FixedCodeKnobs",
    "SearchedCodeNumbers",
    "SearchedCodeTexts",
]

_SPACE = "Search space"


'''


@dataclass(frozen=True)
class Number:
    """An entry that is a number."""

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
        return _made("CodeNumber", values)

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


@dataclass(frozen=True)
class Text:
    """An entry that is a text."""

    has_files: bool
    key: str
    deployed: str
    option: str
    metavar: str
    between: str
    label: str
    text: str

    def made(self) -> str:
        """Return the entry as Python makes it."""
        values = {
            "key": self.key,
            "deployed": self.deployed,
            "option": self.option,
            "metavar": self.metavar,
            "between": self.between,
            "has_files": self.has_files,
            "label": self.label,
            "text": self.text,
        }
        return _made("CodeText", values)

    def declared(self) -> str:
        """Return the entry as a field."""
        what = self.label[0].upper() + self.label[1:]
        how = "in the form of `mneme.code_texts`" if self.has_files else "divided by blanks"
        return f'    {self.key}: str = ""\n    """{what}, {how}."""\n'

    def searched_fields(self) -> str:
        """Return the options that say what is tried."""
        every = f"In all configurations but the baseline: {self.label}; may be repeated."
        choice = "Values of such an option to choose from; may be repeated."
        choices = self.key.removesuffix("_options") + "_choices"
        return (
            f"    {self.key}: str | Sequence[str] = option(\n"
            f'        (), _SPACE, "{every}", names=("{self.option}",), metavar="{self.metavar}"\n    )\n'
            f"    {choices}: str | Sequence[str] = option(\n"
            f'        (), _SPACE, "{choice}", names=("{self.option}-choice",), metavar="NAME=V,W.."\n'
            "    )\n"
        )


def _made(kind: str, values: dict[str, object]) -> str:
    lines = "".join(f"        {name}={_quoted(value)},\n" for name, value in values.items())
    return f"    {kind}(\n{lines}    ),\n"


def _quoted(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def read_numbers(table: str) -> list[Number]:
    """Return the entries of the table that are numbers."""
    found = []
    for entry in _NUMBER.finditer(table):
        key, default, high, deployed, searched, *words = ast.literal_eval(f"({entry[2]})")
        values = tuple(int(one) for one in searched.split(",") if one)
        found.append(Number(key, default, high, deployed, values, *words))
    return found


def read_texts(table: str) -> list[Text]:
    """Return those that are texts."""
    return [
        Text(entry[1] == "FILES", *ast.literal_eval(f"({entry[3]})"))
        for entry in _TEXT.finditer(table)
    ]


def written(table: str) -> str:
    """Return the text of the file."""
    numbers, texts = read_numbers(table), read_texts(table)
    fields = "\n".join(one.declared() for one in (*numbers, *texts))
    searched = "\n".join(one.searched_fields() for one in numbers)
    options = "\n".join(one.searched_fields() for one in texts if not one.has_files)
    return (
        f"{_HEAD}CODE_NUMBERS: Final = (\n{''.join(one.made() for one in numbers)})\n"
        '"""Those that are whole numbers."""\n\n'
        f"CODE_TEXTS: Final = (\n{''.join(one.made() for one in texts)})\n"
        '"""Those that are texts."""\n\n\n'
        f'@dataclass(kw_only=True)\nclass CodeKnobs:\n    """Their values."""\n\n{fields}\n\n'
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        f'class FixedCodeKnobs:\n    """Their values, which do not change."""\n\n{fields}\n\n'
        "@dataclass(kw_only=True)\n"
        f'class SearchedCodeNumbers:\n    """Which numbers are tried."""\n\n{searched}\n\n'
        "@dataclass(kw_only=True)\n"
        f'class SearchedCodeTexts:\n    """Which texts that name no files are tried."""\n\n{options}'
    )


def main() -> int:
    """Compare, or write."""
    text = written(TABLE.read_text())
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
