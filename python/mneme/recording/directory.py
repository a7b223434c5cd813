"""A recording directory: the kernels of one or more recorded runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from mneme.errors import ArtifactCorrupt, IoFailed, NotFound
from mneme.recording.choice import choose_among, fitting_among
from mneme.recording.recorded_execution import RecordedExecution

__all__ = ["Recording"]


class Recording(Mapping[str, RecordedExecution]):
    """The records of a directory, by static hash. Unreadable ones are listed in `damaged`."""

    def __init__(self, path: str | Path) -> None:
        """Read every record in `path`.

        Raises:
            NotFound: If it is not a directory.
        """
        self.path = Path(path)
        """The directory."""
        if not self.path.is_dir():
            raise NotFound(f"'{self.path}' is not a directory")
        from mneme import _native  # noqa: PLC0415 - loads native code

        listing = _native.list_directory(str(self.path))
        self.unfinished = [Path(name) for name in listing["unfinished"]]
        """Files of sessions that still run or were killed."""
        self.notes = [str(note) for note in listing["notes"]]
        """What could not be recorded, one sentence each."""
        self.damaged: dict[Path, str] = {}
        """Record files that cannot be read, with the reason."""
        self._records: dict[str, RecordedExecution] = {}
        for name in listing["records"]:
            self._add(Path(name))

    def _add(self, path: Path) -> None:
        from mneme import _native  # noqa: PLC0415 - loads native code

        try:
            # The runtime also checks the checksum.
            _native.load_record(str(path))
            record = RecordedExecution.from_json(path)
        except (ArtifactCorrupt, IoFailed, NotFound) as error:
            self.damaged[path] = str(error)
        else:
            self._records[record.static_hash] = record

    def kernel(self, name: str) -> RecordedExecution:
        """Return the one record that a name, a place, a label or a hash means.

        What fits is what fits KERNEL on the command line (`mneme.kernel_choice.fitting`).

        Raises:
            NotFound: If there is none.
            InvalidArgument: If there are several.
        """
        records, damaged = list(self.values()), len(self.damaged)
        return choose_among(records, name, None, recording=self.path, damaged=damaged).record

    def fitting(self, name: str) -> list[RecordedExecution]:
        """Return every record that such a text means.

        Raises:
            NotFound: If there is none.
        """
        records, damaged = list(self.values()), len(self.damaged)
        return fitting_among(records, name, recording=self.path, damaged=damaged)

    def __getitem__(self, static_hash: str | int) -> RecordedExecution:
        return self._records[str(static_hash)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)
