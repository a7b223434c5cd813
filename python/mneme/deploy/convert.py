"""Writes one configuration as a file that production runs and existing tools read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme._vendors import codegen_of
from mneme.deploy.tuned_file import TunedKernel, write_tuned_file
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import Match
from mneme.deploy.tuning_results import match_of
from mneme.errors import MnemeError
from mneme.files.publish import publish_text
from mneme.recording.launch_facts import launch_facts, static_hash_text

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["convert_to_json", "export_proteus_tuned_kernel", "tuned_kernel"]


def tuned_kernel(
    recorded_execution: RecordedExecution,
    config: ExperimentConfiguration,
    kernel_descr: KernelInstance | None = None,
) -> dict[str, Any]:
    """Return the entry of one kernel in a tuned-kernels file.

    Without the launch (`kernel_descr`) it has the keys of existing tools only.
    """
    return _entry(recorded_execution, kernel_descr, config).to_json()


def convert_to_json(
    filename: str | Path,
    recorded_execution: RecordedExecution,
    kernel_descr: KernelInstance,
    config: ExperimentConfiguration,
) -> None:
    """Write a configuration as a tuned-kernels file (`PROTEUS_TUNED_KERNELS`).

    It applies to every launch of this code on every device. `mneme deploy` also writes guards,
    gains and launch dimensions, from the results of a tuning.

    Args:
        filename: Replaced if it exists.
        recorded_execution: The kernel.
        kernel_descr: The launch the configuration was found for.
        config: The configuration.

    Raises:
        IoFailed: If the file cannot be written.
    """
    entry = _entry(recorded_execution, kernel_descr, config)
    write_tuned_file(filename, {kernel_descr.kernel_name: entry})


def export_proteus_tuned_kernel(
    filename: str | Path,
    recorded_execution: RecordedExecution,
    kernel_descr: KernelInstance,
    config: ExperimentConfiguration,
    *,
    usage_filename: str | Path | None = None,
) -> None:
    """Write a tuned-kernels file and, if named, a text that explains how to use it."""
    convert_to_json(filename, recorded_execution, kernel_descr, config)
    if usage_filename is not None:
        publish_text(
            usage_filename, _usage(Path(filename), recorded_execution, kernel_descr, config)
        )


def _usage(
    filename: Path,
    recorded_execution: RecordedExecution,
    kernel_descr: KernelInstance,
    config: ExperimentConfiguration,
) -> str:
    numbers = [str(index + 1) for index in kernel_descr.available_specializations]
    annotation = "".join(f", {number}" for number in numbers) if config.specialize else ""
    lines = [
        f"Tuned kernel: {recorded_execution.demangled_name}",
        f"Tuned for:    grid {config.grid!r}, block {config.block!r}",
        "",
        "Run the program with",
        f"    PROTEUS_TUNED_KERNELS={filename.resolve()}",
        "",
        "The program has to be built with add_mneme() or add_proteus(). A kernel that is compiled",
        "just in time by annotation carries",
        f'    __attribute__((annotate("jit"{annotation})))',
        "",
    ]
    return "\n".join(lines)


def _entry(
    record: RecordedExecution, launch: KernelInstance | None, config: ExperimentConfiguration
) -> TunedKernel:
    codegen = codegen_of(record.arch)
    if launch is None:
        # Every scalar argument, the default of an entry.
        variant = replace(make_variant(config, Match()), specialized_args=None)
        return TunedKernel(variants=(variant,), codegen=codegen, is_flat=True)
    constants = config.constants(launch.constants)
    variant = make_variant(config, _match(record, launch), constants)
    return TunedKernel(
        variants=(
            replace(
                variant,
                static_hash=static_hash_text(record.static_hash),
                code_hash=record.code_hash,
            ),
        ),
        demangled_name=record.demangled_name,
        codegen=codegen,
    )


def _match(record: RecordedExecution, launch: KernelInstance) -> Match:
    """Return the recorded launch, without values of arguments if they cannot be read."""
    try:
        return match_of(launch_facts(record.path, launch.dynamic_hash))
    except MnemeError:
        return Match(grid=launch.grid_dim, block=launch.block_dim, shared_mem=launch.shared_mem)
