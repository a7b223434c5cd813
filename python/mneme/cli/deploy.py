"""`mneme deploy`: writes results of tunings into the file that production runs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.cli import _console
from mneme.cli._options import (
    CompareOption,
    CompareToleranceOption,
    DeviceOption,
    JsonOption,
    finite,
)
from mneme.cli._unused import is_device_asked, tell_unused
from mneme.cli.exit_codes import ExitCode
from mneme.kernel_names import names_in_tables
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.deploy.tuned_kernels import Deployed, Deployment, LeftOut
    from mneme.optimize.measuring import MeasureOptions
    from mneme.optimize.result import OptimizeResult

__all__ = ["deploy"]

_SHOWN = 5
_PAIRS = 6


def deploy(
    ctx: typer.Context,
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Results directories of mneme tune; with --check and --rebase, programs.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The tuned-kernels file to write.",
            show_default=False,
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Keep other kernels and launches the file has.")
    ] = False,
    launch: Annotated[
        bool, typer.Option("--launch", help="Deploy other grids and blocks too, where better.")
    ] = False,
    guard: Annotated[
        Optional[list[str]],
        typer.Option(
            "--guard",
            metavar="GUARD",
            help="What has to be equal in production: static-hash, arch, launch, args, or none. "
            "More than once.  [default: static-hash, arch]",
            show_default=False,
        ),
    ] = None,
    min_gain: Annotated[
        float,
        typer.Option(
            "--min-gain",
            metavar="X",
            callback=finite,
            min=1,
            help="Leave out what is surely not X times as fast.",
        ),
    ] = 1.0,
    check: Annotated[
        Optional[Path],
        typer.Option(
            "--check",
            metavar="FILE",
            help="Write nothing; say which kernels of FILE the programs have; 0 if all match.",
            show_default=False,
        ),
    ] = None,
    rebase: Annotated[
        Optional[Path],
        typer.Option(
            "--rebase",
            metavar="FILE",
            help="Write FILE anew for another build: kernels are known by their code.",
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Run PROGRAM as built and as tuned in turn; leave out what gains nothing there.",
        ),
    ] = False,
    pairs: Annotated[
        int,
        typer.Option("--pairs", metavar="N", min=1, help="With --measure: runs of each kind."),
    ] = _PAIRS,
    device: DeviceOption = None,
    compare: CompareOption = None,
    compare_tolerance: CompareToleranceOption = 1e-6,
    json: JsonOption = False,
) -> None:
    """Write what tuning found for production runs.

    PROTEUS_TUNED_KERNELS=FILE makes a program use it.
    """
    if check is not None:
        unused = {"-o": output, "--merge": merge, "--launch": launch, "--guard": guard}
        tell_unused({**unused, "--measure": measure}, "with --check")
        _check(check, results, json=json)
        return
    if output is None:
        raise typer.BadParameter("say where the file goes, with -o FILE")
    if rebase is not None:
        unused = {"--merge": merge, "--launch": launch, "--guard": guard}
        tell_unused({**unused, "--measure": measure}, "with --rebase")
        _rebase(rebase, results, output)
        return
    from mneme import deploy as deploying  # noqa: PLC0415

    options = deploying.DeployOptions(
        guards=tuple(guard) if guard else deploying.DEFAULT_GUARDS,
        use_launch=launch,
        min_gain=min_gain,
        takes_unproven=measure,
    )
    plan = deploying.plan_deployment(results, options)
    if not measure:
        asked = is_device_asked(device)
        given = {"--pairs": pairs != _PAIRS, "--device": asked, "--compare": compare}
        tell_unused(given, "without --measure")
    measured = None
    if measure and plan.deployed:
        from mneme.cli._interrupt import interrupt_on_request  # noqa: PLC0415
        from mneme.optimize.measuring import MeasureOptions  # noqa: PLC0415

        interrupt_on_request()
        deploying.check_output(output)
        measuring = MeasureOptions(
            command=tuple(ctx.args),
            device=device,
            pairs=pairs,
            compare=tuple(compare or ()),
            compare_tolerance=compare_tolerance,
            min_gain=min_gain,
        )
        plan, measured = _measure(plan, measuring, is_quiet=json)
    _say_left_out(plan)
    if not plan.deployed:
        _console.say(f"nothing is worth deploying, so '{output}' is not written")
        raise typer.Exit(ExitCode.NOT_VERIFIED)
    for sentence in deploying.write_deployment(plan, output, merge=merge):
        _console.say(sentence)
    _show(plan, output, measured, json=json)


def _measure(
    plan: Deployment, options: MeasureOptions, *, is_quiet: bool
) -> tuple[Deployment, OptimizeResult]:
    """Run the program as built and as tuned; return what to deploy, and the measurements."""
    import tempfile  # noqa: PLC0415

    from mneme.cli._optimize_output import output_for  # noqa: PLC0415
    from mneme.optimize.measuring import measure_deployment  # noqa: PLC0415

    with (
        tempfile.TemporaryDirectory(prefix="mneme-measure-") as scratch,
        output_for(is_quiet=is_quiet) as listener,
    ):
        worth, result = measure_deployment(plan, options, Path(scratch), listener)  # type: ignore[arg-type]
        if not is_quiet:
            listener.done(result)  # type: ignore[attr-defined]
    return worth, result


def _say_left_out(plan: Deployment) -> None:
    """Print what is left out and why, one sentence per reason."""
    reasons: dict[str, list[LeftOut]] = {}
    for one in plan.left_out:
        reasons.setdefault(one.reason, []).append(one)
    for reason, group in reasons.items():
        names = ", ".join(_name_text(one.demangled_name) for one in group[:_SHOWN])
        more = f" and {len(group) - _SHOWN} more" if len(group) > _SHOWN else ""
        is_one = len(group) == 1
        place = f" ('{group[0].directory}')" if is_one else ""
        _console.say(f"{names}{more} {'is' if is_one else 'are'} left out: {reason}{place}")


def _show(plan: Deployment, output: Path, measured: OptimizeResult | None, *, json: bool) -> None:
    if json:
        deployed = [
            {
                "kernel": one.kernel_name,
                "place": one.place,
                "label": one.label,
                **one.variant.to_json(),
            }
            for one in plan.deployed
        ]
        left_out = [
            {"kernel": one.kernel_name, "directory": str(one.directory), "reason": one.reason}
            for one in plan.left_out
        ]
        content: dict[str, object] = {
            "file": str(output),
            "deployed": deployed,
            "left_out": left_out,
        }
        if measured is not None:
            content["measured"] = measured.to_dict()
        _console.print_json(content)
        return
    gains = (">gain in replays", *((">gain in the program",) if measured else ()))
    table = _console.table("deployed", ("kernel", "place", "~launch", *gains, "~guards"))
    names = names_in_tables([one.name for one in plan.deployed])
    places = places_in_tables([one.place for one in plan.deployed])
    for name, place, one in zip(names, places, plan.deployed, strict=True):
        in_program = (_production_text(one, measured),) if measured else ()
        row = (name, place, _launch_text(one), _gain_text(one), *in_program, _guards_text(one))
        table.add_row(*row)
    _console.print_table(table)
    for one in plan.deployed:
        if one.note:
            _console.say(f"{one.label or _name_text(one.demangled_name)}: {one.note}")
    # Only what mneme starts has the library that changes launches of code without IR.
    is_loaded = any(one.variant.code_form for one in plan.deployed)
    by = " mneme run -- PROGRAM" if is_loaded else ""
    _console.say(
        f"wrote '{output}'; run the program with PROTEUS_TUNED_KERNELS={output.resolve()}{by}"
    )


def _name_text(demangled: str) -> str:
    (text,) = names_in_tables([demangled])
    return text


def _launch_text(one: Deployed) -> str:
    match, override = one.variant.match, one.variant.launch
    recorded = f"{_dims(match.grid)} of {_dims(match.block)}"
    if override is None:
        return recorded
    return f"{recorded} -> {_dims(override.grid)} of {_dims(override.block)} ({override.rule})"


def _dims(extent: object) -> str:
    x, y, z = (getattr(extent, axis) for axis in "xyz")
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else f"{x}"


def _gain_text(one: Deployed) -> str:
    variant = one.variant
    if variant.gain is None:
        ratio = variant.baseline_ns / variant.tuned_ns if variant.tuned_ns else 0
        return f"{ratio:.3f} (no interval)"
    gain = variant.gain
    return f"{gain.ratio:.3f} ({gain.low:.3f} to {gain.high:.3f})"


def _production_text(one: Deployed, measured: OptimizeResult) -> str:
    found = [each.production for each in measured.kernels if each.name == one.kernel_name]
    if not found or found[0] is None:
        return "-"
    return f"{found[0].ratio:.3f} ({found[0].low:.3f} to {found[0].high:.3f})"


def _guards_text(one: Deployed) -> str:
    names = [*(["static hash"] if one.static_hash else []), *one.variant.guards]
    values = {"Arch": f"Arch {one.variant.match.arch}"}
    return ", ".join(values.get(name, name) for name in names) or "none"


def _rebase(tuned: Path, programs: Sequence[Path], output: Path) -> None:
    from mneme.deploy.rebase import rebase  # noqa: PLC0415
    from mneme.deploy.tuned_file import write_tuned_file  # noqa: PLC0415

    entries, sentences = rebase(tuned, programs)
    for sentence in sentences:
        _console.say(sentence)
    if not entries:
        _console.say(f"nothing of '{tuned}' is for these programs, so '{output}' is not written")
        raise typer.Exit(ExitCode.NOT_VERIFIED)
    write_tuned_file(output, entries)
    count = len(entries)
    _console.say(f"wrote '{output}': {count} kernel{'' if count == 1 else 's'}")


def _check(tuned: Path, programs: Sequence[Path], *, json: bool) -> None:
    from mneme.deploy.check import check_tuned_file  # noqa: PLC0415

    checks = check_tuned_file(tuned, programs)
    if json:
        _console.print_json([one.to_dict() for one in checks])
    else:
        content = _console.table(str(tuned), ("kernel", "place", "status", "~why", "file"))
        names = names_in_tables([one.name for one in checks])
        places = places_in_tables([one.place for one in checks])
        for name, place, one in zip(names, places, checks, strict=True):
            content.add_row(name, place, one.status, one.reason, one.file)
        _console.print_table(content)
    if not checks:
        _console.say(f"'{tuned}' names no kernel, so it changes nothing")
    if not checks or not all(one.is_match for one in checks):
        raise typer.Exit(ExitCode.NOT_VERIFIED)
