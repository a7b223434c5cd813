"""Chooses arguments that may become constants, so that results also serve other launches.

A kernel that receives the number of a time step, for example, has different arguments in each
launch. With all arguments fixed, each launch of a run would need its own binary, and would run
before that is compiled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.arguments import argument_paths, known_paths
from mneme.recording.launch_facts import launches_of, unchanging_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.session.options import TuneOptions

__all__ = [
    "are_others_each_time",
    "asks_for_others",
    "with_constant_arguments",
    "with_deployable_dimensions",
    "with_same_dimensions",
]


def with_constant_arguments(
    options: TuneOptions, record: RecordedExecution, instance: KernelInstance
) -> tuple[TuneOptions, str]:
    """Return options that fix no argument that differs in every launch, and a message.

    Args:
        options: The requested options; those about constants are kept.
        record: Contains the other launches.
        instance: The launch that is tuned.

    Returns:
        The options, and a message about them, which is empty if they are unchanged.

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """
    is_told = options.specialize_space is not None or options.specialized_args is not None
    if is_told or options.space_module is not None or not instance.constants:
        return options, ""
    alike = with_same_dimensions(record, instance)
    if not are_others_each_time(record, alike):
        return options, ""
    if len(alike) == 1:
        launches = record.extras["Launches"]
        return replace(options, specialize_space="off"), (
            f"no arguments become constants: this launch occurs once in {launches}, and what the "
            "others have in common with it is not known; record more of them "
            "(--per-kernel-max-recordings)"
        )
    fixed = unchanging_arguments(record, alike)
    if not fixed:
        return replace(options, specialize_space="off"), (
            "no arguments become constants: each has another value in other recorded launches"
        )
    if set(fixed) >= set(instance.constants):
        return options, ""
    names = ", ".join(_named(path, instance.constants[path]) for path in fixed)
    return replace(options, specialized_args=",".join(fixed)), (
        f"only {names} may become constants: the values of the other arguments differ between "
        "recorded launches"
    )


def with_deployable_dimensions(
    options: TuneOptions, record: RecordedExecution
) -> tuple[TuneOptions, str]:
    """Return options that search no dimensions which production runs never use, and a message.

    Args:
        options: The requested options; axes that were asked for are kept.
        record: The kernel's record.

    Returns:
        The options, and a message about them, which is empty if they are unchanged.
    """
    searches = options.launch_dim == "auto" and options.space_module is None
    if searches and record.images:
        return replace(options, launch_dim="none"), (
            f"grid and block stay as they are: {record.producer} made the code for them"
        )
    if not searches or len(record.llvm_files) == 1:
        return options, ""
    return replace(options, launch_dim="none"), (
        "grid and block stay as they are: the kernel is linked with code of other units, and "
        "production runs keep the dimensions of such kernels"
    )


def asks_for_others(
    options: TuneOptions, record: RecordedExecution, alike: Sequence[KernelInstance]
) -> bool:
    """Whether the options ask for constants that have other values in some of these launches.

    The result then serves only one of the launches.

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
        InvalidArgument: If `specialized_args` is not a list of arguments.
    """
    if options.specialized_args is not None:
        asked = set(known_paths(argument_paths(options.specialized_args), alike[0].constants))
    elif options.specialize_space in ("on", "on-off"):
        asked = set(alike[0].constants)
    else:
        return False
    return not asked <= set(unchanging_arguments(record, alike))


def with_same_dimensions(
    record: RecordedExecution, instance: KernelInstance
) -> list[KernelInstance]:
    """Return the recorded launches of a kernel with the dimensions of one of them."""
    return [one for one in record.values() if _dimensions(one) == _dimensions(instance)]


def are_others_each_time(record: RecordedExecution, alike: Sequence[KernelInstance]) -> bool:
    """Whether launches have different arguments each time.

    This is the case if each recorded launch occurred once and further launches were not recorded.

    Args:
        record: The record of the kernel.
        alike: Its launches with one set of dimensions.
    """
    launches = int(record.extras.get("Launches", 0))
    return all(one.occ <= 1 for one in alike) and launches > launches_of(record.values())


def _named(path: str, name: str) -> str:
    return f"{path} ({name})" if name else path


def _dimensions(one: KernelInstance) -> tuple[object, ...]:
    return one.grid_dim, one.block_dim, one.shared_mem
