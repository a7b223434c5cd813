"""Finds the libraries of a program in the way the dynamic loader does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.programs.elf import read_elf

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["with_libraries"]


def with_libraries(program: Path) -> list[Path]:
    """Return a program and the libraries it is linked to, directly or not, in loading order.

    Searches for libraries in the paths of the files themselves (RPATH, RUNPATH) and in
    `LD_LIBRARY_PATH`. The system's libraries, which are in neither, are left out, and so are
    libraries that the program loads at run time.
    """
    found: dict[Path, None] = {}
    waiting = [program]
    inherited: list[Path] = []
    while waiting:
        path = waiting.pop(0)
        if path.resolve() in {one.resolve() for one in found}:
            continue
        found[path] = None
        facts = read_elf(path)
        if facts is None:
            continue
        own = [Path(_expanded(name, path)) for name in facts.search_path]
        # A program's RPATH is also searched for the libraries of its libraries.
        inherited += [one for one in own if one not in inherited]
        for name in facts.needed:
            waiting += list(_located(name, [*own, *inherited]))[:1]
    return list(found)


def _expanded(directory: str, of: Path) -> str:
    origin = str(of.resolve().parent)
    return directory.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)


def _located(name: str, directories: list[Path]) -> Iterator[Path]:
    more = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for directory in [*directories, *(Path(one) for one in more if one)]:
        if (directory / name).is_file():
            yield directory / name
