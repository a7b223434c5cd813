"""Exports and imports knowledge: whole files, merged entry by entry."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mneme.errors import NotFound
from mneme.files.publish import publish
from mneme.files.regular_file import read_bytes
from mneme.knowledge.store import KnowledgeStore

__all__ = ["export_knowledge", "import_knowledge"]


def export_knowledge(store: KnowledgeStore, path: Path) -> int:
    """Write all entries to another file, completely or not at all; return their number.

    Writes nothing if there are no entries.

    Raises:
        ArtifactCorrupt, IoFailed: As `KnowledgeStore.entries`, and if the file cannot be written.
    """
    entries = store.entries()
    if not entries:
        return 0
    with tempfile.TemporaryDirectory(prefix="mneme-") as folder:
        # Only entries: remains of deleted ones in the database are not exported.
        whole = KnowledgeStore(Path(folder) / "knowledge.sqlite")
        whole.add(entries)
        publish(path, read_bytes(whole.path))
    return len(entries)


def import_knowledge(store: KnowledgeStore, path: Path) -> tuple[int, int]:
    """Import the entries of another file; newer existing ones stay.

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
