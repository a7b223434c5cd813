"""`mneme replay --all` and `--on`: several launches, here or on other machines."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from mneme.cli import _console, _replay_output
from mneme.cli._recording import Words, chosen_launch
from mneme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.measure.many_replays import Replay
    from mneme.measure.measuring import HowToReplay
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["Place", "replay_many"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where replays run."""

    on: str | None
    """As in `--on`; None: here."""

    cluster: Sequence[str]
    """As in `--cluster`."""


def replay_many(
    words: Words,
    record_id: str | None,
    configure: Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration],
    how: HowToReplay,
    place: Place,
    *,
    takes_all: bool,
) -> ExitCode:
    """Replay launches, print each result, and return the exit code of the worst.

    Args:
        words: The recording and, if named, the kernel.
        record_id: As in `-rid`.
        configure: Returns how a launch is compiled and launched.
        how: How it is measured.
        place: Where.
        takes_all: Whether every launch is meant, not one.
    """
    from mneme.measure.cluster import open_cluster  # noqa: PLC0415 - `--help` stays light
    from mneme.measure.many_replays import replay_launches  # noqa: PLC0415

    if takes_all and record_id is not None:
        raise typer.BadParameter("--all means every launch, and -rid names one; leave one out")
    launches = _every(words) if takes_all else [_one(words, record_id)]
    shown: list[dict[str, object]] = []
    codes: list[ExitCode] = []
    with (
        warnings.catch_warnings(),
        open_cluster(
            place.on, cluster_options=place.cluster, device=how.device, report=_console.say
        ) as pool,
    ):
        warnings.showwarning = _say_once()
        for done in replay_launches(launches, configure, how, pool):
            told = _replay_output.to_json(done.config, done.result)
            shown.append({**_names(done), **told} if takes_all else told)
            name = f"{done.record.told_name} {done.instance.dynamic_hash}: " if takes_all else ""
            codes.append(
                _replay_output.tell(done.config, done.result, instance=done.instance, name=name)
            )
    _console.print_json(shown if takes_all else shown[0])
    if takes_all:
        right = sum(code is ExitCode.OK for code in codes)
        _console.say(f"{right} of {len(codes)} launches are verified")
    return max(codes)


def _every(words: Words) -> list[tuple[RecordedExecution, KernelInstance]]:
    from mneme.recording.records import every_launch  # noqa: PLC0415 - `--help` stays light

    found = every_launch(words.recording, words.kernel)
    return [(one.record, launch) for one in found for launch in one.launches]


def _one(words: Words, record_id: str | None) -> tuple[RecordedExecution, KernelInstance]:
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

    path, found_id = chosen_launch(words, record_id)
    record = RecordedExecution.from_json(path)
    return record, record[found_id]


def _names(done: Replay) -> dict[str, object]:
    return {
        "kernel": done.record.kernel_name,
        "demangled": done.record.demangled_name,
        "place": str(done.record.place or ""),
        "record": str(done.record.path),
        "record_id": done.instance.dynamic_hash,
    }


def _say_once() -> Callable[..., None]:
    """Return what shows warnings: each once, though every launch looks at the processes anew."""
    told: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in told:
            told.add(str(message))
            _console.say(str(message))

    return show
