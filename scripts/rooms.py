#!/usr/bin/env python3
"""The rules of the rooms (rooms.toml): says who breaks one, or writes what the documents show of them.

scripts/rooms.py            who includes or imports what it may not; exit code 1 if anybody does
scripts/rooms.py --write    the table in CONTRIBUTING.md and the drawing in docs/architecture.md
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".h", ".cpp", ".inc", ".def")
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
_LLVM = ("llvm/", "lld/", "clang/", "llvm-c/")
_DOCUMENTS = ("CONTRIBUTING.md", "docs/architecture.md")
_MARKED = re.compile(r"(<!-- rooms: (\w+) -->\n).*?(<!-- end of rooms -->)", re.DOTALL)


@dataclass(frozen=True)
class Room:
    """An entry of rooms.toml."""

    name: str
    does: str
    uses: tuple[str, ...]
    files: tuple[str, ...]
    llvm: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Use:
    """One include or import."""

    file: str
    line: int
    target: str


def read_rooms() -> dict[str, Room]:
    """Return the rooms by name."""
    table = tomllib.loads((ROOT / "rooms.toml").read_text())
    rooms = {
        name: Room(
            name,
            entry["does"],
            tuple(entry["uses"]),
            tuple(entry.get("files", [name])),
            entry.get("llvm", False),
            entry.get("shared", False),
        )
        for name, entry in table.items()
    }
    unknown = {use for room in rooms.values() for use in room.uses} - rooms.keys()
    if unknown:
        raise SystemExit(f"rooms.toml: no room is called {', '.join(sorted(unknown))}")
    return rooms


def room_of(path: str, rooms: dict[str, Room]) -> Room | None:
    """Return the room of a file: the one with the longest path that fits."""
    fitting = [
        (len(file), room)
        for room in rooms.values()
        for file in room.files
        if path == file or path.startswith(file + "/")
    ]
    return max(fitting, key=lambda found: found[0])[1] if fitting else None


def sources() -> Iterator[Path]:
    """Yield every C++ file of the product and every Python module of the package."""
    for folder in ("runtime", "passes", "include"):
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in SOURCES)
    yield from sorted((ROOT / "python").rglob("*.py"))


def uses_of(path: Path) -> Iterator[Use]:
    """Yield what a file includes or imports of the project and of LLVM."""
    file = str(path.relative_to(ROOT))
    text = path.read_text()
    if path.suffix == ".py":
        yield from _imports_of(file, ast.parse(text))
        return
    for found in _INCLUDE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if (ROOT / found[2]).is_file() or found[2].startswith(_LLVM):
            yield Use(file, line, found[2])


def _imports_of(file: str, tree: ast.AST) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            target = _module_file(name)
            if target:
                yield Use(file, node.lineno, target)


def _module_file(name: str) -> str | None:
    """Return the file of a dotted name: of the module, or of the module it is a name in."""
    parts = name.split(".")
    for count in (len(parts), len(parts) - 1):
        base = ROOT.joinpath("python", *parts[:count])
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            # The package itself is imported with every module of it.
            if count > 1 and path.is_file():
                return str(path.relative_to(ROOT))
    return None


def breaches() -> list[str]:
    """Return a sentence for every use that the rules forbid."""
    rooms = read_rooms()
    found = []
    for path in sources():
        file = str(path.relative_to(ROOT))
        room = room_of(file, rooms)
        if room is None:
            found.append(f"{file} is in no room: give it one in rooms.toml")
            continue
        for use in uses_of(path):
            place = f"{use.file}:{use.line}"
            if use.target.startswith(_LLVM):
                if not room.llvm:
                    found.append(
                        f"{place} includes <{use.target}>: {room.name} holds no LLVM; "
                        "put this behind runtime/compiler"
                    )
                continue
            target = room_of(use.target, rooms)
            if target is not None and target is not room and target.name not in room.uses:
                found.append(
                    f"{place} uses {use.target}: {room.name} may not use {target.name}; move what "
                    f"is needed, or say in rooms.toml why it may"
                )
    return found


def module_cycles() -> list[list[str]]:
    """Return groups of Python modules that import each other, however late they do so."""
    graph = {
        str(path.relative_to(ROOT)): {use.target for use in uses_of(path)}
        for path in (ROOT / "python").rglob("*.py")
    }
    return [sorted(group) for group in _strongly_connected(graph) if len(group) > 1]


def pair_cycles() -> list[list[str]]:
    """Return groups of C++ headers, each with the source of its name, that include each other."""
    graph: dict[str, set[str]] = {}
    for path in sources():
        if path.suffix != ".py":
            own = _pair(str(path.relative_to(ROOT)))
            used = {_pair(use.target) for use in uses_of(path) if not use.target.startswith(_LLVM)}
            graph.setdefault(own, set()).update(used - {own})
    return [sorted(group) for group in _strongly_connected(graph) if len(group) > 1]


def read_circles() -> list[list[str]]:
    """Return the groups that docs/architecture.md lists as left."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    listed = text.partition("<!-- circles -->")[2].partition("<!-- end of circles -->")[0]
    rows = re.findall(r"^\| `(.+?)/?`: (.*?) \|", listed, re.MULTILINE)
    return [[f"{folder}/{name}" for name in re.findall(r"`(.+?)`", row)] for folder, row in rows]


