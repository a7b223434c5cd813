"""RECORDING, KERNEL and PASSES on command lines: the same words for every verb that takes them."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli._console import say

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import RecordedExecution

__all__ = [
    "DatabaseOption",
    "GraphOption",
    "KernelArgument",
    "PassesArgument",
    "RecordIdOption",
    "RecordingArgument",
    "Words",
    "chosen_launch",
    "kernels_named",
    "names_several",
    "refuse_words",
    "tell_apart",
    "words_named",
]

_SAFE_IN_SHELLS = re.compile(r"[\w.,:/+@%-]+")
_LOOKS_LIKE_PIPELINE = re.compile(r"[<,(]|^O[0-3sz]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the words of a command line name."""

    recording: Path
    kernel: str | None = None
    passes: str | None = None


def tell_apart(
    *words: str | None,
    database: Path | None = None,
    has_passes: bool = False,
    has_plugins: bool = False,
) -> Words:
    """Tell what each word is; with -rdb, RECORDING is none of them.

    A word behind the recording that LLVM takes as a pipeline is PASSES, and KERNEL otherwise.
    Behind a record, which needs no KERNEL, what fits neither is PASSES.

    Args:
        words: RECORDING, KERNEL and PASSES in this order, each of which may be missing.
        database: The recording, if an option names it.
        has_passes: Whether the verb takes PASSES.
        has_plugins: Whether plugins, or another LLVM, have passes that mneme's LLVM does not know.

    Raises:
        typer.BadParameter: If no recording is named, or there is a word too much.
    """
    rest = [one for one in words if one is not None]
    if database is None and not rest:
        raise typer.BadParameter("no recording is named; say RECORDING, a directory or a record")
    recording = Path(rest.pop(0)) if database is None else database
    if len(rest) > 1 + has_passes:
        taken = "[KERNEL] [PASSES]" if has_passes else "[KERNEL]"
        raise typer.BadParameter(
            f"'{rest[-1]}' is one argument too many: only {taken} may follow the recording, "
            f"'{recording}'"
        )
    kernel = rest[0] if rest else None
    passes = rest[1] if len(rest) > 1 else None
    is_one_kernel = database is not None or recording.is_file()
    if (
        has_passes
        and len(rest) == 1
        and _is_pipeline(rest[0], recording, is_one_kernel, has_plugins)
    ):
        kernel, passes = None, rest[0]
    return Words(recording=recording, kernel=kernel, passes=passes)


def _is_pipeline(word: str, recording: Path, is_usual: bool, has_plugins: bool) -> bool:
    """Whether a word is PASSES, also if it is wrong, which only looks or `is_usual` tell."""
    from mneme import _native  # noqa: PLC0415 - loads native code
    from mneme.errors import InvalidArgument, MnemeError  # noqa: PLC0415

    with contextlib.suppress(InvalidArgument):
        _native.check_passes(word)
        return is_usual or not _is_name(word, recording)
    if not (is_usual or has_plugins) and _LOOKS_LIKE_PIPELINE.search(word) is None:
        return False
    from mneme.recording.records import choose  # noqa: PLC0415 - `--help` stays light

    try:
        choose(recording, word, None)
    except InvalidArgument:
        return False  # several kernels fit
    except MnemeError:
        return True
    return False


def _is_name(word: str, recording: Path) -> bool:
    """Whether a kernel of a directory is called like a pass: "sink"."""
    import mneme  # noqa: PLC0415 - when there is a recording
    from mneme.errors import MnemeError  # noqa: PLC0415
    from mneme.recording.choice import handles_of  # noqa: PLC0415

    try:
        records: Any = mneme.load(recording)
    except MnemeError:
        return False
    return any(word in handles_of(one).names for one in records.values())


def refuse_words(words: Words, record_id: str | None) -> None:
    """Refuse what names a kernel or a launch: a graph has its own.

    Raises:
        typer.BadParameter: If there is any.
    """
    if words.kernel is not None or record_id is not None:
        raise typer.BadParameter("--graph names a whole graph: leave KERNEL and the record id out")


def chosen_launch(words: Words, record_id: str | None) -> tuple[Path, str]:
    """Return the record file and the id of the one launch that is meant.

    If launches differ in scalar arguments only, the first recorded is taken, and a sentence says
    so.

    Raises:
        NotFound, InvalidArgument, ArtifactCorrupt: As `mneme.recording.records.choose_launch`.
    """
    from mneme.recording import records  # noqa: PLC0415 - `--help` stays light

    chosen = records.choose(words.recording, words.kernel, record_id)
    alike = records.first_of_alike(chosen)
    if alike is None:
        return chosen.record.path, records.only_launch(chosen)
    say(records.told_of_alike(chosen, alike))
    return chosen.record.path, alike


