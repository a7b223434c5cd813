"""On a device: the script a scaffold writes, the file that is deployed, the program that runs with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu import support

TRIALS = 12


@pytest.fixture(scope="session")
def results(recording: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the script `tune`, run on the recorded stencil."""
    pytest.importorskip("optuna")
    out = tmp_path_factory.mktemp("scaffold")
    (record,) = support.records(recording("stencil2d"))
    done = support.mneme("scaffold", "tune", "-rdb", record, "--out", out, "--trials", str(TRIALS))
    assert done.returncode == 0, done.stderr
    script = (sys.executable, out / "tune.py", "--results", out / "results")
    done = support.run_command(*script, timeout=300, MNEME_DEVICE=support.DEVICE)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return out / "results"


def best(results: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((results / "best.json").read_text())
    return content


def test_script_finds_a_verified_configuration(results: Path) -> None:
    found = best(results)
    assert found["result"]["verified"]
    assert found["result"]["device"] == support.DEVICE
    assert len((results / "trials.jsonl").read_text().splitlines()) == TRIALS
    gain = found["gain"]
    assert 0 < gain["low"] <= gain["ratio"] <= gain["high"]


def test_program_runs_with_what_is_deployed(results: Path, tmp_path: Path) -> None:
    # Whether twelve trials find something faster is not the question here.
    found = {**best(results), "trial": 0}
    found["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 7}
    (tmp_path / "best.json").write_text(json.dumps(found))
    file = tmp_path / "tuned.json"
    done = support.mneme("deploy", tmp_path, "-o", file, "--launch")
    assert done.returncode == 0, done.stderr
    program = support.example("stencil2d")
    assert support.mneme("deploy", "--check", file, program).returncode == 0
    environment = {
        "PROTEUS_TUNED_KERNELS": str(file),
        "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
        "PROTEUS_TRACE_OUTPUT": "kernel-trace",
    }
    for _ in ("compiled", "cached"):
        done = support.run(program, **environment)
        assert "PASSED" in done.stdout, done.stderr
        assert "variant 0, fits this launch" in done.stderr


def test_performance_check_passes_where_nothing_changed(
    recording: Callable[[str], Path], tmp_path: Path
) -> None:
    (record,) = support.records(recording("nbody"))
    # A processor that does other things is slower at times.
    tolerance = "0.5" if support.IS_GPU else "999"
    options = ("--tolerance", tolerance, "--program", support.example("nbody"))
    done = support.mneme("scaffold", "ci", "-rdb", record, "--out", tmp_path, *options)
    assert done.returncode == 0, done.stderr
    check = (sys.executable, tmp_path / "performance" / "check_performance.py")
    done = support.run_command(*check, "--update", MNEME_DEVICE=support.DEVICE)
    assert done.returncode == 0, done.stderr
    done = support.run_command(*check, MNEME_DEVICE=support.DEVICE)
    assert done.returncode == 0, done.stdout
