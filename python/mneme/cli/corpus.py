"""`mneme corpus`: recordings of many programs, to keep, publish and learn from."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _console
from mneme.cli._options import DeviceOption, JsonOption, finite
from mneme.cli._unused import is_device_asked, tell_unused
from mneme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from mneme.corpus import CorpusEntry

__all__ = ["corpus"]


_SECONDS_BETWEEN_LINES = 10


class Action(str, Enum):
    """Actions on a corpus."""

    add = "add"
    ls = "ls"
    verify = "verify"
    pack = "pack"
    unpack = "unpack"
    lit = "lit"


class Split(str, Enum):
    """What programs are for."""

    train = "train"
    test = "test"


def _label(name: str, metavar: str, *, text: str) -> object:
    return typer.Option(name, metavar=metavar, help=f"add: {text}", show_default=False)


def corpus(
    action: Annotated[
        Action, typer.Argument(metavar="ACTION", help=", ".join(one.value for one in Action))
    ],
    place: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS", help="The corpus, a directory; for unpack: the packed file."
        ),
    ],
    recording: Annotated[
        Optional[Path],
        typer.Argument(
            metavar="[RECORDING]",
            help="add: a recording directory, or a record in it.",
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        str, _label("--program", "NAME", text="the program; its recordings stay in one split.")
    ] = "",
    arguments: Annotated[
        str, _label("--arguments", "TEXT", text="its command line, without its name.")
    ] = "",
    commit: Annotated[str, _label("--commit", "TEXT", text="the state of its source.")] = "",
    gpu: Annotated[
        str, _label("--gpu", "TEXT", text="where it was recorded, else what the recording says.")
    ] = "",
    licence: Annotated[
        str, _label("--licence", "SPDX", text="its licence, which pack asks for: Apache-2.0.")
    ] = "",
    label: Annotated[
        Optional[list[str]],
        _label("--label", "KEY=VALUE", text="anything else; may be given more than once."),
    ] = None,
    split: Annotated[
        Optional[Split],
        typer.Option("--split", help="ls: only programs for this.", show_default=False),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            "--test-share",
            metavar="PART",
            callback=finite,
            min=0,
            max=1,
            help="ls: share of programs for testing.",
        ),
    ] = 0.2,
    replays: Annotated[
        bool, typer.Option("--replay", help="verify: replay every launch, too, and compare.")
    ] = False,
    device: DeviceOption = None,
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="pack: the file, .tar.zst or .tar; unpack, lit: the directory.",
            show_default=False,
        ),
    ] = None,
    no_licence: Annotated[
        bool, typer.Option("--no-licence", help="pack: programs without a licence, too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Keep recordings of many programs with labels, each content once.

    add: add a recording; ls: list programs; verify: check every file; pack: make one file of it, to
    publish; unpack: make a corpus of such a file; lit: write a suite of tests for LLVM's lit.
    """
    labels = {
        "--program": program,
        "--arguments": arguments,
        "--commit": commit,
        "--gpu": gpu,
        "--licence": licence,
        "--label": label,
    }
    _check_words(action, recording, program, output)
    tell_unused(labels if action is not Action.add else {}, "without add")
    tell_unused({"--split": split if action is not Action.ls else None}, "without ls")
    tell_unused({"--replay": replays and action is not Action.verify}, "without verify")
    tell_unused({"--device": is_device_asked(device) and not replays}, "without --replay")
    tell_unused({"--no-licence": no_licence and action is not Action.pack}, "without pack")
    has_output = action in (Action.pack, Action.unpack, Action.lit)
    tell_unused({"--output": output and not has_output}, f"with {action.value}")
    actions: dict[Action, Callable[[], Result]] = {
        Action.add: lambda: _add(place, recording or Path(), labels),
        Action.ls: lambda: _ls(place, split.value if split else None, test_share),
        Action.verify: lambda: _verify(place, replays=replays, device=device),
        Action.pack: lambda: _pack(place, output or Path(), needs_licence=not no_licence),
        Action.unpack: lambda: _unpack(place, output or Path()),
        Action.lit: lambda: _lit(place, output or Path()),
    }
    facts, show, code = actions[action]()
    if json:
        _console.print_json(facts)
    else:
        show()
    raise typer.Exit(code)


Result = tuple[dict[str, Any], Callable[[], None], ExitCode]


def _check_words(action: Action, recording: Path | None, program: str, output: Path | None) -> None:
    if action is Action.add:
        if recording is None:
            raise typer.BadParameter("say which recording: 'mneme corpus add CORPUS RECORDING'")
        if not program:
            raise typer.BadParameter("say which program the recording is of, with --program NAME")
    elif recording is not None:
        raise typer.BadParameter(f"'{recording}' is one argument too many for {action.value}")
    if action in (Action.pack, Action.unpack, Action.lit) and output is None:
        raise typer.BadParameter(f"{action.value} needs -o PATH")


