"""Rows for results directories of `mneme compare`: one for each variant of each launch."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.compare.findings import find
from mneme.compare.results import CaseResult, Outcome
from mneme.data.configurations import CONFIGURATIONS
from mneme.data.program import program_facts, program_of_record
from mneme.data.values import Row, fitting, hash_text, known, launch_columns, moment
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, MnemeError
from mneme.files.json_object import read_json_object
from mneme.files.regular_file import read_bytes
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.launch_facts import static_hash_text
from mneme.recording.recorded_execution import RecordedExecution
from mneme.session.rounds import median_interval
from mneme.session.trials import FEW_ULP, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["is_comparison", "records_of_comparison", "rows_of_comparison"]

_HEAD: Final = "compare.json"
_LINES: Final = "kernels.jsonl"
_FALSE_DISCOVERY: Final = 0.05


def is_comparison(directory: Path) -> bool:
    """Whether a directory holds the results of a comparison."""
    return (directory / _HEAD).is_file() and (directory / _LINES).is_file()


def rows_of_comparison(directory: Path, *, named: str, program: str = "") -> Iterator[Row]:
    """Yield a row for each variant of each launch, the baseline first.

    Args:
        directory: The results directory.
        named: What rows call it.
        program: What rows call the program where the results do not say it.

    Raises:
        ArtifactCorrupt: If a file holds something else than results.
        IoFailed: If the operating system refuses to read one.
    """
    head = read_json_object(directory / _HEAD)
    results = _read(directory / _LINES)
    findings = find(results, _FALSE_DISCOVERY)
    for number, result in enumerate(results):
        try:
            shared = {**_shared(head, result, program), "results": named}
            for name, outcome in result.outcomes.items():
                row = {**shared, **_row(result, outcome), "variant": name}
                if (number, name) in findings.p_values:
                    row["p_value"] = findings.p_values[number, name]
                    is_found = (number, name) in findings.found - findings.unconfirmed
                    row["gain_is_significant"] = is_found
                yield {column: fitting(column, value) for column, value in row.items()}
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise ArtifactCorrupt(
                f"'{directory}' has a launch {number + 1} that cannot be understood: {error}"
            ) from error


def records_of_comparison(directory: Path) -> list[Path]:
    """Return the record files that a comparison names, those that are there."""
    found = (Path(str(one.case.get("record") or "")) for one in _read(directory / _LINES))
    return list(dict.fromkeys(path.resolve() for path in found if path.is_file()))


def _record(result: CaseResult) -> RecordedExecution | None:
    """Return the record of a launch, if it is still there."""
    try:
        record = RecordedExecution.from_json(str(result.case.get("record") or ""))
    except (MnemeError, OSError):
        return None
    return record if record.static_hash == str(result.case["static_hash"]) else None


def _read(path: Path) -> list[CaseResult]:
    """Return finished launches; the last line of a killed comparison may be torn."""
    try:
        lines = read_bytes(path).split(b"\n")
    except OSError as error:
        raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    found: dict[tuple[str, str], CaseResult] = {}
    for line in lines:
        try:
            one = CaseResult.from_dict(json.loads(line))
            found[one.key] = one
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return list(found.values())


def _shared(head: Mapping[str, Any], result: CaseResult, program: str) -> Row:
    """Return what all variants of a launch have, and None for the other columns."""
    case, record = result.case, _record(result)
    record_id = known(case.get("record_id"))
    identity = head.get("identity")
    told = identity if isinstance(identity, dict) else {}
    return {
        **dict.fromkeys(CONFIGURATIONS.names()),
        "schema_version": CONFIGURATIONS.version,
        "source": "compare",
        **program_facts(program or program_of_record(str(case.get("record") or ""))),
        "kernel": known(case.get("kernel")),
        "kernel_symbol": known(case.get("mangled")),
        "place": known(case.get("place")),
        "label": known(case.get("label")),
        "code_hash": record.code_hash if record is not None else None,
        "recorded_ir_hash": "+".join(record.module_hashes) if record is not None else None,
        "record_id": record_id,
        "static_hash": static_hash_text(case["static_hash"]),
        "dynamic_hash": hash_text(record_id),
        "metric": "median",
        "cold_cache": told.get("is_cold"),
        "tolerance": [_text(one) for one in told.get("tolerances") or ()],
        "device": result.device,
        "device_name": known(head.get("device")),
        "target": known(head.get("target")),
        "mneme_version": known(head.get("mneme")),
        "llvm_version": known(head.get("compiler")),
        "started_at": moment(str(head.get("started") or "")),
    }


def _text(tolerance: Any) -> str:  # noqa: ANN401 - what a file held
    return tolerance if isinstance(tolerance, str) else json.dumps(tolerance)


def _row(result: CaseResult, one: Outcome) -> Row:
    time, base = _median(one.times_ns), _median(result.baseline.times_ns)
    is_ulp = one.status in (FEW_ULP, ROUNDING)
    row: Row = {
        "status": "failed_verification" if is_ulp else one.status,
        "verified": one.is_verified,
        "verdict": one.result_class,
        "failure": None if one.is_verified else one.status,
        "error": one.reason or (result.problem if not one.is_verified else ""),
        "is_baseline": one is result.baseline,
        "is_same_code": one.is_same_code,
        "time_ns": time,
        "median_ns": None if time is None else round(time),
        "baseline_time_ns": base,
        "speedup": base / time if base and time else None,
        "samples_ns": [round(value) for value in one.times_ns],
        "reused": bool(one.same_as) or one.is_same_code,
        "registers": one.registers or None,
        "local_bytes": one.local_bytes,
        "spill_bytes": one.spill_bytes,
        "shared_bytes": one.shared_bytes,
        "occupancy": one.occupancy,
        "code_bytes": one.code_bytes or None,
        "compile_seconds": one.compile_seconds or None,
        "final_ir_hash": one.ir_hash,
        "image_hash": one.image_hash,
        **_gain(one, is_baseline=one is result.baseline),
    }
    if one.config:
        row |= launch_columns(ExperimentConfiguration.from_dict(one.config))
    return row


def _gain(one: Outcome, *, is_baseline: bool) -> Row:
    ratios = one.ratios
    if not ratios:
        is_equal = one.is_verified and one.is_same_code and not is_baseline
        return {"gain": 1.0} if is_equal else {}
    try:
        ratio, low, high = median_interval(ratios)
    except InvalidArgument:  # too few for an interval
        return {"gain": _median(ratios), "gain_rounds": len(ratios), "ratios": ratios}
    return {
        "gain": ratio,
        "gain_low": low,
        "gain_high": high,
        "gain_rounds": len(ratios),
        "ratios": ratios,
    }


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
