"""A comparison for other programs: Markdown, JUnit's XML, LNT's JSON."""

from __future__ import annotations

import json
import platform
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from mneme.compare.summary import median_of
from mneme.files.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare.limits import Limits
    from mneme.compare.results import CaseResult, Outcome
    from mneme.compare.summary import Comparison, Row

__all__ = ["junit_xml", "lnt_report", "markdown_text"]

_NS = 1e-9
_MOST_ROWS = 50
_LNT_VERSION = "2"
_LNT_PASS, _LNT_FAIL = 0, 1


def markdown_text(comparison: Comparison) -> str:
    """Return the summary, regressions, gains and failures as tables."""
    parts = [
        f"### mneme compare: {len(comparison.results)} kernels on {comparison.head['device']}",
        " ".join((_what_ratios_are(comparison), *(f"{one}." for one in comparison.compilers))),
        _table(
            ("variant", "geometric mean", "kernels"),
            [
                (
                    f"`{_cell(one.name)}`",
                    "" if one.mean is None else _ratio(one.mean.ratio, one.mean.low, one.mean.high),
                    ", ".join(f"{count} {verdict}" for verdict, count in one.verdicts.items()),
                )
                for one in comparison.summaries
            ],
        ),
    ]
    for title, rows in (("Slower", comparison.regressions), ("Faster", comparison.gains)):
        if rows:
            parts += [f"#### {title}", _rows_table(rows)]
    failed = [*comparison.wrong, *comparison.failed]
    if failed:
        told = [(row.name, row.variant, row.verdict, row.outcome.reason) for row in failed]
        parts += ["#### Wrong or failed", _failures_table(told)]
    if comparison.unusable:
        told = [(name, comparison.baseline, "", why) for name, why in comparison.unusable]
        parts += ["#### Not compared", _failures_table(told)]
    return "\n\n".join(parts) + "\n"


def _what_ratios_are(comparison: Comparison) -> str:
    chance = f"{100 * comparison.false_discovery:g} %"
    return (
        f"Ratios are time of `{_cell(comparison.baseline)}` / time of the variant, with 95 % "
        f"intervals over {comparison.rounds} rounds. At most {chance} of what is called faster or "
        "slower is expected to be chance."
    )


def _rows_table(rows: Sequence[Row]) -> str:
    table = _table(
        ("kernel", "variant", "ratio", "baseline", "registers"),
        [
            (
                f"`{_cell(row.name)}`",
                f"`{_cell(row.variant)}`",
                _ratio(row.ratio, row.low, row.high),
                _microseconds(row.result.baseline),
                _change(row.result.baseline.registers, row.outcome.registers),
            )
            for row in rows[:_MOST_ROWS]
        ],
    )
    left = len(rows) - _MOST_ROWS
    return f"{table}\n\n… and {left} more." if left > 0 else table


