"""What a shared study holds: its trials, the best of them, and the processes that made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import NotFound
from mneme.search.study_trials import RESULT_ATTRIBUTE
from mneme.session.owners import OWNER_ATTRIBUTE
from mneme.session.storages import open_storage, storage_errors

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

__all__ = ["StudyProcess", "StudySummary", "summarize_studies"]


@dataclass(slots=True, kw_only=True)
class StudyProcess:
    """A process that takes or took part."""

    host: str
    pid: int
    finished: int = 0
    running: int = 0
    latest: str = ""
    """When its latest trial began or ended, ISO 8601."""


@dataclass(slots=True, kw_only=True)
class StudySummary:
    """One study of a storage."""

    name: str
    record: str
    """Static and dynamic hash of the launch that it tunes."""
    trials: int = 0
    """Trials that were measured or failed."""
    running: int = 0
    failed: int = 0
    """Trials without a verified result."""
    best_ns: float = 0.0
    """The best value of the first objective; nanoseconds where that is the time; 0: none yet."""
    gain: float = 0.0
    """The baseline's time divided by that of the best; 0: unknown. Not yet measured again."""
    passes: str = ""
    """The pipeline of the best."""
    latest: str = ""
    processes: list[StudyProcess] = field(default_factory=list)


def summarize_studies(place: str, name: str | None = None) -> list[StudySummary]:
    """Return the studies of a storage.

    Args:
        place: As for `--optuna-storage`: the URL of a database, or a journal file.
        name: The study; None: all.

    Raises:
        NotFound: If there is no such file or study.
        InvalidArgument, BackendUnavailable, IoFailed: If the storage cannot be opened.
    """
    import optuna  # noqa: PLC0415 - slow to import

    file = place.removeprefix("journal:").removeprefix("sqlite:///")
    if "://" not in file and not Path(file).is_file():
        raise NotFound(f"there is no study storage '{file}'")
    storage = open_storage(place)
    with storage_errors(place):
        names = optuna.study.get_all_study_names(storage)
        if name is not None and name not in names:
            known = f"it holds {', '.join(names)}" if names else "it holds none"
            raise NotFound(f"there is no study '{name}' in this storage; {known}")
        chosen = names if name is None else [name]
        return [_summary(optuna.load_study(study_name=one, storage=storage)) for one in chosen]


def _summary(study: Any) -> StudySummary:  # noqa: ANN401 - Optuna's, slow to import
    summary = StudySummary(name=study.study_name, record=study.user_attrs.get("mneme.record", ""))
    processes: dict[str, StudyProcess] = {}
    is_least = study.directions[0].name == "MINIMIZE"
    best: FrozenTrial | None = None
    for trial in study.get_trials(deepcopy=False):
        told = trial.user_attrs.get(RESULT_ATTRIBUTE) or {}
        is_over = bool(told)  # others were given up before they were measured
        summary.trials += is_over
        summary.running += trial.state.name == "RUNNING"
        summary.failed += is_over and told.get("status") != "verified"
        when = _text(trial.datetime_complete or trial.datetime_start)
        summary.latest = max(summary.latest, when)
        owner = str(told.get("owner") or trial.user_attrs.get(OWNER_ATTRIBUTE) or "")
        if owner:
            process = processes.setdefault(owner, _process(owner))
            process.finished += is_over
            process.running += trial.state.name == "RUNNING"
            process.latest = max(process.latest, when)
        if told.get("status") == "verified" and trial.values:
            value = trial.values[0] if is_least else -trial.values[0]
            if best is None or value < (best.values[0] if is_least else -best.values[0]):
                best = trial
    summary.processes = sorted(processes.values(), key=lambda one: (one.host, one.pid))
    if best is not None:
        told = best.user_attrs[RESULT_ATTRIBUTE]
        metric, baseline = told.get("metric") or 0.0, told.get("baseline_metric") or 0.0
        summary.best_ns = metric
        summary.gain = baseline / metric if metric else 0.0
        summary.passes = told["config"].get("passes", "")
    return summary


def _process(owner: str) -> StudyProcess:
    """Return the process of an owner's name: machine, boot and namespace, number, start."""
    host, *others = owner.split("/")
    pid = others[-2] if len(others) > 1 else ""
    return StudyProcess(host=host, pid=int(pid) if pid.isdecimal() else 0)


def _text(when: datetime | None) -> str:
    # Optuna notes the local time, without a zone.
    return when.astimezone(timezone.utc).isoformat(timespec="seconds") if when else ""
