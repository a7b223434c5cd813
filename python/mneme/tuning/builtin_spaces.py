"""The search space of `mneme tune`: what is worth a try for any kernel, by presets and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mneme.devices import DeviceLimits, device_limits
from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.tuning.configurations import dims_from, shape_text
from mneme.tuning.custom_spaces import (
    describe_search_space,
    iter_finite_params,
    load_custom_space,
)
from mneme.tuning.launch_shapes import RecordedLaunch, block_shapes, covering_grid, fits_device
from mneme.tuning.params import (
    ABSENT,
    BaseParam,
    BoolParam,
    CategoricalParam,
    Condition,
    FixedParam,
    IntRangeParam,
)
from mneme.tuning.pass_choices import (
    LEVELS,
    checked_pipelines,
    near_good_pipelines,
    read_pipeline_file,
)
from mneme.tuning.pipeline_param import PipelineParam
from mneme.tuning.ranges import parse_key_value_args, parse_range
from mneme.tuning.search_space import SearchSpace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "MAX_THREADS_POLICIES",
    "PRESETS",
    "BuiltinTuneSearchSpace",
    "Preset",
    "describe_search_space",
    "iter_finite_params",
    "load_custom_space",
    "parse_key_value_args",
    "parse_range",
]

MAX_THREADS_POLICIES: Final = ("recorded", "block-threads", "powers-of-two", "hardware")
"""What launch bounds promise: the threads of the recorded block, of the block that is launched, any
power of two from there, as many as the device allows."""

_ON_OFF: Final = {"fixed": (False,), "off": (False,), "on": (True,), "on-off": (True, False)}
_BLOCK_THREADS: Final = "block-threads"
_DRAWN: Final = "drawn"
_DRAWS: Final = 8
# Threads a multiprocessor holds at most, on every GPU so far.
_MOST_RESIDENT_THREADS: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a preset varies where no option says otherwise."""

    launch: bool = False
    """Block shapes."""

    levels: int = 1
    """How many of LLVM's own pipelines."""

    near_good: int = 0
    """How many pipelines near them."""

    draws: bool = False
    """Random passes behind default<O3>."""

    codegen_opt: tuple[int, int, int] = (3, 3, 1)
    """Range of code generation levels."""

    specialize: str = "on-off"
    """Whether scalar arguments become constants."""

    specialize_dims: str = "on-off"
    """Whether grid and block become constants."""

    launch_bounds: str = "on-off"
    """Whether the code generator learns the block's size."""

    min_blocks: tuple[int, int, int] = (1, 1, 1)
    """Range of blocks that shall fit a multiprocessor."""


PRESETS: Final = {
    "quick": Preset(levels=2),
    "standard": Preset(launch=True, levels=4, min_blocks=(1, 4, 1)),
    "launch": Preset(launch=True, specialize="off", min_blocks=(1, 8, 1)),
    "compiler": Preset(levels=6, near_good=48, codegen_opt=(0, 3, 1), min_blocks=(1, 8, 1)),
    "full": Preset(
        launch=True,
        levels=6,
        near_good=48,
        draws=True,
        codegen_opt=(0, 3, 1),
        min_blocks=(1, 8, 1),
    ),
}
"""The presets by name."""


