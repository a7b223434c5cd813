"""Prints the result of a replay: JSON on stdout, the verdict for users on stderr."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.cli import _console
from mneme.cli.exit_codes import ExitCode, code_of
from mneme.errors import MnemeError
from mneme.files.publish import publish_text
from mneme.recording.launch_facts import PROVES_NOTHING, leaves_changes

if TYPE_CHECKING:
    from mneme.measure.replay_executor import ReplayOutput
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["Files", "show", "tell", "to_json"]

_MISMATCHES_SHOWN = 5

# How the compiler's sentences about invalid requests begin.
_INVALID = ("invalid pass pipeline", "LLVM has no option", "LLVM's option")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files for final IR and assembly."""

    ir: Path | None
    assembly: Path | None


def show(
    config: ExperimentConfiguration,
    output: ReplayOutput,
    files: Files,
    *,
    instance: KernelInstance,
) -> ExitCode:
    """Write files, print the result and return the exit code."""
    result = output.result
    for path, text in ((files.ir, output.ir), (files.assembly, output.assembly)):
        if path is not None and text:
            publish_text(path, text)
    _console.print_json(to_json(config, result))
    return tell(config, result, instance=instance)


def to_json(config: ExperimentConfiguration, result: ExperimentResult) -> dict[str, object]:
    """Return what is printed of one replay."""
    return {"Replay-config": config.to_dict(), "Result": result.to_dict()}


def tell(
    config: ExperimentConfiguration,
    result: ExperimentResult,
    *,
    instance: KernelInstance | None,
    name: str = "",
) -> ExitCode:
    """Say what came of a replay, behind the name of the launch, and return the exit code.

    Args:
        config: How it was compiled.
        result: What came of it.
        instance: The launch, if it is one.
        name: What the sentences begin with.
    """
    if result.counters_error:
        _console.say(name + result.counters_error)
    if result.part:
        _console.say(name + result.part)
    if result.verified:
        _console.say(name + _verdict(result))
        if result.counters:
            _console.say(name + _counters(result))
        if instance is not None and not leaves_changes(instance):
            _console.say(name + PROVES_NOTHING)
        return ExitCode.OK
    if result.failed:
        _console.say(name + (" ".join(result.error.split()) or "the replay failed"))
        return _why_failed(config, result)
    _console.say(name + _verdict(result))
    for mismatch in result.mismatches[:_MISMATCHES_SHOWN]:
        _console.say(name + _describe(mismatch))
    if result.note:
        _console.say(name + result.note)
    return ExitCode.NOT_VERIFIED


def _verdict(result: ExperimentResult) -> str:
    # Without warm-ups, as the median in the JSON.
    times = result.exec_time[-result.iterations_used :] if result.iterations_used else []
    fastest = f", fastest launch {_console.format_ns(min(times))}" if times else ""
    if times and result.median_ns:
        around = ""
        if result.time_ci_ns:
            low, high = result.time_ci_ns
            around = f" ± {50 * (high - low) / result.median_ns:.2g} %"
        fastest += f", median {_console.format_ns(result.median_ns)}{around} of {len(times)}"
    kind = result.result_class.replace("_", " ")
    distance = ""
    if kind not in ("exact", "") and result.max_absolute > 0:
        distance = (
            f" (largest distance: {result.max_ulp} ULP, {result.max_relative:.3g} relative, "
            f"{result.max_absolute:.3g} absolute)"
        )
    if result.verified:
        return f"verified: {kind}{distance}{fastest} on {result.device}"
    detail = f"; {' '.join(result.error.split())}" if result.error else ""
    return f"NOT verified: {kind}{distance}{detail}"


def _counters(result: ExperimentResult) -> str:
    """Return the counters that were read, in a line for people."""
    texts = [
        f"{name} {'-' if value is None else f'{value:,.6g}'}"
        for name, value in result.counters.items()
    ]
    return f"counters: {', '.join(texts)}"


def _describe(mismatch: dict[str, Any]) -> str:
    return (
        f"{mismatch.get('region')}: offset {mismatch.get('offset')}, "
        f"element {mismatch.get('element')} ({mismatch.get('data_type')}): "
        f"expected {mismatch.get('expected')}, got {mismatch.get('actual')}; "
        f"{mismatch.get('differing')} of {mismatch.get('elements')} elements differ"
    )


def _why_failed(config: ExperimentConfiguration, result: ExperimentResult) -> ExitCode:
    """Distinguish an invalid request from a kernel that could not be built or run."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    if result.error.startswith(_INVALID):
        return ExitCode.INVALID_CONFIGURATION
    if config.pass_plugins or config.llvm:
        return ExitCode.REPLAY_FAILED
    try:
        _native.check_passes(config.passes)
    except MnemeError as error:
        return code_of(error)
    return ExitCode.REPLAY_FAILED
