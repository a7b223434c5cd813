"""Finds results in directory trees: one entry for each tool that writes some."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.data.comparisons import is_comparison, rows_of_comparison
from mneme.data.tunings import is_tuning, rows_of_tuning
from mneme.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mneme.data.values import Row

__all__ = ["SOURCES", "Source", "find_results", "find_searches", "rows_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A kind of results."""

    is_there: Callable[[Path], bool]
    """Whether a directory holds some."""

    rows: Callable[..., Iterator[Row]]
    """Yields a row for each measured configuration, as `rows_of_tuning` does."""


SOURCES: Final = (
    Source(is_there=is_tuning, rows=rows_of_tuning),
    Source(is_there=is_comparison, rows=rows_of_comparison),
)
"""The known kinds; a directory may hold several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Results that were found."""

    source: Source
    directory: Path
    named: str
    """The directory, from the last part of the one that was searched."""


def find_results(directories: Iterable[Path]) -> list[Found]:
    """Return all results in and below directories, each once.

    Links to directories are not followed.

    Raises:
        NotFound: If one of them holds none.
    """
    found: dict[Path, Found] = {}
    for top in directories:
        below = list(_below(top))
        if not below:
            what = "holds no results of 'mneme tune', 'optimize' or 'compare'"
            if not top.is_dir():
                what = "is not a directory" if top.exists() else "does not exist"
            raise NotFound(f"'{top}' {what}; name a results directory")
        for one in below:
            found.setdefault(one.directory.resolve(), one)
    return list(found.values())


def find_searches(directories: Iterable[Path], *, may_be_none: bool = False) -> list[Path]:
    """Return the results directories in and below directories, each once.

    Raises:
        NotFound: If there are none, unless there may be none.
    """
    tops = list(directories)
    found = {one.directory.resolve() for top in tops for one in _below(top)}
    if not found and not may_be_none:
        places = ", ".join(f"'{one}'" for one in tops)
        raise NotFound(f"{places} holds no results and no recording; name some")
    return sorted(found)


def _below(top: Path) -> Iterator[Found]:
    start = Path(os.path.abspath(top))  # noqa: PTH100 - the name as it was given
    for place, folders, _ in os.walk(top):
        folders.sort()
        directory = Path(place)
        named = Path(start.name, directory.relative_to(top))
        for source in SOURCES:
            if source.is_there(directory):
                yield Found(source=source, directory=directory, named=named.as_posix())


def rows_of(found: Iterable[Found], *, program: str = "") -> Iterator[Row]:
    """Yield the rows of all results.

    Args:
        found: As of `find_results`.
        program: What rows call the program where the results do not say it.

    Raises:
        ArtifactCorrupt: If a file holds something else than results.
        IoFailed: If the operating system refuses to read one.
    """
    for one in found:
        yield from one.source.rows(one.directory, named=one.named, program=program)
