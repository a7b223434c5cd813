"""The text of `mneme explain` about configurations: what differs first, in 80 columns or less."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from mneme.cli._console import print_line, table_width
from mneme.why.loops import loops_by_place
from mneme.why.names import Names
from mneme.why.roofline import standing_text
from mneme.why.sentences import (
    assumed_text,
    declared_text,
    limits_text,
    own_code_text,
    unknown_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.why.comparison import RemarkRow, Row, Why

__all__ = ["show_why"]

_WIDTH, _NARROWEST_TEXT = 80, 40
_WIDEST_LABEL, _NARROWEST_LABEL, _CHANGE = 40, 16, 9
_WIDEST, _NARROWEST = 12, 7
_PAIR = 2
_MOST_REMARKS, _MOST_PASSES, _MOST_LOOPS, _MOST_OPCODES = 24, 6, 12, 12
_SAYS_NOTHING = ("asm-printer", "prologepilog", "stack-frame-layout")
_COUNTED = {
    "instructions": "instructions of {}",
    "instructions_in_loops": "  of them in loops",
    "loops": "loops",
    "branches": "branches",
    "float_ops": "operations on float",
    "double_ops": "operations on double",
    "half_ops": "operations on half",
    "fused_ops": "  of them fused",
    "vector_ops": "operations on vectors",
    "int32_ops": "operations on 32-bit integers",
    "int64_ops": "operations on 64-bit integers",
    "special_ops": "  of them roots, sines and alike",
    "divisions": "divisions and remainders",
    "tensor_ops": "products of matrices",
    "comparisons": "comparisons and selections",
    "conversions": "conversions of types",
    "moves": "copies between registers",
    "textures": "accesses to textures and surfaces",
    "barriers": "barriers",
    "warp_barriers": "barriers of a warp",
    "cluster_barriers": "barriers of a cluster",
    "mbarriers": "operations on barriers in memory",
    "fences": "fences of memory",
    "shuffles": "exchanges in a warp",
    "votes": "votes and reductions in a warp",
    "own_calls": "calls of own functions",
    "math_calls": "calls of mathematical functions",
    "other_calls": "calls of other functions",
    "indirect_calls": "calls by a register",
    "local_bytes": "bytes of local variables",
}
_ACCESSES = ("loads", "stores", "atomics")


class _Text:
    """Writes the sections about one launch."""

    def __init__(self, why: Why, *, shows_all: bool) -> None:
        self.why = why
        self.shows_all = shows_all
        self.letters = why.letters
        self.is_alone = len(why.builds) == 1
        self.names = Names()
        count = len(why.builds)
        width = _width()
        self._column = max(_NARROWEST, min(_WIDEST, width // 2 // (count + 1)))
        change = _CHANGE if count == _PAIR else 0
        room = width - 2 - count * self._column - change
        self._label = min(_WIDEST_LABEL, max(_NARROWEST_LABEL, room))

    def title(self) -> None:
        why = self.why
        print_line(f"{self.names.short(why.record.kernel_name)}, compiled for {why.target}")
        if why.record.place is not None:
            print_line(f"at {why.record.place}")
        for letter, one in zip(self.letters, why.builds, strict=True):
            _paragraph(one.name, f"  {letter}  ", "     ")
        for name, reason in why.failed:
            _paragraph(f"{name} cannot be compiled: {reason}", "  -  ", "     ")
        if not why.has_ir:
            _paragraph(own_code_text(why), "  ", "  ")
            self._sentences([declared_text(one) for one in why.builds])
        if why.is_same_code:
            print_line()
            print_line("The machine code of all is the same.")

    def numbers(self) -> None:
        """The figures of the code: those that differ first."""
        figures = self.why.figures
        counted = {row.key: row for row in self.why.features}
        what = "IR" if self.why.has_ir else "PTX"
        rows = [
            *figures,
            *(
                replace(counted[key], label=text.format(what))
                for key, text in _COUNTED.items()
                if key in counted
            ),
        ]
        different = [row for row in rows if row.differs]
        same = [row for row in rows if not row.differs]
        if self.is_alone:
            self._table("The code", same)
        else:
            self._table("What differs", different)
            if self.shows_all:
                self._table("The same in all", same)
            elif same:
                text = ", ".join(f"{row.label.strip()} {row.texts[0]}" for row in same)
                _paragraph(f"the same in all: {text}", "  ", "    ")
        self._sentences([limits_text(one, self.why.target) for one in self.why.builds])

    def _sentences(self, texts: Sequence[str]) -> None:
        """One of each configuration that has one, or one of all."""
        if len(set(texts)) == 1 and texts[0]:
            _paragraph(texts[0], "  ", "     ")
            return
        for letter, text in zip(self.letters, texts, strict=True):
            if text:
                _paragraph(text, f"  {letter}  ", "     ")

    def standings(self) -> None:
        """What the device did, where that was measured."""
        texts = [standing_text(one) for one in self.why.builds]
        if not any(texts):
            return
        self._table("On the device", self.why.standings)
        if not self.why.standings:
            _heading("On the device")
        for letter, text in zip(self.letters, texts, strict=True):
            _paragraph(text, "  " if self.is_alone else f"  {letter}  ", "     ")

    def memory(self) -> None:
        """Loads, stores and atomics, by the memory they are of."""
        if self.why.accesses:
            self._table("Memory operations in the PTX, each once", self.why.accesses)
            return
        rows = [
            row
            for row in self.why.features
            if row.key.startswith(tuple(f"{one}_" for one in _ACCESSES))
        ]
        rows = [row for row in rows if not row.key.endswith("in_loops")]
        rows += [row for row in self.why.features if row.key in ("load_bytes", "store_bytes")]
        self._table("Memory operations in the IR, each once", rows)

    def opcodes(self) -> None:
        """Instructions of the machine code, where something disassembles it."""
        rows = self.why.opcodes
        shown = [row for row in rows if self.shows_all or self.is_alone or row.differs]
        most = len(shown) if self.shows_all else _MOST_OPCODES
        self._table("Instructions of the machine code, each once", shown[:most])
        if len(shown) > most:
            print_line(f"  {len(shown) - most} more; --all lists them")

    def possibilities(self) -> None:
        """What can be tried of code without IR."""
        if self.why.possibilities:
            _heading(
                "What can be tried" if self.is_alone else f"What can be tried of {self.letters[0]}"
            )
            if assumed := assumed_text(self.why):
                _paragraph(assumed, "  ", "    ")
        for one in self.why.possibilities:
            _paragraph(f"{one.options}: {one.reason}", "  ", "    ")

    def remarks(self) -> None:
        rows = [
            row
            for row in self.why.remarks
            if self.shows_all or row.remark["pass"] not in _SAYS_NOTHING
        ]
        different = [row for row in rows if row.differs]
        same = [row for row in rows if not row.differs]
        if self.is_alone:
            self._remark_list("What LLVM's passes say", same)
            return
        self._remark_list("What LLVM's passes say of some only", different)
        if self.shows_all:
            self._remark_list("What they say of all", same)
        elif same:
            print_line(f"  about all: {_many(len(same), 'more remark')}; --all lists them")

    def _remark_list(self, title: str, rows: Sequence[RemarkRow]) -> None:
        if not rows:
            return
        _heading(title)
        shown = rows if self.shows_all else rows[:_MOST_REMARKS]
        # The most important place first; remarks about one place stay together.
        first = {row.place: number for number, row in reversed(list(enumerate(shown)))}
        ordered = sorted(shown, key=lambda row: first[row.place])
        for place, ones in groupby(ordered, key=lambda row: row.place):
            print_line(f"  {self.names.place(*place)}")
            for row in ones:
                self._remark(row)
        if len(shown) < len(rows):
            print_line(f"  {len(rows) - len(shown)} more; --all lists them")

    def _remark(self, row: RemarkRow) -> None:
        told = row.remark
        marks = "".join(
            letter if count else " " for letter, count in zip(self.letters, row.counts, strict=True)
        )
        begin = "    " if self.is_alone else f"    {marks}  "
        times = max(row.counts)
        often = f" ({times} times)" if times > 1 else ""
        message = self.names.in_text(str(told["message"]))
        _paragraph(
            f"{told['kind']} {told['pass']}: {message}{often}", begin, " " * (len(begin) + 2)
        )

    def passes(self) -> None:
        """Which passes changed the code in some only, and where the time went."""
        rows = self.why.passes
        groups: dict[tuple[bool, ...], list[str]] = {}
        for row in sorted(rows, key=lambda one: one.name):
            if row.differs:
                groups.setdefault(tuple(map(bool, row.changes)), []).append(row.name)
        if groups:
            _heading("Passes that changed the code of some only")
            for pattern, names in sorted(groups.items(), reverse=True):
                marks = " ".join(one for one, has in zip(self.letters, pattern, strict=True) if has)
                _paragraph(", ".join(names), f"  {marks}: ", "     ")
        if not any(one.seconds for one in self.why.builds):
            return
        _heading("Where compiling took its time [ms]")
        self._line("", self.letters)
        parts = list(dict.fromkeys(name for one in self.why.builds for name in one.seconds))
        for name in parts:
            self._line(name, [_ms(one.seconds.get(name, 0.0)) for one in self.why.builds])
        for row in rows if self.shows_all else rows[:_MOST_PASSES]:
            kind = "analysis " if row.is_analysis else "pass "
            self._line(f"  {kind}{row.name}", [_ms(one) for one in row.seconds])

    def loops(self) -> None:
        groups = loops_by_place(self.why.builds)
        if not groups:
            return
        _heading("Loops of the final IR")
        shown = groups if self.shows_all else groups[:_MOST_LOOPS]
        for group in shown:
            print_line(f"  {self.names.place(*group.place)}")
            for letter, text in zip(self.letters, group.texts, strict=True):
                _paragraph(text, "    " if self.is_alone else f"    {letter}  ", "       ")
        if len(shown) < len(groups):
            print_line(f"  {len(groups) - len(shown)} more; --all lists them")

    def statistics(self) -> None:
        rows = self.why.statistics
        if rows is not None:
            self._table("What LLVM counted", [row for row in rows if self.shows_all or row.differs])

    def unknown(self) -> None:
        _heading("Not known")
        for sentence in unknown_sentences(self.why):
            _paragraph(sentence, "  ", "  ")

    def _table(self, title: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        _heading(title)
        if not self.is_alone:
            self._line("", self.letters)
        for row in rows:
            self._line(row.label, row.texts, _change(row))

    def _line(self, label: str, values: Sequence[str], end: str = "") -> None:
        width = self._label
        text = f"{label[: width - 1] + '…' if len(label) > width else label:<{width}}"
        cells = "".join(f"{value:>{self._column}}" for value in values)
        print_line(f"  {text}{cells}{end:>{_CHANGE}}".rstrip())


@cache
def _width() -> int:
    """Return how wide lines are: as the terminal is if that is narrow."""
    return max(_NARROWEST_TEXT, min(_WIDTH, table_width()))


def _heading(text: str) -> None:
    print_line()
    print_line(text)


def _paragraph(text: str, first: str, rest: str) -> None:
    lines = wrap(
        " ".join(text.split()),
        width=_width(),
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
    for line in lines or [first.rstrip()]:
        print_line(line)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"


def _change(row: Row) -> str:
    """Return how two numbers differ, "-40 %"; nothing for more."""
    if len(row.values) != _PAIR or not row.differs:
        return ""
    old, new = row.values
    if not old or new is None:
        return ""
    return f"{100 * (new - old) / old:+.0f} %"


def show_why(why: Why, *, shows_all: bool) -> None:
    """Print everything about a launch, the most important first."""
    text = _Text(why, shows_all=shows_all)
    text.title()
    text.numbers()
    text.standings()
    text.remarks()
    text.loops()
    text.memory()
    text.opcodes()
    text.passes()
    text.statistics()
    text.possibilities()
    text.unknown()
