"""Tells what the words of `mneme explain` are: recording, kernel and configurations."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mneme.cli._recording import Words, tell_apart
from mneme.files.existing import existing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RECORDED", "is_recording", "split_words"]

_RESULT_FILES = ("best.json", "all.json", "trials.jsonl")
RECORDED = "recorded"
"""The word for the configuration of the program itself."""

_LOOKS_LIKE_PIPELINE = re.compile(r"[<,(]")


def split_words(words: Sequence[str], database: Path | None) -> tuple[Words, list[str]]:
    """Return what is explained, and the configurations behind it.

    Raises:
        typer.BadParameter: If nothing is named, or a program has more words than a kernel.
    """
    rest = list(words)
    if database is None and not any(rest[:1]):
        raise typer.BadParameter("nothing is named; say PROGRAM or a recording")
    recording = Path(rest.pop(0)) if database is None else database
    if not is_recording(recording, is_named=database is not None):
        return tell_apart(str(recording), *rest), []
    kernel = rest.pop(0) if rest and not _is_configuration(rest[0], recording) else None
    for word in rest:
        _check(word)
    return Words(recording=recording, kernel=kernel), rest


def is_recording(path: Path, *, is_named: bool) -> bool:
    """Whether this is a recording, and no program; `is_named`: an option says so."""
    return is_named or path.is_dir() or path.suffix == ".json"


def _is_configuration(word: str, recording: Path) -> bool:
    """Whether the first word behind a recording is no kernel."""
    if word == RECORDED:
        return True
    path = _file(word)
    if path is not None and path.is_file() and path.suffix == ".json":
        return True
    if path is not None and (_holds_results(path) or any(path.glob("*/best.json"))):
        return True
    return tell_apart(str(recording), word, has_passes=True).passes is not None


def _file(word: str) -> Path | None:
    """Return what a word names if it is there; behind '@' is a trial."""
    return existing(word) or existing(word.rpartition("@")[0])


def _check(word: str) -> None:
    """Refuse what is neither a file nor looks like a pipeline: a word too much."""
    from mneme import _native  # noqa: PLC0415 - loads native code
    from mneme.errors import InvalidArgument  # noqa: PLC0415

    if word == RECORDED or _file(word) is not None or _LOOKS_LIKE_PIPELINE.search(word):
        return
    if word:
        with contextlib.suppress(InvalidArgument):
            _native.check_passes(word)
            return
    raise typer.BadParameter(
        f"'{word}' names no configuration: no pass, file or directory is called so"
    )


def _holds_results(path: Path) -> bool:
    return any((path / name).is_file() for name in _RESULT_FILES)
