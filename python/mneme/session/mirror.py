"""The trials of a results directory as an Optuna study, for dashboards and reports."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mneme.search.samplers import make_sampler
from mneme.search.space_view import SpaceView
from mneme.session.finished_trials import FinishedTrials
from mneme.session.storages import journal_file, open_study
from mneme.session.studies import directions_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from optuna.trial import FrozenTrial

    from mneme.search.search_space import SearchSpace
    from mneme.session.options import TuneOptions
    from mneme.session.trials import CompletedCandidate

__all__ = ["Mirror"]

_MIRROR_BATCH = 100
_MIRROR_SECONDS = 2.0


class Mirror:
    """Keeps the trials of a results directory as an Optuna study in `study.journal`.

    `trials.jsonl` is authoritative: the journal is rebuilt from it when a session is resumed.
    """

    def __init__(self, path: Path, space: SearchSpace, options: TuneOptions) -> None:
        """Begin a journal; replaces an existing one."""
        import optuna  # noqa: PLC0415 - slow to import

        path.unlink(missing_ok=True)
        # A lock here is left over from a killed process: the results directory is ours alone.
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
        self._finished = FinishedTrials(SpaceView.of(space).dimensions(), options)
        self._waiting: list[FrozenTrial] = []
        self._written = time.monotonic()
        self._journal: Any = journal_of(path)
        self._study = open_study(
            optuna.storages.JournalStorage(self._journal),
            "mneme",
            directions_of(options),
            make_sampler("random", seed=None, is_parallel=False),
            "",
        )
        self.problem = ""

    def add(self, done: CompletedCandidate) -> None:
        """Add a trial; it may be written later."""
        trial = self._finished.of(done)
        if trial is None:
            return
        self._waiting.append(trial)
        is_late = time.monotonic() - self._written > _MIRROR_SECONDS
        if len(self._waiting) >= _MIRROR_BATCH or is_late:
            self.flush()

    def flush(self) -> None:
        """Write waiting trials; if that fails, the journal ends here."""
        self._study.add_trials(self._waiting)
        self._waiting.clear()
        self._written = time.monotonic()
        if self.problem:
            return
        try:
            self._journal.write()
        except OSError as error:
            self.problem = f"cannot write the study's journal: {error.strerror}"


def journal_of(path: Path) -> Any:  # noqa: ANN401 - a backend of Optuna
    """Return a backend that keeps a journal in memory and writes it on request.

    Optuna's own backend waits for the disk with every entry, which takes longer than a trial.
    """
    from optuna.storages.journal import BaseJournalBackend  # noqa: PLC0415 - slow to import

    class Journal(BaseJournalBackend):
        def __init__(self) -> None:
            self._file = journal_file(path)
            self._entries: list[dict[str, Any]] = []
            self._written = 0

        def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
            return self._entries[log_number_from:]

        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            self._entries.extend(logs)

        def write(self) -> None:
            self._file.append_logs(self._entries[self._written :])
            self._written = len(self._entries)

    return Journal()
