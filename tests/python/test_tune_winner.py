"""The choice of the winner, and the gain it is named with."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.session.events import TuneListener
from mneme.session.final_round import FinalRound, median_interval
from mneme.session.options import TuneOptions
from mneme.session.policy import final_iterations
from mneme.session.trials import Candidate, CompletedCandidate, check_objectives
from mneme.session.winner import name_winner, pareto_front
from tune_parts import FakeExecutor, measured, recorded_launch, steady

RECORDED: Any = SimpleNamespace(grid_dim=dim3(4), block_dim=dim3(256), shared_mem=0)


def config(level: int, **more: Any) -> ExperimentConfiguration:
    return ExperimentConfiguration(**{**recorded_launch(), "codegen_opt": level, **more})


def trial(number: int, metric: float, what: ExperimentConfiguration) -> CompletedCandidate:
    return CompletedCandidate(
        candidate=Candidate(trial=number, config=what),
        status="verified",
        result=measured(what, [round(metric)]),
        metric=metric,
        baseline_metric=100_000.0,
    )


BASELINE = trial(-1, 100_000.0, config(0))


def winner(answer: Any, *trials: CompletedCandidate, **options: Any) -> Any:
    return name_winner(
        FakeExecutor(answer), TuneOptions(**options), RECORDED, BASELINE, trials, TuneListener()
    )


# Ranks from the binomial distribution, as in the tables of Le Boudec's chapter 2.
@pytest.mark.parametrize(
    ("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (12, 3, 10), (15, 4, 12)]
)
def test_the_interval_lies_between_order_statistics(count: int, low: int, high: int) -> None:
    values = [float(number) for number in range(1, count + 1)]
    random.Random(1).shuffle(values)
    assert median_interval(values)[1:] == (low, high)


def test_an_interval_needs_six_values() -> None:
    with pytest.raises(InvalidArgument, match="needs 6 values, not 5"):
        median_interval([1.0] * 5)


def test_the_fastest_wins_with_its_gain() -> None:
    found = winner(steady, trial(0, 80_000, config(1)), trial(1, 40_000, config(3)))
    assert found.best.done.candidate.trial == 1
    assert found.best.gain.ratio == pytest.approx(2.5)
    assert found.best.gain.significant
    assert found.best.gain.rounds == 12


def test_who_was_only_lucky_does_not_win() -> None:
    lucky, honest = trial(0, 1_000, config(1)), trial(1, 60_000, config(2))
    assert winner(steady, lucky, honest).best.done is honest


def test_who_is_wrong_the_second_time_does_not_win() -> None:
    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        result = steady(what)
        result.verified = what.codegen_opt != 3
        return result

    found = winner(answer, trial(0, 40_000, config(3)), trial(1, 80_000, config(1)))
    assert found.best.done.candidate.trial == 1
    assert found.rejected == {0: "failed_verification"}


def test_noise_is_no_gain() -> None:
    noise = random.Random(7)

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        return measured(what, [round(100_000 * noise.uniform(0.9, 1.1)) for _ in range(5)])

    trials = [trial(n, 90_000 + n, config(3, min_blocks_per_sm=n)) for n in range(5)]
    found = winner(answer, *trials)
    assert found.best.done is BASELINE
    assert not found.contender.gain.significant
    assert found.contender.gain.low < 1 < found.contender.gain.high


def test_drift_of_the_machine_cancels() -> None:
    clock = itertools.count()

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        # Slower by 0.5 % with every launch; the candidate takes 90 % of the baseline's time.
        factor = 1.005 ** next(clock) * (1.0 if what.codegen_opt == 0 else 0.9)
        return measured(what, [round(100_000 * factor)])

    gain = winner(answer, trial(0, 90_000, config(1))).best.gain
    assert gain.significant
    assert gain.ratio == pytest.approx(1 / 0.9, rel=0.001)


@pytest.mark.parametrize(
    ("baseline_ns", "launches"), [(2_000, 50), (50_000, 20), (900_000, 5), (14_000_000, 1)]
)
def test_short_kernels_are_launched_often_in_a_round(baseline_ns: float, launches: int) -> None:
    assert final_iterations(TuneOptions(), baseline_ns) == launches


def test_a_gain_that_is_seen_only_once_is_none() -> None:
    executor = FakeExecutor()

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        # Faster while it is chosen and while the gain is measured first, then no more.
        is_early = len(executor.submitted) <= 2 * (1 + 12)
        return measured(what, [90_000 if what.codegen_opt and is_early else 100_000])

    executor.answer = answer
    found = name_winner(
        executor, TuneOptions(), RECORDED, BASELINE, [trial(0, 90_000, config(1))], TuneListener()
    )
    assert found.best.done is BASELINE
    assert found.contender is not None
    assert found.contender.gain.ratio == 1


def test_the_first_of_a_round_has_no_advantage() -> None:
    executor = FakeExecutor()

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        # The first launch after a pause takes 3 % longer.
        is_first = len(executor.submitted) % 2 == 1
        return measured(what, [103_000 if is_first else 100_000])

    executor.answer = answer
    found = name_winner(
        executor, TuneOptions(), RECORDED, BASELINE, [trial(0, 90_000, config(1))], TuneListener()
    )
    assert found.best.done is BASELINE
    assert found.contender is not None
    assert found.contender.gain.ratio == pytest.approx(1, abs=1e-3)


def test_the_best_with_the_recorded_launch_is_found_too() -> None:
    other = config(3, block={"x": 128, "y": 1, "z": 1}, grid={"x": 8, "y": 1, "z": 1})
    found = winner(steady, trial(0, 40_000, other), trial(1, 60_000, config(2)))
    assert found.best.done.candidate.trial == 0
    assert found.same_launch.done.candidate.trial == 1
    assert found.same_launch.gain.ratio == pytest.approx(100 / 60, rel=1e-3)


def test_the_baselines_own_binary_is_no_candidate() -> None:
    same = trial(0, 50_000, config(0, min_blocks_per_sm=7))
    same.result.image_hash = BASELINE.result.image_hash
    executor = FakeExecutor()
    found = name_winner(executor, TuneOptions(), RECORDED, BASELINE, [same], TuneListener())
    assert found.best.done is BASELINE
    assert executor.submitted == []


def test_the_last_rounds_are_fresh_and_on_one_worker() -> None:
    executor = FakeExecutor()
    name_winner(
        executor, TuneOptions(), RECORDED, BASELINE, [trial(0, 80_000, config(1))], TuneListener()
    )
    assert all(one["fresh"] is True and one["worker"] == 0 for one in executor.wishes)
    levels = [one.codegen_opt for one in executor.submitted]
    # One round, as there is nothing to choose from, twice twelve for the gain, nine with cold caches;
    # every other one the other way round.
    assert levels == [0, 1] + [0, 1, 1, 0] * (12 + 4) + [0, 1]
    cold = [one["measuring"].cold_cache for one in executor.wishes]
    assert cold == [False] * 50 + [True] * 18


def test_launches_of_seconds_are_not_measured_with_cold_caches() -> None:
    slow = replace(BASELINE, metric=3e8)
    executor = FakeExecutor()
    trials = [trial(number, 2e8, config(1 + number)) for number in range(2)]
    found = name_winner(executor, TuneOptions(), RECORDED, slow, trials, TuneListener())
    assert not any(one["measuring"].cold_cache for one in executor.wishes)
    # Three in each of five rounds that choose, two in each of twice twelve.
    assert len(executor.submitted) == 5 * 3 + 2 * 12 * 2
    assert found.best.gain.significant
    assert found.best.gain.low > 0.98 * found.best.gain.ratio


def test_another_objective_decides() -> None:
    found = winner(
        steady, trial(0, 40_000, config(1)), trial(1, 90_000, config(3)), objective="registers"
    )
    assert found.best.done.candidate.trial == 1


def test_of_equal_ones_the_fastest_wins() -> None:
    slow, fast = config(3, min_blocks_per_sm=1), config(3, min_blocks_per_sm=2)
    more = [trial(n, 50_000 + n, config(3, max_threads=n)) for n in range(2, 9)]

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        return measured(what, [30_000 if what == fast else 60_000])

    trials = [trial(0, 90_000, slow), *more, trial(1, 30_000, fast)]
    assert winner(answer, *trials, objective="registers").best.done.candidate.trial == 1


@pytest.mark.parametrize(("nanoseconds", "number"), [(100_000, -1), (60_000, 0)])
def test_the_program_as_built_loses_to_equal_ones_that_are_faster(
    nanoseconds: int, number: int
) -> None:
    same = config(0, grid=dim3(8))

    def answer(what: ExperimentConfiguration) -> ExperimentResult:
        return measured(what, [nanoseconds if what == same else 100_000])

    found = winner(answer, trial(0, nanoseconds, same), objective="registers")
    assert found.best.done.candidate.trial == number


def test_an_objective_that_the_device_does_not_say_is_refused() -> None:
    check_objectives(BASELINE, ["registers", "code-size"])
    with pytest.raises(InvalidArgument, match="is 'spills', but code for .* has none"):
        check_objectives(BASELINE, ["time", "spills"])


def test_a_counter_that_cannot_be_read_says_why() -> None:
    reason = "the driver lets only administrators read hardware counters"
    refused = replace(BASELINE, result=replace(BASELINE.result, counters_error=reason))
    with pytest.raises(InvalidArgument, match=f"is 'dram__bytes.sum', but {reason}"):
        check_objectives(refused, ["dram__bytes.sum"])


def test_a_counter_decides() -> None:
    def counted(number: int, nanoseconds: int, one: ExperimentConfiguration, sectors: float) -> Any:
        done = trial(number, nanoseconds, one)
        return replace(done, result=replace(done.result, counters={"dram__bytes.sum": sectors}))

    fast, lean = counted(0, 40_000, config(1), 900.0), counted(1, 90_000, config(3), 100.0)
    found = winner(steady, fast, lean, objective="dram__bytes.sum")
    assert found.best.done.candidate.trial == 1


def test_the_front_holds_what_nothing_beats() -> None:
    options = TuneOptions(objective=("time", "code-size"))
    trials = [
        trial(n, float(t), config(level))
        for n, t, level in [(0, 50, 3), (1, 60, 2), (2, 70, 2), (3, 90, 0)]
    ]
    assert [one.candidate.trial for one in pareto_front(trials, options)] == [0, 1, 3]


def test_a_round_without_usable_baseline_gives_no_ratio() -> None:
    def measure(round_of: Sequence[ExperimentConfiguration], *, is_cold: bool) -> Any:
        results = [steady(one) for one in round_of]
        for result, one in zip(results, round_of, strict=True):
            result.verified = one.codegen_opt != 0
        return [lambda result=result: result for result in results]

    rounds = FinalRound(measure, config(0))
    assert rounds.gain(trial(0, 1.0, config(1))) is None
    assert rounds.rejected == {0: "the baseline was not verified beside it"}


def gain_of(warm: tuple[int, int], cold: tuple[int, int]) -> Any:
    """The gain of a candidate; times of the baseline and of it, nanoseconds."""

    def measure(round_of: Sequence[ExperimentConfiguration], *, is_cold: bool) -> Any:
        times = cold if is_cold else warm
        return [lambda one=one: measured(one, [times[one.codegen_opt]] * 5) for one in round_of]

    return FinalRound(measure, config(0)).gain(trial(0, 1.0, config(1)))


def test_a_gain_in_replays_is_stated_wider_for_production() -> None:
    found = gain_of((1_000_000, 800_000), (1_000_000, 800_000))
    assert (found.replayed_low, found.replayed_high) == (1.25, 1.25)
    assert found.low == pytest.approx(1.25 / 1.008, rel=1e-3)
    assert found.high == pytest.approx(1.25 * 1.008, rel=1e-3)
    assert found.significant


def test_what_cold_caches_change_is_in_the_interval() -> None:
    found = gain_of((1_000_000, 500_000), (2_000_000, 1_900_000))
    assert found.ratio == 2.0
    assert found.low < 2_000_000 / 1_900_000
    assert found.high > 2.2
    assert found.cold_ratio == pytest.approx(2_000_000 / 1_900_000)


def test_a_small_gain_of_a_launch_that_lives_on_caches_is_not_stated() -> None:
    found = gain_of((100_000, 96_000), (200_000, 192_000))
    assert found.is_seen
    assert not found.significant


def test_a_small_gain_of_a_short_launch_is_not_stated() -> None:
    found = gain_of((1_000, 950), (1_000, 950))
    assert found.is_seen
    assert not found.significant
    assert gain_of((100_000, 95_000), (100_000, 95_000)).significant


def test_what_cannot_be_measured_with_cold_caches_is_stated_wider() -> None:
    def gain(**cold: Any) -> Any:
        def measure(round_of: Sequence[ExperimentConfiguration], *, is_cold: bool) -> Any:
            results = [steady(one) for one in round_of]
            for result, name in itertools.product(results, cold if is_cold else ()):
                setattr(result, name, cold[name])
            return [lambda result=result: result for result in results]

        rounds = FinalRound(measure, config(0))
        return rounds.gain(trial(0, 1.0, config(1))), rounds.rejected

    full = {"verified": False, "executed": False, "failed": True, "error": "out of memory"}
    found, rejected = gain(**full)
    assert found.significant == (found.low > 1)
    assert found.low == pytest.approx(1.25 / (1 + 0.008 + 0.2 * 0.693 + 100 / 80_000), rel=1e-3)
    assert not rejected
    found, rejected = gain(verified=False)
    assert found is None
    assert list(rejected) == [0]


def test_a_winner_that_production_need_not_show_is_named_all_the_same() -> None:
    found = winner(
        lambda what: measured(what, [1_000 - 20 * what.codegen_opt] * 5),
        trial(0, 980.0, config(1)),
    )
    assert found.best.done.candidate.trial == 0
    assert not found.best.gain.significant
