"""How long a trial is measured: enough to tell it from others, no longer."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from mneme.measure.measuring import Measuring
from mneme.session.final_round import CHOOSING_ROUNDS, cold_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.session.options import TuneOptions

__all__ = [
    "Policy",
    "cold_iterations",
    "ends_hangs",
    "final_iterations",
    "final_measurements",
    "final_seconds",
    "is_very_long",
    "seconds_to_spare",
    "trial_policy",
    "warmup_launches",
    "within_time",
]

# Kernels of at least this time are long: their times vary little, and further launches cost
# throughput.
_LONG_NS = 5e6
_LAUNCHES_OF_LONG = 2
_WARMUPS_OF_LONG = 1
# From this time on, first launches and caches make no noticeable difference.
_VERY_LONG_NS = 2e8
# Measuring a trial may take as long as this many times the requested launches ...
_BUDGET_FACTOR = 4.0
# ... but a budget below the overhead of a trial would be useless.
_SMALLEST_BUDGET = 0.004
_NS = 1e-9
_ROUND_NS = 1e6
_MOST_OF_A_ROUND = 50
_COLD_LAUNCHES = 3
_SHARE_OF_BASELINE = 0.75
_SHORTEST_SEARCH = 1.0
# The search continues only if at least this share of all time is left; as much stays spare.
_WORTH_MORE = 0.05
# Configurations and rounds of the final measurements, and the share of the time they may take.
_FINALS = ((5, 12), (3, 12), (2, 8), (1, 6))
_MOST_FOR_FINALS = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How trials are measured."""

    measuring: Measuring
    """When measuring ends."""
    iterations: int
    """Smallest number of measured launches."""


def trial_policy(
    options: TuneOptions, baseline_ns: float, *, is_deterministic: bool = False
) -> Policy:
    """Return how trials are measured.

    Args:
        options: The requested options; numbers the user named are kept.
        baseline_ns: Time of the baseline; 0 if the baseline is to be measured.
        is_deterministic: The baseline gave exactly the recorded result: a configuration that does
            not is wrong, and need not be launched again.
    """
    iterations = options.iterations
    if not baseline_ns:
        measuring = Measuring(
            confidence=options.confidence,
            max_iterations=options.max_iterations,
            counters=options.counters,
        )
        return Policy(measuring=measuring, iterations=iterations)
    if _is_long(baseline_ns):
        iterations = _unless_named(options, "iterations", _LAUNCHES_OF_LONG)
    budget = max(_SMALLEST_BUDGET, _BUDGET_FACTOR * iterations * baseline_ns * _NS)
    measuring = Measuring(
        confidence=0.0 if _is_long(baseline_ns) else options.confidence,
        max_iterations=max(iterations, options.max_iterations),
        time_budget=budget if options.early_stop else 0.0,
        classify_wrong=not is_deterministic,
        counters=options.counters,
    )
    return Policy(measuring=measuring, iterations=iterations)


def warmup_launches(options: TuneOptions, recorded_ns: float) -> int:
    """Return the number of warm-up launches."""
    if _is_long(recorded_ns):
        few = 0 if is_very_long(recorded_ns) else _WARMUPS_OF_LONG
        return _unless_named(options, "warmup", few)
    return options.warmup


def ends_hangs(options: TuneOptions) -> bool:
    """Whether hanging trials are ended before `trial_timeout`: not if the user set it."""
    return bool(options.trial_timeout <= _default_of(options, "trial_timeout"))


def final_iterations(options: TuneOptions, baseline_ns: float) -> int:
    """Return the number of launches of a configuration in one round of the final measurements.

    Short kernels are launched for about a millisecond: a few launches say little.
    """
    if _is_long(baseline_ns):
        return 1
    enough = math.ceil(_ROUND_NS / baseline_ns) if baseline_ns > 0 else 1
    return max(1, options.iterations, min(enough, _MOST_OF_A_ROUND))


def final_measurements(options: TuneOptions) -> int:
    """Return the maximal number of measurements in the final rounds, including the baseline.

    Some rounds choose among the best and the best that keep the launch; then the winner of each of
    the two is measured twice against the baseline (winner.py). Rounds with cold caches come on top.
    """
    return CHOOSING_ROUNDS * (2 * options.top + 1) + 8 * options.final_rounds


def cold_iterations(options: TuneOptions, baseline_ns: float) -> int:
    """Return the number of launches of a configuration in one round with cold caches.

    Replacing the content of caches takes longer than a short kernel.
    """
    return min(_COLD_LAUNCHES, final_iterations(options, baseline_ns))


