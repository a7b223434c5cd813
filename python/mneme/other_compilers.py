"""Kernel compilers that hold another LLVM than mneme's own, which `--llvm` names."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from mneme.errors import InvalidArgument

__all__ = [
    "LIBRARY",
    "VARIABLE",
    "Compiler",
    "compiler_facts",
    "compilers",
    "compilers_directory",
    "library_of",
    "remove_compiler",
]

VARIABLE: Final = "MNEME_COMPILERS"
LIBRARY: Final = Path("lib") / "libmneme_compile.so"
_FACTS: Final = "compiler.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A kernel compiler that `mneme compiler add` has built."""

    name: str
    """What `--llvm` calls it."""

    llvm: str
    """Version of its LLVM: "19.1.7"."""

    commit: str
    """Commit of its LLVM; empty if the LLVM does not say."""

    assertions: bool
    """Whether its LLVM checks its own assertions."""

    pass_plugins: bool
    """Whether it can load pass plugins: its LLVM has a shared library."""

    prefix: str
    """Where this LLVM is installed."""

    mneme: str
    """Version of mneme whose source it was built from."""

    place: Path
    """Its directory."""

    @property
    def library(self) -> Path:
        """Its libmneme_compile.so."""
        return self.place / LIBRARY

    def save(self) -> None:
        """Write what is known about it into its directory."""
        (self.place / _FACTS).write_text(json.dumps(self._facts(), indent=1) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"name": self.name, **self._facts(), "library": str(self.library)}

    def _facts(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key not in ("name", "place")}


def compilers_directory() -> Path:
    """Return where compilers lie: MNEME_COMPILERS, else the user's own place for data.

    Raises:
        InvalidArgument: If the user has no home and the variable is not set.
    """
    if named := os.environ.get(VARIABLE, ""):
        return Path(named).absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    if Path(data).is_absolute():
        return Path(data) / "mneme" / "compilers"
    try:
        return Path.home() / ".local" / "share" / "mneme" / "compilers"
    except RuntimeError as error:
        raise InvalidArgument(f"you have no home directory; set {VARIABLE}") from error


def compilers() -> list[Compiler]:
    """Return the compilers there are, by name; what is unfinished is left out."""
    place = compilers_directory()
    names = sorted(one.name for one in place.iterdir()) if place.is_dir() else []
    found = [_read(place / name) for name in names if not name.startswith(".")]
    return [one for one in found if one is not None]


def _read(place: Path) -> Compiler | None:
    try:
        facts = json.loads((place / _FACTS).read_text())
        known = {one.name for one in fields(Compiler)} - {"name", "place"}
        kept = {key: facts[key] for key in known}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Compiler(name=place.name, place=place, **kept) if (place / LIBRARY).is_file() else None


def library_of(named: str) -> Path:
    """Return the library of a compiler.

    Args:
        named: A name or an LLVM's prefix in `compilers`; or a library, or a directory of mneme's
            that has one.

    Raises:
        InvalidArgument: If there is no such compiler.
    """
    known = compilers()
    for one in known:
        if named == one.name or _is_same(named, one.prefix):
            return one.library
    place = Path(named)
    for path in (place, place / LIBRARY):
        if path.is_file():
            return path
    if any((place / one / "cmake" / "llvm").is_dir() for one in ("lib", "lib64")):
        raise InvalidArgument(
            f"mneme has no compiler for the LLVM in '{named}'; build it: mneme compiler add {named}"
        )
    there = ", ".join(one.name for one in known)
    known_ones = f"there are: {there}" if there else "build one: mneme compiler add PREFIX"
    raise InvalidArgument(f"there is no kernel compiler '{named}'; {known_ones}")


def compiler_facts(text: str) -> dict[str, Any]:
    """Return what is known of a configuration's compiler, as plain JSON values."""
    path = text.rpartition("@")[0] or text
    for one in compilers():
        if _is_same(str(one.library), path):
            return one.to_dict()
    return {"library": path}


def _is_same(first: str, second: str) -> bool:
    try:
        return Path(first).samefile(second)
    except OSError:
        return False


def remove_compiler(name: str) -> Compiler:
    """Delete a compiler.

    Raises:
        InvalidArgument: If there is none of this name.
    """
    for one in compilers():
        if one.name == name:
            shutil.rmtree(one.place)
            return one
    raise InvalidArgument(f"there is no kernel compiler '{name}'; 'mneme compiler ls' lists them")
