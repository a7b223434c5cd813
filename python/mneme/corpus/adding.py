"""Adds a recording to a corpus: all of it or nothing, and nothing twice."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.corpus.digests import damage_of, fact_of, locked
from mneme.corpus.manifest import (
    ENTRY_NAME,
    MANIFEST_NAME,
    PROGRAMS,
    STAGING,
    Entry,
    FileFact,
    Kernel,
    Manifest,
    read_manifest,
)
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound

if TYPE_CHECKING:
    from mneme.corpus.labels import Labels
    from mneme.recording.recorded_execution import RecordedExecution

__all__ = ["Added", "add_recording"]

_NAME_DIGITS: Final = 12
_READ_ONLY: Final = 0o444


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What adding a recording did."""

    entry: Entry
    is_new: bool
    """False if the same recording of the same program was there."""
    is_relabelled: bool = False
    """True if it was there with other labels, which are replaced by the new ones."""
    shared_files: int
    """Files whose content was there; they take no space."""
    shared_bytes: int
    same_code: dict[str, tuple[str, ...]]
    """Programs that have a kernel with the same code, by the kernel's name."""
    repaired: tuple[str, ...] = ()
    """Files of the corpus that were damaged or missing, and have their content again."""


def add_recording(corpus: str | Path, recording: str | Path, labels: Labels) -> Added:
    """Add a recording; the corpus is made if there is none.

    Its files are copied and checked. Those whose content the corpus has become hard links. Adding a
    recording again repairs what was damaged of it, and changes the labels that are given.

    Args:
        corpus: The corpus, a directory.
        recording: A recording directory, or a record in one.
        labels: Its labels in the corpus; the GPU is taken from the recording if not given.

    Raises:
        NotFound: If there is no such recording, or nothing in it.
        InvalidArgument: If it is being written, or the directory is not a corpus.
        ArtifactCorrupt: If the recording or the corpus is damaged.
        IoFailed: If the operating system refuses, or another process changes the corpus.
    """
    place = Path(corpus)
    records = _records_of(Path(recording))
    _make(place)
    with locked(place):
        manifest = read_manifest(place) if (place / MANIFEST_NAME).exists() else Manifest()
        _sweep(place, manifest)
        staging = place / f"{STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            return _add(place, manifest, records, staging, labels)
        except OSError as error:
            raise IoFailed(f"cannot add '{recording}' to '{corpus}': {error.strerror}") from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _records_of(recording: Path) -> list[RecordedExecution]:
    from mneme.recording.directory import Recording  # noqa: PLC0415 - loads native code

    directory = recording if recording.is_dir() else recording.parent
    opened = Recording(directory)
    running = [note for note in opened.notes if _is_running(note)]
    if running:
        raise InvalidArgument(
            f"'{directory}' is being written: {running[0]}; add it when that has ended"
        )
    if recording.is_dir():
        if opened.damaged:
            raise ArtifactCorrupt(next(iter(opened.damaged.values())))
        records = list(opened.values())
    else:
        from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

        records = [RecordedExecution.from_json(recording)]
    if not any(len(one) for one in records):
        raise NotFound(f"'{recording}' holds no recorded launch; 'mneme ls' says what it holds")
    return records


def _is_running(note: str) -> bool:
    """Whether a session writes, or may write, by what the runtime says of its file."""
    return note.endswith((" is still running", " runs or was killed there"))


def _make(corpus: Path) -> None:
    try:
        corpus.mkdir(parents=True, exist_ok=True)
        names = {one.name for one in corpus.iterdir()}
    except OSError as error:
        raise IoFailed(f"cannot make the corpus '{corpus}': {error.strerror}") from error
    strange = {one for one in names if one != PROGRAMS and not one.startswith(STAGING)}
    if strange and MANIFEST_NAME not in names:
        raise InvalidArgument(
            f"'{corpus}' is not a corpus: it has no corpus.json, but '{min(strange)}'; name a new "
            "directory or an empty one"
        )


