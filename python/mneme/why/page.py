"""What configurations differ in as one page that needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.files.publish import publish_text
from mneme.report.differences import compare, language_of
from mneme.report.rendering import rendered
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
    from pathlib import Path

    from mneme.report.differences import Difference
    from mneme.why.build import Build
    from mneme.why.comparison import PassRow, RemarkRow, Row, Why

__all__ = ["write_page"]

_NONE = "\N{EN DASH}"
_MOST_REMARKS, _MOST_PASSES = 1500, 40
_PAIR = 2


def write_page(why: Why, path: Path) -> None:
    """Write the page.

    Args:
        why: What was found.
        path: The file, replaced if it exists.

    Raises:
        IoFailed: If the operating system refuses.
    """
    publish_text(path, rendered("why.html.j2", room="why", **_content(why)))


def _content(why: Why) -> dict[str, Any]:
    names = Names()
    builds = list(zip(why.letters, why.builds, strict=True))
    rows = [*why.standings, *why.figures, *why.accesses, *why.features, *why.opcodes]
    statistics = why.statistics or []
    return {
        "title": names.short(why.record.kernel_name),
        "full": why.record.demangled_name,
        "place": str(why.record.place or ""),
        "target": why.target,
        "letters": [letter for letter, _ in builds],
        "is_alone": len(builds) == 1,
        "builds": [
            (letter, one.name, "; ".join(filter(None, texts)))
            for letter, one in builds
            for texts in [(declared_text(one), limits_text(one, why.target), standing_text(one))]
        ],
        "failed": why.failed,
        "is_same_code": why.is_same_code,
        "own_code": "" if why.has_ir else own_code_text(why),
        "possibilities": why.possibilities,
        "assumed": assumed_text(why),
        "different": [_cells(row) for row in rows if row.differs],
        "same": [_cells(row) for row in rows if not row.differs],
        "remarks": [_remark(row, names) for row in why.remarks[:_MOST_REMARKS]],
        "loops": [
            {"place": names.place(*one.place), "texts": one.texts, "differs": one.differs}
            for one in loops_by_place(why.builds)
        ],
        "passes": [_pass(row) for row in why.passes[:_MOST_PASSES]],
        "seconds": _seconds(why.builds),
        "statistics": [_cells(row) for row in statistics if row.differs],
        "unknown": unknown_sentences(why),
        "differences": _differences(why.builds),
    }


def _cells(row: Row) -> tuple[str, list[str]]:
    return row.label, row.texts


def _remark(row: RemarkRow, names: Names) -> dict[str, Any]:
    told = row.remark
    return {
        "place": names.place(*row.place),
        "kind": told["kind"],
        "pass": told["pass"],
        "message": names.in_text(str(told["message"])),
        "counts": [str(count or _NONE) for count in row.counts],
        "differs": row.differs,
    }


def _pass(row: PassRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": "analysis" if row.is_analysis else "pass",
        "seconds": [f"{1000 * one:.2f}" for one in row.seconds],
        "changes": [
            f"{changes} of {runs}" if runs else _NONE
            for changes, runs in zip(row.changes, row.runs, strict=True)
        ],
        "differs": row.differs,
    }


def _seconds(builds: Sequence[Build]) -> list[tuple[str, list[str]]]:
    parts = list(dict.fromkeys(name for one in builds for name in one.seconds))
    return [
        (name, [f"{1000 * one.seconds.get(name, 0.0):.2f}" for one in builds]) for name in parts
    ]


def _differences(builds: Sequence[Build]) -> list[tuple[str, Difference]]:
    """Return IR and assembly side by side, for two configurations."""
    if len(builds) != _PAIR:
        return []
    old, new = (one.compiled for one in builds)
    texts = [
        ("Final IR", old.ir, new.ir, "llvm"),
        ("Assembly", old.assembly, new.assembly, language_of(old.assembly)),
    ]
    return [
        (title, compare(one, other, language, sides=("A", "B")))
        for title, one, other, language in texts
        if one and other
    ]
