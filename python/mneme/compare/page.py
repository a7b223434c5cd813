"""A comparison as one page that needs no network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mneme.compare.summary import FASTER, NOT_COMPARED, SAME_CODE, SLOWER, median_of
from mneme.compare.texts import anchor_of, differences
from mneme.files.publish import publish_text
from mneme.report.rendering import rendered
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.compare.summary import Comparison, Row, VariantSummary
    from mneme.compare.texts import RowDifference
    from mneme.report.differences import Difference

__all__ = ["write_page"]

_NONE = "\N{EN DASH}"
# Lines break between two numbers, not between a number and its unit.
_TIED = "\N{NO-BREAK SPACE}"
# What a device may say of code: titles of columns, and names in rows.
_RESOURCES = {
    "registers": "registers",
    "spilled bytes": "spills",
    "occupancy": "occupancy",
    "code": "code",
    "compile time [ms]": "compile",
}
_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_KIB = 1024
_LEFT, _RIGHT, _ROW_HEIGHT = 12.0, 728.0, 30
_TICKS = (1.001, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
# Lines of differences on a page, and of one: more are rather looked at with other tools.
_MOST_LINES, _FEWEST_LINES_OF_ONE, _MOST_LINES_OF_ONE = 1500, 40, 200


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page.

    Args:
        comparison: What was found.
        path: The file, replaced if it exists.

    Raises:
        IoFailed: If the operating system refuses.
    """
    content = _content(comparison, differences(comparison))
    publish_text(path, rendered("compare.html.j2", room="compare", **content))


def _content(comparison: Comparison, shown: Sequence[RowDifference]) -> dict[str, Any]:
    counts = [(len(comparison.gains), FASTER), (len(comparison.regressions), SLOWER)]
    if comparison.wrong:
        counts.append((len(comparison.wrong), "wrong"))
    if comparison.failed:
        counts.append((len(comparison.failed), "failed"))
    if comparison.unusable:
        counts.append((len(comparison.unusable), NOT_COMPARED))
    places = places_in_tables([one.case["place"] for one in comparison.results])
    has_several = len({one.device for one in comparison.results}) > 1
    where = {
        one.key: ", ".join(filter(None, (place, one.device if has_several else "")))
        for one, place in zip(comparison.results, places, strict=True)
    }
    rows = [
        _row(row, anchor_of(row, shown), where[row.result.key])
        for row in sorted(comparison.rows, key=_order)
    ]
    told = {key for row in rows for key, text in row.items() if text != _NONE}
    return {
        "title": ", ".join(comparison.others),
        "baseline": comparison.baseline,
        "kind": _kind(comparison),
        "headline": ", ".join(f"{count} {what}" for count, what in counts),
        "kernels": len(comparison.results),
        "rounds": comparison.rounds,
        "false_discovery": f"{100 * comparison.false_discovery:g} %",
        "device": comparison.head["device"],
        "has_one": len(comparison.others) == 1,
        "summaries": [_summary(one) for one in comparison.summaries],
        "dots": _dots(comparison),
        "rows": rows,
        "resources": {title: key for title, key in _RESOURCES.items() if key in told},
        "failures": _failures(comparison),
        "unusable": comparison.unusable,
        "differences": _shown(shown),
        "environment": _environment(comparison),
        "variants": [
            (one.name, one.options or "the program's own pipeline and launch")
            for one in comparison.variants
        ],
    }


def _kind(comparison: Comparison) -> str:
    if comparison.wrong or len(comparison.unusable) == len(comparison.results):
        return "nothing"
    if comparison.regressions or comparison.failed:
        return "unfinished"
    return "gain" if comparison.gains else "no-gain"


def _order(row: Row) -> tuple[int, float]:
    if row.ratio is None:
        return (0 if row.is_wrong else 3, 0.0)
    if not row.is_discovery:
        return (4, row.ratio)
    return (1, row.ratio) if row.ratio < 1 else (2, -row.ratio)


def _summary(one: VariantSummary) -> dict[str, Any]:
    known = (FASTER, SLOWER, "no difference", SAME_CODE, NOT_COMPARED)
    mean = one.mean
    return {
        "name": one.name,
        "mean": _NONE if mean is None else f"{mean.ratio:.3f}",
        "interval": _NONE if mean is None else _interval(mean.low, mean.high),
        "counts": [one.verdicts.get(verdict, 0) for verdict in known],
        "failed": sum(count for verdict, count in one.verdicts.items() if verdict not in known),
    }


def _dots(comparison: Comparison) -> dict[str, Any]:
    """Return each launch's ratio on a logarithmic line, a line for each variant."""
    ratios = [row.ratio for row in comparison.rows if row.ratio is not None]
    most = max((abs(math.log(one)) for one in ratios), default=0.0)
    edge = next((one for one in _TICKS[1:] if math.log(one) >= most), _TICKS[-1])
    width = math.log(edge)

    def place(ratio: float) -> float:
        part = max(-1.0, min(1.0, math.log(ratio) / width))
        return round((_LEFT + _RIGHT) / 2 + part * (_RIGHT - _LEFT) / 2, 1)

    lines: list[dict[str, Any]] = []
    for one in comparison.summaries:
        rows = [row for row in comparison.rows_of(one.name) if row.ratio is not None]
        if not rows:
            continue
        lines.append(
            {
                "name": one.name,
                "y": 30 + len(lines) * 2 * _ROW_HEIGHT,
                "dots": [
                    (place(row.ratio or 1.0), row.verdict.replace(" ", "-"), _hover(row))
                    for row in rows
                ],
                "mean": None
                if one.mean is None
                else [place(one.mean.low), place(one.mean.ratio), place(one.mean.high)],
            }
        )
    middle = min(_TICKS, key=lambda one: abs(math.log(one) - width / 2))
    ticks = [1 / edge, 1 / middle, 1.0, middle, edge]
    return {
        "lines": lines,
        "height": 30 + 2 * _ROW_HEIGHT * len(lines),
        "ticks": [(place(one), f"{one:.4g}") for one in ticks],
    }


