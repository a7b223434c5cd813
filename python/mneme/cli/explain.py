"""`mneme explain`: what constants would give a kernel, and why configurations differ."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.arguments import ArgKind
from mneme.cli import _console
from mneme.cli._explain_words import RECORDED, is_recording, split_words
from mneme.cli._options import DeviceOption, JsonOption, finite
from mneme.cli._recording import (
    DatabaseOption,
    RecordIdOption,
    chosen_launch,
    words_named,
)
from mneme.cli._unused import is_device_asked, tell_unused
from mneme.kernel_names import names_in_tables
from mneme.recording.without_ir import FORMS_OF_GPUS
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.explain import ExplainOptions, Explanation
    from mneme.explain.case import Figures
    from mneme.explain.shape import Constants
    from mneme.programs.kernels import EmbeddedKernel
    from mneme.programs.recorded_kernel import RecordedKernel
    from mneme.why import Why

__all__ = ["explain"]

_DIMS = re.compile(r"([0-9]{1,10})(?:[x,]([0-9]{1,10}))?(?:[x,]([0-9]{1,10}))?", re.ASCII)


def _dims(text: Optional[str]) -> tuple[int, int, int] | None:
    if text is None:
        return None
    found = _DIMS.fullmatch(text)
    numbers = [int(one or 1) for one in found.groups()] if found else [0]
    if not all(0 < one < 2**31 for one in numbers):
        raise typer.BadParameter(f"'{text}' is not a size of a block or grid; write 256 or 16x16")
    x, y, z = numbers
    return x, y, z


def explain(
    program: Annotated[
        Optional[str],
        typer.Argument(
            metavar="PROGRAM",
            help="A program or library built with mneme; or a recording, whose values count then.",
            autocompletion=words_named,
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        Optional[str],
        typer.Argument(
            metavar="[KERNEL]",
            help="A name or part of one, file.cu:120, a hash, or a pattern with '*'; without it, "
            "all are listed. Host functions that the program marks are explained too.",
            autocompletion=words_named,
            show_default=False,
        ),
    ] = None,
    configurations: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="[CONFIG]...",
            help="Behind a recording: a pipeline, a results directory of 'mneme tune' (DIR@12: its "
            "trial 12), a tuned-kernels file, or 'recorded'.",
            show_default=False,
        ),
    ] = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    value: Annotated[
        Optional[list[str]],
        typer.Option(
            "--value",
            metavar="NAME=NUMBER",
            help="What an argument is, by name or position from 1; NAME+OFFSET=NUMBER for a field, "
            "NAME=NUMBER,... for what a pointer leads to. More than once; else probes.",
            show_default=False,
        ),
    ] = None,
    block: Annotated[
        Optional[str],
        typer.Option("--block", metavar="XxYxZ", help="Threads of a block.", show_default=False),
    ] = None,
    grid: Annotated[
        Optional[str],
        typer.Option("--grid", metavar="XxYxZ", help="Blocks; with --block.", show_default=False),
    ] = None,
    arch: Annotated[
        str,
        typer.Option(
            "--arch",
            metavar="ARCH",
            help="sm_90, sm_100, ..., or cpu; else what the program was built for, or its PTX is.",
            show_default=False,
        ),
    ] = "",
    variant: Annotated[
        Optional[list[str]],
        typer.Option(
            "--variant",
            metavar="NAME=OPTIONS",
            help="A configuration, by options of 'mneme replay'. More than once.",
            show_default=False,
        ),
    ] = None,
    shows_all: Annotated[
        bool, typer.Option("--all", help="Of configurations also what is the same in all.")
    ] = False,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Of configurations also what they do on --device: time and, by hardware "
            "counters, the place in a roofline.",
        ),
    ] = False,
    device: DeviceOption = None,
    html: Annotated[
        Optional[Path],
        typer.Option(
            "--html", metavar="FILE", help="Of configurations, as a page.", show_default=False
        ),
    ] = None,
    timeout: Annotated[
        Optional[float],
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            callback=finite,
            min=0.1,
            help="Limit for compiling one configuration.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Tell what constants would give a kernel, or why configurations give the code they give.

    Without CONFIG: loops whose count becomes constant, branches and loads that fold, instructions
    and registers; of a recorded launch, its arguments and dimensions are the constants.

    A launch without IR is explained as if 'recorded' were CONFIG: PTX and machine code, what limits
    occupancy, and what can be tried.

    With CONFIGs, of a recorded launch: what LLVM's passes say by source line, loops and how often
    they go round, memory operations, registers, what limits occupancy, times of passes. Nothing
    runs without --measure.
    """
    from mneme import explain as explaining  # noqa: PLC0415

    given = [one for one in (program, kernel, *(configurations or ())) if one is not None]
    words, named = split_words(given, record_database)
    has_configurations = bool(named or variant)
    is_launch = is_recording(words.recording, is_named=record_database is not None)
    launch = chosen_launch(words, record_id) if is_launch or has_configurations else None
    if launch is not None and (has_configurations or _tells_by_itself(launch[0])):
        idle = "with configurations" if has_configurations else "without IR"
        tell_unused({"--value": value, "--block": block, "--grid": grid}, idle)
        tell_unused({"--device": is_device_asked(device) and not measure}, "without --measure")
        ways = named if has_configurations else [RECORDED]
        why = _compiled(*launch, ways, variant or [], arch, timeout)
        if measure:
            why = _measured(why, device)
        _write(why, html, json=json, shows_all=shows_all)
        return
    only = {"--all": shows_all, "--html": html, "--timeout": timeout}
    only |= {"--measure": measure, "--device": is_device_asked(device)}
    tell_unused(only, "without a configuration")
    recorded = _recorded(launch, record_id)
    if words.kernel is None and recorded is None:
        tell_unused({"--value": value, "--block": block, "--grid": grid}, "without a kernel")
        _list(explaining.kernels_of(words.recording), words.recording, json=json)
        return
    if (block is None) != (grid is None):
        raise typer.BadParameter("--block and --grid become constant together; give both")
    options = explaining.ExplainOptions(
        values=tuple(value or ()), block=_dims(block), grid=_dims(grid), target=arch
    )
    if recorded is None:
        found = explaining.find_kernel(words.recording, words.kernel or "")
    else:
        found = recorded.kernel
        options = replace(
            options,
            # What stands behind counts more.
            values=(*recorded.values, *options.values),
            block=options.block or recorded.block,
            grid=options.grid or recorded.grid,
        )
    told = explaining.explain(found, options)
    if json:
        _console.print_json(told.to_dict())
    else:
        _show(told, options)


