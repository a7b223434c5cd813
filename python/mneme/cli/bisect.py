"""`mneme bisect`: which run of which pass makes a pipeline fail, wrong, slower or larger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.bisect.symptom import Symptom
from mneme.cli import _console
from mneme.cli._code_knobs import with_code_knobs
from mneme.cli._options import DeviceOption, JsonOption, finite
from mneme.cli._recording import (
    DatabaseOption,
    KernelArgument,
    PassesArgument,
    RecordIdOption,
    RecordingArgument,
    chosen_launch,
    tell_apart,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.bisect.bisection import BisectOptions, Culprit
    from mneme.bisect.probe import Probe
    from mneme.bisect.programs import Programs
    from mneme.measure.tolerance import Tolerance
    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["bisect"]


# What --than-llvm calls the LLVM that mneme has.
_OWN = "mneme"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    """The recorded launch, and how `mneme replay` gets the configuration that is bisected."""

    database: Path
    record_id: str
    instance: KernelInstance
    changes: dict[str, object]
    device: str | None
    target: str

    @property
    def replay(self) -> Sequence[str]:
        """The command, without a pipeline."""
        from mneme.knobs import CODE_TEXTS  # noqa: PLC0415 - `--help` stays light
        from mneme.option import flag_of  # noqa: PLC0415

        words = ["mneme", "replay", "-rdb", str(self.database.absolute()), "-rid", self.record_id]
        if self.device:
            words += ["--device", self.device]
        texts = {one.key: one for one in CODE_TEXTS}
        for name, value in self.changes.items():
            if name in texts:
                words += texts[name].options(str(value))
            else:
                words += [flag_of(name)] if value is True else [flag_of(name), str(value)]
        return words


@with_code_knobs
def bisect(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    passes: PassesArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    symptom: Annotated[
        Optional[Symptom],
        typer.Option(
            "--for",
            help="What is the matter; else whether the code fails, is wrong, or is slower.",
            show_default=False,
        ),
    ] = None,
    than: Annotated[
        Optional[str],
        typer.Option(
            "--than",
            metavar="PASSES",
            help="The better pipeline, where it takes one, else default<O3>; with --than-llvm, "
            "else PASSES.",
            show_default=False,
        ),
    ] = None,
    than_llvm: Annotated[
        Optional[str],
        typer.Option(
            "--than-llvm",
            metavar="LLVM",
            help="The LLVM of the better pipeline: 'mneme' has its own; else that of --llvm.",
            show_default=False,
        ),
    ] = None,
    arch: Annotated[
        str,
        typer.Option(
            "--arch",
            metavar="ARCH",
            help="Compile for sm_90, cpu, ... where no kernel runs: size, registers, local-memory.",
            show_default=False,
        ),
    ] = "",
    specialize: Annotated[
        bool, typer.Option("--specialize", help="Fix scalar arguments to their recorded values.")
    ] = False,
    specialize_dims: Annotated[
        bool, typer.Option("-sdims", "--specialize-dims", help="Fix grid and block extents.")
    ] = False,
    codegen_opt: Annotated[
        Optional[int],
        typer.Option(
            "-co",
            "--codegen-opt",
            metavar="0..3",
            min=0,
            max=3,
            help="Level of the code generator, else 3.",
            show_default=False,
        ),
    ] = None,
    iterations: Annotated[
        int,
        typer.Option(
            "-it", "--iterations", metavar="N", min=1, help="Launches whose median is a time."
        ),
    ] = 20,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            callback=finite,
            min=0.1,
            help="Limit of a compilation, and of a launch.",
        ),
    ] = 60.0,
    tolerance: Annotated[
        Optional[list[str]],
        typer.Option(
            "--tolerance",
            metavar="SPEC",
            help="As of 'mneme replay'; may be given more than once.",
            show_default=False,
        ),
    ] = None,
    device: DeviceOption = None,
    reduce_time: Annotated[
        float,
        typer.Option(
            "--reduce-time",
            metavar="SECONDS",
            callback=finite,
            min=0,
            help="Limit for making code that crashes small, with llvm-reduce; 0: leave it.",
        ),
    ] = 60.0,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the code is written.")
    ] = Path("mneme-bisect"),
    json: JsonOption = False,
    **knobs: Any,  # noqa: ANN401 - numbers and texts
) -> None:
    """Find the run of a pass that makes a pipeline fail, wrong, slower or larger.

    Compiles and replays the kernel with the first passes of PASSES only, as LLVM's opt-bisect does,
    until one run of one pass makes the difference. Writes the code before and after this run, and a
    script that replays both.
    """
    from mneme.bisect import Bisection, BisectOptions  # noqa: PLC0415 - `--help` stays light
    from mneme.bisect.programs import Programs  # noqa: PLC0415
    from mneme.bisect.reproducer import culprit_facts, write_reproducer  # noqa: PLC0415
    from mneme.code_texts import taken_texts  # noqa: PLC0415
    from mneme.measure.tolerance import Tolerance  # noqa: PLC0415

    texts = taken_texts(knobs)
    words = tell_apart(
        *(recording, kernel, passes),
        database=record_database,
        has_passes=True,
        has_plugins=bool(texts["pass_plugins"] or texts["llvm"]),
    )
    if words.passes is None:
        raise typer.BadParameter("no pipeline is named; say PASSES, as in 'default<O3>'")
    changes: dict[str, object] = {
        "specialize": specialize or None,
        "specialize_dims": specialize_dims or None,
        "codegen_opt": codegen_opt,
        **knobs,
        **{name: text or None for name, text in texts.items()},
    }
    told = {name: value for name, value in changes.items() if value is not None}
    tolerances = [Tolerance.parse(text) for text in tolerance or ()]
    launch = _launch(*chosen_launch(words, record_id), told, symptom, device, arch)
    better = launch if than_llvm is None else _with_llvm(launch, than_llvm)
    options = BisectOptions(
        passes=words.passes,
        than=than or (words.passes if than_llvm else "default<O3>"),
        symptom=symptom,
        llvm=(knobs["llvm"] or [_OWN])[0] if than_llvm else "",
        than_llvm=than_llvm or "",
    )
    measuring = (symptom, iterations, timeout, tolerances)
    with _probe(launch, *measuring) as probe, _probe(better, *measuring) as than_probe:
        culprit = Bisection(probe, options, _console.say, than_probe).run()
    chosen = better if culprit.is_missing else launch
    files = write_reproducer(culprit, output, chosen.replay) if culprit.number else []
    reduced = ""
    if files and culprit.symptom is Symptom.FAILED and reduce_time > 0:
        reduced = _reduced(culprit, output, texts, reduce_time)
    programs = _programs(culprit, chosen, output) if files else Programs()
    if json:
        place = programs.directory or ""
        told_of = {"program": str(place), "no_program": programs.why_none}
        facts = {**culprit_facts(culprit), "reduced": reduced, **told_of}
        _console.print_json({**facts, "files": [str(one) for one in files]})
        return
    _show(culprit, options, output)
    for line in (reduced, _told_of(programs, chosen.target)):
        if line:
            _console.print_line(line)


def _reduced(culprit: Culprit, output: Path, texts: dict[str, str], seconds: float) -> str:
    """Return what came of reducing the code; LLVM's tools may not be installed."""
    import json  # noqa: PLC0415 - as is what it reads

    from mneme import _native  # noqa: PLC0415
    from mneme.bisect.reduction import (  # noqa: PLC0415
        LlvmTools,
        name_in_pipeline,
        reduce_crash,
    )
    from mneme.errors import NotFound  # noqa: PLC0415
    from mneme.other_compilers import compiler_facts  # noqa: PLC0415

    facts = compiler_facts(texts["llvm"]) if texts["llvm"] else {}
    version = str(facts.get("llvm") or json.loads(_native.compiler_version())["llvm"])
    try:
        tools = LlvmTools.of(version, str(facts.get("prefix", "")))
    except NotFound as error:
        return f"not reduced: {error}"
    _console.say(f"reducing before.ll, for {seconds:g} seconds at most")
    name = name_in_pipeline(culprit.name.partition(" ")[0], culprit.passes)
    return reduce_crash(output, name, texts, tools, seconds)


