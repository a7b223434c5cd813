"""Searches with passes of LLVM pass plugins: `mneme tune --pass-plugin`, and where winners go."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import example, mneme, optimize
from pass_plugins import HAS_SHARED_LLVM, built_plugin

pytestmark = [
    pytest.mark.compile,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_SHARED_LLVM, reason="no shared LLVM"),
]

QUICK = (
    *("--sampler", "grid", "--fixed-passes", "default<O3>", "--launch-dim", "none"),
    *("--specialize-space", "off", "--specialize-dims-space", "off", "--final-rounds", "6"),
    *("--launch-bounds-space", "off", "--iterations", "1", "--confidence", "0", "--device", "cpu"),
    *("--no-knowledge", "--early-stop", "0"),
)


@pytest.fixture(scope="module")
def planted() -> Path:
    return built_plugin("planted")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))


def trials(results: Path) -> list[dict[str, Any]]:
    lines = (results / "trials.jsonl").read_text().splitlines()
    return [one for line in lines if "config" in (one := json.loads(line))]


@pytest.mark.parametrize("compilers", ["0", "1"])
def test_each_fault_costs_one_configuration(
    compilers: str, recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    names = ("nothing", "drop-stores", "slow", "crash", "for-ever")
    done = mneme(
        *("tune", recordings["vector_add"], "--results-dir", results, *QUICK),
        *("--pass-plugin", planted, "--compile-workers", compilers, "--compile-timeout", "4"),
        *("--plugin-passes", *(f"planted-{name},*" for name in names)),
        *("--mllvm", "planted-times=1900"),
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = {one["config"]["passes"].partition(",")[0]: one for one in trials(results)}
    assert found["default<O3>"]["status"] == "verified"
    assert "llvm_options" not in found["default<O3>"]["config"]
    assert found["planted-slow"]["config"]["llvm_options"] == "planted-times=1900"
    assert {name: found[f"planted-{name}"]["status"] for name in ("nothing", "slow")} == {
        "nothing": "verified",
        "slow": "verified",
    }
    wrong, crashed, endless = (
        found[f"planted-{name}"]["result"] for name in ("drop-stores", "crash", "for-ever")
    )
    assert wrong["result_class"] == "wrong"
    assert "died of signal 11" in crashed["error"]
    assert "was ended after 4 seconds" in endless["error"]
    for result in (crashed, endless):
        assert f"it ran the pass plugin '{planted}'" in result["error"]
        assert not result["worker_died"]
    plain = [one for one in trials(results) if one["config"]["passes"] == "default<O3>"]
    assert plain
    assert all("pass_plugins" not in one["config"] for one in plain)


def test_plugin_that_has_changed_does_not_go_on_with_results(
    recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "plugin.so"
    shutil.copy(planted, plugin)
    results = tmp_path / "results"
    begun = mneme(
        *("tune", recordings["vector_add"], "--results-dir", results, *QUICK),
        *("--pass-plugin", plugin, "--plugin-passes", "planted-nothing,*"),
    )
    assert begun.returncode == 0, begun.stderr
    (told,) = json.loads((results / "config.json").read_text())["pass_plugins"]
    assert told.startswith(f"{plugin}@")
    with plugin.open("ab") as file:
        file.write(b"\0")
    gone_on = mneme("tune", "--resume", "--results-dir", results, MNEME_CACHE_DIR="/nonexistent")
    assert "has changed since it was named" in gone_on.stderr


def test_options_of_llvm_are_dimensions(recordings: dict[str, Path], tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = mneme(
        *("tune", recordings["vector_add"], "--results-dir", results, *QUICK),
        *("--mllvm-choice", "unroll-threshold=0,500", "--mllvm", "vectorize-loops=false"),
    )
    assert done.returncode == 0, done.stderr
    found = {one["config"].get("llvm_options") for one in trials(results)}
    assert {
        "vectorize-loops=false",
        "vectorize-loops=false unroll-threshold=0",
        "vectorize-loops=false unroll-threshold=500",
    } <= found


def test_unknown_pass_ends_the_search_before_it_begins(
    recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    done = mneme(
        *("tune", recordings["vector_add"], "--results-dir", tmp_path / "results", *QUICK),
        *("--pass-plugin", planted, "--plugin-passes", "planted-other"),
    )
    assert done.returncode == 3
    assert "planted-other" in done.stderr


def test_whole_programs_are_optimized_with_the_passes(planted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "optimized"
    done = optimize(
        *("--budget", "20s", "-o", folder, "--device", "cpu", "--no-knowledge", "--seed", "1"),
        *("--pass-plugin", planted, "--plugin-passes", "planted-nothing,*"),
        *("--plugin-passes", "*,planted-nothing", "--", example("vector_add")),
    )
    assert done.returncode in {0, 1}, done.stderr
    (results,) = folder.glob("results/*")
    space = json.loads((results / "search_space.json").read_text())
    choices = ["", "planted-nothing,*", "*,planted-nothing"]
    assert space["dimensions"]["plugin_passes"]["choices"] == choices
    told = json.loads((results / "config.json").read_text())["pass_plugins"]
    assert told[0].startswith(f"{planted}@")


def test_optimize_refuses_an_unknown_pass_before_the_program_runs(
    planted: Path, tmp_path: Path
) -> None:
    done = optimize(
        *("--budget", "20s", "-o", tmp_path / "optimized", "--pass-plugin", planted),
        *("--plugin-passes", "planted-other", "--", "/nonexistent/program"),
    )
    assert done.returncode == 3
    assert "planted-other" in done.stderr