def _tells_by_itself(database: Path) -> bool:
    """Whether there is no IR, and code that tells what it uses."""
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

    return RecordedExecution.from_json(database).code_form in FORMS_OF_GPUS


def _compiled(
    database: Path,
    record_id: str,
    named: Sequence[str],
    variants: Sequence[str],
    target: str,
    timeout: float | None,
) -> Why:
    """Compile what words and `--variant` name."""
    from mneme.cli._variants import variant_of  # noqa: PLC0415 - `--help` stays light
    from mneme.recording.configured import configured  # noqa: PLC0415
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415
    from mneme.why import Way, explain_builds, way_of  # noqa: PLC0415

    record = RecordedExecution.from_json(database)
    instance = record.get(record_id)
    ways = [way_of(one, record, instance) for one in named]
    for one in map(variant_of, variants):
        configuration = configured(record, instance, one.changes)
        ways.append(Way(name=one.name, configuration=configuration))
    return explain_builds(ways, database, record_id, target, timeout)


def _measured(why: Why, device: str | None) -> Why:
    from mneme.devices import choose_device, device_limits  # noqa: PLC0415 - loads native code
    from mneme.why import measured  # noqa: PLC0415 - `--help` stays light

    chosen = choose_device(device)
    target = device_limits(chosen).target
    if target.rstrip("a") != why.target.rstrip("a"):  # sm_90a has features of this one GPU
        _console.say(
            f"times are those of code for {chosen} ({target}); all else is about {why.target}"
        )
    return measured(why, chosen)


def _write(why: Why, html: Path | None, *, json: bool, shows_all: bool) -> None:
    from mneme.cli._explain_output import show_why  # noqa: PLC0415 - `--help` stays light

    if html is not None:
        from mneme.why.page import write_page  # noqa: PLC0415 - slow to import

        write_page(why, html)
    if json:
        _console.print_json(why.to_dict())
    else:
        show_why(why, shows_all=shows_all)


def _recorded(launch: tuple[Path, str] | None, record_id: str | None) -> RecordedKernel | None:
    """Return the launch that is meant if a recording is named, not a program."""
    if launch is None:
        tell_unused({"-rid": record_id}, "with a program; it chooses a launch of a recording")
        return None
    from mneme.programs.recorded_kernel import recorded_kernel  # noqa: PLC0415

    return recorded_kernel(*launch)


def _list(kernels: list[EmbeddedKernel], program: Path, *, json: bool) -> None:
    if json:
        _console.print_json(
            [
                {
                    "kernel": one.kernel_name,
                    "demangled": one.demangled_name,
                    "place": str(one.place or ""),
                    "file": str(one.file),
                    "arch": one.arch,
                    "marked": None if one.marks is None else [mark.arg + 1 for mark in one.marks],
                }
                for one in kernels
            ]
        )
        return
    content = _console.table(
        f"Kernels and marked functions of {program}",
        ("kernel", "place", "built for", "marked", "file"),
    )
    names = names_in_tables([one.name for one in kernels])
    places = places_in_tables([one.name.place for one in kernels])
    for name, place, one in zip(names, places, kernels, strict=True):
        content.add_row(name, place, one.arch, _marked_text(one), str(one.file))
    _console.print_table(content)


