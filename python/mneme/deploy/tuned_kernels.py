"""Makes tuned-kernels files for production runs from results of tunings. Prints nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mneme._vendors import codegen_of
from mneme.deploy.guards import guard_against
from mneme.deploy.loaded_code import LoadedCode, loaded_code
from mneme.deploy.tuned_variant import (
    FLAT_KEYS,
    LOOKS_FASTER,
    Gain,
    LaunchOverride,
    Match,
    TunedVariant,
)
from mneme.deploy.tuning_results import Choice, TuningResult, find_results, read_result
from mneme.errors import InvalidArgument
from mneme.kernel_names import KernelName

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.mneme_types import ExperimentConfiguration

__all__ = [
    "DEFAULT_GUARDS",
    "GUARD_CHOICES",
    "DeployOptions",
    "Deployed",
    "Deployment",
    "LeftOut",
    "make_variant",
    "plan_deployment",
]

GUARD_CHOICES = ("static-hash", "arch", "launch", "args", "none")
"""The values of `--guard`."""

DEFAULT_GUARDS = ("static-hash", "arch")
"""The default guards of `mneme deploy`."""

_GUARDS_OF_CHOICE = {"arch": ("Arch",), "launch": ("Grid", "Block", "SharedMem"), "args": ("Args",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOptions:
    """Selects what to deploy from the results."""

    guards: tuple[str, ...] = DEFAULT_GUARDS
    """Some of GUARD_CHOICES; "none" must be alone."""

    use_launch: bool = False
    """Take the best configuration with its own grid and block; otherwise the best with the recorded
    ones."""

    min_gain: float = 1.0
    """Leave out results that are not this many times as fast, by the lower end of the interval."""

    takes_unproven: bool = False
    """Also take gains that only replays show, for callers that measure production."""

    def __post_init__(self) -> None:
        """Check the guards."""
        unknown = [one for one in self.guards if one not in GUARD_CHOICES]
        if unknown:
            raise InvalidArgument(
                f"there is no guard '{unknown[0]}'; there are {', '.join(GUARD_CHOICES)}"
            )
        if "none" in self.guards and len(set(self.guards)) > 1:
            raise InvalidArgument("the guard 'none' cannot stand beside others")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A deployed variant."""

    kernel_name: str
    demangled_name: str
    code: str
    """Static hash of the kernel that was tuned."""
    static_hash: str
    """16 hexadecimal digits; empty if it applies to any code."""
    codegen: str
    directory: Path
    variant: TunedVariant
    compile_seconds: float = 0.0
    """How long compiling it took."""
    note: str = ""
    """A note for the user; may be empty."""
    place: str = ""
    """Where its body is: "src/advec_mom.cpp:120"; empty if unknown."""
    label: str = ""
    """What the program calls the launch."""

    @property
    def name(self) -> KernelName:
        """What people recognise the kernel by."""
        return KernelName(demangled=self.demangled_name, label=self.label, place=self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A result that is not deployed."""

    directory: Path
    kernel_name: str
    demangled_name: str
    code: str
    """Static hash of the kernel that was tuned."""
    match: Match
    """The launch."""
    reason: str
    stays_as_built: bool = True
    """Whether nothing else is deployed for the launch."""


@dataclass(slots=True, kw_only=True)
class Deployment:
    """What is deployed, and what is not."""

    deployed: list[Deployed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def plan_deployment(
    results: Iterable[str | Path], options: DeployOptions | None = None
) -> Deployment:
    """Choose what to deploy of one or more results directories.

    Raises:
        NotFound: If a path contains no results.
        ArtifactCorrupt: If one is damaged.
    """
    options = options or DeployOptions()
    plan = Deployment()
    for directory in dict.fromkeys(one for path in results for one in find_results(path)):
        chosen = _decide(read_result(directory), options)
        if isinstance(chosen, LeftOut):
            plan.left_out.append(chosen)
        else:
            _add(plan, chosen)
    plan.deployed = _bound_to_code(plan)
    adds_guards = "none" not in options.guards
    plan.deployed = [_kept_to_itself(one, plan, adds_guards=adds_guards) for one in plan.deployed]
    return plan


def _bound_to_code(plan: Deployment) -> list[Deployed]:
    """Return the deployment; if several kernels have one name, each variant is bound to its code.

    Units and modules may have different kernels with the same name.
    """
    codes: dict[str, set[str]] = {}
    for one in plan.deployed:
        codes.setdefault(one.kernel_name, set()).add(one.code)
    return [
        replace(one, static_hash=one.code) if len(codes[one.kernel_name]) > 1 else one
        for one in plan.deployed
    ]


def _left_out(one: Deployed, reason: str) -> LeftOut:
    return LeftOut(
        directory=one.directory,
        kernel_name=one.kernel_name,
        demangled_name=one.demangled_name,
        code=one.code,
        match=one.variant.match,
        reason=reason,
        stays_as_built=False,
    )


def _kept_to_itself(one: Deployed, plan: Deployment, *, adds_guards: bool) -> Deployed:
    """Guard a variant against launches of its kernel for which nothing faster was found."""
    others = [
        left.match
        for left in plan.left_out
        if (left.kernel_name, left.code) == (one.kernel_name, one.code)
        and left.stays_as_built
        and not left.match.is_same_launch(one.variant.match)
    ]
    variant, served = guard_against(one.variant, others)
    if adds_guards:
        one = replace(one, variant=variant)
    else:
        served = others
    if not served:
        return one
    note = f"it also serves {len(served)} launch(es) for which nothing faster was found"
    return replace(one, note=f"{one.note}; {note}" if one.note else note)


def _add(plan: Deployment, new: Deployed) -> None:
    """Add a variant; for each launch only the one with the largest gain stays."""
    rivals = [
        one
        for one in plan.deployed
        if (one.kernel_name, one.code) == (new.kernel_name, new.code)
        and one.variant.match.is_same_launch(new.variant.match)
    ]
    best = max([*rivals, new], key=lambda one: _sure_gain(one.variant))
    for one in (*rivals, new):
        if one is not best:
            reason = f"'{best.directory}' found something better for the same launch"
            plan.left_out.append(_left_out(one, reason))
    plan.deployed = [*(one for one in plan.deployed if one not in rivals), best]


def _sure_gain(variant: TunedVariant) -> float:
    if variant.gain is not None:
        return variant.gain.low
    return variant.baseline_ns / variant.tuned_ns if variant.tuned_ns else 0.0


def _decide(result: TuningResult, options: DeployOptions) -> Deployed | LeftOut:
    """Return what to deploy from one result, or why nothing."""
    choice, note = _choose(result, options)
    reason = note
    if choice is not None:
        reason = _reason_against(choice, options, result.contender)
    if told := _told_of_launch(result, options):
        note = f"{note}; {told}" if note else told
        reason = reason and f"{reason} with the recorded dimensions; {told}"
    facts = result.facts
    form = str(facts.get("code_form") or facts.get("image_form") or "")
    loaded = LoadedCode()
    if choice is not None and form and not reason:
        loaded = loaded_code(result, choice)
        reason = loaded.reason
    if facts.get("producer") and not form and not reason:
        reason = "these results are from an earlier release: tune the kernel again"
    if choice is None or reason:
        return LeftOut(
            directory=result.directory,
            kernel_name=str(facts["kernel_name"]),
            demangled_name=str(facts["demangled_name"]),
            code=str(facts["static_hash"]),
            match=result.match,
            reason=reason,
        )
    variant = _variant_of(result, choice, options)
    if form:
        variant = _of_loaded_code(variant, form, loaded, choice.config)
    else:
        variant = replace(variant, code_hash=str(facts.get("code_hash", "")))
    # Other dimensions were shown to be right for this code only, and code without IR is known by
    # its content alone.
    is_bound = "static-hash" in options.guards or variant.launch is not None or bool(form)
    return Deployed(
        kernel_name=str(facts["kernel_name"]),
        demangled_name=str(facts["demangled_name"]),
        code=str(facts["static_hash"]),
        static_hash=str(facts["static_hash"]) if is_bound else "",
        codegen=codegen_of(str(facts["source_arch"])),
        directory=result.directory,
        variant=variant,
        compile_seconds=choice.compile_seconds,
        note=note or ("" if form else _bounds_note(choice.config)),
        place=str(facts.get("place", "")),
        label=str(facts.get("label", "")).rpartition("/")[2],
    )


def _choose(result: TuningResult, options: DeployOptions) -> tuple[Choice | None, str]:
    """Return the configuration to deploy, and a message if it is not the expected one."""
    if _keeps_launch(result.best.config, result.match):
        return result.best, ""
    if options.use_launch:
        if result.best.config.shared_mem == result.match.shared_mem:
            return result.best, ""
        note = (
            "the best configuration uses another amount of shared memory, which a production run "
            "cannot change"
        )
    else:
        note = "" if result.same_launch else "nothing was measured"
    return result.same_launch, note


def _told_of_launch(result: TuningResult, options: DeployOptions) -> str:
    """Return what the best configuration gains if it has other dimensions, which are left out."""
    best = result.best
    is_same_memory = best.config.shared_mem == result.match.shared_mem
    if options.use_launch or _keeps_launch(best.config, result.match) or not is_same_memory:
        return ""
    ratio = best.gain.ratio if best.gain else result.baseline_ns / best.metric_ns
    told = f"with other dimensions it is {ratio:.3f} times as fast"
    if not _reason_against(best, options, None):
        return f"{told}: --launch takes them"
    if not best.is_significant and best.replayed_low > 1:
        return f"{told} in replays: --launch --measure finds out"
    return ""


def _keeps_launch(config: ExperimentConfiguration, match: Match) -> bool:
    launch = (match.grid, match.block, match.shared_mem)
    return (config.grid, config.block, config.shared_mem) == launch


def _without_winner(contender: Gain | None) -> str:
    if contender is None or contender.ratio <= LOOKS_FASTER:
        return "nothing faster than the program as built was found"
    shown = f"{contender.ratio:.3f} (95 %: {contender.low:.3f} to {contender.high:.3f})"
    return f"nothing was significantly faster than the program as built: at best {shown}"


def _reason_against(choice: Choice, options: DeployOptions, contender: Gain | None) -> str:
    """Return why a configuration is not worth deploying; empty if it is."""
    if choice.is_baseline:
        return _without_winner(contender)
    if options.takes_unproven:
        if choice.replayed_low <= max(1.0, options.min_gain):
            return f"replays show a gain of {choice.replayed_low:.3f} at least, which is too little"
        return ""
    if not choice.is_significant:
        interval = f" ({choice.gain.low:.3f} to {choice.gain.high:.3f})" if choice.gain else ""
        told = "; --measure finds out" if choice.replayed_low > 1 else ""
        return f"no significant gain{interval}{told}"
    if choice.gain is not None and choice.gain.low < options.min_gain:
        return f"gains {choice.gain.low:.3f} at least, less than {options.min_gain:g}"
    return ""


def _of_loaded_code(
    variant: TunedVariant, form: str, loaded: LoadedCode, config: ExperimentConfiguration
) -> TunedVariant:
    """Return a variant of code that a program loads, with launch bounds as a replay had them."""
    most = config.max_threads or config.block.volume
    return replace(
        variant,
        code_form=form,
        cubin=loaded.code,
        processor=loaded.processor,
        guards=tuple(dict.fromkeys((*loaded.guards, *variant.guards))),
        tuned_max_threads=most if config.set_launch_bounds else -1,
    )


def _bounds_note(config: ExperimentConfiguration) -> str:
    if config.set_launch_bounds and config.max_threads != config.block.volume:
        return (
            f"measured for blocks of up to {config.max_threads} threads, compiled for "
            f"{config.block.volume}"
        )
    return ""


def _variant_of(result: TuningResult, choice: Choice, options: DeployOptions) -> TunedVariant:
    launch = None
    if not _keeps_launch(choice.config, result.match):
        launch = LaunchOverride(
            rule=result.launch_rule, grid=choice.config.grid, block=choice.config.block
        )
    match = result.match
    guards = [one for name in options.guards for one in _GUARDS_OF_CHOICE.get(name, ())]
    constants = _constants(result.facts)
    fixed = choice.config.constants({path: one["name"] for path, one in constants.items()})
    if "none" not in options.guards:
        # Code for one value would be compiled again for launches with another one.
        guards += [f"Arg:{path}" for path in fixed if constants[path].get("varies")]
    return replace(
        make_variant(choice.config, match, fixed),
        # Results of older tools do not contain the architecture they were measured on.
        guards=tuple(one for one in dict.fromkeys(guards) if one != "Arch" or match.arch),
        launch=launch,
        baseline_ns=result.baseline_ns,
        tuned_ns=choice.metric_ns,
        gain=choice.gain,
        weight=result.weight,
    )


def _constants(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what can become a constant, by path; facts of earlier releases have no members."""
    return {
        **{str(one["index"]): one for one in facts["args"]},
        **{str(one["path"]): one for one in facts.get("members", ())},
    }


def make_variant(
    config: ExperimentConfiguration, match: Match, constants: tuple[str, ...] = ()
) -> TunedVariant:
    """Return a configuration found for the launch `match`, without guards.

    Args:
        config: How the kernel is compiled.
        match: The launch it was found for.
        constants: What becomes a constant: "2", "0+8".
    """
    return TunedVariant(
        **{one.name: getattr(config, one.configured) for one in FLAT_KEYS},
        **config.code_numbers(),
        **config.code_texts(),
        specialized_args=constants,
        match=match,
    )
