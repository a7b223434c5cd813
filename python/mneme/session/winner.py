"""Chooses the winner from the trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.measure.measuring import Measuring
from mneme.session.final_round import FinalRound, Gain, no_gain
from mneme.session.loop import submit
from mneme.session.policy import cold_iterations, final_iterations, is_very_long
from mneme.session.trials import objective_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
    from mneme.recording.recorded_execution import KernelInstance
    from mneme.session.events import TuneListener
    from mneme.session.options import TuneOptions
    from mneme.session.trials import CompletedCandidate

__all__ = ["Finalist", "Standing", "finalists", "keeps_launch", "name_winner", "pareto_front"]

# Candidates slower than this many times the baseline, whose time is noisy, too, are not measured
# again.
_WORTH_ANOTHER_LOOK = 2.0


@dataclass(kw_only=True)
class Standing:
    """A configuration that was measured again."""

    done: CompletedCandidate
    """The trial of the search."""
    gain: Gain
    """The gain in the final rounds."""


@dataclass(kw_only=True)
class Finalist:
    """The outcome of the final rounds."""

    best: Standing
    """The winner; the baseline (trial -1) if replays show nothing better."""
    same_launch: Standing
    """The best that keeps the recorded launch; the baseline if replays show nothing better."""
    contender: Standing | None = None
    """The candidate that would have won if its gain had been certain."""
    others: list[tuple[CompletedCandidate, float]] = field(default_factory=list)
    """The runners-up, the best first, with baseline time / time in the choosing rounds."""
    rejected: dict[int, str] = field(default_factory=dict)
    """Trials that failed when measured again, with the reason."""
    pareto: list[CompletedCandidate] = field(default_factory=list)
    """With several objectives: trials that no other beats in all of them."""


def keeps_launch(config: ExperimentConfiguration, recorded: KernelInstance) -> bool:
    """Whether grid, block and shared memory are the recorded ones."""
    return (
        config.grid == recorded.grid_dim
        and config.block == recorded.block_dim
        and config.shared_mem == recorded.shared_mem
    )


def finalists(
    options: TuneOptions,
    recorded: KernelInstance,
    baseline: CompletedCandidate,
    trials: Sequence[CompletedCandidate],
) -> list[CompletedCandidate]:
    """Return the candidates for the final rounds: the best, and the best that keep the launch."""
    ranked = _ranked(trials, options, baseline)
    same = [one for one in ranked if keeps_launch(one.candidate.config, recorded)]
    chosen = [*ranked[: options.top], *same[: options.top]]
    return list({one.candidate.trial: one for one in chosen}.values())


def name_winner(  # noqa: PLR0913, PLR0917 - everything that decides
    executor: Any,  # noqa: ANN401 - an `Executor`
    options: TuneOptions,
    recorded: KernelInstance,
    baseline: CompletedCandidate,
    trials: Sequence[CompletedCandidate],
    listener: TuneListener,
) -> Finalist:
    """Measure the best trials again and name the winner."""
    nothing = Standing(done=baseline, gain=no_gain())
    finalist = Finalist(best=nothing, same_launch=nothing)
    finalist.pareto = pareto_front(trials, options) if len(options.objectives) > 1 else []
    chosen = finalists(options, recorded, baseline, trials)
    if not chosen:
        return finalist
    rounds = FinalRound(
        _measure(executor, options, baseline),
        baseline.candidate.config,
        metric=options.metric,
        rounds=options.final_rounds,
        is_cold_known=is_very_long(baseline.metric or 0.0),
        tell=listener.final_round,
    )
    standing = rounds.choose(chosen)
    if not _is_about_time(options):
        standing.sort(key=lambda one: _rank(one, options))  # of equals, the fastest
    first = _first(rounds, standing)
    unchanged = [one for one in standing if keeps_launch(one.candidate.config, recorded)]
    if first is not None and unchanged and unchanged[0] is first.done:
        kept: Standing | None = first
    else:
        kept = _first(rounds, unchanged)
    finalist.rejected = dict(rounds.rejected)
    finalist.others = [
        (one, rounds.chosen_by[one.candidate.trial])
        for one in standing
        if one.candidate.trial not in rounds.rejected
    ]
    is_better = _is_better(options, baseline)
    for one in (kept, first):
        if one is not None and is_better(one):
            finalist.best = one
    if kept is not None and is_better(kept):
        finalist.same_launch = kept
    finalist.contender = first if finalist.best is nothing else None
    return finalist


def _first(rounds: FinalRound, standing: Sequence[CompletedCandidate]) -> Standing | None:
    """Return the first that is still verified, with its gain."""
    for done in standing:
        gain = rounds.gain(done)
        if gain is not None:
            return Standing(done=done, gain=gain)
    return None


def _is_better(options: TuneOptions, baseline: CompletedCandidate) -> Callable[[Standing], bool]:
    if _is_about_time(options):
        return lambda one: one.gain.is_seen
    to_beat = _rank(baseline, options)

    def is_better(one: Standing) -> bool:
        rank = _rank(one.done, options)
        return rank < to_beat or (rank == to_beat and one.gain.is_seen)

    return is_better


def _is_about_time(options: TuneOptions) -> bool:
    return options.objectives[0] in ("time", "speedup")


def _rank(done: CompletedCandidate, options: TuneOptions) -> float:
    """Return a key that is smaller for better candidates."""
    objective = options.objectives[0]
    value = objective_value(done, objective)
    if value is None:
        return float("inf")
    return -value if objective == "speedup" else value


def _ranked(
    trials: Sequence[CompletedCandidate], options: TuneOptions, baseline: CompletedCandidate
) -> list[CompletedCandidate]:
    """Return the candidates that may win, the best first, each binary and launch once."""
    limit = (baseline.metric or 0.0) * _WORTH_ANOTHER_LOOK
    about_time = _is_about_time(options)
    found: dict[object, CompletedCandidate] = {_identity(baseline): baseline}
    usable = [one for one in trials if one.is_verified and one.metric]
    for done in sorted(usable, key=lambda one: (_rank(one, options), one.metric)):
        is_slow = done.result.stopped_early or (done.metric or 0.0) > limit
        if not (about_time and is_slow):
            found.setdefault(_identity(done), done)
    found.pop(_identity(baseline))
    return list(found.values())


def _identity(done: CompletedCandidate) -> object:
    config, image = done.candidate.config, done.result.image_hash
    code = image or done.candidate.config_hash
    return (code, config.grid, config.block, config.shared_mem)


def _measure(executor: Any, options: TuneOptions, baseline: CompletedCandidate) -> Any:  # noqa: ANN401
    warm = final_iterations(options, baseline.metric or 0.0)
    cold = cold_iterations(options, baseline.metric or 0.0)

    def measure(
        configs: Sequence[ExperimentConfiguration], *, is_cold: bool
    ) -> list[Callable[[], ExperimentResult]]:
        how = {
            "iterations": cold if is_cold else warm,
            "measuring": Measuring(cold_cache=is_cold),
            "fresh": True,
        }
        if hasattr(executor, "submit_together"):
            futures = executor.submit_together(configs, **how)
        else:
            futures = [submit(executor, one, **how, worker=0) for one in configs]
        return [future.result for future in futures]

    return measure


def pareto_front(
    trials: Sequence[CompletedCandidate], options: TuneOptions
) -> list[CompletedCandidate]:
    """Return the trials that no other beats in one objective without being worse in another."""
    points: list[tuple[tuple[float, ...], CompletedCandidate]] = []
    for done in trials:
        values = [objective_value(done, one) for one in options.objectives]
        if not done.is_verified or any(value is None for value in values):
            continue
        signed = [
            -value if name == "speedup" else value
            for name, value in zip(options.objectives, values, strict=True)
            if value is not None
        ]
        points.append((tuple(signed), done))
    front: list[CompletedCandidate] = []
    best: list[tuple[float, ...]] = []
    for point, done in sorted(points, key=lambda one: one[0]):
        # In this order, a point that beats another one comes before it.
        if not any(all(a <= b for a, b in zip(other, point, strict=True)) for other in best):
            best.append(point)
            front.append(done)
    return front
