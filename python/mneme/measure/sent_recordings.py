"""Recordings that are sent to nodes which do not see the file system they are in.

Only what the launch needs is sent, once to each host, in pieces: of snapshots, which launches
share, the parts with its memory, as far as no other launch has brought them. The rest of these
files is a hole there. The host checks what it
received, and keeps it in its temporary directory (TMPDIR) until the search ends, or the last
process there that uses it. What killed processes left is removed when the next search looks at it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument, IoFailed
from mneme.files.scratch import ScratchDirectory, can_be_locked, hold, host_in_names, remove_left
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Package",
    "digest_of",
    "find_sent",
    "pack",
    "remove_killed",
    "remove_sent",
    "send",
    "sent_name",
]

_PIECE_BYTES = 8 << 20
# Snapshots are shared by launches; a launch needs some of them only.
_SNAPSHOT = ".mneme"
# Where a node keeps the files; those of a launch are links to them.
_SHARED = "files"
# What a launch that is sent in part is called there, after the launch.
_PART = "-part"
# By search: a descriptor that keeps other processes from removing what this one uses.
_held: dict[str, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """What is sent of a file."""

    size: int
    """The size of the file."""

    ranges: tuple[tuple[int, int], ...]
    """Offsets and sizes, ascending."""

    digest: str
    """The digest of these bytes."""

    key: str
    """Names the file on nodes: equal for all launches while it does not change."""

    @property
    def bytes(self) -> int:
        """The size of what is sent."""
        return sum(size for _, size in self.ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The files of one launch."""

    directory: str
    """Where they are here."""

    name: str
    """The record file's digest and the launch; the directory on the node is called so."""

    files: dict[str, SentFile]
    """By name; the record file is the last."""

    scratch: ScratchDirectory | None = None
    """What is removed with this; None: the files are the recording's own."""

    @property
    def is_part(self) -> bool:
        """Whether memory is left out to which no pointer leads."""
        return self.name.endswith(_PART)

    @property
    def bytes(self) -> int:
        """The size of what is sent."""
        return sum(one.bytes for one in self.files.values())


def digest_of(file: str | Path) -> str:
    """Return a digest of a file's content.

    Raises:
        OSError: If it cannot be read.
    """
    return _digest_of_parts(Path(file), ((0, Path(file).stat().st_size),))


def sent_name(digest: str, record_id: str | None, *, is_part: bool = False) -> str:
    """Return what a launch is called on nodes: other launches of its kernel need other bytes."""
    return f"{digest}-{record_id}{_PART if is_part else ''}"


