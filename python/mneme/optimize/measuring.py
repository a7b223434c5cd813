"""Measures a deployment in its program, and leaves out kernels without a gain there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.deploy import Deployment, LeftOut
from mneme.errors import InvalidArgument
from mneme.optimize.application import Application
from mneme.optimize.as_built import note_share, observe, unread_input
from mneme.optimize.keeping import Keeper
from mneme.optimize.learning import learn_production
from mneme.optimize.outputs import OutputRule, make_check
from mneme.optimize.production import Production
from mneme.optimize.result import KernelResult, OptimizeResult
from mneme.optimize.verdict import verdict

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.optimize.events import OptimizeListener
    from mneme.optimize.profile import Profile

__all__ = ["MeasureOptions", "measure_deployment"]

# Programs that take at most this many seconds are run once more before.
_SHORT = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """A program, and how to compare its runs."""

    command: tuple[str, ...]
    """The program and its arguments."""
    device: str | None = None
    """Device to run on; None: the first that can run the program."""
    pairs: int = 6
    """Alternating runs as built and as tuned; from three pairs on there is an interval."""
    compare: tuple[str, ...] = ()
    """Regular expressions whose groups are numbers that have to agree."""
    compare_tolerance: float = 1e-6
    """Largest difference of these numbers, relative to those of the program as built."""
    min_gain: float = 1.0
    """Kernels that are not this many times as fast in the program are left out."""


def measure_deployment(
    plan: Deployment, options: MeasureOptions, scratch: Path, listener: OptimizeListener
) -> tuple[Deployment, OptimizeResult]:
    """Run a program as built and with a deployment, alternately.

    Args:
        plan: The deployment.
        options: The program.
        scratch: An existing directory for files of the runs.
        listener: Receives the steps.

    Returns:
        What to deploy, what not and why; and the measurements.

    Raises:
        NotFound: If there is no such program.
        InvalidArgument: If an option is invalid, the program as built fails, or it launches none of
            the kernels.
    """
    rule = OutputRule(compare=options.compare, compare_tolerance=options.compare_tolerance)
    rule.validate()
    application = Application(options.command, options.device, scratch)
    result = OptimizeResult(command=list(options.command), directory=scratch)
    result.device = application.device
    built = observe(application, scratch, listener, short=_SHORT)
    note_share(built, result, listener)
    if sentence := unread_input():
        result.notes.append(sentence)
    check = make_check([one.output for one in built.runs], rule)
    result.output_rule = check.rule
    result.kernels = _kernels(plan, built.profile)
    production = Production(application, built, check, scratch, detail=listener.detail)
    keeper = Keeper(production, scratch / "tuned.json", result, listener)
    keeper.take(plan)
    listener.step("running it as built and as tuned, in turn")
    keeper.try_out()
    keeper.prove(options.pairs, options.min_gain, lambda _seconds: True)
    if note := learn_production(keeper.deployed, result.kernels):
        result.notes.append(note)
    if not built.profile.kernels and (gain := result.application) and not gain.is_certain:
        keeper.drop_all(
            f"the program shows no gain ({gain.text()}), and the times of its kernels are not known"
        )
    result.status, result.tuned_file = "completed", None
    result.verdict = verdict(result)
    return _worth(plan, result), result


def _kernels(plan: Deployment, profile: Profile) -> list[KernelResult]:
    """Return the kernels of a deployment that the program launches, the heaviest first.

    Without times of kernels, all count as launched.
    """
    total = profile.total_ns
    deployed = {one.kernel_name: one for one in plan.deployed}
    found = []
    for name, one in deployed.items():
        seen = profile.kernels.get(name)
        if total and seen is None:
            continue
        kernel = KernelResult(
            name=name,
            demangled_name=one.demangled_name,
            share=0.0,
            place=one.place,
            label=one.label,
            is_searched=True,
        )
        if seen is not None:
            kernel.share = seen.total_ns / total
            kernel.launches = seen.launches
            kernel.built_ns = seen.total_ns / max(1, seen.launches)
        found.append(kernel)
    if not found:
        raise InvalidArgument(
            f"the program launches none of the kernels that would be deployed ({len(deployed)}): "
            "name the program, and the arguments, they were recorded from"
        )
    return sorted(found, key=lambda one: -one.share)


def _worth(plan: Deployment, result: OptimizeResult) -> Deployment:
    reasons = {one.name: one.reason for one in result.kernels if not one.is_kept}
    launched = {one.name for one in result.kernels}
    for one in plan.deployed:
        gain = one.variant.gain
        if one.kernel_name not in launched and gain is not None and gain.low <= 1:
            reasons[one.kernel_name] = (
                "the program does not launch it, and its gain in replays need not hold elsewhere"
            )
    worth = Deployment(left_out=list(plan.left_out))
    for one in plan.deployed:
        if one.kernel_name not in reasons:
            worth.deployed.append(one)
            continue
        worth.left_out.append(
            LeftOut(
                directory=one.directory,
                kernel_name=one.kernel_name,
                demangled_name=one.demangled_name,
                code=one.code,
                match=one.variant.match,
                reason=reasons[one.kernel_name],
            )
        )
    return worth
