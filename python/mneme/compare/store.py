"""The results directory of a comparison: a line for each finished launch, written at once.

A killed process loses no finished launch; a torn last line is ignored and measured again.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from typing import TYPE_CHECKING, Any

from mneme.compare.results import CaseResult
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_own_text
from mneme.files.regular_file import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

__all__ = ["CompareStore"]

_HEAD = "compare.json"
_LINES = "kernels.jsonl"
_VERSION = 1
_WORDS = {
    "variants": "other variants",
    "rounds": "another number of rounds",
    "iterations": "another number of launches in a round",
    "warmup": "another number of launches before those",
    "tolerances": "other tolerances",
    "is_cold": "other caches",
    "restores_always": "memory restored before other launches",
    "measures_equal": "another rule for equal code",
    "devices": "another device",
}


class CompareStore:
    """Writes and reads one results directory; one process at a time, any thread of it."""

    def __init__(self, directory: Path) -> None:
        """Name a directory; nothing is made or read yet."""
        self.directory = directory
        """The directory."""
        self._lock = threading.Lock()
        self._file = self._lines = -1

    @property
    def logs(self) -> Path:
        """Where processes print to."""
        return self.directory / "logs"

    def open(self, *, resume: bool) -> dict[str, Any] | None:
        """Make the directory and lock it; return what an earlier run was about.

        Args:
            resume: Continue with its results; otherwise it must not have any.

        Raises:
            InvalidArgument: If it holds results, or another process writes to it.
            NotFound: If there is nothing to resume.
            ArtifactCorrupt: If its head cannot be understood.
            IoFailed: If the operating system refuses.
        """
        if resume and not (self.directory / _HEAD).is_file():
            raise NotFound(f"there is nothing to resume: '{self.directory}' holds no comparison")
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self.directory / ".lock", flags, 0o644)
        except OSError as error:
            raise IoFailed(
                f"cannot write to the results directory '{self.directory}': {error.strerror}"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InvalidArgument(
                f"another 'mneme compare' writes to '{self.directory}'; give each its own "
                "--results-dir"
            ) from error
        if not (self.directory / _HEAD).is_file():
            return None
        if not resume:
            raise InvalidArgument(
                f"'{self.directory}' already holds a comparison; continue it with --resume, or "
                "name another --results-dir"
            )
        head = read_json_object(self.directory / _HEAD)
        if head.get("version") != _VERSION or not isinstance(head.get("identity"), dict):
            raise ArtifactCorrupt(
                f"'{self.directory / _HEAD}' is not of a comparison that this mneme can continue"
            )
        return head

    def begin(self, head: dict[str, Any], earlier: dict[str, Any] | None) -> list[CaseResult]:
        """Write what this run is about; return the finished launches of earlier ones.

        Raises:
            InvalidArgument: If the earlier run was about something else.
            IoFailed: If the operating system refuses.
        """
        done: list[CaseResult] = []
        if earlier is None:
            text = json.dumps({"version": _VERSION, **head}, indent=2)
            publish_own_text(self.directory / _HEAD, text + "\n")
        else:
            self._check(earlier["identity"], json.loads(json.dumps(head["identity"])))
            done = self._read()
        path = self.directory / _LINES
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lines = os.open(path, flags, 0o644)
            size = os.fstat(self._lines).st_size
            if size and os.pread(self._lines, 1, size - 1) != b"\n":
                os.write(self._lines, b"\n")  # a torn line stays a line of its own
        except OSError as error:
            raise IoFailed(f"cannot open '{path}': {error.strerror}") from error
        return done

    def append(self, result: CaseResult) -> None:
        """Keep a finished launch.

        Raises:
            IoFailed: If the operating system refuses.
        """
        line = json.dumps(result.to_dict()).encode() + b"\n"
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._lines, line) :]
            except OSError as error:
                raise IoFailed(
                    f"cannot write to '{self.directory / _LINES}': {error.strerror}"
                ) from error

    def close(self) -> None:
        """Unlock the directory; further calls do nothing."""
        for descriptor in (self._lines, self._file):
            if descriptor >= 0:
                os.close(descriptor)
        self._lines = self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, earlier: dict[str, Any], now: dict[str, Any]) -> None:
        other = [words for key, words in _WORDS.items() if earlier.get(key) != now.get(key)]
        if other:
            raise InvalidArgument(
                f"'{self.directory}' cannot be resumed: it was made with {', '.join(other)}; name "
                "another --results-dir"
            )

    def _read(self) -> list[CaseResult]:
        try:
            lines = read_bytes(self.directory / _LINES).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise IoFailed(f"cannot read '{self.directory / _LINES}': {error.strerror}") from error
        found: dict[tuple[str, str], CaseResult] = {}
        for line in lines:
            try:
                one = CaseResult.from_dict(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue  # torn
            found[one.key] = one
        return list(found.values())
