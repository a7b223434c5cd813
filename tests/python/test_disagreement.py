"""Where a program shows less than replays, the reason is said as far as it is known."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.deploy import Deployment
from mneme.optimize.disagreement import why_otherwise
from mneme.optimize.events import OptimizeListener
from mneme.optimize.keeping import Keeper
from mneme.optimize.production import Comparison
from mneme.optimize.result import KernelResult, OptimizeResult, Ratio


def kernel(ratio: float = 0.85, built_ns: float = 10_000.0) -> KernelResult:
    shown = Ratio(ratio=ratio, low=ratio - 0.01, high=ratio + 0.01, rounds=6, is_interval=True)
    return KernelResult(
        name="k", demangled_name="k()", share=1.0, built_ns=built_ns, production=shown
    )


def results(folder: Path, **gain: Any) -> list[Path]:
    content = {"as_built_metric": 10_000.0, "gain": {"ratio": 1.07, **gain}}
    (folder / "best.json").write_text(json.dumps(content))
    return [folder]


def test_cold_caches_are_the_reason_where_the_gain_is_gone_with_them(tmp_path: Path) -> None:
    assert why_otherwise(kernel(), results(tmp_path, cold_ratio=0.91)) == (
        "replays show 1.070x, but with cold caches 0.910x: in the program other kernels fill the "
        "caches in between"
    )


@pytest.mark.parametrize("built_ns", [3_000.0, 40_000.0])
def test_launches_that_take_another_time_are_others(tmp_path: Path, built_ns: float) -> None:
    told = why_otherwise(kernel(built_ns=built_ns), results(tmp_path, cold_ratio=1.06))
    assert "of a launch that takes 10.00 µs" in told
    assert f"take {built_ns / 1000:.2f} µs on average: they have other arguments" in told


def test_what_is_no_reason_is_said_where_none_is_known(tmp_path: Path) -> None:
    assert why_otherwise(kernel(), results(tmp_path, cold_ratio=1.06)) == (
        "replays show 1.070x, also with cold caches (1.060x) and of launches that take as long as "
        "those in the program; clock rates in the program may differ"
    )


def test_files_of_older_versions_and_none_at_all_say_less(tmp_path: Path) -> None:
    assert "cold" not in why_otherwise(kernel(), results(tmp_path))
    assert not why_otherwise(kernel(), [tmp_path / "nowhere"])


def test_nothing_is_said_where_program_and_replays_agree(tmp_path: Path) -> None:
    assert not why_otherwise(kernel(ratio=1.06), results(tmp_path, cold_ratio=1.06))


def test_the_reason_stands_with_the_kernel_that_is_left_out(tmp_path: Path) -> None:
    (place,) = results(tmp_path, cold_ratio=0.91)
    result = OptimizeResult(command=["./app"], directory=tmp_path)
    result.kernels = [KernelResult(name="k", demangled_name="k()", share=1.0, is_kept=True)]
    runs = Comparison(built_kernels={"k": [1.0] * 6}, tuned_kernels={"k": [1.2] * 6})
    production: Any = SimpleNamespace(compare=lambda *_: runs)
    keeper = Keeper(production, tmp_path / "tuned.json", result, OptimizeListener())
    deployed: Any = SimpleNamespace(kernel_name="k", directory=place)
    keeper._plan = Deployment(deployed=[deployed])
    keeper.prove(6, 1.01, lambda _seconds: True)
    reason = result.kernels[0].reason
    assert reason.startswith("the program shows no gain from it: 0.833x")
    assert reason.endswith("other kernels fill the caches in between")