def final_seconds(
    options: TuneOptions, baseline_ns: float, launch_seconds: float, cold_seconds: float
) -> float:
    """Return the approximate time of the final rounds.

    Args:
        options: What was asked for.
        baseline_ns: Time of the baseline.
        launch_seconds: Time of a launch of the baseline in these rounds, with its overhead.
        cold_seconds: The same with cold caches.
    """
    warmup = warmup_launches(options, baseline_ns)
    launches = final_measurements(options) * (final_iterations(options, baseline_ns) + warmup)
    rounds = 0 if is_very_long(baseline_ns) else cold_rounds(options.final_rounds)
    cold = 4 * rounds * (cold_iterations(options, baseline_ns) + warmup)
    # Winning configurations are faster than the baseline; making caches cold takes as long for all.
    return _SHARE_OF_BASELINE * launches * launch_seconds + cold * cold_seconds


def within_time(
    options: TuneOptions,
    baseline_ns: float,
    *,
    spent: float,
    launch_seconds: float,
    cold_seconds: float,
) -> TuneOptions:
    """Return options whose `timeout` is the time for the search alone.

    If the final rounds would take most of the time, they get fewer rounds and configurations.

    Args:
        options: The requested options; `timeout` is for everything.
        baseline_ns: Time of the baseline.
        spent: Seconds the session took until now.
        launch_seconds: As for `final_seconds`.
        cold_seconds: As for `final_seconds`.
    """
    if options.timeout is None:
        return options
    left = options.timeout - spent
    chosen = options
    for top, rounds in _FINALS:
        chosen = replace(
            options, top=min(top, options.top), final_rounds=min(rounds, options.final_rounds)
        )
        if (
            final_seconds(chosen, baseline_ns, launch_seconds, cold_seconds)
            <= _MOST_FOR_FINALS * left
        ):
            break
    last = final_seconds(chosen, baseline_ns, launch_seconds, cold_seconds)
    return replace(chosen, timeout=max(_SHORTEST_SEARCH, left - last))


def seconds_to_spare(  # noqa: PLR0913 - all that is known by then
    options: TuneOptions,
    baseline_ns: float,
    finalists: Sequence[tuple[float, bool]],
    *,
    whole: float,
    spent: float,
    launch_seconds: float,
    cold_seconds: float,
) -> float:
    """Return the seconds a search may continue after its `timeout`; 0: the final rounds need all.

    `within_time` must assume that the winner is hardly faster than the baseline, and that there are
    two: the fastest, and the fastest that keeps the launch. Now both are known.

    Args:
        options: What `within_time` returned.
        baseline_ns: Time of the baseline.
        finalists: For each configuration in the last rounds, fastest first, its time in
            nanoseconds, and whether it keeps the recorded launch. Empty: one may still come.
        whole: Seconds for everything.
        spent: Seconds the session took until now.
        launch_seconds: As for `final_seconds`.
        cold_seconds: As for `final_seconds`.
    """
    launches = final_iterations(options, baseline_ns) + warmup_launches(options, baseline_ns)
    cold = cold_iterations(options, baseline_ns) + warmup_launches(options, baseline_ns)

    def seconds(nanoseconds: float) -> float:
        faster = max(0.0, baseline_ns - nanoseconds) * _NS
        return launches * max(0.0, launch_seconds - faster)

    finalists = finalists or [(baseline_ns, True)]
    choosing = CHOOSING_ROUNDS if len(finalists) > 1 else 1
    needed = choosing * sum(map(seconds, [baseline_ns, *(ns for ns, _ in finalists)]))
    winners = [finalists[0]] * (1 if all(keeps for _, keeps in finalists) else 2)
    for nanoseconds, _ in winners:
        needed += 2 * options.final_rounds * (seconds(baseline_ns) + seconds(nanoseconds))
        if not is_very_long(baseline_ns):
            needed += 2 * cold_rounds(options.final_rounds) * cold * cold_seconds
    spare = whole * (1 - _WORTH_MORE) - spent - needed
    return spare if spare >= max(_SHORTEST_SEARCH, _WORTH_MORE * whole) else 0.0


def is_very_long(nanoseconds: float) -> bool:
    """Whether one launch is sufficient, with any content of caches."""
    return nanoseconds > _VERY_LONG_NS


def _is_long(nanoseconds: float) -> bool:
    return nanoseconds > _LONG_NS


def _unless_named(options: TuneOptions, name: str, number: int) -> int:
    """Return the smaller number, unless the user chose another than the default."""
    value = int(getattr(options, name))
    return min(value, number) if value == _default_of(options, name) else value


def _default_of(options: TuneOptions, name: str) -> Any:  # noqa: ANN401 - any option's
    return next(one.default for one in fields(options) if one.name == name)
