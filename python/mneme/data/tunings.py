"""Rows for results directories of `mneme tune`, also of searches that still run or were killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mneme.data.configurations import CONFIGURATIONS, RESULT_FIELDS
from mneme.data.program import (
    is_of_optimize,
    program_facts,
    program_of_record,
    program_of_results,
)
from mneme.data.values import Row, fitting, hash_text, known, launch_columns, moment
from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound
from mneme.files.json_object import read_json_object
from mneme.machine_code.occupancy import occupancy
from mneme.session.origin import ORIGIN_FILE, machine_at
from mneme.session.result_store import read_trials
from mneme.session.trials import CompletedCandidate, measured_times

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_tuning", "rows_of_tuning"]

BASELINE: Final = -1
_MACHINE: Final = (
    *("device_name", "target", "driver", "host", "os", "cpu"),
    *("mneme_version", "llvm_version"),
)


def is_tuning(directory: Path) -> bool:
    """Whether a directory holds the results of a search of one launch."""
    trials = directory / "trials.jsonl"
    # 'mneme tune --all' leaves an empty one above those of its launches.
    has_trials = trials.is_file() and trials.stat().st_size > 0
    return has_trials or (directory / "baseline.json").is_file()


def rows_of_tuning(directory: Path, *, named: str, program: str = "") -> Iterator[Row]:
    """Yield a row for each measured configuration: baseline, program as built, trials.

    Args:
        directory: The results directory.
        named: What rows call it.
        program: What rows call the program where the results do not say it.

    Raises:
        ArtifactCorrupt: If a file holds something else than results.
        IoFailed: If the operating system refuses to read one.
    """
    results = _Results(directory)
    shared = results.shared(named, program)
    for done, marks in results.measured():
        try:
            where = results.where(done)
            row = _row(done, results.metric, where["target"] or "")
            yield {**shared, **row, **where, **marks}
        except (TypeError, ValueError, AttributeError) as error:
            number = done.candidate.trial
            raise ArtifactCorrupt(
                f"'{directory}' has a trial {number} that cannot be understood: {error}"
            ) from error


class _Results:
    """The files of one results directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._options = _readable(directory / "config.json")
        self._baseline = _json(directory / "baseline.json")
        self._best = _json(directory / "best.json")
        self._origin = _json(directory / ORIGIN_FILE)
        self.metric = str(self._options.get("metric") or self._best.get("metric") or "mean")

    def shared(self, named: str, program: str) -> Row:
        """Return what all rows have, and None for the other columns."""
        record = self._record()
        objective = self._options.get("objective") or ()
        objectives = objective.split(",") if isinstance(objective, str) else list(objective)
        found = program or program_of_results(self._directory)
        found = found or program_of_record(str(record.get("record_database") or ""))
        record_id = known(record.get("record_id") or self._baseline.get("record_id"))
        return {
            **dict.fromkeys(CONFIGURATIONS.names()),
            "schema_version": CONFIGURATIONS.version,
            "source": "optimize" if is_of_optimize(self._directory) else "tune",
            "results": named,
            **program_facts(found),
            "kernel": known(record.get("demangled_name") or record.get("kernel_name")),
            "kernel_symbol": known(record.get("kernel_name")),
            "place": known(record.get("place")),
            "label": known(record.get("label")),
            "record_id": record_id,
            "static_hash": known(record.get("static_hash")),
            "dynamic_hash": hash_text(record_id),
            "code_hash": known(record.get("code_hash")),
            "recorded_ir_hash": known(record.get("ir_hash")),
            "metric": self.metric,
            "sampler": known(self._options.get("sampler")),
            "seed": self._options.get("seed"),
            "objectives": [one.strip() for one in objectives] or None,
        }

    def _record(self) -> Mapping[str, Any]:
        """Return what is known of the launch, by the names of `origin.json`."""
        parts = (
            self._baseline.get("record"),
            self._best.get("record"),
            self._best.get("facts"),
            self._origin.get("record"),
        )
        known: dict[str, Any] = {}
        for part in parts:
            if isinstance(part, Mapping):
                known.update({key: value for key, value in part.items() if value})
        return known

    def measured(self) -> Iterator[tuple[CompletedCandidate, Row]]:
        """Yield what was measured, and what marks its row."""
        yield from self._baselines()
        pareto = {one.get("trial") for one in _objects(self._best.get("pareto"))}
        winner = self._best.get("trial")
        for done in sorted(read_trials(self._directory), key=lambda one: one.candidate.trial):
            number = done.candidate.trial
            marks = {
                "is_baseline": False,
                "is_as_built": False,
                "is_winner": number == winner,
                "is_pareto": number in pareto,
                **self._gain(number),
            }
            yield done, marks

    def _baselines(self) -> Iterator[tuple[CompletedCandidate, Row]]:
        """Yield the baseline, and the program as built if that is other code."""
        if not self._baseline.get("config"):
            return
        built = self._baseline.get("as_built")
        has_other = isinstance(built, Mapping) and bool(built.get("config"))
        wins = self._best.get("trial") == BASELINE
        found = [(self._baseline, {"is_baseline": True, "is_as_built": not has_other})]
        if has_other:
            found.append((built or {}, {"is_baseline": False, "is_as_built": True}))
        for data, marks in found:
            is_winner = wins and marks["is_as_built"]
            yield self._first(data), {**marks, "is_winner": is_winner, "is_pareto": False}

    def _first(self, data: Mapping[str, Any]) -> CompletedCandidate:
        is_right = (data.get("result") or {}).get("verified")
        status = data.get("status") or ("verified" if is_right else "failed_verification")
        told = {**data, "trial": BASELINE, "status": status}
        measured = self._baseline.get("result") or {}
        told["baseline_metric"] = self._baseline.get("metric") or measured.get("metric")
        try:
            return CompletedCandidate.from_dict(told)
        except (KeyError, TypeError, ValueError, AttributeError, InvalidArgument) as error:
            place = self._directory / "baseline.json"
            raise ArtifactCorrupt(f"'{place}' holds no baseline: {error}") from error

    def _gain(self, number: int) -> Row:
        """Return the gain that the last rounds measured for a trial, if it was in them."""
        standings = [self._best, self._best.get("contender"), self._best.get("same_launch")]
        for one in standings:
            if isinstance(one, Mapping) and one.get("trial") == number:
                gain = one.get("gain")
                if isinstance(gain, Mapping) and gain.get("ratio"):
                    return {
                        "gain": gain["ratio"],
                        "gain_low": gain.get("low"),
                        "gain_high": gain.get("high"),
                        "gain_is_significant": gain.get("significant"),
                        "gain_rounds": gain.get("rounds"),
                    }
        return {}

    def where(self, done: CompletedCandidate) -> Row:
        """Return the machine that measured."""
        machine = machine_at(self._origin, done.result.start_time)
        if not machine and isinstance(self._best.get("device"), Mapping):
            device = self._best["device"]
            machine = {"device_name": device.get("name"), "target": device.get("arch")}
        return {name: known(machine.get(name)) for name in _MACHINE}


