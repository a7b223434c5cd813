"""Compiles a recorded kernel, for any target and without a device."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["CompileOptions", "CompiledKernel", "compile_record", "describe_record_code"]


@dataclass(kw_only=True)
class CompileOptions(ExperimentConfiguration):
    """How a recorded kernel is compiled: the fields of `ExperimentConfiguration`, and these."""

    target: str = ""
    """ "sm_90", "cpu", ...; empty: the architecture the program was built for."""

    grid: dim3 | None = None  # type: ignore[assignment]
    """Blocks of the launch the code is for; None: as recorded."""

    block: dim3 | None = None  # type: ignore[assignment]
    """Threads of its block; None: as recorded."""

    max_threads: int = 0
    """Threads of the largest block; 0: those of the block."""

    min_blocks_per_sm: int = 0
    """Blocks that must fit on a multiprocessor."""

    code_object_version: int = 0
    """Version of code objects for AMD GPUs, 4 to 6; 0: what the program was built for."""

    use_cache: bool = True
    """Look for a stored image, and store the new one."""

    want_ir: bool = False
    """Return the final IR; a replay finds only images without it in the cache."""

    want_assembly: bool = False
    """Return the final assembly; as `want_ir`."""

    want_reasons: bool = False
    """Tell in the statistics what passes say and take, and how loops run; never from the cache."""

    @classmethod
    def of(cls, configuration: ExperimentConfiguration, **others: Any) -> CompileOptions:  # noqa: ANN401
        """Return the options for a replay of this configuration, with further fields."""
        told = {item.name: getattr(configuration, item.name) for item in fields(configuration)}
        return cls(**told, **others)

    def __post_init__(self, codegen_method: object) -> None:
        """Leave the dimensions alone, which may be missing."""

    def configuration(self, instance: KernelInstance | None) -> ExperimentConfiguration:
        """Return what is compiled, with the dimensions of a launch where there are none."""
        told = {item.name: getattr(self, item.name) for item in fields(ExperimentConfiguration)}
        told["grid"] = self.grid or (instance.grid_dim if instance else dim3())
        told["block"] = self.block or (instance.block_dim if instance else dim3())
        return ExperimentConfiguration(**told)

    def needs_launch(self) -> bool:
        """Whether the code depends on the launch."""
        bounds_by_block = self.set_launch_bounds and self.max_threads == 0
        return self.specialize or self.specialize_dims or bounds_by_block


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel:
    """The compiled code of a kernel."""

    kernel_name: str
    """Mangled name."""

    target: str
    """As in `CompileOptions`, never empty."""

    image: bytes = field(repr=False)
    """A cubin (or PTX text without ptxas and nvJitLink), a code object for an AMD GPU, or a shared
    object for the CPU."""

    ir: str = field(repr=False)
    """Final IR as text, if requested."""

    assembly: str = field(repr=False)
    """Final PTX, or assembly for AMD GPU or CPU, if requested."""

    statistics: dict[str, Any]
    """Times in seconds, sizes in bytes, registers; see docs/cli.md."""


def compile_record(
    database: str | Path, record_id: str | None = None, options: CompileOptions | None = None
) -> CompiledKernel:
    """Compile the kernel of a record, without a device.

    The image is stored where replays on a device of this target search for it.

    Args:
        database: A `<static hash>.json` file, or a directory of them.
        record_id: The launch whose arguments and dimensions are fixed; None if there is only one,
            or if the options use nothing of a launch.
        options: How to compile.

    Raises:
        InvalidArgument: For an unknown target, pass or option, and if the record id is ambiguous.
        NotFound: If there is no such record.
        CompileFailed: If compiler or assembler refuse the kernel.
        Unsupported: If it was recorded without IR.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    wanted = options or CompileOptions()
    record, instance, placing = _find(database, record_id, wanted)
    record.require_ir("compiling it")
    target = _target_of(record, wanted.target)
    code = _native.RecordedCode(record.path, placing.dynamic_hash if placing else "")
    compiled = code.compile(
        json.dumps(wanted.configuration(instance).to_dict()),
        code.recorded_target(target),
        json.dumps(
            {
                "want_ir": wanted.want_ir,
                "want_assembly": wanted.want_assembly,
                "use_cache": wanted.use_cache and not wanted.want_reasons,
            }
        ),
        code_object_version=wanted.code_object_version,
        want_reasons=wanted.want_reasons,
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


def describe_record_code(
    record: RecordedExecution, configuration: ExperimentConfiguration, target: str = ""
) -> CompiledKernel:
    """Return code that no LLVM compiles: as the program's own compiler made it, or of its PTX.

    Args:
        record: The kernel.
        configuration: What changes it.
        target: "sm_90", ...; empty: what the code is for.

    Raises:
        Unsupported: If the configuration needs IR, or the code is not for a GPU like this.
        CompileFailed: If the assembler refuses the PTX.
        BackendUnavailable: If options of ptxas are asked for, and it is missing.
        ArtifactCorrupt: If the code is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    if record.code_form == "cpu":
        record.require_ir("an explanation of its code")
    chosen = _target_of(record, target)
    told = _native.RecordedCode(record.path).described(chosen, json.dumps(configuration.to_dict()))
    return CompiledKernel(
        kernel_name=record.kernel_name,
        target=chosen,
        image=told["image"],
        ir="",
        assembly=told["assembly"],
        statistics=json.loads(told["statistics"]),
    )


def _target_of(record: RecordedExecution, target: str) -> str:
    chosen = target or record.arch
    if not chosen:
        raise InvalidArgument(
            f"'{record.path}' does not say what it was built for; name an architecture (sm_90, cpu)"
        )
    return chosen


def _find(
    database: str | Path, record_id: str | None, options: CompileOptions
) -> tuple[RecordedExecution, KernelInstance | None, KernelInstance | None]:
    """Return the record, the requested launch, and a launch with addresses of globals."""
    from mneme.recording.inventory import find_record  # noqa: PLC0415 - only without a launch

    if record_id is not None or options.needs_launch():
        path, found = find_instance(database, record_id)
        record = RecordedExecution.from_json(path)
        return record, record.get(found), record.get(found)
    record = find_record(database)
    complete = (one for one in record.values() if _has_snapshots(one))
    return record, None, next(complete, None)


def _has_snapshots(instance: KernelInstance) -> bool:
    return Path(instance.prologue.fn).is_file() and Path(instance.epilogue.fn).is_file()
