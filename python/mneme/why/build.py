"""One configuration of a kernel, compiled, with everything that is known of its code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.compare.occupancy import residency
from mneme.ir.features import code_features
from mneme.measure.compile_apart import compile_apart
from mneme.measure.compile_record import CompileOptions
from mneme.programs.elf import code_bytes
from mneme.why.accesses import accesses_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.compare.occupancy import Residency
    from mneme.measure.compile_record import CompiledKernel
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.why.standing import Standing
    from mneme.why.ways import Way

__all__ = ["Build", "build"]

_VGPR_BYTES = 4  # of a work-item
_TIMES = {
    "preprocess_ir_time": "reading and linking",
    "opt_time": "the pipeline",
    "emit_time": "the code generator",
    "assemble_time": "the assembler",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The code that one configuration gives."""

    name: str
    configuration: ExperimentConfiguration
    target: str
    """What it is for: "sm_90"; the CPU device by the name of its processor."""

    figures: Mapping[str, int | float | None]
    """Figures of the machine code; None: not known."""

    features: Mapping[str, int]
    """As `mneme.ir.features` counts the final IR."""

    accesses: Mapping[str, int]
    """Memory operations of the assembly, as `mneme.why.accesses` counts them."""

    residency: Residency | None
    """None: not known for this target."""

    remarks: Sequence[Mapping[str, Any]]
    """As the compiler tells them: runtime/compiler/reasons/remarks.h."""

    remarks_left_out: int
    passes: Sequence[Mapping[str, Any]]
    """As in pass_times.h there."""

    loops: Sequence[Mapping[str, Any]]
    """As in loops.h there."""

    statistics: Mapping[str, int] | None
    """What LLVM counted; None: this LLVM was built not to count."""

    seconds: Mapping[str, float]
    """Times of the parts of the compilation."""

    compiled: CompiledKernel = field(repr=False)

    time_ns: float | None = None
    """How long it took on a device, where that was asked for: the median."""

    standing: Standing | None = None
    """What it did on a device, where that was asked for."""

    not_measured: str = ""
    """Why that is not known, if it was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        fits = self.residency
        return {
            "name": self.name,
            "configuration": self.configuration.to_dict(),
            "target_cpu": self.target,
            "figures": dict(self.figures),
            "occupancy": None
            if fits is None
            else {
                "occupancy": fits.occupancy,
                "resident_blocks": fits.resident,
                "blocks": dict(fits.blocks),
                "limits": fits.limits,
            },
            "features": dict(self.features),
            "accesses": dict(self.accesses),
            "remarks": [dict(one) for one in self.remarks],
            "remarks_left_out": self.remarks_left_out,
            "passes": [dict(one) for one in self.passes],
            "loops": [dict(one) for one in self.loops],
            "llvm_statistics": None if self.statistics is None else dict(self.statistics),
            "seconds": dict(self.seconds),
            "time_ns": self.time_ns,
            "roofline": None if self.standing is None else self.standing.to_dict(),
            "not_measured": self.not_measured,
        }


def build(
    way: Way, database: Path, record_id: str, target: str, timeout: float | None = None
) -> Build:
    """Compile one configuration in a process of its own.

    Args:
        way: The configuration.
        database: The record.
        record_id: The launch.
        target: "sm_90", "cpu", ...; empty: what the program was built for.
        timeout: Seconds until LLVM is stopped.

    Raises:
        CompileFailed: If LLVM crashes, does not end in time, or refuses the kernel.
        InvalidArgument: For an unknown target, pass or option.
    """
    options = CompileOptions.of(
        way.configuration, target=target, want_ir=True, want_assembly=True, want_reasons=True
    )
    compiled = compile_apart(database, record_id, options, timeout)
    told = compiled.statistics
    reasons = told["reasons"]
    fits = residency(
        compiled.target,
        way.configuration.block.volume,
        told.get("reg_usage", 0),
        told["shared_mem_usage"] + way.configuration.shared_mem,
    )
    return Build(
        name=way.name,
        configuration=way.configuration,
        target=str(told.get("target_cpu") or compiled.target),
        figures=_figures(compiled, fits),
        features=code_features(compiled.ir, compiled.kernel_name),
        accesses=accesses_in(compiled.assembly),
        residency=fits,
        remarks=reasons["remarks"],
        remarks_left_out=reasons["remarks_left_out"],
        passes=reasons.get("passes", ()),
        loops=reasons.get("loops", ()),
        statistics=reasons["statistics"],
        seconds={text: told[name] for name, text in _TIMES.items() if name in told},
        compiled=compiled,
    )


def _figures(compiled: CompiledKernel, fits: Residency | None) -> dict[str, int | float | None]:
    """Return what the machine code needs; a processor says nothing of registers."""
    told = compiled.statistics
    registers = told.get("reg_usage") or None
    spills = told.get("spill_store_bytes", 0) + told.get("spill_load_bytes", 0)
    spills += _VGPR_BYTES * told.get("vgpr_spill_count", 0)
    return {
        "registers": registers,
        "spilled_bytes": None if registers is None else spills,
        "local_bytes": told["local_mem_usage"],
        "shared_bytes": told["shared_mem_usage"],
        "occupancy": None if fits is None else fits.occupancy,
        "waves_per_simd": told.get("occupancy") or None,
        "code_bytes": code_bytes(compiled.image),
    }
