"""Options of the built-in search spaces: presets, and what overrides them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from mneme.arguments import argument_paths
from mneme.code_texts import assembler_option, compiler_text, plugin_files, taken_texts
from mneme.errors import InvalidArgument
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS, SearchedCodeNumbers, SearchedCodeTexts
from mneme.search.code_choices import (
    check_llvm_options,
    option_choices,
    plugin_choices,
    plugin_llvm,
    plugin_llvms,
)
from mneme.search.pass_choices import (
    LEVELS,
    PROVEN,
    checked_pipelines,
    known_pipelines,
    near_good_pipelines,
    read_pipeline_file,
)
from mneme.search.ranges import parse_range

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from mneme.knob_kinds import CodeNumber

__all__ = [
    "BLOCK_THREADS",
    "MAX_THREADS_POLICIES",
    "PRESETS",
    "UNROLL_COUNTS",
    "Preset",
    "SpaceOptions",
]

MAX_THREADS_POLICIES: Final = ("recorded", "block-threads", "powers-of-two", "hardware")
"""What launch bounds promise: the threads of the recorded block, of the block that is launched, any
power of two from there, as many as the device allows."""

_ON_OFF: Final = {"fixed": (False,), "off": (False,), "on": (True,), "on-off": (True, False)}
BLOCK_THREADS: Final = "block-threads"
"""The policy of launch bounds that are the launched block."""

UNROLL_COUNTS: Final = (0, 1, 2, 4, 8, 16)
"""How often loops are unrolled; 0: as the compiler chooses."""

_HIGHEST_CODEGEN_OPT: Final = 3
_U32: Final = 2**32 - 1
# A warp's worth: 32.
_SMALLEST_POWER: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a preset varies where no option says otherwise."""

    launch: bool = False
    """Block shapes."""

    levels: int = 1
    """How many of LLVM's own pipelines."""

    proven: int = 0
    """How many of `PROVEN`."""

    near_good: int = 0
    """How many pipelines near them."""

    draws: bool = False
    """Random passes behind default<O3>."""

    unroll: bool = False
    """How often loops are unrolled."""

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

    code_numbers: bool = False
    """What the table of knobs lists for `CODE_NUMBERS`."""


PRESETS: Final = {
    "quick": Preset(levels=2),
    "standard": Preset(launch=True, levels=4, proven=3, unroll=True, min_blocks=(1, 4, 1)),
    "launch": Preset(launch=True, specialize="off", min_blocks=(1, 8, 1)),
    "compiler": Preset(
        levels=6,
        proven=len(PROVEN),
        near_good=48,
        unroll=True,
        codegen_opt=(0, 3, 1),
        min_blocks=(1, 8, 1),
        code_numbers=True,
    ),
    "full": Preset(
        launch=True,
        levels=6,
        proven=len(PROVEN),
        near_good=48,
        draws=True,
        unroll=True,
        codegen_opt=(0, 3, 1),
        min_blocks=(1, 8, 1),
        code_numbers=True,
    ),
}
"""The presets by name."""


