"""Output of `mneme compare`: progress on stderr, tables on stdout."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from mneme.cli import _console
from mneme.compare import CompareListener
from mneme.compare.cases import names_of
from mneme.compare.summary import SAME_CODE, median_of
from mneme.kernel_names import shortened
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress as RichProgress

    from mneme.compare import Comparison
    from mneme.compare.results import CaseResult, Outcome
    from mneme.compare.summary import Row, VariantSummary

__all__ = ["QuietListener", "listener", "show"]

_SECONDS_BETWEEN_LINES = 10.0
_WIDE = 120
_NARROW_NAME, _WIDE_NAME = 22, 40
_NARROW_VARIANT, _WIDE_VARIANT = 14, 30
_LONGEST_REASON = 300
_MOST_NAMED = 5
_MOST_ROWS = 40
_KIB = 1024


def listener(*, is_quiet: bool) -> QuietListener:
    """Return what shows progress on stderr."""
    if is_quiet:
        return QuietListener()
    return BarListener() if sys.stderr.isatty() else LineListener()


class QuietListener(CompareListener):
    """Warnings only."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the display."""

    def warn(self, sentence: str) -> None:
        """Show a warning."""
        _console.say(sentence)


class LineListener(QuietListener):
    """A line every few seconds."""

    def __init__(self) -> None:
        """Say nothing yet."""
        self._last = time.monotonic()

    def started(self, total: int, known: int, rounds: int, devices: Sequence[str]) -> None:
        """Say what is measured."""
        left = f"{total - known} of {total}" if known else str(total)
        _console.say(f"measuring {left} kernels, {rounds} rounds each, on {', '.join(devices)}")

    def finished(self, result: CaseResult, done: int, total: int) -> None:
        """Say how many are done, from time to time."""
        del result
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            _console.say(f"{done} of {total} kernels")

    def confirming(self, count: int) -> None:
        """Say that findings are measured again."""
        kernels = f"{count} kernels that differ" if count > 1 else "a kernel that differs"
        _console.say(f"measuring {kernels} again")


