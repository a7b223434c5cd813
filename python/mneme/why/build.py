"""One configuration of a kernel, compiled, with everything that is known of its code."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.code_texts import OWN_CODE
from mneme.errors import CompileFailed
from mneme.ir.features import code_features
from mneme.machine_code import CodeFacts, code_facts
from mneme.machine_code.disassembly import opcodes_of
from mneme.machine_code.occupancy import gpus_for_ptx, residency
from mneme.measure.compile_apart import compile_apart
from mneme.measure.compile_record import CompileOptions, describe_record_code
from mneme.programs.elf import code_bytes
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.machine_code.occupancy import Residency
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
    """As `mneme.ir.features` counts the final IR; empty where there is none."""

    code: CodeFacts
    """What PTX and machine code tell."""

    opcodes: Mapping[str, int] | None
    """How many instructions of the machine code have an opcode; None: nothing disassembles it."""

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

    @property
    def has_ir(self) -> bool:
        """Whether an LLVM made the code, and not the compiler of the program."""
        return bool(self.features)

    @property
    def is_of_ptx(self) -> bool:
        """Whether it is PTX, or was made of it, and no LLVM made that."""
        is_assembled = "assembler" in self.compiled.statistics or self.code.resources is None
        return not self.has_ir and self.code.ptx is not None and is_assembled

    @property
    def accesses(self) -> Mapping[str, int]:
        """Memory operations of the PTX; empty if there is none."""
        return self.code.ptx.accesses if self.code.ptx else {}

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
            "code": self.code.to_dict(),
            "opcodes": None if self.opcodes is None else dict(self.opcodes),
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
        target: "sm_90", "cpu", ...; empty: what the program was built for, or its PTX is.
        timeout: Seconds until LLVM is stopped.

    Raises:
        CompileFailed: If LLVM crashes, does not end in time, or refuses the kernel.
        InvalidArgument: For an unknown target, pass or option.
    """
    record = RecordedExecution.from_json(database)
    if record.code_form or way.configuration.llvm in OWN_CODE:
        compiled = _own_code(record, way.configuration, target)
    else:
        options = CompileOptions.of(
            way.configuration, target=target, want_ir=True, want_assembly=True, want_reasons=True
        )
        compiled = compile_apart(database, record_id, options, timeout)
    told = compiled.statistics
    reasons = told.get("reasons", {})
    code = _code_of(compiled)
    figures = _figures(compiled, code)
    fits = residency(
        compiled.target,
        way.configuration.block.volume,
        figures["registers"] or 0,
        (figures["shared_bytes"] or 0) + way.configuration.shared_mem,
    )
    return Build(
        name=way.name,
        configuration=way.configuration,
        target=str(told.get("target_cpu") or compiled.target),
        figures={**figures, "occupancy": None if fits is None else fits.occupancy},
        features=code_features(compiled.ir, compiled.kernel_name) if compiled.ir else {},
        code=code,
        opcodes=opcodes_of(compiled.image, compiled.kernel_name) if code.resources else None,
        residency=fits,
        remarks=reasons.get("remarks", ()),
        remarks_left_out=reasons.get("remarks_left_out", 0),
        passes=reasons.get("passes", ()),
        loops=reasons.get("loops", ()),
        statistics=reasons.get("statistics"),
        seconds={text: told[name] for name, text in _TIMES.items() if name in told},
        compiled=compiled,
    )


def _own_code(
    record: RecordedExecution, configuration: ExperimentConfiguration, target: str
) -> CompiledKernel:
    """Return code that no LLVM compiles; PTX for the oldest GPU that is known, if none is named."""
    oldest, *newer = _gpus_for(record, target)
    try:
        return describe_record_code(record, configuration, oldest)
    except CompileFailed:  # an assembler does not know old GPUs
        for one in newer:
            with suppress(CompileFailed):
                return describe_record_code(record, configuration, one)
        raise


def _gpus_for(record: RecordedExecution, target: str) -> list[str]:
    if target or record.code_form not in ("ptx", "fatbin"):
        return [target]
    known = gpus_for_ptx(record.arch)
    # Machine code of a fat binary is for what it names.
    return known if record.code_form == "ptx" else [record.arch, *known]


def _code_of(compiled: CompiledKernel) -> CodeFacts:
    """Return what the code tells of itself; assembly of others than NVIDIA's GPUs tells nothing."""
    is_ptx = ".address_size" in compiled.assembly
    return code_facts(compiled.kernel_name, compiled.image, compiled.assembly if is_ptx else "")


def _figures(compiled: CompiledKernel, code: CodeFacts) -> dict[str, int | None]:
    """Return what the machine code needs; a processor says nothing of registers."""
    told, uses = compiled.statistics, code.resources
    registers = told.get("reg_usage") or (uses.registers if uses else None) or None
    spills = told.get("spill_store_bytes", 0) + told.get("spill_load_bytes", 0)
    spills += _VGPR_BYTES * told.get("vgpr_spill_count", 0)
    shared = told.get("shared_mem_usage", uses.shared_bytes if uses else None)
    if shared is None and code.ptx is not None:
        shared = code.ptx.features["shared_bytes"]
    return {
        "registers": registers,
        "register_limit": (uses.register_limit or None) if uses else None,
        # Machine code itself does not tell them from other local memory.
        "spilled_bytes": spills if registers is not None and "reg_usage" in told else None,
        "local_bytes": told.get("local_mem_usage", uses.local_bytes if uses else None),
        "shared_bytes": shared,
        "barriers": uses.barriers if uses else None,
        "constant_bytes": told.get("const_mem_usage", uses.own_constant_bytes if uses else None),
        "waves_per_simd": told.get("occupancy") or None,
        "code_bytes": uses.code_bytes if uses else code_bytes(compiled.image),
    }