@dataclass(kw_only=True)
class SpaceOptions(SearchedCodeTexts, SearchedCodeNumbers):
    """Options of the built-in search space, as `mneme tune` names them."""

    preset: str = "standard"
    """One of `PRESETS`; what follows overrides it."""

    launch_dim: str = "auto"
    """Axes in which blocks change; one of `launch_shapes.LAUNCH_DIMS`."""

    launch_safety: str | None = None
    """How far they change; one of `launch_shapes.LAUNCH_SAFETY`. None: balanced."""

    passes: Sequence[str] | None = None
    """Pipelines to choose from, the baseline's first."""

    fixed_passes: str | None = None
    """The only pipeline."""

    pipeline_file: str | Path | None = None
    """File with pipelines to choose from, behind those of `passes`."""

    codegen_opt_range: str | Sequence[int] | None = None
    """LOW:HIGH[:STEP] of the code generation level."""

    fixed_codegen_opt: int | None = None
    """The only code generation level."""

    specialize_space: str | None = None
    """fixed (as recorded: off), on, off or on-off."""

    specialized_args: str | Sequence[int] | None = None
    """Arguments, and members of structures, that can become constants ("0,2+8"); None: all."""

    specialize_dims_space: str | None = None
    """The same for grid and block."""

    launch_bounds_space: str | None = None
    """The same for launch bounds."""

    min_blocks_per_sm_range: str | Sequence[int] | None = None
    """LOW:HIGH[:STEP], with launch bounds."""

    fixed_min_blocks_per_sm: int | None = None
    """The only value, with launch bounds."""

    max_threads_range: str | Sequence[int] | None = None
    """LOW:HIGH[:STEP], with launch bounds; overrides the policy."""

    max_threads_policy: str = BLOCK_THREADS
    """One of `MAX_THREADS_POLICIES`."""

    pass_plugins: str | Sequence[str] = ()
    """Files of LLVM pass plugins; a configuration has them where it names one of their passes."""

    plugin_passes: str | Sequence[str] = ()
    """Their passes to choose from, in or without a place: "my-pass", "my-pass,*", "*,my-pass".
    Empty: those the plugins say."""

    llvm: str | Sequence[str] = ()
    """Other LLVMs to choose from, as `--llvm` names them, besides mneme's own."""

    codegen_method: object = None
    """Accepted from older scripts and ignored."""

    def __post_init__(self) -> None:
        """Refuse unknown words, and options that exclude one another."""
        _known("preset", self.preset, PRESETS)
        _known("max-threads policy", self.max_threads_policy, MAX_THREADS_POLICIES)
        switches = ("specialize_space", "specialize_dims_space", "launch_bounds_space")
        for name in switches:
            _known(name.replace("_", "-"), getattr(self, name) or "fixed", _ON_OFF)
        if self.specialized_args is not None:
            argument_paths(self.specialized_args)
        for name, others in (
            ("fixed_passes", ("passes", "pipeline_file")),
            ("fixed_codegen_opt", ("codegen_opt_range",)),
            ("fixed_min_blocks_per_sm", ("min_blocks_per_sm_range",)),
            *((f"fixed_{one.key}", (f"{one.key}_range",)) for one in CODE_NUMBERS),
        ):
            for other in others:
                if getattr(self, name) is not None and getattr(self, other):
                    raise InvalidArgument(f"{name} and {other} exclude one another")
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Refuse what is no range or too large, also where the device at hand has no use for it."""
        self.codegen_opt()
        self.min_blocks()
        if self.max_threads_range is not None:
            _range("max_threads", self.max_threads_range, (0, 0, 1), _U32)
        for knob in CODE_NUMBERS:
            self.code_number(knob)

    @property
    def axes(self) -> str:
        """Axes in which blocks change; a preset without launches changes none by default."""
        varies = PRESETS[self.preset].launch or self.launch_dim != "auto"
        return self.launch_dim if varies else "none"

    @property
    def draws(self) -> bool:
        """Whether pipelines are drawn besides those that are listed."""
        is_told = self.passes or self.fixed_passes is not None or self.pipeline_file
        return PRESETS[self.preset].draws and not is_told

    def pipelines(self) -> list[str]:
        """Return the pipelines to choose from, the baseline's first.

        Raises:
            InvalidArgument: If LLVM does not know one.
            NotFound: If there is no pipeline file.
        """
        preset = PRESETS[self.preset]
        if self.fixed_passes is not None:
            return checked_pipelines([self.fixed_passes], self.plugins(), self.plugin_llvm())
        given = [self.passes] if isinstance(self.passes, str) else list(self.passes or ())
        if self.pipeline_file:
            given += read_pipeline_file(self.pipeline_file)
        if given:
            return checked_pipelines(given, self.plugins(), self.plugin_llvm())
        near = near_good_pipelines(preset.near_good) if preset.near_good else ()
        proven, levels = known_pipelines(PROVEN[: preset.proven]), LEVELS[1 : preset.levels]
        return list(dict.fromkeys((LEVELS[0], *proven, *levels, *near)))

    def plugins(self) -> str:
        """Return the pass plugins as configurations name them."""
        return plugin_files(_listed(self.pass_plugins))

    def plugin_choices(self) -> list[str]:
        """Return what is chosen of plugins; see `code_choices.plugin_choices`."""
        return plugin_choices(self.plugins(), _listed(self.plugin_passes), self.plugin_llvm())

    def plugin_llvm(self) -> str:
        """Return what loads the plugins: mneme's own LLVM, "", if it can."""
        return plugin_llvm(self.plugins(), self.llvms())

    def plugin_llvms(self) -> list[str]:
        """Return all that load the plugins; none if there are no plugins."""
        return plugin_llvms(self.plugins(), self.llvms())

    def llvms(self) -> list[str]:
        """Return the LLVMs to choose from as configurations name them, mneme's own first."""
        return list(dict.fromkeys(("", *(compiler_text([one]) for one in _listed(self.llvm)))))

    def code_options(self) -> dict[str, tuple[str, dict[str, list[str]]]]:
        """Return fixed options, and choices by name, by field of configurations: LLVM's, ptxas's.

        Raises:
            InvalidArgument: If LLVM, with the plugins, does not have an option or a value, or a
                file of ptxas's controls is missing.
        """
        texts = [one for one in CODE_TEXTS if not one.has_files]
        fixed = taken_texts({one.key: _listed(getattr(self, one.key)) for one in texts})
        choices = {
            one.key: option_choices(one.choice_option, _listed(getattr(self, one.choices)))
            for one in texts
        }
        for values in choices["assembler_options"].values():
            values[:] = map(assembler_option, values)
        of_llvm = chain(*choices["llvm_options"].values())
        check_llvm_options([fixed["llvm_options"], *of_llvm], self.plugins(), self.plugin_llvm())
        return {key: (fixed[key], choices[key]) for key in choices}

    def unroll_counts(self) -> tuple[int, ...]:
        """Return how often loops are unrolled; an only pipeline stays as it is."""
        varies = PRESETS[self.preset].unroll and self.fixed_passes is None
        return UNROLL_COUNTS if varies else UNROLL_COUNTS[:1]

    def codegen_opt(self) -> tuple[int, int, int]:
        """Return low, high and step of the code generation level."""
        given = self.fixed_codegen_opt if self.codegen_opt_range is None else self.codegen_opt_range
        usual = PRESETS[self.preset].codegen_opt
        return _range("the code generation level", given, usual, _HIGHEST_CODEGEN_OPT)

    def min_blocks(self) -> tuple[int, int, int]:
        """Return low, high and step of the blocks that shall fit a multiprocessor."""
        listed, fixed = self.min_blocks_per_sm_range, self.fixed_min_blocks_per_sm
        given = fixed if listed is None else listed
        return _range("min_blocks_per_sm", given, PRESETS[self.preset].min_blocks, _U32)

    def code_number(self, knob: CodeNumber) -> tuple[int, ...]:
        """Return the values of one of `CODE_NUMBERS` to choose from, the default first."""
        default = (knob.default, knob.default, 1)
        fixed, listed = getattr(self, f"fixed_{knob.key}"), getattr(self, f"{knob.key}_range")
        if fixed is not None:
            return _range(knob.key, fixed, default, knob.high)[:1]
        if listed is None:
            is_varied = PRESETS[self.preset].code_numbers
            return (knob.default, *knob.searched) if is_varied else (knob.default,)
        low, high, step = _range(knob.key, listed, default, knob.high)
        return tuple(dict.fromkeys((knob.default, *range(low, high + 1, step))))

    def max_threads(self, recorded: int, most: int) -> tuple[int, int, int] | list[int | str]:
        """Return a range, or the values to choose from.

        Args:
            recorded: Threads of the recorded block.
            most: Threads of a block the device allows.
        """
        if self.max_threads_range is not None:
            return _range("max_threads", self.max_threads_range, (0, 0, 1), most)
        if self.max_threads_policy == "recorded":
            return [recorded]
        if self.max_threads_policy == "hardware":
            return [most]
        if self.max_threads_policy == "powers-of-two":
            return [1 << n for n in range(_SMALLEST_POWER, most.bit_length())]
        return [BLOCK_THREADS]

    def switch(self, name: str) -> tuple[bool, ...]:
        """Return the values of `specialize`, `specialize_dims` or `launch_bounds`."""
        given: str | None = getattr(self, f"{name}_space")
        usual: str = getattr(PRESETS[self.preset], name)
        return _ON_OFF[given or usual]


def _listed(told: str | Sequence[str]) -> list[str]:
    return [told] if isinstance(told, str) else list(told)


def _known(what: str, word: object, known: Collection[str]) -> None:
    if word not in known:
        raise InvalidArgument(f"the {what} '{word}' is unknown; known: {', '.join(known)}")


def _range(
    what: str,
    given: str | int | Sequence[int] | None,
    usual: tuple[int, int, int],
    most: int,
) -> tuple[int, int, int]:
    low, high, step = usual if given is None else parse_range(given)
    high -= (high - low) % step
    if low < 0 or high > most:
        raise InvalidArgument(f"{what} goes from 0 to {most}; {low}:{high} does not")
    return low, high, step
