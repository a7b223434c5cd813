"""The configuration of a recorded launch, and what a user's options make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.arguments import argument_paths, known_paths
from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["configured", "recorded_configuration"]


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
    """
    wanted = changes or ConfigurationChanges()
    config = recorded or recorded_configuration(instance)
    if paths := wanted.values.get("specialized_args"):
        known_paths(argument_paths(paths), instance.constants)
    if wanted.values.get("passes") is None:
        config.passes, config.codegen_opt = record.program_pipeline
    return wanted.apply(config)
