"""Writes what was found as files that production runs and existing tools read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme._vendors import CODEGEN_BY_ARCH_PREFIX

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["convert_to_json", "export_proteus_tuned_kernel", "tuned_kernel"]


def tuned_kernel(
    recorded_execution: RecordedExecution, config: ExperimentConfiguration
) -> dict[str, Any]:
    """Return the entry of one kernel in a tuned-kernels file."""
    arch = recorded_execution.arch
    methods = (m for start, m in CODEGEN_BY_ARCH_PREFIX.items() if arch.startswith(start))
    return {
        "CodeGen": next(methods, "rtc"),
        "LaunchBounds": config.set_launch_bounds,
        "SpecializeArgs": config.specialize,
        "SpecializeDims": config.specialize_dims,
        "SpecializeDimsRange": config.specialize_dims,
        "OptLevel": 1,
        "Pipeline": config.passes,
        "CodeGenOptLevel": config.codegen_opt,
        "TunedMaxThreads": config.max_threads,
        "MinBlocksPerSM": config.min_blocks_per_sm,
    }


def convert_to_json(
    filename: str | Path,
    recorded_execution: RecordedExecution,
    kernel_descr: KernelInstance,
    config: ExperimentConfiguration,
) -> None:
    """Write a configuration as a tuned-kernels file (`PROTEUS_TUNED_KERNELS`).

    Args:
        filename: Replaced if it exists.
        recorded_execution: The kernel.
        kernel_descr: The launch the configuration was found for.
        config: The configuration.
    """
    _write(filename, {kernel_descr.kernel_name: tuned_kernel(recorded_execution, config)})


def export_proteus_tuned_kernel(
    filename: str | Path,
    recorded_execution: RecordedExecution,
    kernel_descr: KernelInstance,
    config: ExperimentConfiguration,
    *,
    usage_filename: str | Path | None = None,
) -> None:
    """Write a tuned-kernels file and, if named, a text that says how to use it."""
    convert_to_json(filename, recorded_execution, kernel_descr, config)
    if usage_filename is None:
        return
    numbers = [str(index + 1) for index in kernel_descr.available_specializations]
    annotation = "".join(f", {number}" for number in numbers) if config.specialize else ""
    lines = [
        f"Tuned kernel: {recorded_execution.demangled_name}",
        f"Tuned for:    grid {config.grid!r}, block {config.block!r}",
        "",
        "Run the program with",
        f"    PROTEUS_TUNED_KERNELS={Path(filename).resolve()}",
        "",
        "The program has to be built with add_mneme() or add_proteus(). A kernel that is compiled",
        "just in time by annotation carries",
        f'    __attribute__((annotate("jit"{annotation})))',
        "",
    ]
    Path(usage_filename).write_text("\n".join(lines), encoding="utf-8")


def _write(filename: str | Path, content: dict[str, Any]) -> None:
    """Publish with one rename: a production run that starts now reads the old file or the new."""
    path = Path(filename)
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