def _row(done: CompletedCandidate, metric: str, target: str) -> Row:
    """Return what a row has of configuration and result."""
    result = done.result
    measured = measured_times(result)
    warmup = len(result.exec_time) - len(measured)
    low, high = result.time_ci_ns if len(result.time_ci_ns) == 2 else (None, None)  # noqa: PLR2004
    seconds = (result.preprocess_ir_time, result.opt_time, result.codegen_time)
    row: Row = {column: getattr(result, name) for name, column in RESULT_FIELDS.items()}
    row |= launch_columns(done.candidate.config, done.candidate.config_hash)
    row |= {
        "trial": done.candidate.trial,
        "params": json.dumps(done.candidate.params, sort_keys=True, default=str),
        "status": done.status,
        "failure": done.failure,
        "tolerance": list(done.tolerance) or None,
        "time_ns": done.metric,
        "metric": metric,
        "baseline_time_ns": done.baseline_metric,
        "speedup": done.speedup,
        "median_ns": result.median_ns or None,
        "median_low_ns": low,
        "median_high_ns": high,
        "samples_ns": list(measured) or None,
        "warmup_ns": list(result.exec_time[:warmup]) or None,
        "registers": result.reg_usage or None,
        "counters": json.dumps(result.counters, sort_keys=True) if result.counters else None,
        **_residency(done, target),
        "compile_seconds": sum(seconds),
        "started_at": moment(result.start_time),
        "ended_at": moment(result.end_time),
    }
    return {name: fitting(name, value) for name, value in row.items()}


def _residency(done: CompletedCandidate, target: str) -> Row:
    """Return a block's shared memory and the occupancy, as far as they are known."""
    config, result = done.candidate.config, done.result
    if result.shared_mem_usage is None:
        return {}
    shared = result.shared_mem_usage + config.shared_mem
    resident = occupancy(target, config.block.volume, result.reg_usage, shared)
    return {"shared_bytes": shared, "occupancy": resident}


def _objects(value: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - what a file held
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, Mapping)]


def _readable(path: Path) -> dict[str, Any]:
    """Return options, which only their owner may be able to read if they contain a database."""
    try:
        path.open("rb").close()
    except OSError:
        return {}
    return _json(path)


def _json(path: Path) -> dict[str, Any]:
    try:
        return read_json_object(path)
    except NotFound:
        return {}
