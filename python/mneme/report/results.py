"""Reads results directories of `mneme tune`, also of one that still runs or was killed."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mneme.errors import NotFound
from mneme.files.json_object import read_json_object
from mneme.files.regular_file import read_text

__all__ = ["BASELINE", "VERIFIED", "Instance", "Trial", "read_results"]

VERIFIED = "verified"
BASELINE = -1
# A results directory has at least one of these files.
_SIGNS = ("config.json", "baseline.json", "trials.jsonl", "best.json", "summary.json")
_ARTIFACTS = tuple((who, kind) for who in ("baseline", "best") for kind in ("ll", "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One configuration that was tried; the baseline is trial -1."""

    number: int
    status: str
    params: Mapping[str, Any]
    config: Mapping[str, Any]
    result: Mapping[str, Any]
    metric_ns: float | None
    """None if it was not verified."""

    @property
    def is_verified(self) -> bool:
        """Whether it counts."""
        return self.status == VERIFIED and self.metric_ns is not None

    @property
    def samples_ns(self) -> list[float]:
        """Measured launches, without the warm-ups."""
        times = [float(one) for one in self.result.get("exec_time") or []]
        used = int(self.result.get("iterations_used") or 0)
        return times[-used:] if 0 < used < len(times) else times

    @property
    def interval_ns(self) -> tuple[float, float] | None:
        """95 % confidence interval of the median."""
        interval = self.result.get("time_ci_ns") or []
        return (float(interval[0]), float(interval[1])) if len(interval) == 2 else None  # noqa: PLR2004


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The results of one tuned launch, as far as they were written."""

    directory: Path
    options: Mapping[str, Any]
    space: Mapping[str, Any]
    baseline: Trial | None
    trials: Sequence[Trial]
    best: Mapping[str, Any]
    """best.json; empty while the tuning runs."""

    summary: Mapping[str, Any]
    artifacts: Mapping[tuple[str, str], str]
    """Final IR ("ll") and assembly ("s") of "baseline" and "best"."""

    notes: Sequence[str]
    """Messages about files that could not be read."""

    @property
    def record(self) -> Mapping[str, Any]:
        """The tuned record."""
        record = self.best.get("record") or {}
        return record if isinstance(record, Mapping) else {}

    def fact(self, name: str) -> str:
        """Return what is known of the launch under this name; empty if nothing is."""
        facts = self.best.get("facts")
        return str(facts.get(name) or "") if isinstance(facts, Mapping) else ""

    @property
    def kernel_name(self) -> str:
        """Readable name."""
        names = [self.fact("demangled_name"), self.record.get("demangled_name")]
        names.append(self.record.get("kernel_name"))
        return next((str(name) for name in names if name), self.directory.name)

    @property
    def winner(self) -> Trial | None:
        """The named winner; while there is none, the fastest verified trial so far."""
        if self.best.get("config") and self.best.get("result"):
            return _trial(self.best, status=VERIFIED, metric=self.best.get("best_metric"))
        known = [one for one in (self.baseline, *self.trials) if one is not None]
        verified = [one for one in known if one.is_verified]
        return min(verified, key=lambda one: one.metric_ns or 0.0, default=None)

    @property
    def contender(self) -> Trial | None:
        """The best other configuration, if the baseline won."""
        data = self.best.get("contender")
        if not isinstance(data, Mapping):
            return None
        return _trial(data, status=VERIFIED, metric=data.get("metric"))

    @property
    def shown(self) -> Trial | None:
        """The trial shown next to the baseline: the winner, else the closest one."""
        winner = self.winner
        if winner is not None and winner.number == BASELINE:
            return self.contender or winner
        return winner

    @property
    def gain(self) -> Mapping[str, Any] | None:
        """Result of the final round, of `shown`; None while there is none."""
        contender = self.best.get("contender")
        gain = (contender if isinstance(contender, Mapping) else self.best).get("gain")
        return gain if isinstance(gain, Mapping) and gain.get("ratio") else None


def read_results(directory: Path) -> list[Instance]:
    """Read a results directory, or all below a directory of `mneme tune --all`.

    Raises:
        NotFound: If there are no results.
        ArtifactCorrupt: If a file is not JSON at all.
    """
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        raise NotFound(f"'{directory}' {what}; name the results directory of a tuning")
    if (directory / "baseline.json").is_file():
        return [_read_instance(directory)]
    children = [directory / name for name in _listed(directory)]
    children += sorted(path for path in directory.iterdir() if path not in children)
    found = [_read_instance(path) for path in children if path.is_dir() and _has_results(path)]
    if found:
        return found
    if _has_results(directory):
        return [_read_instance(directory)]
    raise NotFound(f"'{directory}' holds no results of 'mneme tune'")


def _has_results(directory: Path) -> bool:
    return any((directory / name).is_file() for name in _SIGNS)


def _listed(directory: Path) -> Iterator[str]:
    listed = _read_json(directory / "all.json").get("instances") or []
    for entry in listed:
        name = entry.get("directory") if isinstance(entry, Mapping) else None
        # Only names of subdirectories: all.json must not lead elsewhere.
        if isinstance(name, str) and Path(name).name:
            yield Path(name).name


def _read_instance(directory: Path) -> Instance:
    notes: list[str] = []
    data = _read_json(directory / "baseline.json")
    data = data.get("as_built") or data
    return Instance(
        directory=directory,
        options=_read_options(directory / "config.json", notes),
        space=_read_json(directory / "search_space.json"),
        baseline=_trial({"trial": BASELINE, **data}, status=_baseline_status(data))
        if data
        else None,
        trials=_read_trials(directory / "trials.jsonl", notes),
        best=_read_json(directory / "best.json"),
        summary=_read_json(directory / "summary.json"),
        artifacts=dict(_read_artifacts(directory / "artifacts")),
        notes=notes,
    )


def _baseline_status(data: Mapping[str, Any]) -> str:
    is_verified = (data.get("result") or {}).get("verified")
    return str(data.get("status") or (VERIFIED if is_verified else "failed_verification"))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return read_json_object(path)
    except NotFound:
        return {}


def _read_options(path: Path, notes: list[str]) -> dict[str, Any]:
    """Read options, which only their owner may be able to read if they contain a database."""
    if path.exists() and not os.access(path, os.R_OK):
        notes.append(f"'{path.name}' may be read by its owner only: options are left out")
        return {}
    return _read_json(path)


def _read_trials(path: Path, notes: list[str]) -> list[Trial]:
    """Read complete lines; a line that a killed tuner left unfinished is counted and skipped."""
    trials: dict[int, Trial] = {}
    broken = 0
    try:
        lines = read_text(path, errors="replace").splitlines()
    except FileNotFoundError:
        return []
    for line in filter(str.strip, lines):
        try:
            trial = _trial(json.loads(line))
        except (ValueError, TypeError, AttributeError, RecursionError):
            broken += 1
            continue
        trials[trial.number] = trial
    if broken:
        lines_are = "line of trials.jsonl is" if broken == 1 else "lines of trials.jsonl are"
        notes.append(f"{broken} {lines_are} incomplete and left out.")
    return sorted(trials.values(), key=lambda one: one.number)


def _trial(data: Mapping[str, Any], *, status: str = "", metric: object = None) -> Trial:
    result = data.get("result") or {}
    status = status or str(data.get("status", ""))
    if status == VERIFIED and not isinstance(metric, (int, float)):
        metric = result.get("metric") or result.get("median_ns")
    trial = Trial(
        number=int(data.get("trial", BASELINE)),
        status=status,
        params=dict(data.get("params") or {}),
        config=dict(data.get("config") or {}),
        result=dict(result),
        metric_ns=float(metric) if isinstance(metric, (int, float)) and metric > 0 else None,
    )
    if trial.status == VERIFIED and trial.metric_ns is None and trial.samples_ns:
        return Trial(
            number=trial.number,
            status=trial.status,
            params=trial.params,
            config=trial.config,
            result=trial.result,
            metric_ns=statistics.median(trial.samples_ns),
        )
    return trial


def _read_artifacts(directory: Path) -> Iterator[tuple[tuple[str, str], str]]:
    for who, kind in _ARTIFACTS:
        path = directory / f"{who}.{kind}"
        if path.is_file():
            yield (who, kind), read_text(path, errors="replace")
