"""Which processes of a shared study are alive, so that trials of dead ones are given up.

Processes of this machine can be looked at. For others, databases have a clock, and Optuna's
heartbeats compare its times only. A journal file has neither: there each process counts, and the
others note by clocks of their own when its count last changed. Clocks of different machines are
never compared.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

__all__ = ["BEAT_SECONDS", "DEAD_AFTER_SECONDS", "OWNER_ATTRIBUTE", "Owner", "owner_of"]

OWNER_ATTRIBUTE = "mneme.owner"
"""User attribute of a trial: which process evaluates it."""

BEAT_SECONDS = 20
"""How often a process shows that it is alive."""
DEAD_AFTER_SECONDS = 120
"""After this time without a sign, a process counts as dead."""

_ALIVE_ATTRIBUTE = "mneme.alive"
_UNSIGNED_SECONDS = 600.0


def owner_of(study: Study) -> Owner:
    """Return the owner of this process's trials in a shared study."""
    interval = getattr(study._storage, "get_heartbeat_interval", lambda: None)()  # noqa: SLF001
    return _JournalOwner(study) if interval is None else Owner(study)


class Owner:
    """A process that takes part in a shared study, with Optuna's heartbeats."""

    def __init__(self, study: Study) -> None:
        """Announce that this process is alive."""
        self.name = f"{_machine()}/{os.getpid()}/{_start_time(os.getpid())}"
        self._study = study
        self._running: dict[int, Trial] = {}
        self._last = -float(BEAT_SECONDS)
        self.beat()

    def sign(self, trial: Trial) -> None:
        """Take a trial that begins."""
        self._running[trial.number] = trial
        trial.set_user_attr(OWNER_ATTRIBUTE, self.name)
        self._show(trial)

    def release(self, number: int) -> None:
        """Note that a trial has ended."""
        self._running.pop(number, None)

    def beat(self) -> None:
        """Show that this process is alive, and fail trials of dead ones; cheap if done recently."""
        now = time.monotonic()
        if now - self._last < BEAT_SECONDS:
            return
        self._last = now
        self._show_all()
        self.fail_orphans()

    def fail_orphans(self) -> None:
        """Report trials of dead processes as failed."""
        import optuna  # noqa: PLC0415

        for trial, owner in self._of_others():
            if owner is not None and _is_gone(owner):
                self._fail(trial)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=optuna.exceptions.ExperimentalWarning)
            optuna.storages.fail_stale_trials(self._study)

    def _of_others(self) -> Iterator[tuple[FrozenTrial, str | None]]:
        """Yield the trials that others evaluate, each with its owner if that is known."""
        import optuna  # noqa: PLC0415

        states = (optuna.trial.TrialState.RUNNING,)
        for trial in self._study.get_trials(deepcopy=False, states=states):
            owner = trial.user_attrs.get(OWNER_ATTRIBUTE)
            if owner != self.name and trial.number not in self._running:
                yield trial, None if owner is None else str(owner)

    def _fail(self, trial: FrozenTrial) -> None:
        import optuna  # noqa: PLC0415

        # Another process may have been quicker.
        with contextlib.suppress(ValueError, RuntimeError):
            self._study.tell(trial.number, state=optuna.trial.TrialState.FAIL)

    def _show(self, trial: Trial) -> None:
        self._study._storage.record_heartbeat(trial._trial_id)  # type: ignore[attr-defined] # noqa: SLF001

    def _show_all(self) -> None:
        for trial in self._running.values():
            self._show(trial)


class _JournalOwner(Owner):
    """A process that takes part in a study whose storage has no heartbeats."""

    def __init__(self, study: Study) -> None:
        self._beats = 0
        self._heard: dict[str, tuple[int, float]] = {}
        self._unsigned: dict[int, float] = {}
        super().__init__(study)

    def fail_orphans(self) -> None:
        beats = self._study.user_attrs
        for trial, owner in self._of_others():
            if owner is None:
                is_lost = self._is_unsigned(trial.number)
            else:
                is_lost = self._is_dead(owner, beats.get(f"{_ALIVE_ATTRIBUTE}:{owner}", 0))
            if is_lost:
                self._fail(trial)

    def _is_unsigned(self, number: int) -> bool:
        """Whether nobody has signed a trial for long."""
        since = self._unsigned.setdefault(number, time.monotonic())
        return time.monotonic() - since > _UNSIGNED_SECONDS

    def _is_dead(self, owner: str, count: int) -> bool:
        if _is_of_this_machine(owner):
            return _is_gone(owner)
        now = time.monotonic()
        known, since = self._heard.get(owner, (-1, now))
        if known != count:
            self._heard[owner] = (count, now)
            return False
        return now - since > DEAD_AFTER_SECONDS

    def _show(self, trial: Trial) -> None:
        """Do nothing: all are shown together."""

    def _show_all(self) -> None:
        self._beats += 1
        self._study.set_user_attr(f"{_ALIVE_ATTRIBUTE}:{self.name}", self._beats)


def _is_of_this_machine(owner: str) -> bool:
    return owner.rsplit("/", 2)[0] == _machine()


def _is_gone(owner: str) -> bool:
    """Whether an owner was a process of this machine and no longer lives."""
    machine, process, start = owner.rsplit("/", 2)
    return machine == _machine() and _start_time(int(process)) != start


def _machine() -> str:
    """Return what is the same for processes that see one another's process ids, and only those."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        names = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return socket.gethostname()
    return f"{socket.gethostname()}/{boot}/{names}"


def _start_time(process: int) -> str:
    """Return a process's start time, which distinguishes it from later ones with its id."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
