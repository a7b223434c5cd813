"""Compiles tuned kernels unchanged but slower, by a pipeline that does less."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.deploy.tuned_file import read_tuned_file, write_tuned_file
from mneme.deploy.tuned_variant import TunedVariant

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_recompiled"]

# Vectorizes nothing and unrolls little. Pipelines that keep values in memory (default<O0>, or the
# code generator's level 0) would not fuse the products and sums that the program fuses.
_SLOWER = TunedVariant(launch_bounds=False, specialize_dims=False, pipeline="default<O1>")


def write_recompiled(tuned: Path, output: Path) -> tuple[str, ...]:
    """Write a tuned-kernels file with the same kernels, unchanged, except those without IR.

    Args:
        tuned: The file with the tried kernels.
        output: Where to write it.

    Returns:
        The kernels, by their names; none: all are without IR.

    Raises:
        MnemeError: If a file cannot be read or written.
    """
    kernels = {
        name: kernel
        for name, kernel in read_tuned_file(tuned).items()
        if not any(one.code_form for one in kernel.variants)
    }
    write_tuned_file(
        output,
        {
            name: replace(
                kernel,
                is_flat=False,
                variants=tuple(replace(_SLOWER, static_hash=one) for one in kernel.static_hashes),
            )
            for name, kernel in kernels.items()
        },
    )
    return tuple(sorted(kernels))
