"""The results directory of a tuning session.

Trials are appended line by line, each with one write, so that a killed process loses no finished
trial; a torn last line is ignored. Every other file is replaced by one rename.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_own_text
from mneme.files.regular_file import read_bytes
from mneme.session.trials import CompletedCandidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

__all__ = ["ResultStore", "read_trials", "refuse_earlier_trials"]

_TRIALS = "trials.jsonl"


class ResultStore:
    """Writes and reads one results directory; one process at a time."""

    def __init__(self, directory: str | Path) -> None:
        """Name a directory; nothing is made or read yet."""
        self.directory = Path(directory)
        """The directory."""
        self.problem = ""
        """Why something could not be written; empty if everything was."""
        self._lock = -1
        self._trials = -1
        self._pending = bytearray()

    def open(self, *, resume: bool = False) -> None:
        """Make the directory and lock it.

        Args:
            resume: Continue with its trials; otherwise it must not contain any.

        Raises:
            InvalidArgument: If it holds trials, or another session writes to it.
            IoFailed: If the operating system refuses.
        """
        try:
            (self.directory / "logs").mkdir(parents=True, exist_ok=True)
            (self.directory / "logs" / "tune.log").touch()
            self._lock = os.open(
                self.directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644
            )
        except OSError as error:
            raise IoFailed(
                f"cannot write to the results directory '{self.directory}': {error.strerror}"
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise InvalidArgument(
                f"another 'mneme tune' writes to '{self.directory}'; give each its own "
                "--results-dir (they can share a study with --optuna-storage)"
            ) from error
        if not resume:
            try:
                refuse_earlier_trials(self.directory)
            except InvalidArgument:
                self.close()
                raise
        self._open_trials(self.directory / _TRIALS)

    def _open_trials(self, path: Path) -> None:
        try:
            # A planted link would redirect trials to another file; a device would not keep them.
            leads_away = path.is_symlink() and (path.is_file() or not path.exists())
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_NOFOLLOW if leads_away else 0)
            self._trials = os.open(path, flags, 0o644)
            size = os.fstat(self._trials).st_size
            if size and os.pread(self._trials, 1, size - 1) != b"\n":
                # A torn line stays a separate line.
                self._pending += b"\n"
        except OSError as error:
            raise IoFailed(f"cannot open '{path}': {error.strerror}") from error

    def close(self) -> None:
        """Write waiting trials and unlock the directory; further calls do nothing."""
        self._flush()
        for descriptor in (self._trials, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._trials = self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, done: CompletedCandidate) -> None:
        """Add a trial. If the disk is full, it is kept and written with a later one."""
        line = json.dumps(done.to_dict(), sort_keys=True, default=str)
        self._pending += line.encode() + b"\n"
        self._flush()

    def _flush(self) -> None:
        if not self._pending or self._trials < 0:
            return
        try:
            while self._pending:
                written = os.write(self._trials, self._pending)
                del self._pending[:written]
        except OSError as error:
            self.problem = f"cannot write to '{self.directory / _TRIALS}': {error.strerror}"
        else:
            self.problem = ""

    @property
    def unwritten(self) -> int:
        """Number of trials that are in memory only."""
        return self._pending.count(b"\n")

    def trials(self) -> list[CompletedCandidate]:
        """Return the trials of earlier runs, torn lines left out."""
        return read_trials(self.directory)

    def write(self, name: str, content: Mapping[str, Any], *, is_private: bool = False) -> None:
        """Replace a JSON file, which only its owner may read if it is private.

        Raises:
            IoFailed: If the operating system refuses; the old file then stays.
        """
        text = json.dumps(content, indent=2, default=str) + "\n"
        publish_own_text(self.directory / name, text, is_private=is_private)

    def write_text(self, name: str, text: str) -> None:
        """Replace a file; see `write`."""
        publish_own_text(self.directory / name, text)

    def read(self, name: str) -> dict[str, Any] | None:
        """Return a JSON file, None if there is none.

        Raises:
            ArtifactCorrupt: If it is damaged.
            IoFailed: If the operating system refuses to read it.
        """
        try:
            return read_json_object(self.directory / name)
        except NotFound:
            return None
        except ArtifactCorrupt as error:
            raise ArtifactCorrupt(f"{error}; remove it to go on, it is made again") from error

    def log(self, sentence: str) -> None:
        """Add a line to `logs/tune.log`; failed writes are ignored."""
        from datetime import datetime, timezone  # noqa: PLC0415 - for the log only

        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        try:
            with (self.directory / "logs" / "tune.log").open("a", encoding="utf-8") as file:
                file.write(f"{now} {sentence}\n")
        except OSError:
            return


def refuse_earlier_trials(directory: Path) -> None:
    """Make sure that a results directory contains no trials.

    Raises:
        InvalidArgument: If it does.
    """
    trials = directory / _TRIALS
    if trials.exists() and trials.stat().st_size:
        raise InvalidArgument(
            f"'{directory}' holds trials of an earlier run; add --resume to go on with it, or name "
            "another --results-dir"
        )


def read_trials(directory: str | Path) -> list[CompletedCandidate]:
    """Return the trials of a results directory in the order they finished, torn lines left out.

    Raises:
        IoFailed: If the operating system refuses to read them.
    """
    path = Path(directory) / _TRIALS
    try:
        lines = read_bytes(path).split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    found: dict[int, CompletedCandidate] = {}
    for line in lines:
        try:
            done = CompletedCandidate.from_dict(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        # An interrupt between writing and noting it can leave a line twice.
        found[done.candidate.trial] = done
    return list(found.values())
