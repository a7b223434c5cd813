"""Output of `mneme suggest`: what helped, by how much, what differed, and how to try it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.cli import _console
from mneme.kernel_names import names_in_tables
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.optimize.changes import changes_between
from mneme.option import flag_of

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.knowledge.recall import Match
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["Told", "command_of", "show", "told_as_json"]

_OF_LAUNCH = ("grid", "block", "shared_mem")
_OF_KERNEL = ("specialized_args",)
_SWITCHES = {
    "specialize": "--specialize",
    "specialize_dims": "--specialize-dims",
    "set_launch_bounds": "--set-launch-bounds",
}


@dataclass(kw_only=True)
class Told:
    """Earlier results for a launch."""

    store: Path
    record: RecordedExecution
    instance: KernelInstance
    helped: list[Match]
    """Faster configurations, the most relevant first."""
    in_vain: list[Match]
    """Tunings of this kernel that found nothing."""


def show(told: Told) -> None:
    """Print it for users."""
    (name,) = names_in_tables([told.record.demangled_name])
    if not told.helped:
        _console.say(_nothing(told))
        return
    _console.print_line(f"{name}, launch {told.instance.dynamic_hash}; from {told.store}")
    for number, match in enumerate(told.helped, 1):
        _console.print_line()
        _console.print_line(f"{number}. {_gain(match)}: {_about(match)}")
        for line in _changes(match, told):
            _console.print_line(f"     {line}")
        _console.print_line(f"   try it: {command_of(match, told)}")
    _console.print_line()
    place = shlex.join(_place(told))
    _console.print_line(
        f"A search begins with them: mneme tune {place} --sampler auto --trials 100"
    )


def told_as_json(told: Told) -> dict[str, Any]:
    """Return plain JSON values."""
    return {
        "knowledge": str(told.store),
        "kernel": told.record.kernel_name,
        "record_id": told.instance.dynamic_hash,
        "suggestions": [
            {
                "kernel": one.entry.kernel,
                "demangled": one.entry.demangled,
                "static_hash": one.entry.static_hash,
                "arch": one.entry.arch,
                "is_same": one.is_same,
                "similarity": round(one.similarity, 3),
                "gain": one.entry.gain,
                "low": one.entry.low,
                "high": one.entry.high,
                "baseline_ns": one.entry.baseline_ns,
                "trials": one.entry.trials,
                "date": one.entry.date,
                "mneme": one.entry.version,
                "changes": _changes(one, told),
                "config": one.entry.config,
                "params": one.entry.params,
                "command": command_of(one, told),
            }
            for one in told.helped
        ],
        "nothing_faster": [
            {"arch": one.entry.arch, "trials": one.entry.trials, "date": one.entry.date}
            for one in told.in_vain
        ],
    }


def command_of(match: Match, told: Told) -> str:
    """Return the command that replays a launch with the configuration that helped."""
    config = match.entry.config
    words = ["mneme", "replay", *_place(told)]
    if _has_launch(match, told):
        for letter, what in (("g", "grid"), ("b", "block")):
            extents = config.get(what)
            extents = extents if isinstance(extents, dict) else {}
            for axis in "xyz":
                if extents.get(axis) != getattr(getattr(told.instance, f"{what}_dim"), axis):
                    words += [f"-{letter}id{axis}", str(extents.get(axis))]
    words += [option for name, option in _SWITCHES.items() if config.get(name)]
    if config.get("set_launch_bounds"):
        words += ["--max-threads", str(config.get("max_threads") or 0)]
        words += ["--min-blocks-per-sm", str(config.get("min_blocks_per_sm") or 0)]
    for knob in CODE_NUMBERS:
        if (value := config.get(knob.key, knob.default)) != knob.default:
            words += [flag_of(knob.key), str(value)]
    for text in CODE_TEXTS:
        words += text.options(str(config.get(text.key, "")))
    if match.is_same and config.get("specialize") and config.get("specialized_args"):
        words += ["--specialized-args", str(config["specialized_args"])]
    words += ["--codegen-opt", str(config.get("codegen_opt", 3)), str(config.get("passes", ""))]
    return shlex.join(words)


def _place(told: Told) -> list[str]:
    return ["-rdb", str(told.record.path), "-rid", told.instance.dynamic_hash]


def _has_launch(match: Match, told: Told) -> bool:
    """Whether the entry is about exactly this launch, so that its blocks fit."""
    here = [_extents(told.instance.grid_dim), _extents(told.instance.block_dim)]
    there = [match.entry.grid, match.entry.block]
    return match.is_same and here == there


def _extents(dims: Any) -> tuple[int, int, int]:  # noqa: ANN401 - a dim3
    return (dims.x, dims.y, dims.z)


def _changes(match: Match, told: Told) -> list[str]:
    """Return what differed from the baseline, without what does not apply to this launch."""
    entry = match.entry
    left_out: tuple[str, ...] = () if _has_launch(match, told) else _OF_LAUNCH
    left_out += () if match.is_same else _OF_KERNEL
    new = {name: value for name, value in entry.config.items() if name not in left_out}
    is_partial = any(entry.config.get(name) != entry.baseline.get(name) for name in left_out)
    own = ["and other launch dimensions, which may not suit this launch"] if is_partial else []
    return changes_between(entry.baseline, new) + own


def _gain(match: Match) -> str:
    entry = match.entry
    if entry.low is None or entry.high is None:
        return f"about {entry.gain:.2f}x"
    return f"{entry.gain:.3f}x [{entry.low:.3f}, {entry.high:.3f}]"


def _about(match: Match) -> str:
    entry = match.entry
    place = f"on {entry.arch or entry.family}, {entry.date[:10]}, {entry.trials} trials"
    if match.is_same:
        return f"this kernel {place}"
    (name,) = names_in_tables([entry.demangled])
    return f"{name}, {100 * match.similarity:.0f} % alike, {place}"


def _nothing(told: Told) -> str:
    (name,) = names_in_tables([told.record.demangled_name])
    if not told.in_vain:
        return f"nothing is known of {name} or kernels like it; 'mneme tune' finds out"
    last = told.in_vain[0].entry
    return (
        f"nothing that helps {name} is known: {last.trials} trials on {last.arch} found nothing "
        f"faster ({last.date[:10]})"
    )
