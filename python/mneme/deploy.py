"""From results of tunings to the tuned-kernels file of a production run. Prints nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme._vendors import codegen_of
from mneme.deploy_guards import guard_against
from mneme.errors import InvalidArgument
from mneme.mneme_types import dim3
from mneme.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.tuned_variant import LaunchOverride, Match, TunedVariant
from mneme.tuning_results import Choice, TuningResult, find_results, read_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    "write_deployment",
]

GUARD_CHOICES = ("static-hash", "arch", "launch", "args", "none")
"""What `--guard` takes."""

DEFAULT_GUARDS = ("static-hash", "arch")
"""What `mneme deploy` asks for when nothing is said."""

_GUARDS_OF_CHOICE = {"arch": ("Arch",), "launch": ("Grid", "Block", "SharedMem"), "args": ("Args",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOptions:
    """What to deploy of the results."""

    guards: tuple[str, ...] = DEFAULT_GUARDS
    """Some of GUARD_CHOICES; "none" stands alone."""

    use_launch: bool = False
    """Take the best configuration with its own grid and block; else the best with the recorded."""

    min_gain: float = 1.0
    """Leave out what is not this many times as fast, by the lower end of the interval."""

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
    """A variant that goes into the file."""

    kernel_name: str
    demangled_name: str
    static_hash: str
    """16 hexadecimal digits; empty if code of any hash is served."""
    codegen: str
    directory: Path
    variant: TunedVariant
    note: str = ""
    """What a user should know, empty if nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A result that does not go into the file."""

    directory: Path
    kernel_name: str
    demangled_name: str
    match: Match
    """The launch."""
    reason: str
    stays_as_built: bool = True
    """Whether nothing else is deployed for the launch."""


@dataclass(slots=True, kw_only=True)
class Deployment:
    """What goes into a file, and what does not."""

    deployed: list[Deployed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def plan_deployment(
    results: Iterable[str | Path], options: DeployOptions | None = None
) -> Deployment:
    """Choose what to deploy of one or more results directories.

    Raises:
        NotFound: If a path holds no results.
        ArtifactCorrupt: If one is damaged.
        InvalidArgument: If two results are of different code of one kernel.
    """
    options = options or DeployOptions()
    plan = Deployment()
    hashes: dict[str, str] = {}
    for directory in dict.fromkeys(one for path in results for one in find_results(path)):
        result = read_result(directory)
        name, static_hash = str(result.facts["kernel_name"]), str(result.facts["static_hash"])
        if hashes.setdefault(name, static_hash) != static_hash:
            raise InvalidArgument(
                f"'{directory}' tuned other code of {result.facts['demangled_name']} than the "
                "results before it: the program changed between the recordings; deploy the newer"
            )
        chosen = _decide(result, options)
        if isinstance(chosen, LeftOut):
            plan.left_out.append(chosen)
        else:
            _add(plan, chosen)
    adds_guards = "none" not in options.guards
    plan.deployed = [_kept_to_itself(one, plan, adds_guards=adds_guards) for one in plan.deployed]
    return plan


def _kept_to_itself(one: Deployed, plan: Deployment, *, adds_guards: bool) -> Deployed:
    """Guard a variant against launches of its kernel for which nothing faster was found."""
    others = [
        left.match
        for left in plan.left_out
        if left.kernel_name == one.kernel_name
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
    note = f"it serves {len(served)} launch(es) too for which nothing faster was found"
    return replace(one, note=f"{one.note}; {note}" if one.note else note)


def _add(plan: Deployment, new: Deployed) -> None:
    """Add a variant; of those for one launch only the one with the largest gain stays."""
    rivals = [
        one
        for one in plan.deployed
        if one.kernel_name == new.kernel_name
        and one.variant.match.is_same_launch(new.variant.match)
    ]
    best = max([*rivals, new], key=lambda one: _sure_gain(one.variant))
    for one in (*rivals, new):
        if one is not best:
            plan.left_out.append(
                LeftOut(
                    directory=one.directory,
                    kernel_name=one.kernel_name,
                    demangled_name=one.demangled_name,
                    match=one.variant.match,
                    reason=f"'{best.directory}' found something better for the same launch",
                    stays_as_built=False,
                )
            )
    plan.deployed = [*(one for one in plan.deployed if one not in rivals), best]


def _sure_gain(variant: TunedVariant) -> float:
    if variant.gain is not None:
        return variant.gain.low
    return variant.baseline_ns / variant.tuned_ns if variant.tuned_ns else 0.0


def _decide(result: TuningResult, options: DeployOptions) -> Deployed | LeftOut:
    """Return what to deploy of one result, or why nothing."""
    choice, note = _choose(result, options)
    reason = note
    if choice is not None:
        reason = _reason_against(choice, options)
    facts = result.facts
    if choice is None or reason:
        return LeftOut(
            directory=result.directory,
            kernel_name=str(facts["kernel_name"]),
            demangled_name=str(facts["demangled_name"]),
            match=result.match,
            reason=reason,
        )
    variant = _variant_of(result, choice, options)
    # Other dimensions were shown to be right for this code only.
    is_bound = "static-hash" in options.guards or variant.launch is not None
    return Deployed(
        kernel_name=str(facts["kernel_name"]),
        demangled_name=str(facts["demangled_name"]),
        static_hash=str(facts["static_hash"]) if is_bound else "",
        codegen=codegen_of(str(facts["source_arch"])),
        directory=result.directory,
        variant=variant,
        note=note or _bounds_note(choice.config),
    )


def _choose(result: TuningResult, options: DeployOptions) -> tuple[Choice | None, str]:
    """Return the configuration to deploy, and a sentence if it is not the expected one."""
    if _keeps_launch(result.best.config, result.facts):
        return result.best, ""
    if options.use_launch:
        if result.best.config.shared_mem == int(result.facts["shared_mem"]):
            return result.best, ""
        note = "the best configuration uses other shared memory, which a production run cannot"
    else:
        note = "" if result.same_launch else "only with other dimensions (--launch)"
    return result.same_launch, note


def _keeps_launch(config: ExperimentConfiguration, facts: dict[str, Any]) -> bool:
    recorded = (dim3.from_dict(facts["grid"]), dim3.from_dict(facts["block"]))
    return (config.grid, config.block) == recorded and config.shared_mem == facts["shared_mem"]


def _reason_against(choice: Choice, options: DeployOptions) -> str:
    """Return why a configuration is not worth deploying; empty if it is."""
    if choice.is_baseline:
        return "nothing faster than the baseline was found"
    if not choice.is_significant:
        interval = f" ({choice.gain.low:.3f} to {choice.gain.high:.3f})" if choice.gain else ""
        return f"no significant gain{interval}"
    if choice.gain is not None and choice.gain.low < options.min_gain:
        return f"gains {choice.gain.low:.3f} at least, less than {options.min_gain:g}"
    return ""


def _bounds_note(config: ExperimentConfiguration) -> str:
    if config.set_launch_bounds and config.max_threads != config.block.volume:
        return (
            f"measured for blocks of up to {config.max_threads} threads, compiled for "
            f"{config.block.volume}"
        )
    return ""


def _variant_of(result: TuningResult, choice: Choice, options: DeployOptions) -> TunedVariant:
    launch = None
    if not _keeps_launch(choice.config, result.facts):
        launch = LaunchOverride(
            rule=result.launch_rule, grid=choice.config.grid, block=choice.config.block
        )
    match = result.match
    guards = [one for name in options.guards for one in _GUARDS_OF_CHOICE.get(name, ())]
    return replace(
        make_variant(choice.config, match),
        # What the code was measured on is not known for results of older tools.
        guards=tuple(one for one in dict.fromkeys(guards) if one != "Arch" or match.arch),
        launch=launch,
        baseline_ns=result.baseline_ns,
        tuned_ns=choice.metric_ns,
        gain=choice.gain,
        weight=result.weight,
    )


def make_variant(config: ExperimentConfiguration, match: Match) -> TunedVariant:
    """Return a configuration found for the launch `match`, without guards."""
    return TunedVariant(
        launch_bounds=config.set_launch_bounds,
        specialize_args=config.specialize,
        specialize_dims=config.specialize_dims,
        pipeline=config.passes,
        codegen_opt_level=config.codegen_opt,
        tuned_max_threads=config.max_threads,
        min_blocks_per_sm=config.min_blocks_per_sm,
        max_registers=int(getattr(config, "max_registers", 0)),
        specialized_args=tuple(one.index for one in match.args) if config.specialize else (),
        match=match,
    )


def write_deployment(plan: Deployment, output: str | Path, *, merge: bool = False) -> list[str]:
    """Write what is deployed with one rename.

    Args:
        plan: At least one variant is deployed.
        output: The tuned-kernels file.
        merge: Keep what the file says of other kernels and other launches.

    Returns:
        Sentences about what was replaced or dropped in a file that was there.

    Raises:
        ArtifactCorrupt: If the file is there and no tuned-kernels file; it is not replaced then.
        Unsupported: The same, if a newer mneme wrote it.
        IoFailed: If the operating system refuses.
    """
    output = Path(output)
    with _one_at_a_time(output.parent):
        there = read_tuned_file(output) if output.exists() else {}
        kernels, sentences = _merged(there if merge else {}, plan)
        write_tuned_file(output, kernels)
    return sentences


@contextlib.contextmanager
def _one_at_a_time(directory: Path) -> Iterator[None]:
    """Keep other deployments into a directory waiting, where the file system can."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            handle = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _merged(
    there: dict[str, TunedKernel], plan: Deployment
) -> tuple[dict[str, TunedKernel], list[str]]:
    """Return the kernels of a file with what is deployed, and what there is to say."""
    kernels = dict(there)
    sentences: list[str] = []
    for one in plan.deployed:
        old = kernels.get(one.kernel_name)
        kept: tuple[TunedVariant, ...] = ()
        if old is not None:
            kept, sentence = _kept(old, one)
            sentences += [sentence] if sentence else []
        kernels[one.kernel_name] = TunedKernel(
            variants=(*kept, one.variant),
            static_hash=one.static_hash or (old.static_hash if old is not None and kept else ""),
            demangled_name=one.demangled_name,
            codegen=one.codegen,
        )
    return kernels, sentences


def _kept(old: TunedKernel, new: Deployed) -> tuple[tuple[TunedVariant, ...], str]:
    """Return what stays of an entry beside a new variant, and what there is to say."""
    name = new.demangled_name
    if old.is_flat:
        return (), f"{name}: the entry of another tool is replaced"
    if old.static_hash and new.static_hash and old.static_hash != new.static_hash:
        return (), f"{name}: {len(old.variants)} variants for older code are dropped"
    kept = tuple(one for one in old.variants if not one.match.is_same_launch(new.variant.match))
    return kept, ""
