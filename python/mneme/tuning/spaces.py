"""The search space a session is asked for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from mneme.tuning.builtin_spaces import (
    BuiltinTuneSearchSpace,
    load_custom_space,
    parse_key_value_args,
)
from mneme.tuning.space_view import SpaceView

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance
    from mneme.tuning.options import TuneOptions
    from mneme.tuning.search_space import Sample, SearchSpace

__all__ = ["first_samples", "make_space"]


def make_space(options: TuneOptions, recorded: KernelInstance) -> SearchSpace:
    """Return the built-in space, or the user's own.

    Raises:
        InvalidArgument: If the options exclude everything, or the user's space cannot be made.
        NotFound: If a file, a module or a class does not exist.
    """
    if options.space_module is not None:
        arguments = parse_key_value_args(list(options.space_arg))
        return load_custom_space(options.space_module, recorded, arguments)
    return BuiltinTuneSearchSpace(
        recorded,
        preset=options.space_preset,
        launch_dim=options.launch_dim,
        launch_safety=options.launch_safety,
        passes=list(options.passes) or None,
        fixed_passes=options.fixed_passes,
        pipeline_file=options.pipeline_file,
        codegen_opt_range=options.codegen_opt_range,
        fixed_codegen_opt=options.fixed_codegen_opt,
        specialize_space=options.specialize_space,
        specialize_dims_space=options.specialize_dims_space,
        launch_bounds_space=options.launch_bounds_space,
        min_blocks_per_sm_range=options.min_blocks_per_sm_range,
        fixed_min_blocks_per_sm=options.fixed_min_blocks_per_sm,
        max_registers_range=options.max_registers_range,
        fixed_max_registers=options.fixed_max_registers,
        max_threads_range=options.max_threads_range,
        max_threads_policy=options.max_threads_policy,
        device=options.device,
    )


def first_samples(options: TuneOptions, space: SearchSpace, count: int = 10) -> list[Sample]:
    """Return what a search would begin with."""
    view = SpaceView.of(space)
    if options.enumerates:
        return list(itertools.islice(view.samples(), count))
    view.seed(options.seed)
    return [view.draw() for _ in range(min(count, options.trials or count))]