def names_several(words: Words, record_id: str | None) -> bool:
    """Whether a recording of several kernels is named, and none of them."""
    from mneme.recording import records  # noqa: PLC0415 - `--help` stays light

    is_one = words.kernel is not None or record_id is not None or words.recording.is_file()
    return not is_one and len(records.every_launch(words.recording, None)) > 1


def _named_records(ctx: typer.Context) -> list[RecordedExecution]:
    """Return the records that the command line names so far, for completion in a shell."""
    import mneme  # noqa: PLC0415 - when a shell asks
    from mneme.errors import MnemeError  # noqa: PLC0415

    found: list[RecordedExecution] = []
    for value in ctx.params.values():
        words = value if isinstance(value, list | tuple) else (value,)
        for word in words:
            with contextlib.suppress(MnemeError):
                if isinstance(word, str | Path) and Path(word).exists():
                    opened: Any = mneme.load(word)
                    found += opened.values() if Path(word).is_dir() else [opened]
    return found


def launches_named(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of recorded launches with this prefix."""
    ids = [str(name) for record in _named_records(ctx) for name in record]
    return [name for name in ids if name.startswith(incomplete)]


def kernels_named(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the mangled names of recorded kernels with this prefix."""
    names = [record.kernel_name for record in _named_records(ctx)]
    return [name for name in names if name.startswith(incomplete)]


def words_named(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what begins like a word behind a recording: kernels, and launches behind '@'.

    While there is no word yet, each kernel has one name; later other names, places, labels and
    hashes are offered too.
    """
    records = _named_records(ctx)
    name, at, number = incomplete.rpartition("@")
    if at and (not number or number.isdecimal()):
        found = [one for one in records if name in (_shortest(one, records), *_handles(one))]
        numbers = [f"{name}@{n}" for one in found[:1] for n in range(1, len(one) + 1)]
        return [one for one in numbers if one.startswith(incomplete)]
    shortest = [_shortest(one, records) for one in records]
    offered = [one for one in shortest if one.startswith(incomplete)]
    if not offered and incomplete:
        offered = [one for record in records for one in _handles(record)]
    return list(dict.fromkeys(one for one in offered if one.startswith(incomplete)))


def _handles(record: RecordedExecution) -> list[str]:
    """Return what a record is called by that a shell leaves alone."""
    from mneme.recording.choice import handles_of  # noqa: PLC0415 - when a shell asks

    told = handles_of(record)
    texts = (*told.short_names, *told.labels, str(told.place or ""), told.mangled, *told.hashes)
    return [one for one in texts if _SAFE_IN_SHELLS.fullmatch(one)]


def _shortest(record: RecordedExecution, records: list[RecordedExecution]) -> str:
    """Return the first name that no other record has."""
    counts = Counter(name for one in records for name in {*_handles(one)})
    alone = [name for name in _handles(record) if counts[name] == 1]
    return alone[0] if alone else record.static_hash


RecordIdOption = Annotated[
    Optional[str],
    typer.Option(
        "-rid",
        "-record-id",
        "--record-id",
        metavar="ID",
        help="Record id (dynamic hash) of the launch; not needed if there is only one.",
        autocompletion=launches_named,
        show_default=False,
    ),
]
GraphOption = Annotated[
    Optional[str],
    typer.Option(
        "--graph",
        metavar="ID",
        help="A graph that 'mneme record --graph' kept: its hash, how that begins, or its label.",
        show_default=False,
    ),
]
DatabaseOption = Annotated[
    Optional[Path],
    typer.Option(
        "-rdb",
        "--record-database",
        metavar="DB",
        help="The recording, in place of RECORDING.",
        show_default=False,
    ),
]
RecordingArgument = Annotated[
    Optional[str],
    typer.Argument(
        metavar="RECORDING",
        help="A recording directory, or a record in it (<static hash>.json).",
        autocompletion=words_named,
        show_default=False,
    ),
]
KernelArgument = Annotated[
    Optional[str],
    typer.Argument(
        metavar="[KERNEL]",
        help="A name or part of one, file.cu:120, a label or a hash; NAME@2: its second launch. "
        "Not needed if there is only one.",
        autocompletion=words_named,
        show_default=False,
    ),
]
PassesArgument = Annotated[
    Optional[str],
    typer.Argument(
        metavar="[PASSES]",
        help="LLVM pass pipeline, as 'default<O3>'.",
        show_default=False,
    ),
]
