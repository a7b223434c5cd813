"""Unpacks a corpus that somebody else may have packed: nothing in the file is trusted."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.corpus.container import MANIFEST_MEMBER, TOP, Limited, decompressed
from mneme.corpus.manifest import MANIFEST_NAME, FileFact, Manifest, parse_manifest
from mneme.corpus.new_directory import new_directory
from mneme.errors import ArtifactCorrupt, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["unpack"]

_LARGEST_MANIFEST: Final = 1 << 26
# Headers of a member with a long name take 3 blocks of 512 bytes, and the end some more.
_HEADER_BYTES: Final = 4096
_END_BYTES: Final = 1 << 20
_PIECE_BYTES: Final = 1 << 20
_READ_ONLY: Final = 0o444


def unpack(packed: str | Path, destination: str | Path) -> Manifest:
    """Unpack a corpus and check every file; the destination appears whole or not at all.

    Only files that the manifest lists are written, below the destination, with the content that it
    states. Other members (links, devices, paths elsewhere) are refused.

    Args:
        packed: What `pack` made.
        destination: A directory that does not exist, or is empty.

    Raises:
        NotFound: If there is no such file.
        InvalidArgument: If the destination holds something.
        ArtifactCorrupt: If the file is damaged, cut or not a packed corpus.
        Unsupported: If a newer mneme packed it.
        BackendUnavailable: If nothing here decompresses it.
        IoFailed: If the operating system refuses.
    """
    source = Path(packed)
    with new_directory(Path(destination)) as staging:
        if not source.is_file():
            raise NotFound(f"'{packed}' is not a file")
        with decompressed(source) as stream:
            limited = Limited(source, stream, _LARGEST_MANIFEST + _END_BYTES)
            return _extract(source, limited, staging)


def _extract(packed: Path, stream: Limited, staging: Path) -> Manifest:
    file: Any = stream  # no more than read() is used
    with tarfile.open(fileobj=file, mode="r|") as archive:
        members = iter(archive)
        manifest = _manifest(packed, archive, members)
        facts = manifest.files().values()
        stream.allow(sum(one.size_bytes + _HEADER_BYTES for one in facts))
        text = manifest.text()
        (staging / MANIFEST_NAME).write_text(text, encoding="utf-8")
        _extract_files(packed, archive, members, manifest, staging)
    # The checksum of all is at the end.
    while stream.read(_PIECE_BYTES):
        pass
    return manifest


def _manifest(
    packed: Path, archive: tarfile.TarFile, members: Iterable[tarfile.TarInfo]
) -> Manifest:
    first = next(iter(members), None)
    if first is None or first.name != MANIFEST_MEMBER or not first.isreg():
        raise ArtifactCorrupt(f"'{packed}' is not a packed corpus: it does not begin with one")
    if first.size > _LARGEST_MANIFEST:
        raise ArtifactCorrupt(f"'{packed}' is damaged: its corpus.json is too large to be genuine")
    file = archive.extractfile(first)
    content = file.read() if file is not None else b""
    place = f"{packed}: {MANIFEST_NAME}"
    try:
        return parse_manifest(content.decode(), place)
    except UnicodeDecodeError as error:
        raise ArtifactCorrupt(f"'{place}' is not a text file; it is damaged") from error


def _extract_files(
    packed: Path,
    archive: tarfile.TarFile,
    members: Iterable[tarfile.TarInfo],
    manifest: Manifest,
    staging: Path,
) -> None:
    missing = manifest.files()
    written: dict[str, FileFact] = {}
    for one in members:
        name = one.name.removeprefix(f"{TOP}/")
        fact = missing.pop(name, None)
        if fact is None or one.name == name:
            raise ArtifactCorrupt(
                f"'{packed}' is refused: it has '{one.name}', which its corpus.json lists "
                "twice or not at all"
            )
        path = staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if one.islnk():
            _link(packed, one, fact, written, staging)
        elif one.isreg():
            _write(packed, archive, one, fact, path)
        else:
            raise ArtifactCorrupt(f"'{packed}' is refused: '{one.name}' is a link or not a file")
        written[name] = fact
    if missing:
        raise ArtifactCorrupt(
            f"'{packed}' is damaged or cut: {len(missing)} files are missing, the first is "
            f"'{next(iter(missing))}'"
        )


def _link(
    packed: Path,
    one: tarfile.TarInfo,
    fact: FileFact,
    written: dict[str, FileFact],
    staging: Path,
) -> None:
    """Give a file that was written another name; its content has to be the listed one."""
    known = one.linkname.removeprefix(f"{TOP}/")
    if known == one.linkname or written.get(known) != fact:
        raise ArtifactCorrupt(
            f"'{packed}' is refused: '{one.name}' is a link to '{one.linkname}', which is not a "
            "file with its content"
        )
    path = staging / one.name.removeprefix(f"{TOP}/")
    try:
        os.link(staging / known, path)
    except OSError:  # a file system without hard links
        shutil.copy(staging / known, path)


def _write(
    packed: Path, archive: tarfile.TarFile, one: tarfile.TarInfo, fact: FileFact, path: Path
) -> None:
    if one.size != fact.size_bytes:
        raise ArtifactCorrupt(
            f"'{packed}' is damaged: '{one.name}' has {one.size} bytes in place of "
            f"{fact.size_bytes}"
        )
    source = archive.extractfile(one)
    digest = hashlib.sha256()
    with path.open("xb") as file:
        while source is not None and (piece := source.read(_PIECE_BYTES)):
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != fact.sha256:
        raise ArtifactCorrupt(f"'{packed}' is damaged: '{one.name}' has other content than it had")
    path.chmod(_READ_ONLY)
