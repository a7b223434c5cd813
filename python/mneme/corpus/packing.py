"""Packs a corpus into one file."""

from __future__ import annotations

import io
import os
import secrets
import tarfile
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mneme.corpus.container import compressed, is_compressed, member, zstd_module
from mneme.corpus.digests import locked
from mneme.corpus.manifest import MANIFEST_NAME, read_manifest
from mneme.corpus.verifying import damages
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound

if TYPE_CHECKING:
    from mneme.corpus.manifest import FileFact, Manifest

__all__ = ["Packed", "pack"]

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A packed corpus."""

    file: Path
    entries: int
    content_bytes: int
    """All files of the corpus, each content once."""
    packed_bytes: int


def pack(corpus: str | Path, output: str | Path, *, needs_licence: bool = True) -> Packed:
    """Pack a corpus, whose files are checked before; the same corpus gives the same bytes.

    Args:
        corpus: The corpus.
        output: The file; its name ends with .tar.zst or .tar. It appears whole or not at all.
        needs_licence: Refuse programs that say no licence.

    Raises:
        NotFound: If it is not a corpus, or holds nothing.
        ArtifactCorrupt: If it is damaged.
        InvalidArgument: If a licence is missing, or the file has another name.
        BackendUnavailable: If there is nothing that compresses.
        IoFailed: If the operating system refuses.
    """
    place, target = Path(corpus), Path(output)
    if is_compressed(target):
        zstd_module()
    manifest = read_manifest(place)
    if not manifest.entries:
        raise NotFound(f"the corpus '{corpus}' holds nothing to pack")
    if needs_licence:
        _check_licences(manifest)
    with locked(place, is_read_only=True):
        problems = damages(place, manifest)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise ArtifactCorrupt(
                f"the corpus is damaged, so it is not packed: {problems[0]}{more}"
            )
        try:
            size = _publish(place, target, manifest)
        except OSError as error:
            raise IoFailed(f"cannot write '{output}': {error.strerror}") from error
    contents = set(manifest.files().values())
    return Packed(
        file=target,
        entries=len(manifest.entries),
        content_bytes=sum(one.size_bytes for one in contents),
        packed_bytes=size,
    )


def _check_licences(manifest: Manifest) -> None:
    programs = sorted({one.labels.program for one in manifest.entries if not one.labels.licence})
    if programs:
        named = ", ".join(programs[:_MOST_NAMED]) + (", ..." if len(programs) > _MOST_NAMED else "")
        raise InvalidArgument(
            f"no licence is known for {len(programs)} programs ({named}): add them again with "
            "--licence, or pack with --no-licence what you will not publish"
        )


def _publish(corpus: Path, target: Path, manifest: Manifest) -> int:
    """Write beside the target and rename; returns the size."""
    temporary = target.with_name(f"{target.name}.tmp-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            with compressed(file) if is_compressed(target) else nullcontext(file) as stream:
                _write(corpus, stream, manifest)
            file.flush()
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        temporary.replace(target)
    finally:
        with suppress(OSError):  # it is gone, or was never there
            temporary.unlink()
    return size


def _write(corpus: Path, stream: BinaryIO, manifest: Manifest) -> None:
    text = manifest.text().encode()
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member(MANIFEST_NAME, len(text)), io.BytesIO(text))
        first: dict[FileFact, str] = {}
        for name, fact in manifest.files().items():
            known = first.setdefault(fact, name)
            if known != name:
                archive.addfile(member(name, 0, link_to=known))
                continue
            with (corpus / name).open("rb") as content:
                archive.addfile(member(name, fact.size_bytes), content)
