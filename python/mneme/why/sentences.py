"""What limits a build's occupancy, and what nobody can say without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme._vendors import TOOLKIT_NAME
from mneme.recording.configured import form_of_knobs
from mneme.recording.without_ir import form_text, possible_with

if TYPE_CHECKING:
    from mneme.why.build import Build
    from mneme.why.comparison import Why

__all__ = [
    "assumed_text",
    "declared_text",
    "limits_text",
    "own_code_text",
    "unknown_sentences",
]

_ROOFLINE = (
    "The place in a roofline: bytes that reach device memory and branches taken show only at run "
    "time. {}--measure asks the device."
)
_OF_LOOPS = (
    "Flops a byte are those of one round of an innermost loop as its IR says, each instruction "
    "once, and bytes that a thread asks for, whatever caches answer. "
)
_NO_IR = (
    "Remarks, passes and rounds of loops: there is no IR. PTX is counted as it is written, each "
    "instruction once: a loop is a label that a branch goes back to."
)
_NO_OPCODES = (
    f"Instructions of the machine code: no nvdisasm of a {TOOLKIT_NAME} was found that lists them "
    "(MNEME_NVDISASM)."
)
_NO_LINES = "Source lines: the program was built without them; -gline-tables-only keeps them."
_NO_LINES_ON_CPU = (
    "Source lines: code of a GPU loses them on its way to the processor; name the GPU with --arch, "
    "and build the program with -gline-tables-only."
)


def limits_text(build: Build, target: str) -> str:
    """Return which resource limits the threads of a multiprocessor."""
    fits = build.residency
    waves = build.figures.get("waves_per_simd")
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


def assumed_text(why: Why) -> str:
    """Return which GPU is assumed, where none was named; empty: one was."""
    ptx, target = why.builds[0].code.ptx, why.target
    if not why.is_target_assumed or ptx is None:
        return ""
    reason = "which the PTX names"
    if ptx.target != target:
        reason = f"the oldest GPU that can be told about (the PTX names {ptx.target})"
    return f"for {target}, {reason}; --arch names your GPU"


def declared_text(build: Build) -> str:
    """Return what PTX without IR declares; empty for other code."""
    ptx = build.code.ptx
    if ptx is None or build.has_ir:
        return ""
    declared = {
        "at most {} threads of a block": ptx.max_threads,
        "{} threads of a block": ptx.exact_threads,
        "{} blocks on a multiprocessor": ptx.min_blocks,
        "at most {} registers": ptx.max_registers,
        "{} blocks of a cluster": ptx.cluster_blocks,
        "at most {} blocks of a cluster": ptx.max_cluster_blocks,
    }
    parts = [text.format(number) for text, number in declared.items() if number]
    what = f"declares {', '.join(parts)}" if parts else "declares no launch bounds"
    return f"PTX {ptx.version} for {ptx.target} {what}"


def own_code_text(why: Why) -> str:
    """Return what the code is where there is no IR of some, and what that means."""
    form = why.record.code_form
    if form:
        return (
            f"its code is {form_text(form)} without IR: {possible_with(form_of_knobs(why.record))}"
        )
    return "some are as the program's compiler made them: their PTX is compared, not their IR"


def unknown_sentences(why: Why) -> list[str]:
    """Return what is unknown, and why."""
    told = (
        []
        if any(one.standing is not None for one in why.builds)
        else [_ROOFLINE.format(_OF_LOOPS if why.has_ir else "")]
    )
    if not why.has_ir:
        told.append(_NO_IR)
        if any(one.code.resources and one.opcodes is None for one in why.builds):
            told.append(_NO_OPCODES)
        return told
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
