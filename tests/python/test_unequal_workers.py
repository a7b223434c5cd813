"""Comparisons over pools whose processes have devices of different speed: a model of time, no clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.session.events import TuneListener
from mneme.session.options import TuneOptions
from mneme.session.trials import Candidate, CompletedCandidate
from mneme.session.winner import name_winner
from native_parts import needs_native
from tune_parts import measured, recorded_launch, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]

RECORDED: Any = SimpleNamespace(grid_dim=dim3(4), block_dim=dim3(256), shared_mem=0)
SPEEDS = (1.0, 1.72, 1.05, 0.9)


class UnequalPool(Executor):
    """Gives each task to any worker; each has a speed, and every launch some noise."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._max_workers = len(SPEEDS)

    def submit(self, _: Callable[..., Any], *arguments: Any, **__: Any) -> Future[Any]:
        speed = self._rng.choice(SPEEDS)
        task: Future[Any] = Future()
        results = [self._replay(one, speed) for one in arguments[2]]
        task.set_result({"host": "node", "results": results})
        return task

    def _replay(self, plain: dict[str, Any], speed: float) -> dict[str, Any]:
        config = ExperimentConfiguration.from_dict(plain)
        time = 100_000 * speed * (1 - 0.1 * config.codegen_opt)
        return measured(config, [int(time * self._rng.gauss(1, 0.01)) for _ in range(5)]).to_dict()


def config(level: int, *, specialize: bool = False) -> ExperimentConfiguration:
    return ExperimentConfiguration(
        **recorded_launch(), codegen_opt=level, specialize=specialize, passes="default<O1>"
    )


def gain(recording: Path, what: ExperimentConfiguration, seed: int) -> Any:
    def done(number: int, one: ExperimentConfiguration) -> CompletedCandidate:
        return CompletedCandidate(
            candidate=Candidate(trial=number, config=one),
            status="verified",
            result=measured(one, [90_000] * 5),
            metric=90_000.0,
            baseline_metric=100_000.0,
        )

    executor = FuturesReplayExecutor(UnequalPool(seed), recording, None, 5)
    options = TuneOptions(record_database=recording, top=1, final_rounds=12)
    baseline, trials = done(-1, config(0)), [done(0, what)]
    found = name_winner(executor, options, RECORDED, baseline, trials, TuneListener())
    return found.best if found.best.done.candidate.trial == 0 else found.contender


def test_the_same_code_never_gains_over_itself(recording: Path) -> None:
    same = config(0, specialize=True)  # other parameters, the same times
    found = [gain(recording, same, seed).gain for seed in range(100)]
    assert [one for one in found if one.significant] == []
    assert all(0.98 < one.ratio < 1.02 for one in found)


def test_a_gain_is_seen_whichever_worker_measures(recording: Path) -> None:
    found = gain(recording, config(1), 1).gain
    assert found.significant
    assert found.ratio == pytest.approx(1 / 0.9, rel=0.02)
