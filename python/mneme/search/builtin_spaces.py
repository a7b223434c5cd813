"""The search space of `mneme tune`: what is worth a try for any kernel, by presets and options."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from mneme.arguments import argument_paths, known_paths
from mneme.devices import DeviceLimits, device_limits
from mneme.knobs import CODE_NUMBERS
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.pipelines.unrolling import with_unrolling
from mneme.search.code_choices import options_of_plugins, with_plugin_passes
from mneme.search.configurations import dims_from, shape_text
from mneme.search.custom_spaces import (
    describe_search_space,
    iter_finite_params,
    load_custom_space,
)
from mneme.search.launch_rules import OutOfTime, free_axes, free_grid_axis, shows_its_blocks
from mneme.search.launch_shapes import RecordedLaunch, block_shapes, fits_device, grid_of
from mneme.search.params import (
    ABSENT,
    BaseParam,
    BoolParam,
    CategoricalParam,
    Condition,
    FixedParam,
    IntRangeParam,
)
from mneme.search.pass_choices import LEVELS, needs_plugins
from mneme.search.pipeline_param import PipelineParam
from mneme.search.ranges import parse_key_value_args, parse_range
from mneme.search.recorded_code import has_loops, recorded_ir, takes_any_grid, why_launch_stays
from mneme.search.search_space import Sample, SearchSpace
from mneme.search.space_options import (
    BLOCK_THREADS,
    MAX_THREADS_POLICIES,
    PRESETS,
    Preset,
    SpaceOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.knob_kinds import CodeNumber
    from mneme.mneme_types import ExperimentResult

__all__ = [
    "MAX_THREADS_POLICIES",
    "PRESETS",
    "BuiltinTuneSearchSpace",
    "Preset",
    "SpaceOptions",
    "describe_search_space",
    "iter_finite_params",
    "load_custom_space",
    "parse_key_value_args",
    "parse_range",
]

_DRAWN: Final = "drawn"
_DRAWS: Final = 8
_PLUGIN_PASSES: Final = "plugin_passes"
# Threads a multiprocessor holds at most, on every GPU so far.
_MOST_RESIDENT_THREADS: Final = 2048
# Blocks for each multiprocessor, for kernels that take any number of blocks.
_BLOCKS_PER_MULTIPROCESSOR: Final = (1, 2, 4, 8, 16, 32)


class BuiltinTuneSearchSpace(SearchSpace):
    """Block shapes, pass pipelines, specialisation and launch bounds of one recorded launch."""

    def __init__(
        self,
        recorded_kernel: Any,  # noqa: ANN401 - an instance, or what a script has
        *,
        limits: DeviceLimits | None = None,
        device: str | None = None,
        **options: Any,  # noqa: ANN401 - the fields of SpaceOptions
    ) -> None:
        """Make the space.

        Args:
            recorded_kernel: The launch: has `grid_dim`, `block_dim`, `shared_mem`,
                `constants`.
            limits: What the device can that will run the kernel; None asks `device`.
            device: As in `--device`; None: the device used when nobody says.
            **options: The fields of `SpaceOptions`: preset, launch_dim, passes, ...

        Raises:
            InvalidArgument: If a value is unknown or excludes everything.
            NotFound: If there is no pipeline file.
        """
        self.options = SpaceOptions(**options)
        self.limits = limits or device_limits(device)
        self.launch = RecordedLaunch.of(recorded_kernel)
        self.safety = self.options.launch_safety or "balanced"
        self.shapes = block_shapes(
            self.launch, self.limits, dim=self.options.axes, safety=self.safety
        )
        self.pipelines = self.options.pipelines()
        self._codegen = self.options.codegen_opt()
        self._plugins = self.options.plugins()
        self._plugin_llvms = self.options.plugin_llvms()
        self._of_plugins = [one for one in self.pipelines if self._plugins and needs_plugins(one)]
        self._plugin_choices = self.options.plugin_choices()
        self._code_options = self.options.code_options()
        fixed, chosen = self._code_options["llvm_options"]
        self._options_of_plugins = options_of_plugins(
            (fixed, *chain(*chosen.values())), self._plugins
        )
        self._constants = _constants_of(recorded_kernel)
        self._can_specialize = self._constants is None or bool(self._constants)
        ir = recorded_ir(recorded_kernel)
        self._has_loops = ir is None or has_loops(ir)
        self._recorded = recorded_kernel
        self._fixed_axes = ""
        self._block_counts = [0]
        self._made = self._make_dimensions()

    def dimensions(self) -> dict[str, BaseParam]:
        """Return the parameters."""
        return self._made

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        """Return the configuration: the grid covers the recorded threads, or has `blocks`."""
        block = dims_from(params["block_shape"])
        has_bounds = params["set_launch_bounds"]
        most = params["max_threads"]
        pipeline = params["pipeline"] if params["passes"] == _DRAWN else params["passes"]
        plugins = self._plugins_for(pipeline, params.get(_PLUGIN_PASSES, ""))
        return ExperimentConfiguration(
            grid=grid_of(self.launch, block, params["blocks"]),
            block=block,
            shared_mem=self.launch.shared_mem,
            specialize=params["specialize"],
            set_launch_bounds=has_bounds,
            max_threads=block.volume if most == BLOCK_THREADS else most,
            min_blocks_per_sm=params["min_blocks_per_sm"],
            specialize_dims=params["specialize_dims"],
            passes=with_plugin_passes(
                with_unrolling(pipeline, params["unroll"]), params.get(_PLUGIN_PASSES, "")
            ),
            pass_plugins=plugins,
            llvm=self._llvm_for(plugins, params.get("llvm", "")),
            codegen_opt=params["codegen_opt"],
            specialized_args=params.get("specialized_args", ""),
            **{one.key: params[one.key] for one in CODE_NUMBERS},
            **self._options_of(params, has_plugins=bool(plugins)),
        )

    def _plugins_for(self, pipeline: str, choice: str) -> str:
        return self._plugins if choice or pipeline in self._of_plugins else ""

    def _llvm_for(self, plugins: str, chosen: str) -> str:
        """Return the chosen LLVM, or the first that loads the plugins where it cannot."""
        is_right = not plugins or chosen in self._plugin_llvms
        return chosen if is_right else next(iter(self._plugin_llvms), chosen)

    def _options_of(self, params: dict[str, Any], *, has_plugins: bool) -> dict[str, Any]:
        """Return options of LLVM and ptxas: those of all configurations, and those chosen.

        Without plugins, their own options are left out.
        """
        left_out = set() if has_plugins else self._options_of_plugins
        return {
            field: " ".join(
                word
                for one in (fixed, *(params[f"{field} {name}"] for name in chosen))
                for word in one.split()
                if word not in left_out
            )
            for field, (fixed, chosen) in self._code_options.items()
        }

    def constraints(self, x: ExperimentConfiguration) -> bool:
        """Whether the device can run a configuration as its launch bounds say."""
        is_recorded = (x.grid, x.block) == (self.launch.grid, self.launch.block)
        is_possible = is_recorded or fits_device(x.grid, x.block, self.limits)
        most = max(_MOST_RESIDENT_THREADS, x.max_threads)
        is_resident = x.max_threads * x.min_blocks_per_sm <= most
        return is_possible and x.is_valid() and (not x.set_launch_bounds or is_resident)

    def baseline(self) -> ExperimentConfiguration:
        """Return the recorded launch, compiled as usual."""
        return ExperimentConfiguration(
            grid=dim3(self.launch.grid.x, self.launch.grid.y, self.launch.grid.z),
            block=dim3(self.launch.block.x, self.launch.block.y, self.launch.block.z),
            shared_mem=self.launch.shared_mem,
            max_threads=0,
            min_blocks_per_sm=0,
            passes=self.pipelines[0],
            pass_plugins=(plugins := self._plugins_for(self.pipelines[0], "")),
            llvm=self._llvm_for(plugins, ""),
            codegen_opt=self._codegen[1],
        )

    def adapt(self, evaluate: Callable[[ExperimentConfiguration], ExperimentResult]) -> None:
        """Find out by replaying which launches are worth a try.

        Blocks keep the recorded extent along axes in which another gives a wrong result. Most
        kernels with tiles in shared memory are of that kind, and without this most of a search
        would go into block shapes that cannot work. Dynamic shared memory has few shapes anyway.
        Kernels that loop over their grid get other numbers of blocks. A result that does not show
        what the blocks do says nothing of other launches: then the launch stays as recorded, as it
        does where there is no time to find out.
        """
        if self.options.axes == "none":
            return
        try:
            self._find_launches(evaluate)
        except OutOfTime as error:
            self.remark = f"blocks and grid stay as in the recorded launch: {error}"
            self._keep_free_axes("")
            self._made = self._make_dimensions()

    def _find_launches(
        self, evaluate: Callable[[ExperimentConfiguration], ExperimentResult]
    ) -> None:
        recorded, loops = self.baseline(), False
        used = 0

        def noting(config: ExperimentConfiguration) -> ExperimentResult:
            nonlocal used
            result = evaluate(config)
            used = used or result.multiprocessors
            return result

        why_not = why_launch_stays(self._recorded)
        if not why_not:
            waits = self.launch.is_cooperative and self.safety != "aggressive"
            if takes_any_grid(self._recorded) is not False and not waits:
                loops = bool(free_grid_axis(noting, recorded, self.limits))
            if not (loops or waits or shows_its_blocks(evaluate, recorded)):
                why_not = "its result does not show what all of its blocks do"
        if why_not:
            self.remark = f"blocks and grid stay as in the recorded launch: {why_not}"
            self._keep_free_axes("")
        elif len(self.shapes) > 1 and not self.launch.shared_mem:
            self._keep_free_axes(free_axes(evaluate, recorded, self.limits))
        if loops:
            # Replays may run on a part of the device.
            count = used or max(1, self.limits.multiprocessors)
            self._block_counts = [0, *(count * each for each in _BLOCKS_PER_MULTIPROCESSOR)]
        self._made = self._make_dimensions()

    def _mneme_lists(self, sample: Sample) -> bool:
        """Whether a member is listed: a number of blocks that covers the threads is listed as 0."""
        is_covering = sample.config.grid == grid_of(self.launch, sample.config.block)
        return not sample.params["blocks"] or not is_covering

    def _keep_free_axes(self, axes: str) -> None:
        block = self.launch.block
        self._fixed_axes = "".join(axis for axis in "xyz" if axis not in axes)
        self.shapes = [
            shape
            for shape in self.shapes
            if all(getattr(shape, axis) == getattr(block, axis) for axis in self._fixed_axes)
        ]

    def description(self) -> dict[str, Any]:
        """Return what `search_space.json` says besides the dimensions."""
        extents = self.launch.extents
        return {
            "type": "builtin",
            "preset": self.options.preset,
            "metadata": {
                "device": self.limits.id,
                "launch_safety": self.safety,
                "fixed_axes": self._fixed_axes,
                "recorded_grid": self.launch.grid.to_dict(),
                "recorded_block": self.launch.block.to_dict(),
                "recorded_threads": dict(zip("xyz", extents, strict=True)),
                "recorded_shared_mem": self.launch.shared_mem,
                "source_max_threads": self.launch.max_threads,
            },
        }

    def _code_number(self, knob: CodeNumber) -> tuple[int, ...]:
        """Return the values of a knob that have an effect on the device."""
        is_obeyed = self.limits.max_registers_per_block or not knob.is_for_gpus
        return self.options.code_number(knob) if is_obeyed else (knob.default,)

    def _make_dimensions(self) -> dict[str, BaseParam]:
        options = self.options
        specialize = options.switch("specialize") if self._can_specialize else (False,)
        bounded: Condition = {"set_launch_bounds": True}
        names = [*self.pipelines, _DRAWN] if options.draws else self.pipelines
        most = options.max_threads(self.launch.block.volume, self.limits.max_threads_per_block)
        params: list[BaseParam] = [
            _choice("block_shape", [shape_text(shape) for shape in self.shapes]),
            _choice("blocks", self._block_counts),
            _choice("passes", names),
            _choice("unroll", options.unroll_counts() if self._has_loops else (0,)),
            _number("codegen_opt", self._codegen),
            *(_choice(one.key, self._code_number(one)) for one in CODE_NUMBERS),
            _boolean("specialize", specialize),
            _boolean("specialize_dims", options.switch("specialize_dims")),
            _boolean("set_launch_bounds", options.switch("launch_bounds")),
            _number("min_blocks_per_sm", options.min_blocks(), when=bounded, otherwise=0),
            _number("max_threads", most, when=bounded, otherwise=0)
            if isinstance(most, tuple)
            else _choice("max_threads", most, when=bounded, otherwise=0),
        ]
        if self._plugins:
            params.append(_choice(_PLUGIN_PASSES, self._plugin_choices))
        if options.llvm:
            params.append(_choice("llvm", options.llvms()))
        params += [
            _choice(f"{field} {name}", values)
            for field, (_, chosen) in self._code_options.items()
            for name, values in chosen.items()
        ]
        if options.specialized_args is not None:
            chosen: Condition = {"specialize": True}
            told = argument_paths(options.specialized_args)
            if self._constants is not None:
                told = known_paths(told, self._constants)
            params.append(_choice("specialized_args", [",".join(told)], when=chosen, otherwise=""))
        if options.draws:
            params.append(
                PipelineParam("pipeline", _DRAWS, base=LEVELS[0], when={"passes": _DRAWN})
            )
        return {param.name: param for param in params}


def _constants_of(recorded_kernel: object) -> dict[str, str] | None:
    """Return what can become a constant; scripts have kernels of their own, without members."""
    scalars = getattr(recorded_kernel, "available_specializations", None)
    usual = None if scalars is None else {str(index): "" for index in scalars}
    return getattr(recorded_kernel, "constants", usual)


def _boolean(name: str, values: tuple[bool, ...]) -> BaseParam:
    return BoolParam(name) if len(values) > 1 else FixedParam(name, values[0])


def _number(
    name: str,
    values: tuple[int, int, int],
    when: Condition | None = None,
    otherwise: object = ABSENT,
) -> BaseParam:
    low, high, step = values
    if low == high:
        return FixedParam(name, low, when=when, otherwise=otherwise)
    return IntRangeParam(name, low, high, step, when=when, otherwise=otherwise)


def _choice(
    name: str,
    values: Sequence[int | str],
    when: Condition | None = None,
    otherwise: object = ABSENT,
) -> BaseParam:
    if len(values) == 1:
        return FixedParam(name, values[0], when=when, otherwise=otherwise)
    return CategoricalParam(name, values, when=when, otherwise=otherwise)