def _hover(row: Row) -> str:
    return f"{row.name}: {row.ratio:.3f}, {row.verdict}"


def _row(row: Row, anchor: str, place: str) -> dict[str, Any]:
    base, one = row.result.baseline, row.outcome
    is_same = row.verdict == SAME_CODE
    baseline_ns = median_of(base.times_ns)
    return {
        "name": row.name,
        "full": row.result.case["kernel"],
        "recording": row.result.case["recording"],
        "place": place,
        "anchor": anchor,
        "variant": row.variant,
        "baseline": _time(baseline_ns),
        "baseline_ns": baseline_ns or "",
        "ratio": _NONE if row.ratio is None else f"{row.ratio:.3f}",
        "interval": _NONE if row.low is None or row.high is None else _interval(row.low, row.high),
        "verdict": row.verdict,
        "css": _css(row),
        "registers": _change(base.registers or None, one.registers or None),
        "spills": _change(base.spill_bytes, one.spill_bytes),
        "occupancy": _change(_percent(base.occupancy), _percent(one.occupancy)),
        "code": _change(_kib(base.code_bytes), _kib(one.code_bytes)),
        "compile": _NONE
        if is_same or not one.compile_seconds
        else f"{1e3 * one.compile_seconds:.0f}",
    }


def _css(row: Row) -> str:
    if row.is_wrong:
        return "bad"
    return {FASTER: "good", SLOWER: "bad"}.get(row.verdict, "warn" if row.ratio is None else "")


def _time(nanoseconds: float | None) -> str:
    if not nanoseconds:
        return _NONE
    unit, factor = next((one for one in _UNITS if nanoseconds >= one[1]), _UNITS[-1])
    return f"{nanoseconds / factor:.4g}{_TIED}{unit}"


def _interval(low: float, high: float) -> str:
    return f"{low:.3f}{_TIED}to {high:.3f}"


def _percent(part: float | None) -> str | None:
    return None if part is None else f"{100 * part:.0f}{_TIED}%"


def _kib(count: int) -> str | None:
    return f"{count / _KIB:.1f}{_TIED}KiB" if count else None


def _change(old: object, new: object) -> str:
    if new is None:
        return _NONE
    return str(new) if old in (None, new) else f"{old}{_TIED}→ {new}"


def _failures(comparison: Comparison) -> list[dict[str, Any]]:
    """Return failures with the launches that share them."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in (*comparison.wrong, *comparison.failed):
        key = (row.variant, row.verdict, row.outcome.reason)
        found.setdefault(key, []).append(row.name)
    return [
        {"variant": variant, "verdict": verdict, "reason": reason, "kernels": ", ".join(names)}
        for (variant, verdict, reason), names in found.items()
    ]


def _shown(shown: Sequence[RowDifference]) -> list[dict[str, Any]]:
    share = _MOST_LINES // max(1, sum(len(one.parts) for one in shown))
    most = min(_MOST_LINES_OF_ONE, max(_FEWEST_LINES_OF_ONE, share))
    return [
        {
            "id": f"d{number}",
            "name": one.row.name,
            "variant": one.row.variant,
            "verdict": one.row.verdict,
            "ratio": "" if one.row.ratio is None else f"{one.row.ratio:.3f}",
            "parts": [(title, part, _bounded(part, most)) for title, part in one.parts],
            "notes": [
                f"{title}: {note}"
                for title, part in one.parts
                for note in part.notes
                if not note.startswith("Only ")  # there are fewer here
            ],
        }
        for number, one in enumerate(shown)
    ]


def _bounded(part: Difference, most: int) -> list[dict[str, Any]]:
    """Return what of a difference is shown: folded lines only by their number."""
    blocks: list[dict[str, Any]] = []
    rows = 0
    for block in part.blocks:
        if block.is_folded:
            blocks.append({"folded": len(block.rows), "rows": [], "is_change": False})
            continue
        left = block.rows[: max(0, most - rows)]
        rows += len(block.rows)
        if left:
            blocks.append({"folded": 0, "rows": left, "is_change": block.is_change})
    if rows > most:
        blocks.append({"folded": 1, "rows": [], "is_change": True})
    return blocks


def _environment(comparison: Comparison) -> list[tuple[str, str]]:
    head, identity = comparison.head, comparison.head["identity"]
    return [
        ("device", f"{head['device']} ({', '.join(identity['devices'])})"),
        ("target", str(head["target"])),
        ("LLVM", "; ".join(comparison.compilers) or str(head["compiler"])),
        ("mneme", str(head["mneme"])),
        ("started", str(head["started"])),
        ("rounds", str(comparison.rounds)),
        (
            "launches in a round",
            f"{identity['iterations'] or '5 to 50'} after {identity['warmup']} others",
        ),
        ("tolerances", ", ".join(identity["tolerances"]) or "none"),
    ]
