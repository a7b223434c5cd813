"""`mneme compare`: variants of a compiler over all recorded kernels."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from mneme.cli._options import finite
from mneme.cli._recording import kernels_named
from mneme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare import CompareOptions, Comparison, Variant
    from mneme.compare.limits import Limits

__all__ = ["compare"]

_WHAT = "What is compared"
_MEASURING = "Measuring and verifying"
_RESULTS = "Results"


def _file(name: str, text: str) -> object:
    return typer.Option(
        name, metavar="FILE", help=text, show_default=False, rich_help_panel=_RESULTS
    )


def _number(name: str, text: str, *, smallest: int = 0) -> object:
    return typer.Option(name, metavar="N", min=smallest, help=text, rich_help_panel=_MEASURING)


def _texts(name: str, metavar: str, text: str, panel: str = _WHAT) -> object:
    return typer.Option(name, metavar=metavar, help=text, show_default=False, rich_help_panel=panel)


def compare(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING...",
            help="Recordings, records in them, or directories above some.",
            show_default=False,
        ),
    ],
    variant: Annotated[
        Optional[list[str]],
        _texts(
            "--variant",
            "NAME=OPTIONS",
            "A variant: options of 'mneme replay' in quotes. More than once; the first is the "
            "baseline, but with one only, kernels as recorded are.",
        ),
    ] = None,
    passes: Annotated[
        Optional[list[str]],
        _texts("--passes", "PASSES", "A variant with this pipeline; may be repeated."),
    ] = None,
    variants: Annotated[
        Optional[Path],
        typer.Option(
            "--variants",
            metavar="FILE",
            help="More variants, JSON or YAML: a map from names to options.",
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    kernels: Annotated[
        Optional[list[str]],
        typer.Option(
            "--kernels",
            metavar="KERNEL",
            help="Only these kernels, as KERNEL elsewhere: a part of the name, a pattern. More "
            "than once.",
            autocompletion=kernels_named,
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    device: Annotated[
        Optional[str],
        typer.Option(
            "--device",
            envvar="MNEME_DEVICE",
            metavar="DEVICE,...",
            help="cpu, or GPUs as 'mneme devices' names them; else all GPUs, else the CPU.",
            show_default=False,
            rich_help_panel=_MEASURING,
        ),
    ] = None,
    rounds: Annotated[
        Optional[int],
        _number(
            "--rounds",
            "Rounds of each kernel (default: enough to find one difference among all).",
            smallest=6,
        ),
    ] = None,
    iterations: Annotated[
        Optional[int],
        _number(
            "--iterations",
            "Measured launches of a variant in a round, else 5, more of short kernels.",
            smallest=1,
        ),
    ] = None,
    warmup: Annotated[int, _number("--warmup", "Launches before those.")] = 1,
    tolerance: Annotated[
        Optional[list[str]],
        _texts("--tolerance", "SPEC", "As in 'mneme replay'; may be repeated.", _MEASURING),
    ] = None,
    timeout: Annotated[
        Optional[float],
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            callback=finite,
            min=0.001,
            help="Limit for one replay with all of its launches.",
            show_default=False,
            rich_help_panel=_MEASURING,
        ),
    ] = None,
    cold_l2: Annotated[
        bool,
        typer.Option(
            "--cold-l2",
            help="Empty the caches of the device before every launch.",
            rich_help_panel=_MEASURING,
        ),
    ] = False,
    always_restore: Annotated[
        bool,
        typer.Option(
            "--always-restore",
            help="Restore memory before every launch, even of kernels that do not read what they "
            "change.",
            rich_help_panel=_MEASURING,
        ),
    ] = False,
    compile_workers: Annotated[
        Optional[int],
        _number("--compile-workers", "Processes that compile (default: one per core)."),
    ] = None,
    compile_timeout: Annotated[
        float,
        typer.Option(
            "--compile-timeout",
            metavar="SECONDS",
            callback=finite,
            min=0.001,
            help="Limit for one compilation.",
            rich_help_panel=_MEASURING,
        ),
    ] = 60.0,
    fdr: Annotated[
        str,
        typer.Option(
            "--fdr",
            metavar="PERCENT",
            help="How many of the differences found may be chance, at most.",
            rich_help_panel=_MEASURING,
        ),
    ] = "5%",
    measure_equal: Annotated[
        bool,
        typer.Option(
            "--measure-equal",
            help="Measure code that equals the baseline's, too.",
            rich_help_panel=_MEASURING,
        ),
    ] = False,
    fail_on: Annotated[
        Optional[list[str]],
        _texts(
            "--fail-on",
            "WHAT",
            "End with code 9 if there is a regression=3%, mean=1% (in the geometric mean), wrong "
            "(result) or failed (variant). More than once.",
            _RESULTS,
        ),
    ] = None,
    results_dir: Annotated[
        Optional[Path],
        typer.Option(
            "--results-dir",
            metavar="DIR",
            help="Keeps each kernel's result.  [default: one in mneme-compare-results]",
            show_default=False,
            rich_help_panel=_RESULTS,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Leave out what --results-dir holds.", rich_help_panel=_RESULTS
        ),
    ] = False,
    html: Annotated[Optional[Path], _file("--html", "Write a page.")] = None,
    markdown: Annotated[Optional[Path], _file("--markdown", "Write tables in Markdown.")] = None,
    junit: Annotated[Optional[Path], _file("--junit", "Write JUnit's XML, for CI.")] = None,
    lnt: Annotated[Optional[Path], _file("--lnt", "Write a report for LNT.")] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=_RESULTS),
    ] = False,
) -> None:
    """Compare pipelines, options and compilers over all recorded kernels.

    Each launch in the recordings is compiled in each way, checked against the recorded memory and
    measured in turn with the baseline, on all GPUs. What is called faster or slower is more than
    chance, however many kernels there are.
    """
    from mneme.devices import start_drivers  # noqa: PLC0415 - `--help` stays light

    start_drivers(device)  # while the rest is loaded and recordings are read
    from mneme.compare import CompareOptions  # noqa: PLC0415
    from mneme.compare.limits import Limits, percentage  # noqa: PLC0415
    from mneme.compare.variants import complete  # noqa: PLC0415
    from mneme.errors import InvalidArgument  # noqa: PLC0415
    from mneme.measure.tolerance import Tolerance  # noqa: PLC0415

    if resume and results_dir is None:
        raise InvalidArgument("--resume needs --results-dir, the directory to continue with")
    options = CompareOptions(
        variants=complete(_variants(variant or (), passes or (), variants)),
        results_dir=results_dir or _default_directory(),
        device=device,
        rounds=rounds,
        iterations=iterations,
        warmup=warmup,
        tolerances=[Tolerance.parse(text) for text in tolerance or ()],
        timeout=timeout,
        compile_workers=compile_workers,
        compile_timeout=compile_timeout,
        is_cold=cold_l2,
        restores_always=always_restore,
        false_discovery=percentage(fdr, "--fdr"),
        measures_equal=measure_equal,
        resume=resume,
    )
    limits = Limits.parse(fail_on or ())
    comparison = _run(recordings, kernels or (), options, is_json=json)
    _write(comparison, limits, html=html, markdown=markdown, junit=junit, lnt=lnt)
    raise typer.Exit(_show(comparison, limits, is_json=json))


def _variants(texts: Sequence[str], pipelines: Sequence[str], file: Path | None) -> list[Variant]:
    from mneme.cli._variants import (  # noqa: PLC0415 - `--help` stays light
        variant_of,
        variants_in,
        variants_with_passes,
    )

    in_file = [] if file is None else variants_in(file)
    return [*map(variant_of, texts), *variants_with_passes(pipelines), *in_file]


def _default_directory() -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - people read it
    directory = Path("mneme-compare-results") / stamp
    count = 1
    while directory.exists():
        count += 1
        directory = directory.with_name(f"{stamp}-{count}")
    return directory


def _run(
    recordings: Sequence[Path], kernels: Sequence[str], options: CompareOptions, *, is_json: bool
) -> Comparison:
    from mneme.cli import _compare_output, _console  # noqa: PLC0415 - `--help` stays light
    from mneme.cli._interrupt import interrupt_on_request  # noqa: PLC0415
    from mneme.compare import find_cases, run_comparison  # noqa: PLC0415

    interrupt_on_request()
    cases = find_cases(recordings, kernels)
    for path, reason in cases.damaged.items():
        _console.say(f"'{path}' is left out: {reason}")
    if cases.repeated:
        _console.say(f"{cases.repeated} launches are recorded more than once, and count once")
    with _compare_output.listener(is_quiet=is_json) as listener:
        try:
            return run_comparison(cases.found, options, listener)
        except KeyboardInterrupt:
            listener.close()
            if (options.results_dir / "compare.json").is_file():
                _console.say(
                    f"interrupted; the same command with --results-dir {options.results_dir} "
                    "--resume continues"
                )
            raise


def _write(
    comparison: Comparison,
    limits: Limits,
    *,
    html: Path | None,
    markdown: Path | None,
    junit: Path | None,
    lnt: Path | None,
) -> None:
    from mneme.compare.outputs import junit_xml, lnt_report, markdown_text  # noqa: PLC0415
    from mneme.files.publish import publish_text  # noqa: PLC0415

    if markdown is not None:
        publish_text(markdown, markdown_text(comparison))
    if junit is not None:
        publish_text(junit, junit_xml(comparison, limits))
    if lnt is not None:
        publish_text(lnt, lnt_report(comparison))
    if html is not None:
        from mneme.compare.page import write_page  # noqa: PLC0415 - slow to import

        write_page(comparison, html)


def _show(comparison: Comparison, limits: Limits, *, is_json: bool) -> ExitCode:
    from mneme.cli import _compare_output, _console  # noqa: PLC0415 - `--help` stays light

    exceeded = limits.exceeded(comparison)
    if is_json:
        _console.print_json({**comparison.to_dict(), "exceeded": exceeded})
    else:
        _compare_output.show(comparison)
    for sentence in exceeded:
        _console.say(f"--fail-on: {sentence}")
    if exceeded:
        return ExitCode.EXCEEDED
    is_usable = len(comparison.unusable) < len(comparison.results)
    return ExitCode.OK if is_usable else ExitCode.REPLAY_FAILED