class BarListener(LineListener):
    """A progress bar."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self._bar: RichProgress | None = None
        self._task: Any = None

    def started(self, total: int, known: int, rounds: int, devices: Sequence[str]) -> None:
        """Show the bar."""
        super().started(total, known, rounds, devices)
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - slow

        columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
        self._bar = Progress(*columns, console=_console.stderr_console(), transient=True)
        self._task = self._bar.add_task("", total=total, completed=known)
        self._bar.start()

    def finished(self, result: CaseResult, done: int, total: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            (name,) = names_of([result.case], _WIDE_NAME)
            text = f"{done}/{total} · {name}"
            self._bar.update(self._task, completed=done, description=text)

    def confirming(self, count: int) -> None:
        """Say it in place of the bar."""
        self.close()
        super().confirming(count)

    def warn(self, sentence: str) -> None:
        """Show a warning in place of the bar."""
        self.close()
        super().warn(sentence)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def show(comparison: Comparison) -> None:
    """Print the tables."""
    _print_kernels(comparison)
    _print_summary(comparison)
    for sentence in _failures(comparison):
        _console.say(sentence)
    for name, reason in comparison.unusable:
        _console.say(f"{name} cannot be compared: {_short(reason)}")
    _console.say(f"results: {comparison.directory}")


def _print_kernels(comparison: Comparison) -> None:
    is_wide = _console.table_width() >= _WIDE
    longest = _WIDE_NAME if is_wide else _NARROW_NAME
    keys = [one.key for one in comparison.results]
    cases = [one.case for one in comparison.results]
    names = dict(zip(keys, names_of(cases, longest), strict=True))
    places = places_in_tables([str(one.get("place", "")) for one in cases])
    place_of = dict(zip(keys, places, strict=True)) if any(places) else {}
    variants = _variant_names(comparison, is_wide=is_wide)
    has_one = len(comparison.others) == 1
    resources = (">regs", ">spills", ">occup.", ">code", ">compile") if is_wide else ()
    first = ("kernel", *(("place",) if place_of else ()))
    columns = (*first, *(() if has_one else ("variant",)), ">baseline", ">ratio", "95 %")
    table = _console.table("", (*columns, "verdict", *resources))
    shown = _shown(comparison)
    for row in shown:
        table.add_row(
            names[row.result.key],
            *((place_of[row.result.key],) if place_of else ()),
            *(() if has_one else (variants[row.variant],)),
            _console.format_ns(round(median_of(row.result.baseline.times_ns) or 0)),
            "" if row.ratio is None else f"{row.ratio:.3f}",
            "" if row.low is None else f"{row.low:.3f}\N{EN DASH}{row.high:.3f}",
            row.verdict,
            *(_resources(row) if is_wide else ()),
        )
    if shown:
        _console.print_table(table)
    left = sum(row.ratio is not None for row in comparison.rows) - len(shown)
    if left > 0:
        _console.print_line(f"{left} more without a difference; --html and --json show all")


def _shown(comparison: Comparison) -> list[Row]:
    """Return what the table has: all that is measured, of many only what is faster or slower."""
    measured = [row for row in comparison.rows if row.ratio is not None]
    if len(measured) > _MOST_ROWS:
        measured = [row for row in measured if row.is_discovery]
    return sorted(measured, key=_order)


def _order(row: Row) -> tuple[int, float]:
    """Put regressions first, then gains, then what is left."""
    ratio = row.ratio or 0.0
    if not row.is_discovery:
        return (2, ratio)
    return (0, ratio) if ratio < 1 else (1, -ratio)


def _resources(row: Row) -> list[str]:
    if row.verdict == SAME_CODE or not row.outcome.image_hash:
        return ["", "", "", "", ""]
    base, one = row.result.baseline, row.outcome
    return [
        _change(base.registers or None, one.registers or None),
        _change(base.spill_bytes, one.spill_bytes),
        _change(_percent(base), _percent(one)),
        _change(_kib(base), _kib(one)),
        f"{1e3 * one.compile_seconds:.0f} ms",
    ]


def _percent(outcome: Outcome) -> str | None:
    return None if outcome.occupancy is None else f"{100 * outcome.occupancy:.0f}%"


def _kib(outcome: Outcome) -> str | None:
    return f"{outcome.code_bytes / _KIB:.1f}K" if outcome.code_bytes else None


def _change(old: object, new: object) -> str:
    if old is None or new is None:
        return ""
    return str(new) if old == new else f"{old}→{new}"


def _variant_names(comparison: Comparison, *, is_wide: bool) -> dict[str, str]:
    longest = _WIDE_VARIANT if is_wide else _NARROW_VARIANT
    return dict(
        zip(
            comparison.others,
            shortened(comparison.others, longest, are_functions=False),
            strict=True,
        )
    )


def _print_summary(comparison: Comparison) -> None:
    title = (
        f"Over '{comparison.baseline}' ({len(comparison.results)} kernels, {comparison.rounds} "
        f"rounds, false discoveries {100 * comparison.false_discovery:g} %)"
    )
    table = _console.table(title, ("variant", ">mean", "95 %", "~kernels"))
    names = _variant_names(comparison, is_wide=_console.table_width() >= _WIDE)
    for one in comparison.summaries:
        mean = one.mean
        table.add_row(
            names[one.name],
            "" if mean is None else f"{mean.ratio:.3f}",
            "" if mean is None else f"{mean.low:.3f}\N{EN DASH}{mean.high:.3f}",
            verdicts_text(one),
        )
    _console.print_table(table)
    for line in comparison.compilers:
        _console.print_line(line)


def verdicts_text(summary: VariantSummary) -> str:
    """Return how many kernels have each verdict."""
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(summary.verdicts.items()))


def _failures(comparison: Comparison) -> list[str]:
    """Return a sentence for each way in which a variant fails, with kernels and a reason."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in (*comparison.wrong, *comparison.failed):
        found.setdefault((row.variant, row.verdict), []).append(row)
    told = []
    for (variant, verdict), rows in found.items():
        reasons = {row.outcome.reason for row in rows}
        first = "" if len(reasons) == 1 else f"{rows[0].name}: "
        names = _some([row.name for row in rows])
        reason = f"{first}{_short(rows[0].outcome.reason)}"
        told.append(f"{variant}: {verdict} for {names}: {reason}")
    return told


def _some(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMED
    text = ", ".join(names[:_MOST_NAMED])
    return f"{text} and {left} more" if left > 0 else text


def _short(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."
