"""The configuration of a recorded launch, and what a user's options make of it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.arguments import argument_paths, known_paths
from mneme.code_texts import OWN_CODE
from mneme.errors import MnemeError
from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["configured", "form_of_knobs", "recorded_configuration"]

# What can differ without IR, or has no effect without what is refused.
_NOT_CODE: Final = frozenset(
    (
        *("grid", "block", "shared_mem", "shared_carveout"),
        *("max_threads", "min_blocks_per_sm", "specialized_args", "prune", "internalize"),
    )
)
# What ptxas takes.
_OF_PTX: Final = frozenset(
    ("max_registers", "codegen_opt", "assembler_options", "set_launch_bounds")
)


def form_of_knobs(record: RecordedExecution) -> str:
    """Return the form of the code that can be changed: "ptx" of a fat binary that has PTX."""
    if record.code_form != "fatbin":
        return record.code_form
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        codes = _native.describe_device_code(Path(record.llvm_files[0]))
    except (MnemeError, OSError):  # what reads it says so
        return record.code_form
    has_ptx = any(name.startswith("PTX") for one in codes for name in one["members"])
    return "ptx" if has_ptx else record.code_form


def recorded_configuration(instance: KernelInstance) -> ExperimentConfiguration:
    """Return the configuration of a recorded launch, as `BaseExecutor` has it on a device."""
    return ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )


def configured(
    record: RecordedExecution,
    instance: KernelInstance,
    changes: ConfigurationChanges | None = None,
    *,
    recorded: ExperimentConfiguration | None = None,
) -> ExperimentConfiguration:
    """Return the configuration that options change: without a pipeline, the program's.

    Args:
        record: The kernel.
        instance: The launch.
        changes: The options; None: none.
        recorded: The configuration of the launch, if it is known.

    Raises:
        InvalidArgument: If an argument that shall become a constant cannot.
        Unsupported: If other code is wanted of a kernel that was recorded without IR.
    """
    wanted = changes or ConfigurationChanges()
    config = recorded or recorded_configuration(instance)
    if paths := wanted.values.get("specialized_args"):
        known_paths(argument_paths(paths), instance.constants)
    if wanted.values.get("passes") is None:
        config.passes, config.codegen_opt = record.program_pipeline
    changed = wanted.apply(config)
    _refuse_other_code(record, changed)
    return changed


def _refuse_other_code(record: RecordedExecution, config: ExperimentConfiguration) -> None:
    """Refuse a configuration that changes code of which there is no IR.

    Raises:
        Unsupported: If it does, naming its fields.
    """
    usual = ExperimentConfiguration()
    possible = _NOT_CODE | _OF_PTX if form_of_knobs(record) == "ptx" else _NOT_CODE
    if config.llvm in OWN_CODE:
        possible |= {"llvm"}
    changed = [
        one.name
        for one in fields(ExperimentConfiguration)
        if one.name not in possible and getattr(config, one.name) != getattr(usual, one.name)
    ]
    if changed:
        record.require_ir(f"a configuration with {' and '.join(changed)}")
