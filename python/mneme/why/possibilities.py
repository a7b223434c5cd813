"""What can be tried of code that was recorded without IR, and why, by what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.machine_code.occupancy import residency, shared_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.machine_code.occupancy import Residency
    from mneme.why.build import Build

__all__ = ["Possibility", "possibilities"]

_WARP_SIZE: Final = 32
_FEWEST_REGISTERS: Final = 16
_MOST_REGISTERS: Final = 255
_MOST_THREADS: Final = 1024
_WHOLE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Possibility:
    """Something to try."""

    options: str
    """Options of `mneme replay`, and of `--variant`."""

    reason: str
    """What speaks for it."""


def possibilities(build: Build, form: str) -> list[Possibility]:
    """Return what can be tried of code that no LLVM made; nothing of other code.

    Args:
        build: The code, and its launch.
        form: What of the code can be changed: "ptx", "cubin", "fatbin".
    """
    if build.has_ir:
        return []
    found = [*_of_dimensions(build), *_of_carve_out(build)]
    if "ptx" not in (form, build.configuration.llvm):
        return found
    return [*_of_registers(build), *_of_bounds(build), *found, _OF_ASSEMBLER]


_OF_ASSEMBLER: Final = Possibility(
    options="--codegen-opt 1, --codegen-opt 2, --ptxas=OPTION",
    reason="ptxas orders the instructions and gives them registers; PTX does not tell which order "
    "is faster, but 'mneme tune' measures",
)


def _of_registers(build: Build) -> Iterator[Possibility]:
    fits, registers = build.residency, build.figures["registers"]
    if fits is None or not registers:
        return
    if "registers" in fits.limits and fits.occupancy < 1:
        for fewer in range(int(registers) - 1, _FEWEST_REGISTERS - 1, -1):
            more = _residency(build, registers=fewer)
            if more is not None and more.resident > fits.resident:
                yield Possibility(
                    options=f"--max-registers {fewer}",
                    reason=f"registers limit how many blocks fit on a multiprocessor: with "
                    f"{fewer} of them {_change(more, fits)}; ptxas spills what needs more",
                )
                break
    if build.figures["spilled_bytes"]:
        yield from _of_spills(build, int(registers), fits)


def _of_spills(build: Build, registers: int, fits: Residency) -> Iterator[Possibility]:
    """Yield the most registers with which all blocks fit, else those with which one less does."""
    resident = {
        most: with_more.resident
        for most in range(registers + 1, _most_registers(build) + 1)
        if (with_more := _residency(build, registers=most))
    }
    for blocks in (fits.resident, fits.resident - 1):
        most = max((one for one, count in resident.items() if count >= max(blocks, 1)), default=0)
        if most:
            now = "as now" if resident[most] == fits.resident else f"in place of {fits.resident}"
            blocks_text = f"{_blocks(resident[most])} on a multiprocessor {now}"
            yield Possibility(
                options=f"--max-registers {most}",
                reason=f"{build.figures['spilled_bytes']} bytes are spilled into local memory: "
                f"with more registers fewer are, at {blocks_text}",
            )
            return


def _of_bounds(build: Build) -> Iterator[Possibility]:
    ptx, threads = build.code.ptx, build.configuration.block.volume
    if ptx is not None and not ptx.max_threads and not ptx.exact_threads:
        yield Possibility(
            options="--set-launch-bounds",
            reason="the PTX declares no launch bounds: ptxas does not know that blocks have "
            f"{threads} threads; --min-blocks-per-sm N says how many shall fit",
        )


def _of_dimensions(build: Build) -> Iterator[Possibility]:
    threads, fits = build.configuration.block.volume, build.residency
    options = "-bidx N -gidx M"
    idle, most = -threads % _WARP_SIZE, _most_threads(build)
    if most < _WARP_SIZE:
        return
    if idle:
        bound = f"; its launch bounds admit {most} at most" if most < _MOST_THREADS else ""
        yield Possibility(
            options=options,
            reason=f"{idle} of {threads + idle} lanes are idle: {threads} threads do not fill "
            f"their warps{bound}",
        )
    if idle or fits is None or fits.occupancy == 1:
        return
    others = {
        size: more
        for size in (64, 128, 256, 512, 1024)
        if size <= most and (more := _residency(build, threads=size))
    }
    best = max(others, key=lambda size: (others[size].occupancy, -size), default=0)
    if best and others[best].occupancy > fits.occupancy:
        yield Possibility(
            options=options,
            reason=f"if the kernel takes blocks of any size: with {best} threads of a block "
            f"{_change(others[best], fits)}",
        )


def _of_carve_out(build: Build) -> Iterator[Possibility]:
    fits = build.residency
    percent = fits and shared_percent(build.compiled.target, fits.resident, _shared(build))
    if percent and percent < _WHOLE and not build.configuration.shared_carveout:
        blocks = "block that fits takes" if fits and fits.resident == 1 else "blocks that fit take"
        yield Possibility(
            options=f"--shared-carveout {percent}",
            reason=f"the {blocks} {percent} % of the shared memory; the rest can be cache (L1)",
        )


def _most_threads(build: Build) -> int:
    """Return how many threads a block may have, by its launch bounds; 0: no other number."""
    told = build.code.resources or build.code.ptx
    if told is None:
        return _MOST_THREADS
    return 0 if told.exact_threads else told.max_threads or _MOST_THREADS


def _most_registers(build: Build) -> int:
    """Return how many registers a thread may have with which the declared blocks fit.

    Where no number of blocks is declared, `.maxnreg` counts more than the threads of a block.
    """
    ptx = build.code.ptx
    threads = (ptx.exact_threads or ptx.max_threads) if ptx else 0
    if ptx is None or not threads or not ptx.min_blocks:
        return _MOST_REGISTERS
    for most in range(_MOST_REGISTERS, _FEWEST_REGISTERS, -1):
        fits = residency(build.compiled.target, threads, most, 0)
        if fits is None or fits.blocks["registers"] >= ptx.min_blocks:
            return most
    return _FEWEST_REGISTERS


def _shared(build: Build) -> int:
    return int(build.figures["shared_bytes"] or 0) + build.configuration.shared_mem


def _residency(build: Build, *, threads: int = 0, registers: int = 0) -> Residency | None:
    return residency(
        build.compiled.target,
        threads or build.configuration.block.volume,
        registers or int(build.figures["registers"] or 0),
        _shared(build),
    )


def _change(more: Residency, now: Residency) -> str:
    shares = f"{_WHOLE * more.occupancy:.0f} % in place of {_WHOLE * now.occupancy:.0f} %"
    fit = "fits" if more.resident == 1 else "fit"
    return f"{_blocks(more.resident)} {fit}, an occupancy of {shares}"


def _blocks(count: int) -> str:
    return f"{count} block{'' if count == 1 else 's'}"