def _sweep(corpus: Path, manifest: Manifest) -> None:
    """Delete what additions left behind that were killed; nobody else has the lock."""
    known = {one.path for one in manifest.entries}
    for path in corpus.glob(f"{STAGING}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in (corpus / PROGRAMS).glob("*/*"):
        is_entry = ENTRY_NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        if is_entry and path.relative_to(corpus).as_posix() not in known:
            shutil.rmtree(path)


def _add(
    corpus: Path,
    manifest: Manifest,
    records: list[RecordedExecution],
    staging: Path,
    labels: Labels,
) -> Added:
    from mneme import _native  # noqa: PLC0415 - loads native code

    _native.copy_records([str(one.path) for one in records], str(staging))
    files = {path.name: fact_of(path) for path in sorted(staging.iterdir())}
    entry = Entry(
        name=_name_of(files),
        labels=labels if labels.gpu else replace(labels, gpu=_gpu_of(records)),
        kernels=_kernels_of(records),
        files=files,
    )
    same_code = _same_code(manifest, entry)
    for known in manifest.entries:
        if known.path == entry.path:
            relabelled = replace(known, labels=known.labels.updated(labels))
            if relabelled != known:
                manifest.with_entry(relabelled).publish(corpus)
            return Added(
                entry=relabelled,
                is_new=False,
                is_relabelled=relabelled != known,
                shared_files=0,
                shared_bytes=0,
                same_code=same_code,
                repaired=_repair(corpus, manifest, staging, files),
            )
    shared = _share(corpus, manifest, staging, files)
    target = corpus / entry.path
    target.parent.mkdir(parents=True, exist_ok=True)
    staging.rename(target)
    manifest.with_entry(entry).publish(corpus)
    return Added(
        entry=entry,
        is_new=True,
        shared_files=len(shared),
        shared_bytes=sum(files[name].size_bytes for name in shared),
        same_code=same_code,
    )


def _name_of(files: dict[str, FileFact]) -> str:
    lines = [f"{fact.sha256} {name}\n" for name, fact in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:_NAME_DIGITS]


def _gpu_of(records: list[RecordedExecution]) -> str:
    return ", ".join(sorted({str(one.extras.get("Device", "")) for one in records} - {""}))


def _kernels_of(records: list[RecordedExecution]) -> tuple[Kernel, ...]:
    kernels = [
        Kernel(
            record=one.path.name,
            name=one.demangled_name,
            code_hash=one.code_hash or f"{int(one.static_hash):016x}",
            launches=len(one),
        )
        for one in records
    ]
    return tuple(sorted(kernels, key=lambda one: one.record))


def _same_code(manifest: Manifest, added: Entry) -> dict[str, tuple[str, ...]]:
    programs: dict[str, dict[str, None]] = {}
    for entry in manifest.entries:
        if entry.labels.program != added.labels.program:
            for kernel in entry.kernels:
                programs.setdefault(kernel.code_hash, {})[entry.labels.program] = None
    return {
        one.name: tuple(programs[one.code_hash])
        for one in added.kernels
        if one.code_hash in programs
    }


def _share(
    corpus: Path, manifest: Manifest, staging: Path, files: dict[str, FileFact]
) -> list[str]:
    """Make hard links of what is there, or was added before; return the names of these files."""
    places = {fact: corpus / name for name, fact in reversed(manifest.files().items())}
    shared = []
    for name, fact in files.items():
        path = staging / name
        path.chmod(_READ_ONLY)
        known = places.setdefault(fact, path)
        if known == path:
            continue
        problem = damage_of(known, fact)
        if problem:
            raise ArtifactCorrupt(f"the corpus is damaged: {problem}; nothing was added")
        if _link(known, path, staging):
            shared.append(name)
    return shared


def _link(known: Path, path: Path, staging: Path) -> bool:
    """Put a hard link in the place of a file; where that is impossible, the file stays."""
    made = staging / f"{path.name}.link"
    try:
        os.link(known, made)
        made.replace(path)
    except OSError:
        return False
    finally:
        made.unlink(missing_ok=True)
    return True


def _repair(
    corpus: Path, manifest: Manifest, staging: Path, files: dict[str, FileFact]
) -> tuple[str, ...]:
    """Give damaged files with the content of a recording that content again, in every entry."""
    places = {fact: staging / name for name, fact in files.items()}
    repaired = []
    for name, fact in manifest.files().items():
        path = corpus / name
        if fact not in places or not damage_of(path, fact):
            continue
        places[fact].chmod(_READ_ONLY)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _link(places[fact], path, staging):
            shutil.copy(places[fact], path)
        repaired.append(name)
    return tuple(repaired)
