"""Addresses of device functions on the GPU: recorded launches call what the program's did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, mneme, on_gpus, records, tuned_runs

APPS = BUILD / "tests" / "apps" / "api"
PROGRAMS = on_gpus(("dispatch_table", "function_arguments", "function_units", "virtual_objects"))
# A replay cannot repeat where the device's own heap puts objects.
USES_DEVICE_HEAP = ("makeOnHeap", "destroy")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("passes", ["default<O3>", "default<O1>"])
def test_every_launch_replays_exactly(program: str, passes: str, tmp_path: Path) -> None:
    recorded = support.record(tmp_path, APPS / program)
    assert recorded.stdout == f"{program}: ok\n", recorded.stderr
    for record in records(tmp_path):
        described = json.loads(record.read_text())
        name = described["DemangledName"].split("(")[0]
        for record_id, instance in described["instances"].items():
            is_on_heap = name == "measure" and instance["BlockDims"]["x"] == 2
            if name in USES_DEVICE_HEAP or is_on_heap:
                continue
            done = mneme(
                "replay", "-rdb", record, "-rid", record_id, "--device", support.DEVICE,
                "--timeout", "20", passes,
            )  # fmt: skip
            assert done.result["result_class"] == "exact", f"{name}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("part", ["all", "even", "odd"])
def test_tuned_kernels_and_those_as_built_call_each_others_functions(
    program: str, part: str, tmp_path: Path
) -> None:
    kernels = tuned_runs.kernels_of([APPS / program])
    chosen = {"all": kernels, "even": kernels[::2], "odd": kernels[1::2]}[part]
    tuned = tuned_runs.write_tuned(tmp_path / "tuned.json", chosen)
    done = support.run(
        APPS / program, PROTEUS_TUNED_KERNELS=str(tuned), PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT=tuned_runs.TRACE,
    )  # fmt: skip
    assert done.stdout == f"{program}: ok\n", done.stderr
    assert tuned_runs.warnings(done.stderr) == []
    assert tuned_runs.counts(done.stderr).tuned > 0
