"""The knowledge file: a table of SQLite that many processes read and write.

States of the file: not there, or empty: nothing is known, and the first who learns something makes
the table in one transaction. With our number in its header (`application_id`) and a version that is
not newer than ours: read and written. Anything else is somebody's and is left as it is.

Its rollback journal is SQLite's default one, which works on network file systems, and makes good
what a process was writing when it was killed. A lock is waited for a moment only: what cannot be
had costs an entry, never a tuning.
"""

from __future__ import annotations

import sqlite3
import stat
import struct
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from mneme.errors import ArtifactCorrupt, IoFailed
from mneme.knowledge.deadline import within
from mneme.knowledge.entry import COLUMNS, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["VERSION", "KnowledgeStore"]

VERSION: Final = 1
"""Version of the table."""

_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION: Final = 0x6D6E656D  # "mnem"
_VERSION_AT, _APPLICATION_AT, _HEADER_BYTES = 60, 68, 100
_BUSY_SECONDS: Final = 2.0
_SECONDS: Final = 6.0
# Entries of one kernel on one architecture, and of all kernels; the oldest go.
_MOST_OF_A_KERNEL: Final = 64
_MOST: Final = 5_000

_TABLE: Final = (
    "CREATE TABLE tunings (key TEXT PRIMARY KEY, kernel TEXT, demangled TEXT, static_hash TEXT, "
    "family TEXT, arch TEXT, grid TEXT, block TEXT, shared_mem INTEGER, features TEXT, "
    "baseline TEXT, baseline_ns REAL, config TEXT, params TEXT, rank INTEGER, gain REAL, "
    "low REAL, high REAL, trials INTEGER, date TEXT, version TEXT)"
)
_INDEX: Final = "CREATE INDEX tunings_of ON tunings (family, static_hash, date)"
_NAMES: Final = ", ".join(COLUMNS)
# What is known of the same configuration is replaced by what was found later.
_ADD: Final = (
    f"INSERT INTO tunings (key, {_NAMES}) VALUES (:key, {', '.join(f':{one}' for one in COLUMNS)}) "  # noqa: S608 - our own names
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in COLUMNS)} "
    "WHERE excluded.date > tunings.date"
)
_FORGET_OLD_OF_A_KERNEL: Final = (
    "DELETE FROM tunings WHERE family = ? AND static_hash = ? AND arch = ? AND key NOT IN (SELECT "
    "key FROM tunings WHERE family = ? AND static_hash = ? AND arch = ? ORDER BY date DESC LIMIT ?)"
)
_FORGET_OLD: Final = (
    "DELETE FROM tunings WHERE key NOT IN (SELECT key FROM tunings ORDER BY date DESC LIMIT ?)"
)

Result = TypeVar("Result")


