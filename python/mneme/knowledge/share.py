"""Knowledge for others and from others: whole files, merged entry by entry."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mneme.errors import NotFound
from mneme.files.publish import publish
from mneme.files.regular_file import read_bytes
from mneme.knowledge.store import KnowledgeStore

__all__ = ["export_knowledge", "import_knowledge"]


def export_knowledge(store: KnowledgeStore, path: Path) -> int:
    """Write everything that is known to another file, whole or not at all; return how many entries.

    Where nothing is known, nothing is written.

    Raises:
        ArtifactCorrupt, IoFailed: As `KnowledgeStore.entries`, and if the file cannot be written.
    """
    entries = store.entries()
    if not entries:
        return 0
    with tempfile.TemporaryDirectory(prefix="mneme-") as folder:
        # Entries alone: what a database keeps of deleted ones stays here.
        whole = KnowledgeStore(Path(folder) / "knowledge.sqlite")
        whole.add(entries)
        publish(path, read_bytes(whole.path))
    return len(entries)


def import_knowledge(store: KnowledgeStore, path: Path) -> tuple[int, int]:
    """Take in the entries of another file; what is known better, since later, stays.

    Returns:
        How many entries the file has, and how many of them were new or newer.

    Raises:
        NotFound: If there is no such file.
        ArtifactCorrupt: If either file is damaged, somebody else's or of a newer mneme.
        IoFailed: If one cannot be read or written.
    """
    if not path.exists():
        raise NotFound(f"there is no file '{path}'")
    entries = KnowledgeStore(path).entries()
    return len(entries), store.add(entries) if entries else 0
