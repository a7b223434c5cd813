"""What a comparison found: verdicts that hold for all launches together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mneme.compare.cases import names_of
from mneme.compare.findings import Findings, find
from mneme.compare.results import SPENT
from mneme.compare.statistics import GeometricMean, geometric_mean
from mneme.session.rounds import median_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.compare.results import CaseResult, Outcome
    from mneme.compare.variants import Variant

__all__ = ["FASTER", "SAME_CODE", "SLOWER", "UNCHANGED", "Comparison", "Row", "VariantSummary"]

FASTER, SLOWER, UNCHANGED, SAME_CODE = "faster", "slower", "no difference", "same code"
"""Verdicts of variants that are verified."""
NOT_COMPARED = "not compared"
"""Verdict of variants without a baseline."""

_FAILURES = {
    "failed_verification": "wrong result",
    "few_ulp": "a few ULP off",
    "rounding": "rounded otherwise",
    "invalid_launch": "launch refused",
    "invalid_config": "invalid",
    "compile_error": "not compiled",
    "runtime_error": "crashed or hung",
    "internal_error": "lost",
    "not_compared": NOT_COMPARED,
}
_NAME_COLUMNS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One variant of one launch, beside the baseline."""

    result: CaseResult
    name: str
    """Name of the launch, as tables have it."""
    variant: str
    outcome: Outcome
    verdict: str
    """faster, slower, no difference, same code, or how it failed."""
    ratio: float | None = None
    """Baseline time / time: the median over the rounds."""
    low: float | None = None
    """Lower end of the 95 % interval of this launch alone."""
    high: float | None = None
    """Upper end."""
    p_value: float | None = None
    """By the sign test; None: not tested."""

    @property
    def is_wrong(self) -> bool:
        """Whether it left other memory behind than was recorded, and the baseline did not."""
        return self.outcome.is_wrong and not self.result.problem

    @property
    def is_discovery(self) -> bool:
        """Whether it is faster or slower, all launches and variants taken together."""
        return self.verdict in (FASTER, SLOWER)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        one, base = self.outcome, self.result.baseline
        return {
            "verdict": self.verdict,
            "reason": self.result.problem or one.reason,
            "ratio": self.ratio,
            "interval": None if self.low is None else [self.low, self.high],
            "p_value": self.p_value,
            "rounds": len(one.ratios),
            "rounds_again": len(one.again),
            "ratio_again": median_of(one.again),
            "median_ns": median_of(one.times_ns),
            "baseline_ns": median_of(base.times_ns),
            **resources(one),
            "baseline": resources(base),
            "config": one.config,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """One variant over all launches."""

    name: str
    mean: GeometricMean | None
    """Mean of the ratios of the launches where it is verified."""
    verdicts: dict[str, int]
    """How many launches have each verdict."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        mean = self.mean
        return {
            "name": self.name,
            "geometric_mean": None
            if mean is None
            else {
                "ratio": mean.ratio,
                "interval": [mean.low, mean.high],
                "kernels": mean.kernels,
            },
            "verdicts": self.verdicts,
        }


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All results, and what they say together."""

    results: Sequence[CaseResult]
    variants: Sequence[Variant]
    """The baseline first."""
    rounds: int
    false_discovery: float
    head: dict[str, Any]
    """What it was made with: devices, versions, ..."""
    directory: Path

    @property
    def baseline(self) -> str:
        """The name of the baseline."""
        return self.variants[0].name

    @property
    def others(self) -> list[str]:
        """The names of the variants that are compared with it."""
        return [one.name for one in self.variants[1:]]

    @property
    def compilers(self) -> list[str]:
        """Sentences that say which LLVM compiled which variants, where there are several."""
        others: dict[str, Any] = self.head.get("compilers", {})
        usual = ", ".join(one.name for one in self.variants if one.name not in others)
        told = [f"{name}: {_llvm(facts)}" for name, facts in others.items()]
        return (
            [*([f"{usual}: LLVM {self.head['compiler']}"] if usual else []), *told] if told else []
        )

    @cached_property
    def names(self) -> list[str]:
        """Names of the launches for tables, in their order."""
        return names_of([one.case for one in self.results], _NAME_COLUMNS)

    @cached_property
    def findings(self) -> Findings:
        """Which variants of which launches differ from the baseline."""
        return find(self.results, self.false_discovery)

    @cached_property
    def rows(self) -> list[Row]:
        """Each variant of each launch, by launch."""
        p_values, found = self.findings.p_values, self.findings.found
        return [
            self._row(number, name, p_values.get((number, name)), is_found=(number, name) in found)
            for number in range(len(self.results))
            for name in self.others
        ]

    def _row(self, number: int, variant: str, p_value: float | None, *, is_found: bool) -> Row:
        result = self.results[number]
        outcome = result.outcomes[variant]
        named: dict[str, Any] = {
            "result": result,
            "name": self.names[number],
            "variant": variant,
            "outcome": outcome,
        }
        if outcome.is_verified and outcome.is_same_code:
            return Row(**named, verdict=SAME_CODE, ratio=1.0)
        if result.problem:
            # Where the baseline is wrong or fails, too, a variant is not to blame.
            return Row(**named, verdict=NOT_COMPARED)
        if p_value is None:
            return Row(**named, verdict=_FAILURES.get(outcome.status, NOT_COMPARED))
        ratio, low, high = median_interval(outcome.ratios)
        verdict = (FASTER if ratio > 1 else SLOWER) if is_found else UNCHANGED
        return Row(**named, verdict=verdict, ratio=ratio, low=low, high=high, p_value=p_value)

    def rows_of(self, variant: str) -> list[Row]:
        """Return the rows of one variant."""
        return [row for row in self.rows if row.variant == variant]

    @cached_property
    def regressions(self) -> list[Row]:
        """What is slower, the worst first."""
        found = [row for row in self.rows if row.verdict == SLOWER]
        return sorted(found, key=lambda row: row.ratio or 0.0)

    @cached_property
    def gains(self) -> list[Row]:
        """What is faster, the best first."""
        found = [row for row in self.rows if row.verdict == FASTER]
        return sorted(found, key=lambda row: -(row.ratio or 0.0))

    @cached_property
    def wrong(self) -> list[Row]:
        """What left other memory behind than was recorded."""
        return [row for row in self.rows if row.is_wrong]

    @cached_property
    def failed(self) -> list[Row]:
        """What has no result at all although the baseline has one."""
        return [
            row
            for row in self.rows
            if not row.outcome.is_verified and not row.is_wrong and not row.result.problem
        ]

    @cached_property
    def unusable(self) -> list[tuple[str, str]]:
        """Launches that cannot be compared, by name, with the reason."""
        pairs = zip(self.names, self.results, strict=True)
        return [(name, one.problem) for name, one in pairs if one.problem]

    @cached_property
    def summaries(self) -> list[VariantSummary]:
        """Each variant over all launches."""
        return [
            VariantSummary(
                name=name,
                mean=geometric_mean(
                    [
                        row.outcome.ratios or [1.0]
                        for row in self.rows_of(name)
                        if row.ratio is not None
                    ]
                ),
                verdicts=dict(Counter(row.verdict for row in self.rows_of(name))),
            )
            for name in self.others
        ]

    @property
    def time(self) -> dict[str, float]:
        """Seconds of all devices, in all and by what was done; `busy`: the share of kernels."""
        spent = {name: sum(one.spent.get(name, 0.0) for one in self.results) for name in SPENT}
        seconds = sum(one.seconds for one in self.results)
        return {
            "seconds": seconds,
            **spent,
            "other": max(0.0, seconds - sum(spent.values())),
            "busy": spent["kernels"] / seconds if seconds else 0.0,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain JSON values."""
        return {
            **{key: value for key, value in self.head.items() if key != "identity"},
            "directory": str(self.directory),
            "devices": self.head["identity"]["devices"],
            "baseline": self.baseline,
            "rounds": self.rounds,
            "false_discovery_rate": self.false_discovery,
            "time": self.time,
            "variants": [one.to_dict() for one in self.variants],
            "summary": [one.to_dict() for one in self.summaries],
            "kernels": [
                {
                    **result.case,
                    "name": name,
                    "device": result.device,
                    "in_place": result.is_in_place,
                    "problem": result.problem,
                    "variants": {
                        row.variant: row.to_dict() for row in self.rows if row.result is result
                    },
                }
                for name, result in zip(self.names, self.results, strict=True)
            ],
        }


def resources(outcome: Outcome) -> dict[str, Any]:
    """Return what the code of a variant needs, as plain JSON values."""
    return {
        "registers": outcome.registers,
        "spill_bytes": outcome.spill_bytes,
        "local_bytes": outcome.local_bytes,
        "shared_bytes": outcome.shared_bytes,
        "occupancy": outcome.occupancy,
        "code_bytes": outcome.code_bytes,
        "compile_seconds": outcome.compile_seconds,
        "image_hash": outcome.image_hash,
    }


def median_of(times: Sequence[float]) -> float | None:
    """Return the median, None without times."""
    ordered = sorted(times)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[~middle]) / 2 if ordered else None


def _llvm(facts: Mapping[str, Any]) -> str:
    """Return which LLVM a compiler holds, as far as it is known."""
    if "llvm" not in facts:
        return f"the LLVM of {facts['library']}"
    more = [f"commit {facts['commit'][:12]}"] if facts.get("commit") else []
    more += ["with assertions"] if facts.get("assertions") else []
    return f"LLVM {facts['llvm']}" + (f" ({', '.join(more)})" if more else "")