class KnowledgeStore:
    """One knowledge file; it need not exist."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self.path = path

    def entries(self, family: str | None = None) -> list[Entry]:
        """Return the entries, the latest first, for one kind of device or for all.

        Raises:
            ArtifactCorrupt: If the file is damaged, somebody else's or of a newer mneme.
            IoFailed: If it cannot be read.
        """
        return self._do(lambda: self._read(family), "reading")

    def add(self, entries: Sequence[Entry]) -> int:
        """Write entries; return how many are new or newer than existing ones.

        The file and its directories are made if they are missing.

        Raises:
            ArtifactCorrupt: As `entries`; the file is left as it is.
            IoFailed: If it cannot be written, or others are writing for long.
        """
        return self._do(lambda: self._write(entries), "writing")

    def forget(self) -> None:
        """Delete the file.

        Raises:
            ArtifactCorrupt: If it is damaged or somebody else's; it is still there then.
            IoFailed: If it cannot be deleted.
        """
        self._do(self._delete, "deleting")

    def _do(self, work: Callable[[], Result], what: str) -> Result:
        def told() -> Result:
            try:
                return work()
            except sqlite3.OperationalError as error:
                raise IoFailed(f"{what} '{self.path}' failed: {error}") from error
            except sqlite3.DatabaseError as error:
                raise self._damaged(str(error)) from error
            except OSError as error:
                raise IoFailed(f"{what} '{self.path}' failed: {error.strerror}") from error

        return within(_SECONDS, told, f"{what} '{self.path}'")

    def _read(self, family: str | None) -> list[Entry]:
        if not self._is_there():
            return []
        with closing(self._connect()) as connection:
            if not self._has_table(connection):
                return []
            connection.row_factory = sqlite3.Row
            query = f"SELECT {_NAMES} FROM tunings WHERE ? IS NULL OR family = ? "  # noqa: S608
            rows = connection.execute(f"{query} ORDER BY date DESC", (family, family)).fetchall()
        return [self._entry(row) for row in rows]

    def _entry(self, row: Any) -> Entry:  # noqa: ANN401 - a row
        try:
            return Entry.from_row(row)
        except ArtifactCorrupt as error:
            raise self._damaged(str(error)) from error

    def _write(self, entries: Sequence[Entry]) -> int:
        if not self._is_there():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(self._connect(makes=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not self._has_table(connection):
                connection.execute(_TABLE)
                connection.execute(_INDEX)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            before = connection.total_changes
            connection.executemany(_ADD, [one.to_row() for one in entries])
            count = connection.total_changes - before
            for place in {(one.family, one.static_hash, one.arch) for one in entries}:
                connection.execute(_FORGET_OLD_OF_A_KERNEL, (*place, *place, _MOST_OF_A_KERNEL))
            connection.execute(_FORGET_OLD, (_MOST,))
            connection.execute("COMMIT")
        return count

    def _delete(self) -> None:
        if not self._is_there():
            return
        with closing(self._connect()) as connection:
            # No other process may be writing.
            connection.execute("BEGIN EXCLUSIVE")
            self._has_table(connection)
            self.path.unlink()

    def _is_there(self) -> bool:
        """Whether the file exists; without SQLite, which would repair files that are not ours."""
        try:
            mode = self.path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not stat.S_ISREG(mode):
            raise ArtifactCorrupt(f"'{self.path}' is not a file, so it cannot hold knowledge")
        if Path(f"{self.path}-journal").exists():
            return True  # somebody is writing, or was killed: only SQLite knows what holds
        with self.path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        if header:
            self._check_header(header)
        return True

    def _check_header(self, header: bytes) -> None:
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            raise self._foreign()
        (version,) = struct.unpack_from(">i", header, _VERSION_AT)
        (application,) = struct.unpack_from(">i", header, _APPLICATION_AT)
        self._check_numbers(application, version)

    def _check_numbers(self, application: int, version: int) -> None:
        if application != _APPLICATION:
            raise self._foreign()
        if version != VERSION:
            raise ArtifactCorrupt(
                f"'{self.path}' is a knowledge file of version {version}, and this mneme knows "
                f"version {VERSION}: take the mneme that wrote it, or name another file in "
                "MNEME_KNOWLEDGE"
            )

    def _connect(self, *, makes: bool = False) -> sqlite3.Connection:
        # Open for writing even to read, if possible: the next process that opens the file repairs
        # what a killed one was writing.
        mode = "rwc" if makes else "rw"
        place = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.text_factory = self._text
        return connection

    def _text(self, content: bytes) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise self._damaged("a text in it is not UTF-8") from error

    def _has_table(self, connection: sqlite3.Connection) -> bool:
        """Whether the table exists; an empty file has none."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not (application or version or tables):
            return False
        self._check_numbers(application, version)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(tunings)")}
        if not columns >= {"key", *COLUMNS}:
            raise self._damaged("its table has other columns")
        return True

    def _foreign(self) -> ArtifactCorrupt:
        return ArtifactCorrupt(
            f"'{self.path}' is not a knowledge file of mneme; it is left as it is: move it away, "
            "or name another file in MNEME_KNOWLEDGE"
        )

    def _damaged(self, why: str) -> ArtifactCorrupt:
        return ArtifactCorrupt(
            f"the knowledge file '{self.path}' is damaged ({why}); it is left as it is: move it "
            "away to begin a new one"
        )
