"""The device hip:0, through a stand-in for AMD's runtime: replayed, tuned, and what failures say."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command
from test_hip import (  # noqa: F401 - fixtures
    APPS,
    PROGRAMS,
    build,
    hip,
    hip_recordings,
    programs,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.hip, pytest.mark.compile]

STAND_IN = BUILD / "lib" / "stand_in" / "libamdhip64.so.6"
TARGET = "gfx90a:sramecc+:xnack-"
EVERYTHING = ("--specialize", "--specialize-dims", "--set-launch-bounds", "--max-registers", "64")

Recordings = dict[str, tuple["Path", Finished]]


@pytest.fixture(scope="session", autouse=True)
def stand_in() -> None:
    """Skip where it is not built."""
    if not STAND_IN.is_file():
        pytest.skip("the stand-in is built with the tests, on x86-64")


def on_gpu(*arguments: str | Path, **environment: str) -> Finished:
    """Run mneme as on a node with an AMD GPU."""
    found = {"MNEME_HIP_LIBRARY": str(STAND_IN), "MNEME_CARRY_IR": "1"}
    return mneme(*arguments, "--device", "hip:0", **{**found, **environment})


@pytest.mark.parametrize("options", [(), ("default<O1>",), ("default<O3>", *EVERYTHING)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_recordings_replay_on_it(
    name: str,
    options: tuple[str, ...],
    hip_recordings: Recordings,  # noqa: F811
) -> None:
    done = on_gpu("replay", "-rdb", hip_recordings[name][0], *options)
    assert done.returncode == 0, done.stderr
    assert (done.result["device"], done.result["timer"]) == ("hip:0", "dispatch")
    assert done.result["verified"]
    assert name == "reduction" or done.result["result_class"] == "exact"
    assert 0 < done.result["reg_usage"] <= 64


OF_HIP_5 = "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"


@pytest.mark.parametrize(
    ("missing", "timer"),
    [
        ("hipExtModuleLaunchKernel", "dispatch"),
        (OF_HIP_5, "dispatch"),
        (f"hipExtModuleLaunchKernel,missing:{OF_HIP_5}", "events"),
    ],
)
def test_times_are_the_kernels_own_where_hip_tells_them(
    missing: str,
    timer: str,
    hip_recordings: Recordings,  # noqa: F811
) -> None:
    faults = {"MNEME_STAND_IN_FAULT": f"missing:{missing}"}
    done = on_gpu("replay", "-rdb", hip_recordings["stencil2d"][0], **faults)
    assert done.returncode == 0, done.stderr
    assert (done.result["timer"], done.result["verified"]) == (timer, True)


def test_device_variables_are_where_they_were(tmp_path: Path) -> None:
    program, folder = tmp_path / "variables", tmp_path / "db"
    build(APPS / "variables.hip", "-o", program, "-lamdhip64")
    done = mneme("record", "-rdb", folder, "--device", "cpu", "--", program)
    assert (done.returncode, done.stdout) == (0, "4000 7644\n"), done.stderr
    for options in ((), ("default<O3>", *EVERYTHING)):
        done = on_gpu("replay", "-rdb", folder, *options)
        assert (done.returncode, done.result["result_class"]) == (0, "exact"), done.stderr


def test_tuning_finds_a_configuration_for_it(hip_recordings: Recordings, tmp_path: Path) -> None:  # noqa: F811
    results = tmp_path / "results"
    line = ("tune", "-rdb", hip_recordings["stencil2d"][0], "--trials", "6", "--no-knowledge")
    done = on_gpu(*line, "--results-dir", results)
    assert done.returncode == 0, done.stderr
    assert "on hip:0" in done.stderr
    lines = (results / "trials.jsonl").read_text().splitlines()
    trials = [json.loads(line)["result"] for line in lines]
    assert [(trial["device"], trial["verified"]) for trial in trials] == [("hip:0", True)] * 6
    best = json.loads((results / "best.json").read_text())
    assert TARGET in json.dumps(best)


@pytest.mark.slow
def test_the_check_of_a_node_tells_a_stand_in_from_a_gpu(
    hip_recordings: Recordings,  # noqa: F811
    programs: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    report = tmp_path / "report.json"
    line = ("--tests", BUILD / "bin", "--json", report, "--program", programs / "vector_add")
    found = {
        "MNEME_HIP_LIBRARY": str(STAND_IN),
        "MNEME_CARRY_IR": "1",
        "LD_LIBRARY_PATH": str(STAND_IN.parent),
        "PYTHON": sys.executable,
    }
    recording = hip_recordings["stencil2d"][0]
    done = run_command(ROOT / "scripts" / "amd-node-check", *line, recording, **found, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text())
    assert told["label"] == "stand-in"
    states = {check["name"]: check["state"] for check in told["checks"]}
    assert (states["conformance"], states["fault: hang"]) == ("ok", "told")
    assert sum(name.startswith("replay: ") for name in states) == 3
    steps = ("as it is", "times of kernels", "record", "tune", "deploy")
    assert [states[f"{step}: vector_add"] for step in steps] == ["ok"] * 5


def test_the_gpu_is_listed_and_used_when_nothing_else_is_said() -> None:
    done = mneme("devices", MNEME_HIP_LIBRARY=str(STAND_IN), COLUMNS="200")
    assert f"stand-in for {TARGET}" in done.stdout
    assert "used by default: hip:0" in done.stdout


@pytest.mark.parametrize(
    ("environment", "options", "said"),
    [
        ({"MNEME_STAND_IN_ARCH": "gfx1100"}, (), "build the program with --offload-arch=gfx1100"),
        (
            {"MNEME_STAND_IN_FAULT": "hang:hipExtModuleLaunchKernel:2"},
            ("--timeout", "1"),
            "ran longer than 1 s; it cannot be stopped, so this process cannot use device hip:0",
        ),
        (
            {"MNEME_STAND_IN_FAULT": "hipMemCreate:2=hipErrorOutOfMemory"},
            (),
            "of memory left",
        ),
        (
            {"MNEME_STAND_IN_FAULT": "elsewhere:hipMemAddressReserve"},
            (),
            "are taken in this process",
        ),
        (
            {"MNEME_STAND_IN_FAULT": "missing:hipMemMap"},
            (),
            "this ROCm has no hipMemMap (needed since ROCm 5.2)",
        ),
        ({}, ("--block-dim-x", "2048"), "every dimension must be from 1 to (1024, 1024, 1024)"),
    ],
)
def test_failures_are_sentences(
    environment: dict[str, str],
    options: tuple[str, ...],
    said: str,
    hip_recordings: Recordings,  # noqa: F811
) -> None:
    done = on_gpu("replay", "-rdb", hip_recordings["stencil2d"][0], *options, **environment)
    assert done.returncode != 0
    assert said in done.stderr, done.stderr
