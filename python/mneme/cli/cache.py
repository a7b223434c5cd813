"""`mneme cache`: compiled code that is kept on disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli._unused import tell_unused
from mneme.cli.exit_codes import ExitCode
from mneme.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from mneme.cache.entries import CacheEntry

__all__ = ["cache"]

_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Action(str, Enum):
    """Actions on a cache."""

    ls = "ls"
    stats = "stats"
    prune = "prune"
    verify = "verify"
    export = "export"


def _number(text: Optional[str], units: dict[str, int], example: str) -> Optional[int]:
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,15})([A-Za-z]?)", text)
    if found is None or found[2] not in units:
        raise typer.BadParameter(f"'{text}' is not a number such as {example}")
    return int(found[1]) * units[found[2]]


def _bytes(text: Optional[str]) -> Optional[int]:
    return _number(text, _BYTES, "500M or 2G")


def _seconds(text: Optional[str]) -> Optional[int]:
    return _number(text, _SECONDS, "12h or 30d")


def cache(
    action: Annotated[
        Action, typer.Argument(metavar="ACTION", help=", ".join(one.value for one in Action))
    ],
    directory: Annotated[
        Optional[Path],
        typer.Argument(
            metavar="[DIR]",
            help="The cache, else PROTEUS_CACHE_DIR or .proteus; for export: where to.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        Optional[Path],
        typer.Option(
            "--from", metavar="DIR", help="export: the cache to take from.", show_default=False
        ),
    ] = None,
    replays: Annotated[
        bool, typer.Option("--replays", help="The cache of replays and tunings instead.")
    ] = False,
    max_bytes: Annotated[
        Optional[str],
        typer.Option(
            "--max-bytes",
            metavar="SIZE",
            help="prune: delete what was not used for longest beyond this size.",
            show_default=False,
        ),
    ] = None,
    older_than: Annotated[
        Optional[str],
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="prune: delete what was not used for so long, as 12h or 30d.",
            show_default=False,
        ),
    ] = None,
    deletes: Annotated[bool, typer.Option("--delete", help="verify: delete what is damaged.")] = (
        False
    ),
    json: JsonOption = False,
) -> None:
    """List, count, check, shrink or hand on compiled code that is kept on disk.

    ls: entries; stats: how many and how large; verify: whether they are as they were written;
    prune: delete some; export: copy sound ones to a directory for MNEME_JIT_SITE_CACHE.
    """
    limits = {"max_bytes": _bytes(max_bytes), "older_than_seconds": _seconds(older_than)}
    is_export = action is Action.export
    tell_unused({"--from": source and not is_export}, "without export")
    tell_unused({"--delete": deletes and action is not Action.verify}, "without verify")
    given = {"--max-bytes": max_bytes, "--older-than": older_than}
    tell_unused(given if action is not Action.prune else {}, "without prune")
    place = _place(source if is_export else directory, replays=replays)
    actions: dict[Action, Callable[[], tuple[dict[str, Any], Callable[[], None]]]] = {
        Action.ls: lambda: _ls(place),
        Action.stats: lambda: _stats(place),
        Action.verify: lambda: _verify(place, deletes=deletes),
        Action.prune: lambda: _prune(place, limits),
        Action.export: lambda: _export(place, directory),
    }
    facts, show = actions[action]()
    if json:
        _console.print_json({"directory": str(place), **facts})
    else:
        show()
    raise typer.Exit(ExitCode.NOT_VERIFIED if facts.get("damaged") else ExitCode.OK)


def _place(directory: Optional[Path], *, replays: bool) -> Path:
    if directory is not None and replays:
        raise InvalidArgument(f"--replays and '{directory}' are two caches; name one")
    if not replays:
        return directory or Path(os.environ.get("PROTEUS_CACHE_DIR") or ".proteus")
    from mneme import _native  # noqa: PLC0415 - loads native code

    if chosen := _native.cache_directory():
        return Path(chosen)
    raise NotFound("there is no cache of replays that can be used ('mneme doctor' says why)")


def _ls(place: Path) -> tuple[dict[str, Any], Callable[[], None]]:
    from mneme.cache.entries import entries_of  # noqa: PLC0415 - when it is used

    entries = entries_of(place)

    def show() -> None:
        columns = ("file", ">size", "last use", "kind", "target", "kernel")
        content = _console.table(f"Cache {place}", columns)
        for entry in entries:
            facts = entry.to_dict()
            used = str(facts["used"])[:16].replace("T", " ")
            size = _console.format_bytes(entry.size_bytes)
            kernel = _readable(entry.kernel) or "-"
            content.add_row(entry.path.name, size, used, entry.kind, entry.target or "-", kernel)
        _console.print_table(content)

    return {"entries": [entry.to_dict() for entry in entries]}, show


def _readable(kernel: str) -> str:
    from mneme import _native  # noqa: PLC0415 - loads native code

    return _native.demangle(kernel)


def _stats(place: Path) -> tuple[dict[str, Any], Callable[[], None]]:
    from mneme.cache.entries import entries_of  # noqa: PLC0415 - when it is used

    entries = entries_of(place)
    total_bytes = sum(entry.size_bytes for entry in entries)
    facts = {
        "entries": len(entries),
        "bytes": total_bytes,
        "kernels": sum(entry.kind == "kernel" for entry in entries),
        "host_functions": sum(entry.kind != "kernel" for entry in entries),
        "first_use": entries[-1].to_dict()["used"] if entries else None,
        "last_use": entries[0].to_dict()["used"] if entries else None,
    }

    def show() -> None:
        size = _console.format_bytes(total_bytes)
        _console.print_line(
            f"{place}: {facts['entries']} entries, {size}; {facts['kernels']} kernels, "
            f"{facts['host_functions']} host functions"
        )
        if entries:
            _console.print_line(f"last used between {facts['first_use']} and {facts['last_use']}")

    return facts, show


def _verify(place: Path, *, deletes: bool) -> tuple[dict[str, Any], Callable[[], None]]:
    from mneme.cache.entries import entries_of, is_intact  # noqa: PLC0415 - when it is used
    from mneme.cache.keeping import delete_entries  # noqa: PLC0415

    entries = entries_of(place)
    damaged = [entry for entry in entries if not is_intact(entry)]
    if deletes:
        delete_entries(damaged)
    facts = {
        "entries": len(entries),
        "damaged": [str(entry.path) for entry in damaged],
        "deleted": len(damaged) if deletes else 0,
    }

    def show() -> None:
        for entry in damaged:
            _console.print_line(f"damaged{' and deleted' if deletes else ''}: {entry.path}")
        _console.say(f"{len(entries) - len(damaged)} of {len(entries)} entries are sound")

    return facts, show


def _prune(
    place: Path, limits: dict[str, Optional[int]]
) -> tuple[dict[str, Any], Callable[[], None]]:
    from mneme.cache.entries import entries_of  # noqa: PLC0415 - when it is used
    from mneme.cache.keeping import delete_entries, superfluous  # noqa: PLC0415

    if all(limit is None for limit in limits.values()):
        raise InvalidArgument("prune needs --max-bytes, --older-than or both")
    entries = entries_of(place)
    going = superfluous(
        entries,
        max_bytes=limits["max_bytes"],
        older_than_seconds=limits["older_than_seconds"],
    )
    delete_entries(going)
    freed = sum(entry.size_bytes for entry in going)
    facts = {
        "deleted": [str(entry.path) for entry in going],
        "deleted_bytes": freed,
        "entries": len(entries) - len(going),
        "bytes": sum(entry.size_bytes for entry in entries) - freed,
    }

    def show() -> None:
        size = _console.format_bytes(freed)
        _console.say(f"deleted {len(going)} entries, {size}; {facts['entries']} are left")

    return facts, show


def _export(place: Path, site: Optional[Path]) -> tuple[dict[str, Any], Callable[[], None]]:
    from mneme.cache.entries import entries_of, is_intact  # noqa: PLC0415 - when it is used
    from mneme.cache.keeping import export_entries  # noqa: PLC0415

    if site is None:
        raise InvalidArgument("export needs the directory to copy to, as in 'mneme cache export D'")
    entries = entries_of(place)
    sound: list[CacheEntry] = [entry for entry in entries if is_intact(entry)]
    written = export_entries(sound, site)
    facts = {
        "site": str(site),
        "exported": [str(path) for path in written],
        "damaged": [str(entry.path) for entry in entries if entry not in sound],
    }

    def show() -> None:
        for name in facts["damaged"]:
            _console.print_line(f"damaged: {name}")
        _console.say(f"copied {len(written)} of {len(entries)} entries to '{site}'")

    return facts, show
