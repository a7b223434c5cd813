"""Final IR and assembly of what is worth a look: wrong results, then the largest differences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mneme.compare.summary import FASTER, SLOWER
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.mneme_types import ExperimentConfiguration
from mneme.report.differences import Difference, compare, language_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from mneme.compare.summary import Comparison, Row
    from mneme.measure.compile_pool import CompileAnswer

__all__ = ["RowDifference", "differences", "worth_a_look"]

_MOST_OF_A_KIND = 8
_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDifference:
    """What a variant changed in the code of a launch."""

    row: Row
    parts: Sequence[tuple[str, Difference]]
    """Titles with differences."""


def worth_a_look(comparison: Comparison) -> list[Row]:
    """Return wrong results, regressions and gains, the largest of each; code that is alike once."""
    found: dict[tuple[str, str], Row] = {}
    for rows in (comparison.wrong, comparison.regressions, comparison.gains):
        taken = 0
        for row in rows:
            key = (row.result.baseline.image_hash, row.outcome.image_hash)
            is_new = row.outcome.config and row.result.baseline.config and key not in found
            if is_new and taken < _MOST_OF_A_KIND:
                found[key] = row
                taken += 1
    return list(found.values())


def differences(comparison: Comparison) -> list[RowDifference]:
    """Compile what is worth a look once more, and compare it with the baseline's code.

    Code that cannot be compiled any more, as its recording is gone, is left out.
    """
    rows = worth_a_look(comparison)
    if not rows:
        return []
    target = str(comparison.head["target"])
    with (
        TemporaryDirectory(prefix="mneme-compare-") as logs,
        SuiteExecutor([], Path(logs), SuiteOptions()) as executor,
    ):

        def compiled(row: Row, config: dict[str, object]) -> Future[CompileAnswer]:
            case = row.result.case
            launch = str(Path(case["record"]).absolute()), str(case["record_id"])
            wanted = ExperimentConfiguration.from_dict(config)
            return executor.compile(launch, wanted, target, wants_texts=True)

        waiting = [
            (row, compiled(row, row.result.baseline.config), compiled(row, row.outcome.config))
            for row in rows
        ]
        found = [
            _difference(row, old.result(_SECONDS), new.result(_SECONDS))
            for row, old, new in waiting
        ]
    return [one for one in found if one.parts]


def _difference(row: Row, old: CompileAnswer, new: CompileAnswer) -> RowDifference:
    sides = (next(iter(row.result.outcomes)), row.variant)
    parts: list[tuple[str, Difference]] = []
    if old.ir and new.ir:
        parts.append(("Optimised IR", compare(old.ir, new.ir, "llvm", sides=sides)))
    if old.assembly and new.assembly:
        language = language_of(old.assembly)
        parts.append(("Assembly", compare(old.assembly, new.assembly, language, sides=sides)))
    return RowDifference(row=row, parts=parts)


def anchor_of(row: Row, shown: Sequence[RowDifference]) -> str:
    """Return where a page shows a row's differences; empty if it does not."""
    if row.verdict not in (FASTER, SLOWER) and not row.is_wrong:
        return ""
    key = (row.result.baseline.image_hash, row.outcome.image_hash)
    for number, one in enumerate(shown):
        if key == (one.row.result.baseline.image_hash, one.row.outcome.image_hash):
            return f"d{number}"
    return ""