class BuiltinTuneSearchSpace(SearchSpace):
    """Block shapes, pass pipelines, specialisation and launch bounds of one recorded launch."""

    def __init__(  # noqa: PLR0913 - the documented names
        self,
        recorded_kernel: Any,  # noqa: ANN401 - an instance, or what a script has
        *,
        preset: str = "standard",
        launch_dim: str = "auto",
        launch_safety: str | None = None,
        passes: Sequence[str] | None = None,
        fixed_passes: str | None = None,
        pipeline_file: str | Path | None = None,
        codegen_opt_range: str | Sequence[int] | None = None,
        fixed_codegen_opt: int | None = None,
        specialize_space: str | None = None,
        specialize_dims_space: str | None = None,
        launch_bounds_space: str | None = None,
        min_blocks_per_sm_range: str | Sequence[int] | None = None,
        fixed_min_blocks_per_sm: int | None = None,
        max_threads_range: str | Sequence[int] | None = None,
        max_threads_policy: str = _BLOCK_THREADS,
        codegen_method: object = None,
        limits: DeviceLimits | None = None,
        device: str | None = None,
    ) -> None:
        """Make the space.

        Args:
            recorded_kernel: The launch: has `grid_dim`, `block_dim`, `shared_mem`,
                `available_specializations`.
            preset: One of `PRESETS`; what follows overrides it.
            launch_dim: Axes in which blocks change; see `launch_shapes.LAUNCH_DIMS`.
            launch_safety: How far they change; None: "balanced".
            passes: Pipelines to choose from, the baseline's first.
            fixed_passes: The only pipeline.
            pipeline_file: File with pipelines to choose from, behind those of `passes`.
            codegen_opt_range: LOW:HIGH[:STEP] of the code generation level.
            fixed_codegen_opt: The only level.
            specialize_space: fixed (as recorded: off), on, off or on-off.
            specialize_dims_space: The same for grid and block.
            launch_bounds_space: The same for launch bounds.
            min_blocks_per_sm_range: LOW:HIGH[:STEP], with launch bounds.
            fixed_min_blocks_per_sm: The only value.
            max_threads_range: LOW:HIGH[:STEP], with launch bounds; overrides the policy.
            max_threads_policy: One of `MAX_THREADS_POLICIES`.
            codegen_method: Accepted from older scripts and ignored.
            limits: Of the device that will run the kernel; None asks `device`.
            device: As in `--device`; None: the device used when nobody says.

        Raises:
            InvalidArgument: If a value is unknown or excludes everything.
            NotFound: If there is no pipeline file.
        """
        del codegen_method
        if preset not in PRESETS:
            raise InvalidArgument(f"there is no preset '{preset}'; known: {', '.join(PRESETS)}")
        if max_threads_policy not in MAX_THREADS_POLICIES:
            known = ", ".join(MAX_THREADS_POLICIES)
            raise InvalidArgument(
                f"the max-threads policy '{max_threads_policy}' is unknown; known: {known}"
            )
        chosen = PRESETS[preset]
        self.preset = preset
        self.limits = limits or device_limits(device)
        self.launch = RecordedLaunch.of(recorded_kernel)
        self.safety = launch_safety or "balanced"
        self.shapes = block_shapes(
            self.launch,
            self.limits,
            dim=launch_dim if chosen.launch or launch_dim != "auto" else "none",
            safety=self.safety,
        )
        self._draws = chosen.draws and not (passes or fixed_passes or pipeline_file)
        self.pipelines = _pipelines(chosen, passes, fixed_passes, pipeline_file)
        self._codegen = _range(
            "the code generation level", codegen_opt_range, fixed_codegen_opt, chosen.codegen_opt, 3
        )
        can_specialize = bool(getattr(recorded_kernel, "available_specializations", True))
        self._specialize = _switch(
            "specialize", specialize_space if can_specialize else "off", chosen.specialize
        )
        self._dims = _switch("specialize-dims", specialize_dims_space, chosen.specialize_dims)
        self._bounds = _switch("launch-bounds", launch_bounds_space, chosen.launch_bounds)
        self._min_blocks = _range(
            "min_blocks_per_sm", min_blocks_per_sm_range, fixed_min_blocks_per_sm, chosen.min_blocks
        )
        self._max_threads = self._max_threads_values(max_threads_range, max_threads_policy)
        self._dimensions_made = self._made_dimensions()

    def dimensions(self) -> dict[str, BaseParam]:
        """Return the parameters."""
        return self._dimensions_made

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        """Return the configuration: the grid covers the recorded threads with the block."""
        block = dims_from(params["block_shape"])
        has_bounds = params["set_launch_bounds"]
        most = params["max_threads"]
        return ExperimentConfiguration(
            grid=covering_grid(self.launch, block) if block != self.launch.block else self._grid(),
            block=block,
            shared_mem=self.launch.shared_mem,
            specialize=params["specialize"],
            set_launch_bounds=has_bounds,
            max_threads=block.volume if most == _BLOCK_THREADS else most,
            min_blocks_per_sm=params["min_blocks_per_sm"],
            specialize_dims=params["specialize_dims"],
            passes=params["pipeline"] if params["passes"] == _DRAWN else params["passes"],
            codegen_opt=params["codegen_opt"],
        )

    def constraints(self, x: ExperimentConfiguration) -> bool:
        """Whether the device can run a configuration as its launch bounds say."""
        is_possible = x.block == self.launch.block or fits_device(x.grid, x.block, self.limits)
        most = max(_MOST_RESIDENT_THREADS, x.max_threads)
        is_resident = x.max_threads * x.min_blocks_per_sm <= most
        return is_possible and x.is_valid() and (not x.set_launch_bounds or is_resident)

    def baseline(self) -> ExperimentConfiguration:
        """Return the recorded launch, compiled as usual."""
        return ExperimentConfiguration(
            grid=self._grid(),
            block=dim3(self.launch.block.x, self.launch.block.y, self.launch.block.z),
            shared_mem=self.launch.shared_mem,
            max_threads=0,
            min_blocks_per_sm=0,
            passes=self.pipelines[0],
            codegen_opt=self._codegen[1],
        )

    def description(self) -> dict[str, Any]:
        """Return what `search_space.json` says besides the dimensions."""
        extents = self.launch.extents
        return {
            "type": "builtin",
            "preset": self.preset,
            "metadata": {
                "device": self.limits.id,
                "launch_safety": self.safety,
                "recorded_grid": self.launch.grid.to_dict(),
                "recorded_block": self.launch.block.to_dict(),
                "recorded_threads": dict(zip("xyz", extents, strict=True)),
                "recorded_shared_mem": self.launch.shared_mem,
                "source_max_threads": self.launch.max_threads,
            },
        }

    def _grid(self) -> dim3:
        return dim3(self.launch.grid.x, self.launch.grid.y, self.launch.grid.z)

    def _made_dimensions(self) -> dict[str, BaseParam]:
        bounded: Condition = {"set_launch_bounds": True}
        names = [*self.pipelines, _DRAWN] if self._draws else self.pipelines
        params: list[BaseParam] = [
            _choice("block_shape", [shape_text(shape) for shape in self.shapes]),
            _choice("passes", names),
            _number("codegen_opt", self._codegen),
            _boolean("specialize", self._specialize),
            _boolean("specialize_dims", self._dims),
            _boolean("set_launch_bounds", self._bounds),
            _number("min_blocks_per_sm", self._min_blocks, when=bounded, otherwise=0),
            self._max_threads_param(bounded),
        ]
        if self._draws:
            params.append(
                PipelineParam("pipeline", _DRAWS, base=LEVELS[0], when={"passes": _DRAWN})
            )
        return {param.name: param for param in params}

    def _max_threads_values(
        self, given: str | Sequence[int] | None, policy: str
    ) -> tuple[int, int, int] | list[int | str]:
        """Return a range, or the values to choose from."""
        if given is not None:
            return parse_range(given)
        most = self.limits.max_threads_per_block
        if policy == "recorded":
            return [self.launch.block.volume]
        if policy == "hardware":
            return [most]
        if policy == "powers-of-two":
            return [1 << n for n in range(5, most.bit_length()) if 1 << n <= most]
        return [_BLOCK_THREADS]

    def _max_threads_param(self, bounded: Condition) -> BaseParam:
        if isinstance(self._max_threads, tuple):
            return _number("max_threads", self._max_threads, when=bounded, otherwise=0)
        return _choice("max_threads", self._max_threads, when=bounded, otherwise=0)


