"""`mneme explain` on a program with lines, and on what tuning found for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, mneme, run_command

from mneme.session.result_store import read_trials

pytestmark = [pytest.mark.compile, pytest.mark.cuda]

SOURCE = ROOT / "examples" / "nbody" / "nbody.cu"
LINE = next(
    number
    for number, text in enumerate(SOURCE.read_text().splitlines(), start=1)
    if "for (int j = 0; j < step.bodies" in text
)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of a program that keeps its lines."""
    folder = tmp_path_factory.mktemp("why")
    compiler = BUILD / "bin" / "mneme-cxx"
    words = ("-x", "cuda", "--offload-arch=sm_90", "-O3", "-gline-tables-only", "-lcudart")
    built = run_command(compiler, *words, SOURCE, "-o", folder / "nbody")
    assert built.returncode == 0, built.stderr
    line = ("record", "-rdb", folder / "recording", "--device", "cpu", "--", folder / "nbody")
    done = mneme(*line, "64", "1")
    assert done.returncode == 0, done.stderr
    return folder / "recording"


def explained(*words: str | Path) -> dict[str, Any]:
    done = mneme("explain", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_loop_that_is_unrolled_in_one_is_named_by_its_line(recording: Path) -> None:
    unrolled = "default<O3>,function(loop-unroll<O3>)"
    found = explained(recording, unrolled, "default<O1>", "--arch", "sm_90")
    at_line = [
        one
        for one in found["differences"]["remarks"]
        if one["file"].endswith("nbody.cu") and one["line"] == LINE
    ]
    assert any(
        one["pass"] == "loop-unroll" and one["kind"] == "passed" and one["counts"][1] == 0
        for one in at_line
    )
    first, second = found["configurations"]
    (loop,) = [one for one in second["loops"] if one["line"] == LINE]
    assert loop["is_innermost"]
    assert loop["backedges"]
    assert loop["flops"] > 10
    assert loop["load_bytes"] >= 16
    longest = max(one["instructions"] for one in first["loops"] if one["line"] == LINE)
    assert longest > loop["instructions"]
    assert second["accesses"]["ld.global.16"] < first["accesses"]["ld.global.16"]


def test_the_text_names_the_line_before_all_others(recording: Path) -> None:
    done = mneme("explain", recording, "default<O3>", "default<O1>", "--arch", "sm_90")
    lines = done.stdout.splitlines()
    begin = lines.index("What LLVM's passes say of some only")
    assert lines[begin + 1] == f"  nbody.cu:{LINE} in integrate"
    assert "Source lines:" not in done.stdout


def test_what_tuning_found_is_explained(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    words = ("--trials", "2", "--seed", "1", "--launch-dim", "none", "--results-dir", results)
    done = mneme("tune", recording, *words, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    best = json.loads((results / "best.json").read_text())
    first = next(one for one in read_trials(results) if one.candidate.trial == 0)
    found = explained(recording, results, f"{results}@0", "recorded", "--arch", "cpu")
    told = [one["configuration"]["passes"] for one in found["configurations"]]
    assert told[:2] == [best["config"]["passes"], first.candidate.config.passes]
