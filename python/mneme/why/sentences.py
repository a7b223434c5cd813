"""What limits a build's occupancy, and what nobody can say without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.why.build import Build
    from mneme.why.comparison import Why

__all__ = ["limits_text", "unknown_sentences"]

_ROOFLINE = (
    "The place in a roofline: bytes that reach device memory and branches taken show only at run "
    "time. Flops a byte are those of one round of an innermost loop as its IR says, each "
    "instruction once, and bytes that a thread asks for, whatever caches answer. --measure "
    "asks the device."
)
_NO_LINES = "Source lines: the program was built without them; -gline-tables-only keeps them."
_NO_LINES_ON_CPU = (
    "Source lines: code of a GPU loses them on its way to the processor; name the GPU with --arch, "
    "and build the program with -gline-tables-only."
)


def limits_text(build: Build, target: str) -> str:
    """Return which resource limits the threads of a multiprocessor."""
    fits = build.residency
    waves = build.figures["waves_per_simd"]
    if fits is not None:
        others = ", ".join(f"{name} {count}" for name, count in fits.blocks.items())
        block = build.configuration.block.volume
        return (
            f"occupancy {100 * fits.occupancy:.0f} %: {fits.resident} blocks of {block} threads on "
            f"a multiprocessor, limited by {' and '.join(fits.limits)} (blocks by {others})"
        )
    if waves is not None:
        return f"occupancy: {waves} waves on a SIMD unit, as LLVM says"
    if target.startswith("sm_"):
        return f"occupancy not known: no registers without ptxas, or no table for {target}"
    return f"no occupancy: {build.target} is a processor"


def unknown_sentences(why: Why) -> list[str]:
    """Return what is unknown, and why."""
    told = [] if any(one.standing is not None for one in why.builds) else [_ROOFLINE]
    if all(one.statistics is None for one in why.builds):
        told.append(
            "LLVM's statistics: this LLVM was built without them (LLVM_FORCE_ENABLE_STATS)."
        )
    if not any(remark["line"] for one in why.builds for remark in one.remarks):
        told.append(_NO_LINES_ON_CPU if why.target.startswith("cpu") else _NO_LINES)
    left_out = sum(one.remarks_left_out for one in why.builds)
    if left_out:
        told.append(f"{left_out} remarks: there were too many to keep.")
    return told