def _pipelines(
    preset: Preset,
    passes: Sequence[str] | None,
    fixed: str | None,
    file: str | Path | None,
) -> list[str]:
    """Return the pipelines to choose from, the baseline's first."""
    if fixed is not None and (passes or file):
        raise InvalidArgument("a fixed pass pipeline and pipelines to choose from exclude another")
    if fixed is not None:
        return checked_pipelines([fixed])
    if isinstance(passes, str):
        passes = [passes]
    given = [*(passes or ()), *(read_pipeline_file(file) if file else ())]
    if given:
        return checked_pipelines(given)
    near = near_good_pipelines(preset.near_good) if preset.near_good else []
    return [*LEVELS[: preset.levels], *near]


def _range(
    what: str,
    given: str | Sequence[int] | None,
    fixed: int | None,
    usual: tuple[int, int, int],
    most: int | None = None,
) -> tuple[int, int, int]:
    if given is not None and fixed is not None:
        raise InvalidArgument(f"a range of {what} and a fixed value exclude one another")
    low, high, step = usual if given is None else parse_range(given)
    if fixed is not None:
        low, high, step = parse_range(fixed)
    high -= (high - low) % step
    if low < 0 or (most is not None and high > most):
        upper = "" if most is None else f" to {most}"
        raise InvalidArgument(f"{what} goes from 0{upper}; {low}:{high} does not")
    return low, high, step


def _switch(what: str, given: str | None, usual: str) -> tuple[bool, ...]:
    value = given or usual
    if value not in _ON_OFF:
        raise InvalidArgument(f"the {what} space '{value}' is unknown; known: {', '.join(_ON_OFF)}")
    return _ON_OFF[value]


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