def _add(place: Path, recording: Path, given: dict[str, Any]) -> Result:
    from mneme.corpus.adding import add_recording  # noqa: PLC0415 - `--help` stays light
    from mneme.corpus.labels import Labels, parse_labels  # noqa: PLC0415

    texts = {name.removeprefix("--"): text for name, text in given.items() if name != "--label"}
    labels = Labels(**texts, more=parse_labels(given["--label"] or ()))
    added = add_recording(place, recording, labels)
    facts = {
        "entry": added.entry.title,
        "path": str(place / added.entry.path),
        "is_new": added.is_new,
        "is_relabelled": added.is_relabelled,
        "files": len(added.entry.files),
        "shared_files": added.shared_files,
        "shared_bytes": added.shared_bytes,
        "same_code": {name: list(programs) for name, programs in added.same_code.items()},
        "repaired": list(added.repaired),
    }

    def show() -> None:
        if not added.is_new:
            _console.say(f"'{recording}' is in the corpus already, as {added.entry.title}")
            if added.is_relabelled:
                _console.say(f"{added.entry.title} has the labels that were given now")
            for name in added.repaired:
                _console.say(f"repaired '{place / name}'")
            return
        saved = _console.format_bytes(added.shared_bytes)
        _console.say(
            f"added {added.entry.title}: {len(added.entry.kernels)} kernels, "
            f"{len(added.entry.files)} files, of which {added.shared_files} ({saved}) were there"
        )
        for name, programs in added.same_code.items():
            _console.say(f"the code of '{name}' is also in {', '.join(programs)}")

    return facts, show, ExitCode.OK


def _ls(place: Path, split: str | None, test_share: float) -> Result:
    from mneme.corpus import Corpus  # noqa: PLC0415 - `--help` stays light

    opened = Corpus(place, test_share=test_share)
    entries = list(opened) if split is None else list(opened.split(split))
    both = opened.code_in_both()
    facts = {
        "path": str(place),
        "entries": [_as_json(one) for one in entries],
        "code_in_both_splits": {name: list(programs) for name, programs in both.items()},
    }

    def show() -> None:
        columns = ("program", "arguments", "split", "gpu", "licence", ">kernels", ">launches")
        content = _console.table(f"Corpus {place}", (*columns, ">size", "entry"))
        for one in entries:
            content.add_row(
                one.program,
                one.arguments or "-",
                one.split,
                one.gpu or "-",
                one.licence or "-",
                str(len(one.kernels)),
                str(sum(kernel.launches for kernel in one.kernels)),
                _console.format_bytes(sum(fact.size_bytes for fact in one.facts.files.values())),
                one.facts.path,
            )
        _console.print_table(content)
        for name, programs in both.items():
            _console.say(
                f"the code of '{name}' is in both splits ({', '.join(programs)}): these programs "
                "cannot test what was learnt from the others"
            )

    return facts, show, ExitCode.OK


def _as_json(entry: CorpusEntry) -> dict[str, Any]:
    facts = entry.facts.to_json()
    return {**facts, "path": str(entry.path), "split": entry.split}


def _verify(place: Path, *, replays: bool, device: str | None) -> Result:
    from mneme.corpus.replaying import verify_replays  # noqa: PLC0415 - `--help` stays light
    from mneme.corpus.verifying import verify_files  # noqa: PLC0415

    verified = verify_files(place)
    problems = verified.problems
    code = ExitCode.RECORD_UNREADABLE if problems else ExitCode.OK
    facts: dict[str, Any] = {
        "files": verified.files,
        "problems": problems,
        "leftovers": verified.leftovers,
    }
    if replays and not problems:
        facts["launches"], facts["not_verified"] = verify_replays(place, device, _progress())
        code = ExitCode.NOT_VERIFIED if facts["not_verified"] else ExitCode.OK

    def show() -> None:
        for problem in problems:
            _console.print_line(problem)
        for left in verified.leftovers:
            _console.say(
                f"'{left}' is left from an addition that was killed; the next one deletes it"
            )
        if problems:
            return
        _console.say(f"{verified.files} files are as they were added")
        if replays:
            different = facts["not_verified"]
            for one in different:
                _console.print_line(one)
            same = facts["launches"] - len(different)
            _console.say(f"{same} of {facts['launches']} launches leave what was recorded")

    return facts, show, code


def _progress() -> Callable[[int, int], None]:
    """Say every ten seconds how much is done."""
    last = time.monotonic()

    def told(count: int, total: int) -> None:
        nonlocal last
        if count < total and time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            _console.say(f"{count} of {total} launches")

    return told


def _pack(place: Path, output: Path, *, needs_licence: bool) -> Result:
    from mneme.corpus.packing import pack  # noqa: PLC0415 - `--help` stays light

    packed = pack(place, output, needs_licence=needs_licence)
    facts = {
        "file": str(packed.file),
        "entries": packed.entries,
        "content_bytes": packed.content_bytes,
        "packed_bytes": packed.packed_bytes,
    }

    def show() -> None:
        sizes = [packed.content_bytes, packed.packed_bytes]
        before, after = (_console.format_bytes(one) for one in sizes)
        _console.say(f"packed {packed.entries} recordings, {before}, into '{output}', {after}")

    _console.say(
        f"'{output}' contains data of the recorded programs, their memory included: give it only "
        "to those who may have their input"
    )
    return facts, show, ExitCode.OK


def _unpack(packed: Path, destination: Path) -> Result:
    from mneme.corpus.unpacking import unpack  # noqa: PLC0415 - `--help` stays light

    manifest = unpack(packed, destination)
    facts = {"path": str(destination), "entries": len(manifest.entries)}

    def show() -> None:
        _console.say(f"unpacked {len(manifest.entries)} recordings to '{destination}'")

    return facts, show, ExitCode.OK


def _lit(place: Path, destination: Path) -> Result:
    from mneme.corpus.lit_suite import write_suite  # noqa: PLC0415 - `--help` stays light

    count = write_suite(place, destination)
    facts = {"path": str(destination), "tests": count}

    def show() -> None:
        _console.say(f"wrote {count} tests; 'lit {destination} -o results.json' runs them")

    return facts, show, ExitCode.OK