def _digest_of_parts(file: Path, ranges: Iterable[tuple[int, int]]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for parts in _pieces(file, ranges):
        for _, content in parts:
            found.update(content)
    return found.hexdigest()


def pack(record_file: str | Path, record_id: str) -> Package:
    """Find the files of a launch.

    Raises:
        InvalidArgument: If it has files in other directories.
        NotFound, ArtifactCorrupt: As `RecordedExecution.from_json`.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    path = Path(record_file).absolute()
    instance = RecordedExecution.from_json(path).get(record_id)
    needed = {Path(one) for one in _native.files_of(str(path)) if not one.endswith(_SNAPSHOT)}
    parts: dict[Path, list[tuple[int, int]]] = {}
    for state in (instance.prologue.fn, instance.epilogue.fn):
        for name, ranges in _native.Snapshot(str(state)).needed_ranges().items():
            parts.setdefault(path.parent / Path(state).parent / name, []).extend(ranges)
    files = [path.parent / one for one in sorted({*needed, *parts} - {path})] + [path]
    if any(one.absolute().parent != path.parent for one in files):
        raise InvalidArgument(
            f"'{path}' has files in other directories and cannot be sent; 'mneme copy' makes a "
            "recording of one directory"
        )
    return Package(
        directory=str(path.parent),
        name=sent_name(digest_of(path), record_id),
        files={one.name: _sent_file(one, parts.get(one)) for one in files},
    )


def _sent_file(file: Path, parts: list[tuple[int, int]] | None) -> SentFile:
    """Return what is sent of a file: the parts, or all."""
    status = file.stat()
    ranges = ((0, status.st_size),) if parts is None else _joined(parts)
    version = f"{status.st_size} {status.st_mtime_ns} {file.resolve()}"
    key = hashlib.blake2b(version.encode(), digest_size=16).hexdigest()
    digest = _digest_of_parts(file, ranges)
    return SentFile(size=status.st_size, ranges=ranges, digest=digest, key=key)


def _joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for offset, size in sorted(ranges):
        begin, end = found[-1] if found else (0, -1)
        if offset <= end:
            found[-1] = (begin, max(end, offset + size))
        else:
            found.append((offset, offset + size))
    return tuple((begin, end - begin) for begin, end in found)


def _without(
    ranges: Iterable[tuple[int, int]], known: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return ranges without those that are known; both ascend."""
    found: list[tuple[int, int]] = []
    others = list(known)
    for offset, size in ranges:
        at, end = offset, offset + size
        for begin, length in others:
            if begin < end and begin + length > at:
                found.append((at, begin - at))
                at = begin + length
        found.append((at, end - at))
    return tuple((at, size) for at, size in found if size > 0)


def send(package: Package, sender: str, run: Callable[..., Any]) -> None:
    """Send the files to a node.

    Args:
        package: What is sent.
        sender: Unique per search; `remove_sent` takes it.
        run: Calls a function there, with these arguments.

    Raises:
        IoFailed: If there is too little room, or what arrives differs.
    """
    missing = run(_begin, sender, package.name, package.files)
    for name, one in package.files.items():
        for parts in _pieces(Path(package.directory) / name, missing[name]):
            run(_receive, sender, one.key, parts)
    run(_finish, sender, package.name, package.files)


def _pieces(file: Path, ranges: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield offsets and contents of ranges, about _PIECE_BYTES together."""
    parts: list[tuple[int, bytes]] = []
    room = _PIECE_BYTES
    with file.open("rb") as stream:
        for offset, size in ranges:
            at, end = offset, offset + size
            stream.seek(at)
            while at < end and (content := stream.read(min(room, end - at))):
                parts.append((at, content))
                at, room = at + len(content), room - len(content)
                if room == 0:
                    yield parts
                    parts, room = [], _PIECE_BYTES
    if parts:
        yield parts


def _parent() -> Path:
    """Return where this user's searches keep what they send to this machine; it may be missing."""
    return Path(tempfile.gettempdir()) / f"mneme-{os.getuid()}-recordings-{host_in_names()}"


def _sender_directory(sender: str) -> Path:
    """Return the directory of a search in this machine's temporary directory; it is the user's."""
    parent = _parent()
    parent.mkdir(mode=0o700, exist_ok=True)
    if parent.is_symlink() or parent.stat().st_uid != os.getuid():
        raise IoFailed(f"'{parent}' belongs to another user; remove it, or set TMPDIR")
    return parent / Path(sender).name


def remove_killed(keep: str) -> None:
    """Remove what was sent to this machine for processes that were killed.

    Args:
        keep: A search that goes on, though its process here may have been killed; empty: none.
    """
    if _parent().is_dir():
        with contextlib.suppress(IoFailed, OSError):
            kept = _sender_directory(keep)
            remove_left(one for one in _parent().iterdir() if one != kept)


def find_sent(sender: str, name: str, record_file: str) -> Path | None:
    """Return the record file that was sent to this machine; None if none was."""
    file = _sender_directory(sender) / name / Path(record_file).name
    return file if file.is_file() and _hold(sender) and file.is_file() else None


def _hold(sender: str) -> bool:
    """Keep what a search has sent to this machine while this process lives.

    Returns whether no other process removes it.
    """
    directory = _sender_directory(sender)
    if sender not in _held and (lock := hold(directory)) >= 0:
        _held[sender] = lock
        atexit.register(remove_sent, sender)
    return sender in _held or not can_be_locked(directory)


# Each time another process may remove the directory before it is locked.
_ATTEMPTS = 20
_PAUSE_SECONDS = 0.5


def _begin(
    sender: str, name: str, files: dict[str, SentFile]
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Prepare for files; return which parts of each are not here yet."""
    directory = _sender_directory(sender)
    partial = directory / f"{name}.part"
    shutil.rmtree(partial, ignore_errors=True)
    missing = {file: _without(one.ranges, _known(sender, one)) for file, one in files.items()}
    size = sum(length for ranges in missing.values() for _, length in ranges)
    free = shutil.disk_usage(directory.parent).free
    if free < size:
        raise IoFailed(
            f"the recording needs {size >> 20} MiB in '{directory.parent}', which has "
            f"{free >> 20} MiB left; set TMPDIR to a place with more"
        )
    _make_held(sender, partial)
    (directory / _SHARED).mkdir(exist_ok=True)
    return missing


def _make_held(sender: str, partial: Path) -> None:
    """Make a directory of a search: others take what nobody holds for what was left."""
    for _ in range(_ATTEMPTS):
        partial.mkdir(parents=True, exist_ok=True)
        if _hold(sender) and partial.is_dir():
            return
        time.sleep(_PAUSE_SECONDS)
    raise IoFailed(f"another process is removing '{partial.parent}'; start the search again")


def _shared_file(sender: str, key: str) -> Path:
    return _sender_directory(sender) / _SHARED / Path(key).name


def _known(sender: str, one: SentFile) -> tuple[tuple[int, int], ...]:
    """Return which parts of a file are here, and were checked."""
    try:
        found = json.loads(_shared_file(sender, f"{one.key}.json").read_text())
    except OSError:
        return ()
    return tuple((begin, size) for begin, size in found)


def _receive(sender: str, key: str, parts: list[tuple[int, bytes]]) -> None:
    path = _shared_file(sender, key)
    path.touch()
    with path.open("r+b") as stream:  # parts may come twice
        for offset, content in parts:
            stream.seek(offset)
            stream.write(content)


def _finish(sender: str, name: str, files: dict[str, SentFile]) -> None:
    directory = _sender_directory(sender)
    partial = directory / f"{name}.part"
    for file, one in files.items():
        path, known = _shared_file(sender, one.key), _shared_file(sender, f"{one.key}.json")
        path.touch()
        os.truncate(path, one.size)
        if _digest_of_parts(path, one.ranges) != one.digest:
            known.unlink(missing_ok=True)
            raise IoFailed(f"'{file}' arrived damaged; start the search again")
        os.link(path, partial / Path(file).name)
        known.write_text(json.dumps(_joined([*_known(sender, one), *one.ranges])))
    partial.rename(directory / name)
    shutil.rmtree(directory / f"{name}{_PART}", ignore_errors=True)  # it did not replay


def remove_sent(sender: str) -> None:
    """Remove what a search has sent to this machine, unless another process uses it still."""
    lock = _held.pop(sender, -1)
    if lock >= 0:
        os.close(lock)
    directory = _sender_directory(sender)
    remove_left([directory])
    with contextlib.suppress(OSError):  # other searches may have sent something
        directory.parent.rmdir()
