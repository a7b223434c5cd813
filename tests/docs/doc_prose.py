"""The sentences of a page: paragraphs, items of lists and cells of tables, without code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

# A sentence ends at a full stop, question or exclamation mark with a space behind it; what follows
# begins with a capital, a digit, code or mneme. Abbreviations end no sentence.
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*(?:[A-Z0-9`]|mneme\b))")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|al|R|T|Y|J|L)\.$")
_WORD = re.compile(r"\w")
CODE = "`code`"


@dataclass(frozen=True)
class Sentence:
    """One sentence of a page."""

    line: int
    text: str
    is_in_table: bool

    @property
    def words(self) -> int:
        """Words, where code in backticks is one whatever stands between these."""
        return sum(1 for word in self.text.split() if _WORD.search(word))


@cache
def sentences(page: Path) -> tuple[Sentence, ...]:
    """Return the sentences of a page, in order; headings and code blocks have none."""
    return tuple(_sentences(MarkdownIt("commonmark").enable("table").parse(page.read_text())))


def average(page: Path) -> float:
    """Return the mean number of words of the sentences outside of tables, 0 where there are none."""
    counts = [one.words for one in sentences(page) if not one.is_in_table]
    return sum(counts) / max(1, len(counts))


def _sentences(tokens: list[Token]) -> Iterator[Sentence]:
    line = 0
    for before, token in pairwise(tokens):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline" and before.type != "heading_open":
            for text in _split(_words_of(token)):
                yield Sentence(line, text, before.type in ("td_open", "th_open"))


def _words_of(token: Token) -> str:
    kinds = {"code_inline": CODE, "softbreak": " ", "hardbreak": " "}
    return "".join(
        child.content if child.type == "text" else kinds.get(child.type, "")
        for child in token.children or []
    )


def _split(text: str) -> Iterator[str]:
    waiting = ""
    for part in _END.split(" ".join(text.split())):
        waiting = f"{waiting} {part}".strip()
        if not _ABBREVIATION.search(waiting):
            yield waiting
            waiting = ""
    if waiting:
        yield waiting