def _failures_table(failures: Sequence[tuple[str, str, str, str]]) -> str:
    rows = [
        (f"`{_cell(name)}`", f"`{_cell(variant)}`", verdict, _cell(reason))
        for name, variant, verdict, reason in failures[:_MOST_ROWS]
    ]
    return _table(("kernel", "variant", "verdict", "reason"), rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text that ends no cell and no code."""
    return visible(" ".join(text.split())).replace("|", "\\|").replace("`", "'")


def _ratio(ratio: float | None, low: float | None, high: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f} ({low:.3f} to {high:.3f})"


def _microseconds(outcome: Outcome) -> str:
    median = median_of(outcome.times_ns)
    return "" if median is None else f"{median / 1e3:.4g} µs"


def _change(old: int, new: int) -> str:
    if not old and not new:
        return ""
    return str(new) if old == new else f"{old} → {new}"


def junit_xml(comparison: Comparison, limits: Limits) -> str:
    """Return a test suite for each variant, a test for each launch.

    A test fails where the result is wrong or what `--fail-on` names was found, and is an error
    where the variant gave none.
    """
    suites = []
    for name in comparison.others:
        rows = comparison.rows_of(name)
        cases = [_test_case(row, limits) for row in rows]
        counts = {kind: sum(f"<{kind} " in one for one in cases) for kind in _JUNIT_KINDS}
        suites.append(
            f'  <testsuite name={_attribute(name)} tests="{len(cases)}" '
            f'failures="{counts["failure"]}" errors="{counts["error"]}" '
            f'skipped="{counts["skipped"]}">\n' + "".join(cases) + "  </testsuite>\n"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="mneme compare">\n'
        + "".join(suites)
        + "</testsuites>\n"
    )


_JUNIT_KINDS = ("failure", "error", "skipped")


def _test_case(row: Row, limits: Limits) -> str:
    seconds = (median_of(row.outcome.times_ns) or 0.0) * _NS
    head = (
        f"    <testcase classname={_attribute(row.result.case['recording'])} "
        f'name={_attribute(row.name)} time="{seconds:.9f}">'
    )
    kind, message = _judged(row, limits)
    text = _text_of(row)
    if kind:
        body = f"<{kind} message={_attribute(message)}>{_text(text)}</{kind}>"
    else:
        body = f"<system-out>{_text(text)}</system-out>"
    return f"{head}\n      {body}\n    </testcase>\n"


def _judged(row: Row, limits: Limits) -> tuple[str, str]:
    if row.result.problem:
        return "skipped", row.result.problem
    if row.is_wrong:
        return "failure", f"{row.verdict}: {row.outcome.reason}"
    if not row.outcome.is_verified:
        return "error", f"{row.verdict}: {row.outcome.reason}"
    why = limits.is_exceeded_by(row)
    return ("failure", why) if why else ("", "")


def _text_of(row: Row) -> str:
    if row.ratio is None:
        return row.verdict
    if row.low is None:
        return f"{row.verdict}: ratio 1"
    return f"{row.verdict}: ratio {row.ratio:.4f}, 95 % from {row.low:.4f} to {row.high:.4f}"


def _attribute(text: str) -> str:
    return quoteattr(visible(" ".join(text.split())))


def _text(text: str) -> str:
    return escape(visible(text))


def lnt_report(comparison: Comparison) -> str:
    """Return a report for `lnt submit`: times in seconds, a sample for each round.

    A test is a variant of a launch: `recording/kernel@launch.variant`.
    """
    head = comparison.head
    now = datetime.now(timezone.utc)
    started = datetime.fromisoformat(head["started"])
    report = {
        "format_version": _LNT_VERSION,
        "machine": {
            "name": platform.node() or "unknown",
            "device": str(head["device"]),
            "target": str(head["target"]),
            "os": platform.platform(),
        },
        "run": {
            "start_time": _lnt_time(started),
            "end_time": _lnt_time(now),
            "llvm_project_revision": str(head["compiler"]),
            "producer": f"mneme {head['mneme']}",
        },
        "tests": [
            _lnt_test(result, name, variant)
            for name, result in zip(comparison.names, comparison.results, strict=True)
            for variant in (one.name for one in comparison.variants)
        ],
    }
    return json.dumps(report, indent=2) + "\n"


def _lnt_time(when: datetime) -> str:
    return when.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def _lnt_test(result: CaseResult, name: str, variant: str) -> dict[str, Any]:
    outcome = result.outcomes[variant]
    times = result.baseline.times_ns if outcome.is_same_code else outcome.times_ns
    is_built = bool(outcome.image_hash)
    test: dict[str, Any] = {
        "name": f"{result.case['recording']}/{name}.{variant}",
        "compile_status": _LNT_PASS if is_built else _LNT_FAIL,
        "execution_status": _LNT_PASS if outcome.is_verified else _LNT_FAIL,
    }
    if is_built:
        test |= {"compile_time": [outcome.compile_seconds], "code_size": outcome.code_bytes}
        test["hash"] = outcome.image_hash
    if outcome.is_verified and times:
        test["execution_time"] = [one * _NS for one in times]
    return test
