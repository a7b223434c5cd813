"""Replays that find out how a kernel may be launched take a part of the search's time at most."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from launch_samples import GPU
from mneme.measure.eval_future import EvalFuture
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.launch_rules import LaunchRule, OutOfTime, try_launches
from mneme.session.probes import Probes
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recorded_launch, recording, steady

__all__ = ["recording"]

CONFIG = ExperimentConfiguration(**recorded_launch())


class Hanging(FakeExecutor):
    """Gives no result for launches that are not the recorded one."""

    opened = 0
    hanging = 0

    def __call__(self, *arguments: object, **options: object) -> Hanging:  # noqa: ARG002
        self.opened += 1
        return self

    def submit(self, config: ExperimentConfiguration, **wishes: object) -> EvalFuture:
        if config.grid == CONFIG.grid and config.block == CONFIG.block:
            return super().submit(config, **wishes)
        self.hanging += 1
        return EvalFuture(0, config)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes wait a moment, however long anything else takes."""
    monkeypatch.setattr("mneme.session.probes._LEAST_SECONDS", 0.1)
    monkeypatch.setattr("mneme.session.probes.time", SimpleNamespace(monotonic=lambda: 0.0))


def test_a_launch_that_hangs_costs_a_part_of_the_search(short: None) -> None:
    executor = Hanging()
    probes = Probes(executor, timeout=1.0)
    other = ExperimentConfiguration(**{**recorded_launch(), "grid": {"x": 1, "y": 1, "z": 1}})
    assert probes(CONFIG).verified
    for _ in range(3):
        with pytest.raises(OutOfTime, match="too much of the search's time"):
            probes(other)
    assert executor.hanging == 1, "none is waited for once one was too late"
    assert probes.is_stuck


def test_without_a_limit_probes_wait_for_each_result() -> None:
    probes = Probes(FakeExecutor(), timeout=None)
    assert probes(CONFIG).verified
    assert not probes.is_stuck


def test_a_rule_is_what_was_seen_before_the_time_was_over() -> None:
    replays = 0

    def evaluate(config: ExperimentConfiguration) -> ExperimentResult:
        nonlocal replays
        replays += 1
        if config.grid.volume * config.block.volume != 64 * 128:
            raise OutOfTime("no time")
        return steady(config)

    launch = {"grid": {"x": 64, "y": 1, "z": 1}, "block": {"x": 128, "y": 1, "z": 1}}
    evidence = try_launches(evaluate, ExperimentConfiguration(**launch), GPU)
    assert evidence.rule is LaunchRule.COVER
    assert len(evidence.tried) == replays - 1


@needs_native
@pytest.mark.compile
def test_a_session_ends_though_other_launches_hang(
    recording: Path, tmp_path: Path, short: None
) -> None:
    class Asking(Levels):
        def adapt(self, evaluate: object) -> None:
            evaluate(ExperimentConfiguration(**{**recorded_launch(), "block": {"x": 32}}))  # type: ignore[operator]

    executor = Hanging()
    session = TuningSession(
        TuneOptions(record_database=recording, results_dir=tmp_path, sampler="random", timeout=1.0),
        space=Asking(),
        make_executor=executor,
    )
    assert session.run() == 0, session.error
    assert executor.is_cancelled
    assert executor.opened >= 2