def _pair(file: str) -> str:
    return file.rpartition(".")[0]


def _strongly_connected(graph: dict[str, set[str]]) -> list[set[str]]:
    def reach(start: str, edges: dict[str, set[str]]) -> set[str]:
        seen, pending = set(), [start]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending.extend(edges.get(node, ()))
        return seen

    back: dict[str, set[str]] = {}
    for node, targets in graph.items():
        for target in targets:
            back.setdefault(target, set()).add(node)
    groups, left = [], set(graph)
    while left:
        node = min(left)
        group = reach(node, graph) & reach(node, back)
        groups.append(group)
        left -= group | {node}
    return groups


def table() -> str:
    """Return the rooms as a table."""
    lines = ["| room | what it does | may use |", "|---|---|---|"]
    for room in read_rooms().values():
        used = ", ".join(_short(use) for use in room.uses) or "nothing of ours"
        name = room.name if " " in room.name else f"`{room.name}`"
        lines.append(f"| {name} | {room.does} | {used}{'; LLVM' if room.llvm else ''} |")
    return "\n".join(lines) + "\n"


def _short(name: str) -> str:
    return name.removeprefix("runtime/").removeprefix("python/")


def drawing() -> str:
    """Return the rooms in layers, each above everything it uses."""
    rooms = read_rooms()
    blocks = []
    for title, prefix in (("C++", ("runtime", "passes")), ("Python", ("python", "names"))):
        chosen = {name: room for name, room in rooms.items() if name.startswith(prefix)}
        level: dict[str, int] = {}
        while len(level) < len(chosen):
            for name, room in chosen.items():
                uses = [use for use in room.uses if use in chosen]
                if name not in level and all(use in level for use in uses):
                    level[name] = 1 + max((level[use] for use in uses), default=-1)
        lines = []
        for height in sorted(set(level.values()), reverse=True):
            names = [_short(name) for name in chosen if level[name] == height]
            lines.append(f"{height:2}  " + "   ".join(names))
        blocks.append(f"{title}: a room uses rooms below it only\n\n" + "\n".join(lines))
    return "```text\n" + "\n\n".join(blocks) + "\n```\n"


def written(text: str) -> str:
    """Return a document with its marked parts made anew."""
    parts = {"table": table, "drawing": drawing}
    return _MARKED.sub(lambda found: found[1] + parts[found[2]]() + found[3], text)


def main() -> int:
    """Check, or write."""
    if sys.argv[1:] == ["--write"]:
        for name in _DOCUMENTS:
            path = ROOT / name
            path.write_text(written(path.read_text()))
        return 0
    found = breaches() + [f"modules import each other: {', '.join(c)}" for c in module_cycles()]
    known = {frozenset(group) for group in read_circles()}
    found += [
        f"headers and sources include each other: {', '.join(group)}"
        for group in pair_cycles()
        if frozenset(group) not in known
    ]
    print("\n".join(found) or "every room keeps its rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