def _programs(culprit: Culprit, launch: _Launch, output: Path) -> Programs:
    from mneme.bisect.programs import write_programs  # noqa: PLC0415 - `--help` stays light

    return write_programs(
        culprit,
        output / "program",
        database=launch.database,
        instance=launch.instance,
        changes=launch.changes,
        target=launch.target,
    )


def _told_of(programs: Programs, target: str) -> str:
    """Return a sentence; the CPU device needs none."""
    if programs.directory is not None:
        return f"programs that need no mneme are in {programs.directory}, before/ and after/"
    is_wanted = programs.why_none and target.startswith("sm_")
    return f"no program without mneme: {programs.why_none}" if is_wanted else ""


def _with_llvm(launch: _Launch, named: str) -> _Launch:
    """Return the launch, compiled with an LLVM."""
    from mneme.code_texts import compiler_text  # noqa: PLC0415 - `--help` stays light

    changes = {name: value for name, value in launch.changes.items() if name != "llvm"}
    if named != _OWN:
        changes["llvm"] = compiler_text([named])
    return replace(launch, changes=changes)


def _launch(
    database: Path,
    record_id: str,
    changes: dict[str, object],
    symptom: Symptom | None,
    device: str | None,
    arch: str,
) -> _Launch:
    from mneme.devices import choose_device, device_limits  # noqa: PLC0415
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

    record = RecordedExecution.from_json(database)
    record.require_ir("mneme bisect")
    target = arch
    if symptom is None or symptom.needs_device:
        if arch:
            raise typer.BadParameter("--arch is for size, registers and local-memory; see --for")
        device = choose_device(device)
        target = device_limits(device).target
    return _Launch(
        database=database,
        record_id=record_id,
        instance=record.get(record_id),
        changes=changes,
        device=device,
        target=target,
    )


