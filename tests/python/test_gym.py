"""The environment of Gymnasium: its rules, rewards, failures, and the example agent."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import InvalidArgument, NotFound, VerificationFailed
from mneme.ir.features import FEATURES
from native_parts import needs_native
from tune_parts import recording

gymnasium = pytest.importorskip("gymnasium")

from mneme.gym import DEFAULT_PASSES, ENVIRONMENT_ID, PassesEnv  # noqa: E402
from mneme.gym.kernels import Speedup  # noqa: E402

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "examples" / "gym_agent.py"
QUICK: dict[str, Any] = {"device": "cpu", "max_passes": 3, "iterations": 2, "rounds": 2}


@pytest.fixture
def env(recording: Path) -> Iterator[PassesEnv]:
    made = PassesEnv(recording, **QUICK)
    yield made
    made.close()


def action(name: str) -> int:
    return 1 + DEFAULT_PASSES.index(name)


@pytest.mark.slow
def test_gymnasium_has_no_complaints(recording: Path) -> None:
    from gymnasium.utils.env_checker import check_env  # noqa: PLC0415

    made = gymnasium.make(ENVIRONMENT_ID, recordings=recording, render_mode="ansi", **QUICK)
    try:
        check_env(made.unwrapped)
    finally:
        made.close()


def test_an_episode_appends_passes_and_is_rewarded_at_its_end(env: PassesEnv) -> None:
    first, info = env.reset(seed=3)
    assert first.shape == (len(FEATURES) + 1,)
    assert info["pipeline"] == "no-op-module"
    after, reward, terminated, truncated, info = env.step(action("instcombine"))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["pipeline"] == "function<eager-inv>(instcombine)"
    assert after[-1] == 1
    place = list(FEATURES).index("instructions")
    assert after[place] < first[place]
    _, reward, terminated, truncated, info = env.step(0)
    assert (terminated, truncated, info["status"]) == (True, False, "verified")
    assert reward == pytest.approx(math.log(info["speedup"]))


def test_observations_repeat(env: PassesEnv) -> None:
    seen = []
    for _ in range(2):
        episode = [env.reset(seed=5)[0], env.step(action("sroa"))[0], env.step(action("gvn"))[0]]
        seen.append([one.tolist() for one in episode])
    assert seen[0] == seen[1]


def test_the_longest_pipeline_is_truncated_with_a_reward(env: PassesEnv) -> None:
    env.reset(seed=1)
    results = [env.step(action("sroa")) for _ in range(3)]
    assert [(one[2], one[3]) for one in results] == [(False, False), (False, False), (False, True)]
    assert results[-1][4]["speedup"] > 0


def test_the_programs_own_build_gains_nothing(recording: Path) -> None:
    env = PassesEnv(recording, passes=["default<O3>"], **QUICK)
    env.reset(seed=1)
    env.step(1)
    _, reward, *_ = env.step(0)
    env.close()
    assert reward == 0.0


@pytest.mark.parametrize("status", ["wrong", "failed"])
def test_what_is_wrong_or_fails_ends_the_episode(
    env: PassesEnv, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    env.reset(seed=1)
    bad = Speedup(ratio=None, status=status, error="3 ULP off")
    monkeypatch.setattr(env._kernels, "speedup", lambda *_: bad)
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["status"], info["speedup"], info["error"]) == (status, None, "3 ULP off")


def test_rewards_of_steps_add_up(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = PassesEnv(recording, rewards_each_step=True, **QUICK)
    ratios = iter([1.0, 0.5, 0.8, 1.6])  # the first is of the check that the launch works
    monkeypatch.setattr(env._kernels, "speedup", lambda *_: Speedup(ratio=next(ratios)))
    env.reset(seed=1)
    rewards = [env.step(one)[1] for one in (action("sroa"), 0)]
    env.close()
    assert rewards == pytest.approx([math.log(0.8 / 0.5), math.log(1.6 / 0.8)])


def test_a_kernel_can_be_named(env: PassesEnv) -> None:
    _, info = env.reset(options={"kernel": "vectorAdd"})
    assert "vectorAdd" in info["kernel"]
    with pytest.raises(NotFound, match="unheard"):
        env.reset(options={"kernel": "unheard"})


def test_launches_that_do_not_work_are_left_out(
    env: PassesEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Speedup(ratio=None, status="failed", error="no such memory")
    monkeypatch.setattr(env._kernels, "speedup", lambda *_: bad)
    with (
        pytest.warns(UserWarning, match="is left out: no such memory"),
        pytest.raises(VerificationFailed, match="no recorded launch works on 'cpu'"),
    ):
        env.reset(seed=1)


@pytest.mark.parametrize("wrong", [-1, len(DEFAULT_PASSES) + 1, "sroa"])
def test_other_actions_are_refused(env: PassesEnv, wrong: Any) -> None:
    env.reset(seed=1)
    with pytest.raises(InvalidArgument, match="there is no such action"):
        env.step(wrong)


def test_a_step_needs_an_episode(env: PassesEnv) -> None:
    with pytest.raises(InvalidArgument, match=re.escape("call reset() first")):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"passes": []}, "no pass to choose from"),
        ({"passes": ["no-such-pass"]}, "no-such-pass"),
        ({"max_passes": 0}, "at least 1"),
        ({"failure_reward": 1.0}, "at most 0"),
    ],
)
def test_impossible_environments_are_refused(
    recording: Path, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidArgument, match=told):
        PassesEnv(recording, **{**QUICK, **options})


@pytest.mark.slow
def test_the_example_agent_learns(recording: Path) -> None:
    done = subprocess.run(
        [sys.executable, AGENT, recording, "--batches", "1", "--device", "cpu"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert re.match(r"batch 0: \d+\.\d{3}x with \S+\n$", done.stdout)
    code = AGENT.read_text().partition('"""\n\n')[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 45
