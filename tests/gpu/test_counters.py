"""Hardware counters: read beside a replay, searched by, and the same as NVIDIA's profiler reads."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu.support import DEVICE, IS_GPU, launches, mneme, replay, run_command
from mneme.mneme_types import ExperimentResult
from mneme.why.standing import COUNTERS, standing_of

BYTES = "dram__bytes.sum"
INSTRUCTIONS = "sm__inst_executed.sum"

pytestmark = pytest.mark.skipif(
    IS_GPU and "PYTEST_XDIST_WORKER" in os.environ,
    reason="one process at a time reads counters of a GPU",
)

# As many as take several passes.
MORE = (
    "sm__cycles_elapsed.max",
    "lts__t_sectors.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)


def counted(
    recording: Callable[[str], Path], name: str, *counters: str, passes: str = "default<O3>"
) -> dict[str, Any]:
    """Replay the first launch of an example; skips where the driver does not let anybody count."""
    path, record_id = next(launches(recording(name)))
    done = replay(path, record_id, "-it", "20", "--counters", ",".join(counters), passes)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)["Result"]
    if "administrators" in result["counters_error"]:
        assert result["counters_error"] in " ".join(done.stderr.split())
        pytest.skip(result["counters_error"])
    return result


@pytest.mark.usefixtures("only_gpu")
def test_counters_are_read_beside_the_times(
    recording: Callable[[str], Path], record_property: Callable[[str, object], None]
) -> None:
    names = (BYTES, INSTRUCTIONS, *MORE)
    with_counters = counted(recording, "stencil2d", *names)
    assert with_counters["counters_error"] == ""
    assert sorted(with_counters["counters"]) == sorted(names)
    # What is in the caches need not come from memory.
    assert with_counters["counters"].pop(BYTES) >= 0
    assert all(value > 0 for value in with_counters["counters"].values())
    assert with_counters["counters"][MORE[2]] <= 100
    assert (with_counters["result_class"], with_counters["timer"]) == ("exact", "cupti")
    assert with_counters["iterations_used"] == 20
    record_property("counters of stencil2d", with_counters["counters"])


@pytest.mark.usefixtures("only_gpu")
def test_the_same_code_on_the_same_memory_counts_the_same(
    recording: Callable[[str], Path],
) -> None:
    first, second = (counted(recording, "stencil2d", INSTRUCTIONS) for _ in range(2))
    assert first["counters"] == second["counters"]
    slow = counted(recording, "stencil2d", INSTRUCTIONS, passes="default<O0>")
    assert slow["counters"][INSTRUCTIONS] > first["counters"][INSTRUCTIONS]


def test_counters_that_there_are_not_are_named(recording: Callable[[str], Path]) -> None:
    wrong = counted(recording, "vector_add", "nonsense__bytes.sum")
    assert wrong["verified"]
    assert wrong["counters"] == {}
    expected = "has no hardware counter 'nonsense__bytes.sum'" if IS_GPU else "no hardware counters"
    assert expected in wrong["counters_error"]


def test_a_search_by_a_counter(recording: Callable[[str], Path], tmp_path: Path) -> None:
    place = ("-rdb", recording("vector_add"), "--results-dir", tmp_path, "--device", DEVICE)
    search = ("--objective", INSTRUCTIONS, "--trials", "8", "--seed", "1", "--launch-dim", "none")
    done = mneme("tune", *place, *search)
    if not IS_GPU or "administrators" in done.stderr:
        assert done.returncode == 3
        assert f"--objective is '{INSTRUCTIONS}', but" in " ".join(done.stderr.split())
        return
    assert done.returncode == 0, done.stderr
    best = json.loads((tmp_path / "best.json").read_text())
    built, found = best["values"][INSTRUCTIONS]
    assert 0 < found <= built
    lines = (tmp_path / "trials.jsonl").read_text().splitlines()
    trials = [one for one in map(json.loads, lines) if one["result"]["verified"]]
    assert found == min(built, *(one["result"]["counters"][INSTRUCTIONS] for one in trials))


@pytest.mark.usefixtures("only_gpu")
def test_the_profiler_of_nvidia_counts_the_same(recording: Callable[[str], Path]) -> None:
    ncu = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if ncu is None:
        pytest.skip("Nsight Compute is not installed")
    ours = counted(recording, "vector_add", INSTRUCTIONS)["counters"][INSTRUCTIONS]
    path, record_id = next(launches(recording("vector_add")))
    done = run_command(
        *(ncu, "--metrics", INSTRUCTIONS, "--csv", "--print-units", "base"),
        *("-k", "regex:vectorAdd", "-c", "1"),
        *(sys.executable, "-m", "mneme", "replay", "-rdb", path, "-rid", record_id),
        *("--device", DEVICE, "-it", "1", "--warmup", "0", "default<O3>"),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        pytest.skip("the driver lets only administrators count")
    assert lines, done.stdout + done.stderr
    (row,) = csv.DictReader(lines)
    assert float(row["Metric Value"].replace(",", "")) == ours


@pytest.mark.usefixtures("only_gpu")
def test_a_replay_has_a_place_in_the_roofline(
    recording: Callable[[str], Path], record_property: Callable[[str, object], None]
) -> None:
    result = counted(recording, "vector_add", *COUNTERS)
    found = standing_of(ExperimentResult.from_dict(result))
    assert found is not None, result["counters"]
    # Each of a million elements is loaded twice, stored once, and costs an operation or two.
    assert found.precision == "single"
    assert found.flops["single"] in (1 << 20, 2 << 20)
    assert 0 <= found.memory_share < 1.2
    assert 0 < found.arithmetic_share < 0.1
    # What the data sheets of such GPUs say: hundreds of GB/s, thousands of GFLOP/s.
    assert 1e11 < found.peak_bytes_per_second < 1e13
    assert 1e12 < found.peak_flops_per_second < 1e15
    record_property("roofline of vector_add", found.to_dict())


def test_configurations_have_a_place_in_the_roofline(
    recording: Callable[[str], Path], record_property: Callable[[str, object], None]
) -> None:
    pytest.importorskip("llvmlite")
    line = ("explain", recording("vector_add"), "vectorAdd", "default<O3>", "default<O0>")
    done = mneme(*line, "--measure", "--device", DEVICE, "--json")
    assert done.returncode == 0, done.stderr
    for one in json.loads(done.stdout)["configurations"]:
        assert one["time_ns"] > 0
        if one["roofline"] is None:
            assert "no hardware counters" in one["not_measured"] or "admin" in one["not_measured"]
            continue
        found = one["roofline"]
        assert found["precision"] == "single"
        assert 0 <= found["memory_share"] < 1.2
        assert 0 < found["arithmetic_share"] < 0.1
        record_property(f"roofline of vector_add with {one['name']}", found)