def _marked_text(kernel: EmbeddedKernel) -> str:
    if kernel.marks is None:
        return ""
    nothing = "no argument" if kernel.is_host_function else "dimensions"
    return ", ".join(kernel.args[mark.arg].name for mark in kernel.marks) or nothing


def _show(told: Explanation, options: ExplainOptions) -> None:
    kernel = told.kernel
    (name,) = names_in_tables([kernel.demangled_name])
    _console.print_line(f"{name}, compiled for {told.target} with {told.passes}")
    if kernel.place is not None:
        _console.print_line(f"at {kernel.place}")
    columns = ("constant", "marked", "value", "folds")
    numbers = (">instructions", ">branches", ">loops", ">code", ">registers")
    content = _console.table("", (*columns, *numbers))
    content.add_row("nothing", "", "", "", *_numbers(told.built, told.built))
    for case in told.cases:
        content.add_row(*_about(told, case.known, options), *_numbers(told.built, case.figures))
    _console.print_table(content)
    _show_structs(told)
    probes = [
        f"{told.place_name(place)}{'' if one.text.startswith('+') else '='}{one.text}"
        for place, one in told.values.items()
        if one.is_probe
    ]
    if probes:
        _console.print_line(
            f"Assumed, since no values were given: {', '.join(probes)}. "
            "--value NAME=NUMBER sets your own."
        )
    _console.print_line(told.advice.sentence)


def _show_structs(told: Explanation) -> None:
    """Show what the kernel reads of structs that it takes by value."""
    structs = [
        (index, one) for index, one in enumerate(told.kernel.args) if one.members is not None
    ]
    if not structs:
        return
    content = _console.table("structures", ("", "name", "type", "value", "constant"))
    for index, argument in structs:
        read = sum(one.size for one in argument.members or ())
        content.add_row(str(index + 1), argument.name, f"{read} of {argument.size} bytes read")
        for one in argument.members or ():
            place = (index, one.offset)
            value = told.values.get(place)
            can = "pointer" if one.kind is ArgKind.POINTER else "no"
            content.add_row(
                f"+{one.offset}",
                argument.member_name(one),
                one.type,
                value.text if value else "",
                "yes" if place in told.members else can,
            )
    _console.print_table(content)


def _about(told: Explanation, known: Constants, options: ExplainOptions) -> tuple[str, ...]:
    """Return the first cells of a row."""
    places = known.places
    folds = _folds_text(told, known)
    if known.dims and not places:
        extents = [options.grid, options.block]
        text = " of ".join("x".join(str(one) for one in extent or ()) for extent in extents)
        return "block and grid", "", text, folds
    if len(places) > 1 or known.dims:
        return "all together", "", "", folds
    (place,) = places
    index, offset = place
    star = "*" if index in known.contents else ""
    is_marked = any(mark.arg == index for mark in told.kernel.marks or ())
    value = told.values.get(place)
    number = str(index + 1) if offset < 0 else f"+{offset}"
    return (
        f"{number} {star}{told.place_name(place)}",
        "yes" if is_marked else "",
        value.text if value else "",
        folds,
    )


def _folds_text(told: Explanation, known: Constants) -> str:
    """Return what folds, also with other arguments: "2 loops; 1 load with radius"."""
    from mneme.explain.advice import folds_text  # noqa: PLC0415

    if len(known.places) != 1 or known.dims:
        return folds_text(told.shape.folded(known))
    texts = []
    for rest, folds in told.shape.hanging_on(known):
        names = [told.place_name(place) for place in rest.places]
        names += ["block and grid"] if rest.dims else []
        texts.append(folds_text(folds) + (f" with {', '.join(names)}" if names else ""))
    return "; ".join(texts)


def _numbers(built: Figures, figures: Figures | None) -> tuple[str, ...]:
    from mneme.explain.advice import change_text  # noqa: PLC0415

    if figures is None:
        return ("",) * 5
    shorter = change_text(built.instructions, figures.instructions)
    smaller = change_text(built.code_bytes, figures.code_bytes)
    return (
        f"{figures.instructions}{shorter}",
        str(figures.branches),
        str(figures.loops),
        _bytes_text(figures.code_bytes) + smaller,
        _registers_text(figures),
    )


def _registers_text(figures: Figures) -> str:
    if figures.registers is None:
        return "-"
    spilled = f", spills {_bytes_text(figures.spill_bytes)}" if figures.spill_bytes else ""
    return f"{figures.registers}{spilled}"


def _bytes_text(count: int | None) -> str:
    return "-" if count is None else _console.format_bytes(count)
