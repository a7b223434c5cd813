"""Checks that a corpus holds what was added to it, and nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.corpus.digests import damage_of, locked
from mneme.corpus.manifest import (
    ENTRY_NAME,
    MANIFEST_NAME,
    PROGRAMS,
    STAGING,
    Manifest,
    read_manifest,
)

if TYPE_CHECKING:
    from mneme.corpus.manifest import FileFact

__all__ = ["Verified", "damages", "verify_files"]

_OWN: Final = (MANIFEST_NAME, PROGRAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the files of a corpus are like."""

    files: int
    """How many the manifest lists."""
    problems: list[str]
    """What is damaged, missing or does not belong there, a sentence each."""
    leftovers: list[str]
    """Directories that additions left which were killed; the next one deletes them."""


def verify_files(corpus: str | Path) -> Verified:
    """Compare every file of a corpus with its digest.

    Raises:
        NotFound, ArtifactCorrupt, Unsupported, IoFailed: As `mneme.corpus.Corpus`.
        IoFailed: If another process changes the corpus, too.
    """
    place = Path(corpus)
    read_manifest(place)
    with locked(place, is_read_only=True):
        manifest = read_manifest(place)
        strange = _strange_paths(place, manifest)
        leftovers = {name: _leftover(name, manifest) for name in strange}
        foreign = [
            f"'{place / name}' is not in corpus.json; delete it"
            for name, left in leftovers.items()
            if not left
        ]
        return Verified(
            files=len(manifest.files()),
            problems=[*damages(place, manifest), *foreign],
            leftovers=sorted({str(place / left) for left in leftovers.values() if left}),
        )


def damages(corpus: Path, manifest: Manifest) -> list[str]:
    """Return what is damaged or missing of the files in a manifest, a sentence each."""
    checked: dict[tuple[int, int, FileFact], str] = {}
    problems = [
        _damage_once(corpus / name, fact, checked) for name, fact in manifest.files().items()
    ]
    return [one for one in problems if one]


def _leftover(path: str, manifest: Manifest) -> str:
    """Return the directory of a killed addition that a path is in; an empty text if in none."""
    first, *rest = path.split("/")
    if first.startswith(STAGING):
        return first
    entry = "/".join((first, *rest[:2]))
    is_entry = first == PROGRAMS and len(rest) > 2 and ENTRY_NAME.fullmatch(rest[1])  # noqa: PLR2004
    return entry if is_entry and entry not in {one.path for one in manifest.entries} else ""


def _damage_once(path: Path, fact: FileFact, checked: dict[tuple[int, int, FileFact], str]) -> str:
    """Read a file with several names once only."""
    try:
        found = path.lstat()
    except OSError:
        return damage_of(path, fact)
    key = (found.st_dev, found.st_ino, fact)
    if key not in checked:
        checked[key] = damage_of(path, fact)
    elif checked[key]:
        return damage_of(path, fact)  # with the name of this one
    return checked[key]


def _strange_paths(corpus: Path, manifest: Manifest) -> list[str]:
    """Return files and links in a corpus that its manifest lacks; empty directories are none."""
    known = manifest.files()
    found = []
    for folder, directories, files in os.walk(corpus):
        links = [one for one in directories if Path(folder, one).is_symlink()]
        for name in (*files, *links):
            path = Path(folder, name).relative_to(corpus).as_posix()
            if path not in known and path not in _OWN:
                found.append(path)
    return sorted(found)
