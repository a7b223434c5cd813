"""One configuration that is tried, its result, and its quality."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

__all__ = [
    "FAILURES",
    "FEW_ULP",
    "ROUNDING",
    "Candidate",
    "CompletedCandidate",
    "check_objectives",
    "classify_result",
    "measured_times",
    "metric_value",
    "objective_value",
    "plain_params",
]

FAILURES = (
    "failed_verification",
    "invalid_launch",
    "invalid_config",
    "compile_error",
    "runtime_error",
    "internal_error",
)
"""The statuses of a trial besides verified."""

ROUNDING = "rounding"
"""A `failed_verification` whose result differs only by rounding."""

FEW_ULP = "few_ulp"
"""A `failed_verification` whose result is a few units in the last place off."""

_METRICS = ("mean", "median", "min", "max")

# Parts of the messages of our devices and of the compiler.
_INVALID_LAUNCH = (
    "is impossible: every dimension",
    "bytes of shared memory",
    "runs with at most",
    "threads; a block of",
    "cooperative grid",
    "cooperative launches",
    "cluster",
    "out of resources",
    "invalid configuration",
)
_INVALID_CONFIG = (
    "pass pipeline",
    "unknown pass",
    "code generation level",
    "the launch bounds allow",
    "the configuration lacks",
    "no pass pipeline",
    "llvm has no option",
    "llvm's option",
)
_COMPILE = ("compil", "optimi", "ptxas", "nvjitlink", "code generation", "assembl", "cannot link")


@dataclass(kw_only=True)
class Candidate:
    """A configuration to try."""

    trial: int
    """Number in the results, from 0; -1 is the baseline."""

    config: ExperimentConfiguration
    """What is tried."""

    params: dict[str, Any] = field(default_factory=dict)
    """Values of the space's parameters that give it."""

    token: object = None
    """Its identity in the study."""

    study_params: dict[str, Any] = field(default_factory=dict)
    """The parameters as the study names them."""

    config_hash: str = ""
    """Hash of the configuration."""

    def __post_init__(self) -> None:
        """Hash the configuration."""
        self.config_hash = self.config_hash or self.config.hash()

    @cached_property
    def key(self) -> Hashable:
        """The key of the configuration, which does not change."""
        return self.config.key()


@dataclass(kw_only=True)
class CompletedCandidate:
    """A configuration and its result."""

    candidate: Candidate
    status: str
    """verified, or one of `FAILURES`."""
    result: ExperimentResult
    metric: float | None
    """Nanoseconds; None if it is not verified or was not measured."""
    baseline_metric: float | None = None
    """Nanoseconds of the baseline."""
    tolerance: tuple[str, ...] = ()
    """The rules of `--tolerance` that it was judged by."""

    @property
    def is_verified(self) -> bool:
        """Whether it can be used."""
        return self.status == "verified"

    @property
    def failure(self) -> str:
        """Why it cannot be used, as shown to users; empty if it can be.

        The status, or `FEW_ULP`, or `ROUNDING`: the source allows the compiler to round freely, so
        the compiler has made no mistake.
        """
        if self.is_verified:
            return ""
        if self.status == "failed_verification" and self.result.result_class == FEW_ULP:
            return FEW_ULP
        if self.status == "failed_verification" and self.result.rounding:
            return ROUNDING
        return self.status

    @property
    def speedup(self) -> float | None:
        """Baseline time / time."""
        if not self.metric or self.baseline_metric is None:
            return None
        return self.baseline_metric / self.metric

    def to_dict(self) -> dict[str, Any]:
        """Return the line of `trials.jsonl`."""
        return {
            "trial": self.candidate.trial,
            "status": self.status,
            "config_hash": self.candidate.config_hash,
            "params": plain_params(self.candidate.params),
            "study_params": self.candidate.study_params,
            "config": self.candidate.config.to_dict(),
            "result": {**self.result.to_dict(), "metric": self.metric},
            "metric": self.metric,
            "baseline_metric": self.baseline_metric,
            "speedup": self.speedup,
            **({"tolerance": list(self.tolerance)} if self.tolerance else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompletedCandidate:
        """Return what `to_dict` gave."""
        candidate = Candidate(
            trial=int(data["trial"]),
            config=ExperimentConfiguration.from_dict(data["config"]),
            params=dict(data.get("params") or {}),
            study_params=dict(data.get("study_params") or {}),
        )
        result = dict(data["result"])
        metric = data.get("metric", result.get("metric"))
        return cls(
            candidate=candidate,
            status=str(data["status"]),
            result=ExperimentResult.from_dict(result),
            metric=metric,
            baseline_metric=data.get("baseline_metric"),
            tolerance=tuple(map(str, data.get("tolerance") or ())),
        )


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as plain JSON values."""
    from mneme.search.params import plain_value  # noqa: PLC0415

    return {name: plain_value(value) for name, value in params.items()}


def measured_times(result: ExperimentResult, iterations: int | None = None) -> list[int]:
    """Return the times of the measured launches, without warm-ups."""
    count = result.iterations_used or iterations or len(result.exec_time)
    return list(result.exec_time[-count:]) if count else []


def metric_value(
    result: ExperimentResult, metric: str = "mean", iterations: int | None = None
) -> float | None:
    """Return the time of a configuration in nanoseconds; None if nothing was measured.

    Args:
        result: The result of the replay.
        metric: mean, median, min or max.
        iterations: How many launches at the end of `exec_time` count if the result does not have
            the number of measured ones.

    Raises:
        InvalidArgument: If there is no such metric.
    """
    if metric not in _METRICS:
        raise InvalidArgument(f"the metric is '{metric}', not one of {', '.join(_METRICS)}")
    times = measured_times(result, iterations)
    if not times:
        return None
    if metric == "mean":
        return statistics.fmean(times)
    if metric == "median":
        return float(statistics.median(times))
    return float(min(times) if metric == "min" else max(times))


def classify_result(result: ExperimentResult) -> str:
    """Return verified, or one of `FAILURES`."""
    if result.verified and not result.failed:
        return "verified"
    if not result.failed and result.executed:
        return "failed_verification"
    error = result.error.lower()
    was_built = bool(result.image_hash or result.obj_size)
    if not was_built and any(words in error for words in _INVALID_CONFIG):
        return "invalid_config"
    if any(words in error for words in _INVALID_LAUNCH) and "crash" not in error:
        return "invalid_launch"
    if not was_built and any(words in error for words in _COMPILE):
        return "compile_error"
    return "runtime_error"


def objective_value(done: CompletedCandidate, objective: str) -> float | None:
    """Return a candidate's value of an objective; None if it has none."""
    result = done.result
    values: dict[str, float | None] = {
        "time": done.metric,
        "speedup": done.speedup,
        "registers": float(result.reg_usage) or None,
        "spills": None if result.spill_bytes is None else float(result.spill_bytes),
        "code-size": float(result.obj_size),
        "compile-time": result.preprocess_ir_time + result.opt_time + result.codegen_time,
    }
    return values[objective] if objective in values else result.counters.get(objective)


def check_objectives(baseline: CompletedCandidate, objectives: Sequence[str]) -> None:
    """Refuse objectives of which the device says nothing.

    Raises:
        InvalidArgument: Naming the first.
    """
    for objective in objectives:
        if objective_value(baseline, objective) is not None:
            continue
        if reason := baseline.result.counters_error:
            raise InvalidArgument(f"--objective is '{objective}', but {reason}")
        raise InvalidArgument(
            f"--objective is '{objective}', but code for {baseline.result.device} has none; "
            "time, code-size and compile-time are known everywhere"
        )
