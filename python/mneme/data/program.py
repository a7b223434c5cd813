"""Which program a recording or a search belongs to, and whether it is for training or for test."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mneme.corpus.manifest import MANIFEST_NAME, PROGRAMS
from mneme.corpus.split import split_of
from mneme.errors import ArtifactCorrupt, IoFailed, NotFound
from mneme.files.json_object import read_json_object

__all__ = ["is_of_optimize", "program_facts", "program_of_record", "program_of_results"]

_OPTIMIZE: Final = "optimize.json"
_MOST_ABOVE: Final = 4


def program_facts(program: str | None) -> dict[str, str | None]:
    """Return the values of the columns `program` and `split`."""
    return {"program": program or None, "split": split_of(program) if program else None}


def program_of_record(record: str | Path) -> str | None:
    """Return the program of a record that is in a corpus; None for others."""
    above = Path(record).parents
    is_in_corpus = (
        len(above) > 3  # noqa: PLR2004 - <corpus>/programs/<program>/<entry>/<record>
        and above[2].name == PROGRAMS
        and (above[3] / MANIFEST_NAME).is_file()
    )
    return above[1].name if is_in_corpus else None


def is_of_optimize(directory: Path) -> bool:
    """Whether `mneme optimize` wrote these results."""
    return _command(directory) is not None


def program_of_results(directory: Path) -> str | None:
    """Return the program that `mneme optimize` made faster; None if it wrote no such results."""
    command = _command(directory)
    return Path(command[0]).name if command else None


def _command(directory: Path) -> list[str] | None:
    for above in directory.resolve().parents[:_MOST_ABOVE]:
        command: Any = _json(above / _OPTIMIZE).get("command")
        if isinstance(command, list) and command:
            return [str(one) for one in command]
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        return read_json_object(path)
    except (NotFound, ArtifactCorrupt, IoFailed):
        return {}
