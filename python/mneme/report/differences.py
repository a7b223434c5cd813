"""Compares two texts side by side: changes with a few lines of context, the rest folded."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Block", "Difference", "Row", "compare", "language_of"]

_CONTEXT_LINES = 3
# More lines would be useless to a reader, and take minutes to compare.
_MOST_LINES = 4000
_MOST_ROWS = 1500
_MOST_COLUMNS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line on either side, as HTML; number 0: there is none."""

    old_number: int
    old: str
    new_number: int
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines that are all equal and may be folded, or that are shown."""

    rows: Sequence[Row]
    is_folded: bool
    is_change: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two texts compared."""

    blocks: Sequence[Block]
    removed: int
    added: int
    notes: Sequence[str]

    @property
    def is_equal(self) -> bool:
        """Whether the compared parts of the texts are equal."""
        return not self.removed and not self.added


def compare(
    old: str, new: str, language: str, *, sides: tuple[str, str] = ("baseline", "best")
) -> Difference:
    """Compare two texts by lines.

    Args:
        old: The text on the left.
        new: The text on the right.
        language: A lexer of Pygments: "llvm", "ptx" or "gas".
        sides: What notes call the texts.
    """
    notes: list[str] = []
    before, after = (
        _lines(text, side, notes) for text, side in zip((old, new), sides, strict=True)
    )
    old_html, new_html = _colour(before, language), _colour(after, language)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if len(before) + len(after) > _MOST_LINES // 2:
        # Lines that occur everywhere are useless as landmarks; without them the search is fast.
        matcher = SequenceMatcher(None, before, after, autojunk=True)
    blocks: list[Block] = []
    removed = added = rows = 0
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            blocks += _equal(
                old_html, new_html, i1, j1, i2 - i1, is_first=not i1, is_last=i2 == len(before)
            )
            continue
        removed += i2 - i1
        added += j2 - j1
        rows += max(i2 - i1, j2 - j1)
        if rows <= _MOST_ROWS:
            blocks.append(_changed(old_html, new_html, i1, i2, j1, j2))
    if rows > _MOST_ROWS:
        notes.append(f"Only the first {_MOST_ROWS} changed lines are shown.")
    return Difference(blocks=_within(blocks), removed=removed, added=added, notes=notes)


def language_of(assembly: str) -> str:
    """Return the lexer of Pygments for assembly."""
    is_ptx = ".visible .entry" in assembly or ".address_size" in assembly
    return "ptx" if is_ptx else "gas"


def _lines(text: str, side: str, notes: list[str]) -> list[str]:
    lines = [line[:_MOST_COLUMNS] for line in text.splitlines()]
    if len(lines) > _MOST_LINES:
        notes.append(f"{side}: the first {_MOST_LINES} of {len(lines)} lines are compared.")
    return lines[:_MOST_LINES]


def _colour(lines: Sequence[str], language: str) -> list[str]:
    """Return each line as HTML with classes for its parts."""
    from pygments import highlight  # type: ignore[import-untyped]  # noqa: PLC0415 - slow
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    html: list[str] = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True)).split("\n")
    # A part that spans lines would leave its tag open; such a text is shown without colours.
    if any(line.count("<span") != line.count("</span>") for line in html):
        html = [escape(line) for line in lines]
    html += [""] * (len(lines) - len(html))
    return html[: len(lines)]


def _equal(  # noqa: PLR0913 - two texts, two places
    old: Sequence[str],
    new: Sequence[str],
    i: int,
    j: int,
    count: int,
    *,
    is_first: bool,
    is_last: bool,
) -> list[Block]:
    rows = [
        Row(old_number=i + n + 1, old=old[i + n], new_number=j + n + 1, new=new[j + n])
        for n in range(count)
    ]
    head = 0 if is_first else min(_CONTEXT_LINES, count)
    tail = count if is_last else max(head, count - _CONTEXT_LINES)
    parts = ((rows[:head], False), (rows[head:tail], True), (rows[tail:], False))
    return [Block(rows=part, is_folded=fold, is_change=False) for part, fold in parts if part]


def _changed(  # noqa: PLR0913, PLR0917 - two texts, two ranges
    old: Sequence[str], new: Sequence[str], i1: int, i2: int, j1: int, j2: int
) -> Block:
    rows = []
    for n in range(max(i2 - i1, j2 - j1)):
        i, j = i1 + n, j1 + n
        has_old, has_new = i < i2, j < j2
        rows.append(
            Row(
                old_number=i + 1 if has_old else 0,
                old=old[i] if has_old else "",
                new_number=j + 1 if has_new else 0,
                new=new[j] if has_new else "",
            )
        )
    return Block(rows=rows, is_folded=False, is_change=True)


def _within(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks without equal lines after the last change."""
    last = max((n for n, block in enumerate(blocks) if block.is_change), default=-1)
    return list(blocks[: last + 2])
