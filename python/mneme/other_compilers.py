"""Kernel compilers that hold another LLVM than mneme's own, which `--llvm` names."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from mneme.errors import InvalidArgument, IoFailed
from mneme.pinned_paths import path_in

__all__ = [
    "LIBRARY",
    "VARIABLE",
    "Compiler",
    "compiler_facts",
    "compilers",
    "compilers_directory",
    "is_compiler",
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
        return {key: value for key, value in asdict(self).items() if key in _TYPES}


# What is kept about each.
_TYPES: Final = {
    one.name: bool if one.type == "bool" else str
    for one in fields(Compiler)
    if one.name not in ("name", "place")
}


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
    """Return the compilers there are, by name; what is unfinished is left out.

    Raises:
        InvalidArgument: If the place of compilers cannot be read.
    """
    place = compilers_directory()
    try:
        names = sorted(one.name for one in place.iterdir())
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise InvalidArgument(
            f"'{place}', the place of kernel compilers, cannot be read: {error.strerror}; "
            f"{VARIABLE} names another"
        ) from error
    found = [_read(place / name) for name in names if not name.startswith(".")]
    return [one for one in found if one is not None]


def _read(place: Path) -> Compiler | None:
    try:
        facts = json.loads((place / _FACTS).read_text())
        kept = {key: facts[key] for key in _TYPES}
        if any(type(kept[key]) is not kind for key, kind in _TYPES.items()):
            return None
        is_there = (place / LIBRARY).is_file()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Compiler(name=place.name, place=place, **kept) if is_there else None


def is_compiler(place: Path) -> bool:
    """Whether a directory was made for a compiler, perhaps a damaged one."""
    return (place / _FACTS).is_file()


def library_of(named: str) -> Path:
    """Return the library of a compiler.

    Args:
        named: A name or an LLVM's prefix in `compilers`; or a library, or a directory of mneme's
            that has one.

    Raises:
        InvalidArgument: If there is no such compiler, or several have this prefix.
    """
    known = compilers() if named else []
    of_name = [one for one in known if one.name == named]
    found = of_name or [one for one in known if _is_same(named, one.prefix)]
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise InvalidArgument(
            f"several kernel compilers have the LLVM in '{named}'; name one: {names}"
        )
    if found:
        return found[0].library
    if not named:
        raise InvalidArgument("the kernel compiler has no name; 'mneme compiler ls' lists them")
    place = Path(named)
    for path in (place, place / LIBRARY):
        if path.is_file():
            return path
    if any((place / one / "cmake" / "llvm").is_dir() for one in ("lib", "lib64")):
        raise InvalidArgument(
            f"mneme has no compiler for the LLVM in '{named}'; build it: "
            f"mneme compiler add {shlex.quote(named)}"
        )
    there = ", ".join(one.name for one in known)
    known_ones = f"there are: {there}" if there else "build one: mneme compiler add PREFIX"
    raise InvalidArgument(f"there is no kernel compiler '{named}'; {known_ones}")


def compiler_facts(text: str) -> dict[str, Any]:
    """Return what is known of a configuration's compiler, as plain JSON values."""
    path = path_in(text)
    for one in compilers():
        if _is_same(str(one.library), path):
            return one.to_dict()
    version = _version_in_build(Path(path))
    return {"library": path, **({"llvm": version} if version else {})}


def _version_in_build(library: Path) -> str:
    """Return the version of the LLVM in a build or installation of mneme; empty for others."""
    if library.parent.name != LIBRARY.parent.name:
        return ""
    try:
        version = json.loads((library.parents[1] / "config.json").read_text())["llvm_version"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return version if isinstance(version, str) else ""


def _is_same(first: str, second: str) -> bool:
    try:
        return Path(first).samefile(second)
    except OSError:
        return False


def remove_compiler(name: str) -> None:
    """Delete a compiler, also a damaged one.

    Raises:
        InvalidArgument: If there is none of this name.
        IoFailed: If the operating system refuses.
    """
    place = compilers_directory() / name
    if not name or Path(name).name != name or name.startswith(".") or not is_compiler(place):
        raise InvalidArgument(
            f"there is no kernel compiler '{name}'; 'mneme compiler ls' lists them"
        )
    try:
        if place.is_symlink():
            place.unlink()
        else:
            shutil.rmtree(place)
    except OSError as error:
        raise IoFailed(f"cannot remove '{place}': {error.strerror}") from error
