"""`mneme suggest`: what helped the same or similar kernels before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.cli import _console
from mneme.cli._options import DeviceOption, JsonOption
from mneme.cli._recording import (
    DatabaseOption,
    KernelArgument,
    RecordIdOption,
    RecordingArgument,
    Words,
    chosen_launch,
    tell_apart,
)
from mneme.cli._unused import is_device_asked, tell_unused
from mneme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from mneme.knowledge.recall import Kernel
    from mneme.knowledge.store import KnowledgeStore
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["suggest"]


def suggest(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    device: DeviceOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Configurations at most.")
    ] = 5,
    export: Annotated[
        Optional[Path],
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write all that is known to a file for others.",
            show_default=False,
        ),
    ] = None,
    take: Annotated[
        Optional[Path],
        typer.Option(
            "--import",
            metavar="FILE",
            help="Take in what such a file of others knows.",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Delete all that is known, and say what.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List what helped a recorded kernel, or similar ones, in earlier tunings.

    Every tuning adds to a file of yours (MNEME_KNOWLEDGE; off: none). Nothing known: exit code 1.
    """
    is_looking = recording is not None or record_database is not None
    wanted = [is_looking, export is not None, take is not None, forget]
    if sum(wanted) != 1:
        raise typer.BadParameter("name a RECORDING, or one of --export, --import and --forget")
    if not is_looking:
        asked = is_device_asked(device)
        given = {"--json": json, "--record-id": record_id, "--device": asked}
        tell_unused(given, "without a RECORDING")
    store = _store()
    if store is None:
        _console.say("MNEME_KNOWLEDGE is off: nothing is remembered and nothing is known")
        raise typer.Exit(ExitCode.NOT_VERIFIED)
    if is_looking:
        words = tell_apart(recording, kernel, database=record_database)
        code = _suggest(store, words, record_id, device, limit, json=json)
    elif export is not None:
        code = _export(store, export)
    elif take is not None:
        code = _import(store, take)
    else:
        code = _forget(store)
    raise typer.Exit(code)


def _store() -> KnowledgeStore | None:
    from mneme.knowledge.place import knowledge_place  # noqa: PLC0415 - `--help` stays light
    from mneme.knowledge.store import KnowledgeStore  # noqa: PLC0415

    place = knowledge_place()
    return None if place is None else KnowledgeStore(place)


def _suggest(
    store: KnowledgeStore,
    words: Words,
    record_id: str | None,
    device: str | None,
    limit: int,
    *,
    json: bool,
) -> ExitCode:
    from mneme.cli._suggest_output import Told, show, told_as_json  # noqa: PLC0415
    from mneme.knowledge.entry import NOTHING  # noqa: PLC0415
    from mneme.knowledge.recall import matches  # noqa: PLC0415
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

    path, found = chosen_launch(words, record_id)
    record = RecordedExecution.from_json(path)
    instance = record.get(found)
    known = matches(store.entries(), _kernel(record, instance, device))
    told = Told(
        store=store.path,
        record=record,
        instance=instance,
        helped=[one for one in known if one.entry.rank != NOTHING][:limit],
        in_vain=[one for one in known if one.entry.rank == NOTHING and one.is_same],
    )
    if json:
        _console.print_json(told_as_json(told))
    else:
        show(told)
    return ExitCode.OK if told.helped else ExitCode.NOT_VERIFIED


def _kernel(record: RecordedExecution, instance: KernelInstance, device: str | None) -> Kernel:
    """Return the kernel to look up: on the named device, else the first GPU, else any."""
    from mneme.devices import choose_device, device_limits  # noqa: PLC0415 - loads native code
    from mneme.session.memory import kernel_of  # noqa: PLC0415

    chosen = choose_device(device)
    if device is None and chosen == "cpu":
        return kernel_of(record, instance, "", record.arch)
    return kernel_of(record, instance, chosen, device_limits(chosen).target)


def _export(store: KnowledgeStore, path: Path) -> ExitCode:
    from mneme.knowledge.share import export_knowledge  # noqa: PLC0415

    count = export_knowledge(store, path)
    if not count:
        return _nothing(store)
    _console.say(f"wrote {_configurations(count)} to '{path}'")
    return ExitCode.OK


def _import(store: KnowledgeStore, path: Path) -> ExitCode:
    from mneme.knowledge.share import import_knowledge  # noqa: PLC0415

    count, new = import_knowledge(store, path)
    _console.say(f"'{path}' has {_configurations(count)}; {new} of them are new in '{store.path}'")
    return ExitCode.OK


def _forget(store: KnowledgeStore) -> ExitCode:
    entries = store.entries()
    if not entries and not store.path.exists():
        return _nothing(store)
    kernels = len({one.static_hash for one in entries})
    told = f"{kernels} kernel" if kernels == 1 else f"{kernels} kernels"
    _console.say(f"forgetting {_configurations(len(entries))} of {told}: deleting '{store.path}'")
    store.forget()
    return ExitCode.OK


def _nothing(store: KnowledgeStore) -> ExitCode:
    _console.say(f"nothing is known yet; this is empty: '{store.path}'")
    return ExitCode.NOT_VERIFIED


def _configurations(count: int) -> str:
    return "1 configuration" if count == 1 else f"{count} configurations"
