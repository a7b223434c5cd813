"""Tunes every launch of a recording, each in a directory of its own; heavy ones get more time.

If the launches of a kernel always have different arguments, one of them represents all with its
dimensions: none of the recorded launches occurs again.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import MnemeError
from mneme.kernel_names import qualified_name
from mneme.recording.launch_facts import (
    differ_in_floats_only,
    launches_of,
    static_hash_text,
    usual_launch,
)
from mneme.recording.records import every_launch
from mneme.session.constant_arguments import (
    are_others_each_time,
    asks_for_others,
    with_same_dimensions,
)
from mneme.session.events import Summary
from mneme.session.option_files import write_options
from mneme.session.result_store import ResultStore, refuse_earlier_trials
from mneme.session.tolerances import SharedTolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.session.events import Outcome, TuneListener
    from mneme.session.options import TuneOptions

__all__ = ["Session", "default_directory", "directory_name", "share_out", "tune_all"]

_FEWEST_TRIALS = 10
# A search that is gone on with measures the best again.
_LEAST_SECONDS = 10.0
_LONGEST_NAME = 60
_DIGITS_OF_CODE = 8
_NS = 1e-9


class Session(Protocol):
    """A session for one launch, such as `mneme.session.session.TuningSession`."""

    outcome: Outcome | None
    is_pool_gone: bool
    """Whether nothing is left that measures, so that no other launch can be tuned either."""
    resume_with: str
    """The command that goes on after it, if it ends before all launches are tuned."""

    def run(self) -> int:
        """Search, and write the results directory; return the exit code."""


@dataclass(kw_only=True)
class _Launch:
    record: RecordedExecution
    instance: KernelInstance
    directory: Path
    stands_for: Sequence[KernelInstance]
    """The recorded launches that this launch represents."""
    baseline_ns: float = 0.0
    weight: float = 0.0
    tolerance: Sequence[str] = ()
    outcome: Outcome | None = None
    trials: int = 0
    """How many it has had."""
    is_unfinished: bool = False
    """Whether its search ended since its share was used up."""

    @property
    def gain(self) -> float:
        """How many times as fast it is as it was tuned."""
        gain = self.outcome.gain if self.outcome is not None else None
        return max(1.0, gain.ratio) if gain is not None else 1.0


def share_out(total: int, weights: Sequence[float], minimum: int = _FEWEST_TRIALS) -> list[int]:
    """Return a number for each weight, in proportion, none below the minimum where possible."""
    if not weights:
        return []
    least = min(minimum, max(1, total // len(weights)))
    spare = max(0, total - least * len(weights))
    sum_of_weights = sum(weights) or 1.0
    return [least + int(spare * one / sum_of_weights) for one in weights]


def tune_all(
    options: TuneOptions,
    listener: TuneListener,
    make_session: Callable[[TuneOptions, float], Session],
    *,
    given: TuneOptions | None = None,
) -> int:
    """Tune every launch of a recording directory.

    Args:
        options: As for one launch; `trials` and `timeout` are shared out.
        listener: Receives every step, and a summary at the end.
        make_session: Makes the session of one launch from its options and its weight.
        given: The options that a resumed run begins with; None: `options`.

    Returns:
        The exit code of `TuningSession.run`: 1 only if every baseline failed.

    Raises:
        NotFound: If there are no launches.
        InvalidArgument: If there are results of an earlier run, and `resume` is not set.
        IoFailed: If results cannot be written.
    """
    parent = Path(options.results_dir or default_directory(options.record_database))
    launches = _launches(options, parent)
    shared = SharedTolerances(options.tolerance, [(one.record, one.instance) for one in launches])
    for launch in launches:
        launch.tolerance = shared.of(launch.record, launch.instance)
    if not options.resume:
        for launch in launches:
            refuse_earlier_trials(launch.directory)
    for told in filter(None, map(_told_of, launches)):
        listener.note(told)
    _prepare(parent, given or options)
    began = time.monotonic()
    for launch in launches:
        listener.note(f"measuring the baseline of {launch.record.told_name}")
        session = make_session(_baseline_options(options, launch), 1.0)
        code = _run(session, launch)
        if _ends_all(session, code):
            return code
        done = session.outcome.baseline if session.outcome is not None else None
        if code == 0 and done is not None and done.metric:
            launch.baseline_ns = done.metric
    usable = sorted((one for one in launches if one.baseline_ns), key=_cost, reverse=True)
    total = sum(_cost(one) for one in usable)
    for launch in usable:
        launch.weight = _cost(launch) / total
    code = _search(options, usable, listener, make_session, began)
    _conclude(options, listener, parent, usable)
    return code if usable else 1


_INTERRUPTED = 130


def _ends_all(session: Session, code: int) -> bool:
    """Whether no other launch is tuned; the trouble of one launch is its own, whatever the code."""
    return code == _INTERRUPTED or (code != 0 and session.is_pool_gone)


def _run(session: Session, launch: _Launch) -> int:
    session.resume_with = f"--resume --results-dir {launch.directory.parent}"
    return session.run()


def _search(
    options: TuneOptions,
    launches: Sequence[_Launch],
    listener: TuneListener,
    make_session: Callable[[TuneOptions, float], Session],
    began: float,
) -> int:
    """Search for each launch with its share, then go on where most can still be gained."""
    weights, worst = [one.weight for one in launches], 0
    for index, launch in enumerate(launches):
        trials, timeout = _left(options, launches, began)
        if trials is not None:
            trials = share_out(trials, weights[index:])[0]
        if timeout is not None:
            timeout *= launch.weight / sum(weights[index:])
        code, is_end = _search_one(options, launch, make_session, trials, timeout)
        if is_end:
            return code
        worst = worst or code
    while (chosen := _to_go_on(options, launches, began)) is not None:
        launch, trials, timeout = chosen
        listener.note(f"going on with {launch.record.told_name}, with what other searches left")
        code, is_end = _search_one(options, launch, make_session, trials, timeout)
        if is_end:
            return code
        worst = worst or code
    return worst


def _left(
    options: TuneOptions, launches: Sequence[_Launch], began: float
) -> tuple[int | None, float | None]:
    """Return how many trials, and how many seconds, searches may still take; None: no limit."""
    trials, timeout = options.trials, options.timeout
    if trials is not None:
        trials = max(0, trials - sum(one.trials for one in launches))
    if timeout is not None:
        timeout -= time.monotonic() - began
    return trials, timeout


def _to_go_on(
    options: TuneOptions, launches: Sequence[_Launch], began: float
) -> tuple[_Launch, int | None, float | None] | None:
    """Return which launch gets what searches left that came to an end by themselves.

    It is the one that takes most of the time as it was tuned, among those whose share was used up.
    """
    trials, timeout = _left(options, launches, began)
    is_enough = (trials is not None or timeout is not None) and (
        (trials is None or trials >= _FEWEST_TRIALS)
        and (timeout is None or timeout > _LEAST_SECONDS)
    )
    found = [one for one in launches if one.is_unfinished]
    if not is_enough or not found:
        return None
    launch = max(found, key=lambda one: one.weight / one.gain)
    return launch, None if trials is None else launch.trials + trials, timeout


def _search_one(
    options: TuneOptions,
    launch: _Launch,
    make_session: Callable[[TuneOptions, float], Session],
    trials: int | None,
    timeout: float | None,
) -> tuple[int, bool]:
    """Search for a launch, from where it is; note whether its share was used up.

    Returns:
        The exit code, and whether no other launch is tuned.
    """
    own = replace(
        options,
        **_names(options, launch),
        launch_dim=_launch_dim(options, launch),
        trials=trials,
        timeout=None if timeout is None else max(0.001, timeout),
        resume=True,
        rerun_baseline=False,
    )
    session = make_session(own, launch.weight)
    code = _run(session, launch)
    launch.outcome, launch.is_unfinished = session.outcome or launch.outcome, False
    if options.optuna_storage is not None and trials is not None:
        launch.trials = trials  # of all processes that share its study
    elif session.outcome is not None:
        before, launch.trials = launch.trials, session.outcome.progress.done
        has_all = trials is not None and launch.trials >= trials
        is_cut = session.outcome.status == "timeout"
        is_cut = is_cut or (session.outcome.status == "completed" and has_all)
        launch.is_unfinished = is_cut and launch.trials > before
    return code, _ends_all(session, code)


def _launches(options: TuneOptions, parent: Path) -> list[_Launch]:
    return [
        _Launch(
            record=record,
            instance=instance,
            directory=parent / directory_name(record, instance.dynamic_hash),
            stands_for=stands_for,
        )
        for record in (one.record for one in every_launch(options.record_database, options.kernel))
        for instance, stands_for in _representatives(options, record)
    ]


def _representatives(
    options: TuneOptions, record: RecordedExecution
) -> Iterator[tuple[KernelInstance, Sequence[KernelInstance]]]:
    """Yield the launches of a kernel to tune, each with the recorded launches it represents."""
    seen: set[str] = set()
    for instance in record.values():
        if instance.dynamic_hash in seen:
            continue
        alike = with_same_dimensions(record, instance)
        if not are_others_each_time(record, alike) or asks_for_others(options, record, alike):
            yield instance, [instance]
            continue
        yield usual_launch(alike), alike
        seen.update(one.dynamic_hash for one in alike)


def _told_of(launch: _Launch) -> str:
    count = len(launch.stands_for)
    if count == 1:
        return ""
    return (
        f"{count} launches of {launch.record.demangled_name} were recorded that differ in "
        f"arguments, and there were more: {launch.instance.dynamic_hash} is tuned for all of them"
    )


def _launch_dim(options: TuneOptions, launch: _Launch) -> str:
    """Return which dimensions may change such that all represented launches can have them."""
    may = len(launch.stands_for) == 1 or differ_in_floats_only(launch.record, launch.stands_for)
    return options.launch_dim if may or options.launch_dim != "auto" else "none"


def _prepare(parent: Path, options: TuneOptions) -> None:
    store = ResultStore(parent)
    store.open(resume=True)
    try:
        write_options(parent / "config.json", _findable(options))
    finally:
        store.close()


def _findable(options: TuneOptions) -> TuneOptions:
    return replace(options, record_database=Path(options.record_database).resolve())


def _baseline_options(options: TuneOptions, launch: _Launch) -> TuneOptions:
    is_known = (launch.directory / "config.json").is_file()
    return replace(
        options,
        **_names(options, launch),
        optuna_storage=None,
        baseline_only=True,
        trials=None,
        timeout=None,
        sampler="random",
        resume=is_known,
    )


def _names(options: TuneOptions, launch: _Launch) -> dict[str, Any]:
    return {
        # Processes that share the studies of all launches have other directories.
        "study_name": f"{options.study_name}/{launch.directory.name}",
        "all": False,
        "record_database": launch.record.path,
        "kernel": None,
        "record_id": launch.instance.dynamic_hash,
        "results_dir": launch.directory,
        "proteus_output": None,
        "tolerance": launch.tolerance,
    }


def _cost(launch: _Launch) -> float:
    """Return the seconds of the application that this launch represents.

    Launches of the kernel that were not recorded because their arguments differed are added to the
    recorded ones.
    """
    recorded = launches_of(launch.record.values())
    unrecorded_too = max(1.0, int(launch.record.extras.get("Launches", 0)) / recorded)
    return launches_of(launch.stands_for) * unrecorded_too * launch.baseline_ns * _NS


def _conclude(
    options: TuneOptions, listener: TuneListener, parent: Path, launches: Sequence[_Launch]
) -> None:
    entries = [_entry(one, parent) for one in launches]
    store = ResultStore(parent)
    store.write("all.json", {"instances": entries})
    summary = Summary(directory=parent, instances=entries)
    if not options.no_proteus_output:
        try:
            _write_tuned_file(options, parent, launches, summary)
        except MnemeError as error:
            listener.warn(f"no tuned-kernels file was written: {error}")
    listener.finished_all(summary)


def _entry(launch: _Launch, parent: Path) -> dict[str, Any]:
    details = launch.outcome.details if launch.outcome is not None else {}
    return {
        "directory": str(launch.directory.relative_to(parent)),
        "kernel_name": launch.record.kernel_name,
        "demangled_name": launch.record.demangled_name,
        "place": str(launch.record.place or ""),
        "label": "/".join(launch.instance.labels),
        "record_id": launch.instance.dynamic_hash,
        "occurrences": launches_of(launch.stands_for),
        "baseline_ns": launch.baseline_ns,
        "best_ns": details.get("best_metric", launch.baseline_ns),
        "weight": launch.weight,
        "gain": details.get("gain"),
    }


def _write_tuned_file(
    options: TuneOptions, parent: Path, launches: Sequence[_Launch], summary: Summary
) -> None:
    from mneme import deploy  # noqa: PLC0415 - for the end only

    output = options.proteus_output
    path = Path(output) if output else parent / "proteus_tuned_kernels.json"
    found = [one.directory for one in launches if (one.directory / "best.json").is_file()]
    deploy.write_deployment(deploy.plan_deployment(found), path)
    summary.tuned_file = path
    of_all = deploy.plan_deployment(found, deploy.DeployOptions(use_launch=True))
    summary.launched_otherwise = sum(one.variant.launch is not None for one in of_all.deployed)


def directory_name(record: RecordedExecution, record_id: str) -> str:
    """Return a unique name for each launch; overloads and lambdas share other parts of the name."""
    code = static_hash_text(record.static_hash)[:_DIGITS_OF_CODE]
    return f"{_file_name(record.demangled_name)}-{code}-{record_id}"


def _file_name(kernel: str) -> str:
    """Return the part of a kernel's name that a file name may contain."""
    return (
        re.sub(r"[^A-Za-z0-9_.]+", "_", qualified_name(kernel)).strip("_")[:_LONGEST_NAME]
        or "kernel"
    )


def default_directory(database: str | Path) -> Path:
    """Return where results of several searches go by default."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - people read it
    return Path("mneme-tune-results") / f"{Path(database).name or 'all'}-{stamp}"
