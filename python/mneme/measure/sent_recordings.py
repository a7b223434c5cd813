"""Recordings that are sent to nodes which do not see the file system they are in.

Only files that the launch needs are sent, once to each host, in pieces. The host checks their
content, and keeps them in its temporary directory (TMPDIR) until the search ends, or the process
that received them.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument, IoFailed
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Package", "digest_of", "find_sent", "pack", "remove_sent", "send"]

_PIECE_BYTES = 8 << 20
# Snapshots are shared by launches; a launch needs some of them only.
_SNAPSHOT = ".mneme"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The files of one launch."""

    directory: str
    """Where they are here."""

    name: str
    """The record file's digest; the directory on the node is called so."""

    digests: dict[str, str]
    """The digest of each file, by name; the record file is the last."""

    bytes: int
    """The size of all."""


def digest_of(file: str | Path) -> str:
    """Return a digest of a file's content.

    Raises:
        OSError: If it cannot be read.
    """
    found = hashlib.blake2b(digest_size=16)
    with Path(file).open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            found.update(piece)
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
    for state in (instance.prologue.fn, instance.epilogue.fn):
        snapshot = _native.Snapshot(str(state))
        needed.update(Path(state).parent / one for one in snapshot.needed_files())
    files = [path.parent / one for one in sorted(needed - {path})] + [path]
    if any(one.absolute().parent != path.parent for one in files):
        raise InvalidArgument(
            f"'{path}' has files in other directories and cannot be sent; 'mneme copy' makes a "
            "recording of one directory"
        )
    return Package(
        directory=str(path.parent),
        name=digest_of(path),
        digests={one.name: digest_of(one) for one in files},
        bytes=sum(one.stat().st_size for one in files),
    )


def send(package: Package, sender: str, run: Callable[..., Any]) -> None:
    """Send the files to a node.

    Args:
        package: What is sent.
        sender: Unique per search; `remove_sent` takes it.
        run: Calls a function there, with these arguments.

    Raises:
        IoFailed: If there is too little room, or what arrives differs.
    """
    run(_begin, sender, package.name, package.bytes)
    for name in package.digests:
        for offset, piece in _pieces(Path(package.directory) / name):
            run(_receive, sender, package.name, name, offset, piece)
    run(_finish, sender, package.name, package.digests)


def _pieces(file: Path) -> Iterator[tuple[int, bytes]]:
    offset = 0
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            yield offset, piece
            offset += len(piece)


def _sender_directory(sender: str) -> Path:
    """Return the directory of a search in this machine's temporary directory; it is the user's."""
    parent = Path(tempfile.gettempdir()) / f"mneme-{os.getuid()}-recordings"
    parent.mkdir(mode=0o700, exist_ok=True)
    if parent.is_symlink() or parent.stat().st_uid != os.getuid():
        raise IoFailed(f"'{parent}' belongs to another user; remove it, or set TMPDIR")
    return parent / Path(sender).name


def find_sent(sender: str, name: str, record_file: str) -> Path | None:
    """Return the record file that was sent to this machine; None if none was."""
    file = _sender_directory(sender) / name / Path(record_file).name
    return file if file.is_file() else None


def _begin(sender: str, name: str, size: int) -> None:
    directory = _sender_directory(sender)
    partial = directory / f"{name}.part"
    shutil.rmtree(partial, ignore_errors=True)
    free = shutil.disk_usage(directory.parent).free
    if free < size:
        raise IoFailed(
            f"the recording needs {size >> 20} MiB in '{directory.parent}', which has "
            f"{free >> 20} MiB left; set TMPDIR to a place with more"
        )
    partial.mkdir(parents=True)
    atexit.register(remove_sent, sender)


def _receive(sender: str, name: str, file: str, offset: int, piece: bytes) -> None:
    with (_sender_directory(sender) / f"{name}.part" / Path(file).name).open("ab") as stream:
        stream.truncate(offset)  # a piece may come twice
        stream.write(piece)


def _finish(sender: str, name: str, digests: dict[str, str]) -> None:
    directory = _sender_directory(sender)
    partial = directory / f"{name}.part"
    for file, digest in digests.items():
        if digest_of(partial / Path(file).name) != digest:
            raise IoFailed(f"'{file}' arrived damaged; start the search again")
    partial.rename(directory / name)


def remove_sent(sender: str) -> None:
    """Remove what a search has sent to this machine."""
    shutil.rmtree(_sender_directory(sender), ignore_errors=True)
