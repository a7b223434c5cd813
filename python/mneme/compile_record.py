"""Compiles a recorded kernel, for any target and without a device."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.recorded_execution import RecordedExecution
from mneme.records import find_instance

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.recorded_execution import KernelInstance

__all__ = ["CompileOptions", "CompiledKernel", "compile_record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """How a recorded kernel is compiled."""

    target: str = ""
    """ "sm_90", "cpu", ...; empty: the architecture the program was built for."""

    passes: str = "default<O3>"
    """LLVM pass pipeline."""

    codegen_opt: int = 3
    """Level of code generator and assembler, 0 to 3."""

    specialize: bool = False
    """Fix scalar arguments to their recorded values."""

    specialize_dims: bool = False
    """Fix grid and block to the recorded ones."""

    set_launch_bounds: bool = False
    """Promise `max_threads` and `min_blocks_per_sm` to the code generator."""

    max_threads: int = 0
    """Threads of the largest block; 0: those of the recorded block."""

    min_blocks_per_sm: int = 0
    """Blocks that have to fit on a multiprocessor."""

    max_registers: int = 0
    """Of a thread; 0: no limit."""

    assembler_options: str = ""
    """Further options for ptxas, separated by blanks."""

    use_cache: bool = True
    """Look for a stored image, and store the new one."""

    def needs_launch(self) -> bool:
        """Tell whether the code depends on which launch is meant."""
        bounds_by_block = self.set_launch_bounds and self.max_threads == 0
        return self.specialize or self.specialize_dims or bounds_by_block


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel:
    """What the compiler made of a kernel."""

    kernel_name: str
    """Mangled name."""

    target: str
    """As in `CompileOptions`, never empty."""

    image: bytes = field(repr=False)
    """A cubin (or PTX text without ptxas and nvJitLink), or a shared object for the CPU."""

    ir: str = field(repr=False)
    """Final IR as text."""

    assembly: str = field(repr=False)
    """Final PTX, or assembly of the CPU."""

    statistics: dict[str, Any]
    """Times in seconds, sizes in bytes, registers; see docs/cli.md."""


def compile_record(
    database: str | Path, record_id: str | None = None, options: CompileOptions | None = None
) -> CompiledKernel:
    """Compile the kernel of a record, without a device.

    Args:
        database: A `<static hash>.json` file, or a directory of them.
        record_id: The launch whose arguments and dimensions are fixed; None if there is only one,
            or if nothing of a launch is asked for.
        options: How to compile.

    Raises:
        InvalidArgument: For an unknown target, pass or option, and if the record id is not clear.
        NotFound: If there is no such record.
        CompileFailed: If compiler or assembler refuse the kernel.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    wanted = options or CompileOptions()
    record, instance = _find(database, record_id, wanted)
    target = wanted.target or record.arch
    if not target:
        raise InvalidArgument(
            f"'{record.path}' does not say what it was built for; name an architecture (sm_90, cpu)"
        )
    recorded_options = record.extras.get("Options", "")
    compiled = _native.compile_ir(
        _native.record_modules(str(record.path)),
        record.kernel_name,
        target=target,
        passes=wanted.passes,
        codegen_opt=wanted.codegen_opt,
        set_launch_bounds=wanted.set_launch_bounds,
        max_threads=_max_threads(wanted, instance),
        min_blocks_per_sm=wanted.min_blocks_per_sm,
        specialize_dims=wanted.specialize_dims,
        specialized_args=_values(record, instance) if wanted.specialize and instance else {},
        grid=_dims(instance.grid_dim) if instance else (1, 1, 1),
        block=_dims(instance.block_dim) if instance else (1, 1, 1),
        options_json=(
            recorded_options if isinstance(recorded_options, str) else json.dumps(recorded_options)
        ),
        max_registers=wanted.max_registers,
        assembler_options=wanted.assembler_options,
        want_ir=True,
        want_assembly=True,
        use_cache=wanted.use_cache,
    )
    statistics = json.loads(compiled["statistics"])
    statistics["is_from_cache"] = compiled["is_from_cache"]
    return CompiledKernel(
        kernel_name=record.kernel_name,
        target=target,
        image=compiled["image"],
        ir=compiled["ir"],
        assembly=compiled["assembly"],
        statistics=statistics,
    )


def _find(
    database: str | Path, record_id: str | None, options: CompileOptions
) -> tuple[RecordedExecution, KernelInstance | None]:
    from mneme.inventory import find_record  # noqa: PLC0415 - only without a launch

    if record_id is not None or options.needs_launch():
        path, found = find_instance(database, record_id)
        record = RecordedExecution.from_json(path)
        return record, record.get(found)
    return find_record(database), None


def _dims(dims: Any) -> tuple[int, int, int]:  # noqa: ANN401 - dim3, or what behaves like one
    return (dims.x, dims.y, dims.z)


def _max_threads(options: CompileOptions, instance: KernelInstance | None) -> int:
    if not options.set_launch_bounds or instance is None:
        return options.max_threads
    block = instance.block_dim
    threads = block.x * block.y * block.z
    if 0 < options.max_threads < threads:
        raise InvalidArgument(
            f"the launch bounds allow {options.max_threads} threads but the block has {threads}; "
            "raise max_threads"
        )
    return options.max_threads or threads


def _values(record: RecordedExecution, instance: KernelInstance) -> dict[int, bytes]:
    values = instance.prologue.snapshot.args()
    return {
        index: value
        for index, value in enumerate(values)
        if index < len(record.specializations) and record.specializations[index]
    }