def _probe(
    launch: _Launch,
    symptom: Symptom | None,
    iterations: int,
    timeout: float,
    tolerances: Sequence[Tolerance],
) -> Probe:
    from mneme.bisect.probe import Probe  # noqa: PLC0415 - `--help` stays light
    from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration  # noqa: PLC0415

    instance = launch.instance
    recorded = ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )
    return Probe(
        database=launch.database,
        record_id=launch.record_id,
        configuration=ConfigurationChanges(values=launch.changes).apply(recorded),
        symptom=symptom,
        device=launch.device,
        target=launch.target,
        iterations=iterations,
        timeout=timeout,
        tolerances=tolerances,
    )


def _show(culprit: Culprit, options: BisectOptions, output: Path) -> None:
    symptom = culprit.symptom
    if not culprit.number:
        _console.print_line(
            f"no run of a pass makes the difference: the code of '{options.passes}' is "
            f"{symptom.value} without optional passes, too"
        )
        return
    effect = "better" if culprit.is_missing else _EFFECTS[symptom]
    total = f" of {culprit.runs}" if culprit.runs else ""
    llvm = f" of {culprit.llvm}" if culprit.llvm else ""
    _console.print_line(
        f"run {culprit.number}{total} of '{culprit.passes}'{llvm} makes it {effect}:"
    )
    _console.print_line(f"  {culprit.name}")
    for word, answer in (
        ("ends before it", culprit.before),
        ("ends with it", culprit.after),
        ("whole, without it", culprit.without),
    ):
        if answer is not None:
            _console.print_line(f"  {word + ':':<19}{answer.described(symptom)}")
    if culprit.ratio is not None:
        ratio, low, high = culprit.ratio
        _console.print_line(f"  measured in turn:  {ratio:.2f}x as long ({low:.2f} to {high:.2f})")
    code = "before.ll, after.ll" if culprit.ir_after else "before.ll"
    _console.print_line(f"{code} and replay.sh are in {output}")


_EFFECTS = {
    Symptom.FAILED: "fail",
    Symptom.WRONG: "wrong",
    Symptom.SLOWER: "slower",
    Symptom.SIZE: "larger",
    Symptom.REGISTERS: "take more registers",
    Symptom.LOCAL_MEMORY: "take more local memory",
}
