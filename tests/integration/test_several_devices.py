"""Launches on several devices by one call are recorded one by one, and the program sees no difference.

The CPU device is one; the stand-in for AMD's runtime plays two.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, instances, mneme, records, run_command
from test_hip import APPS, build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_record import ENVIRONMENT, replay_all
from test_hip_stand_in import on_stand_in, stand_in  # noqa: F401 - skips without it

pytestmark = [pytest.mark.hip, pytest.mark.compile]

TWO = {"MNEME_STAND_IN_DEVICES": "2"}
HIP_5, HIP_7 = "50200000", "70300000"
OTHERS = "one call launched different kernels, or different dimensions, on several devices"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What launches in every form and with every error."""
    made = tmp_path_factory.mktemp("several") / "several_devices"
    build(APPS / "several_devices.hip", "-o", made, "-lamdhip64", "-pthread")
    return made


def _record(folder: Path, *command: str | Path, **environment: str) -> Finished:
    line = ("record", "-rdb", folder, "-mr", "20", "--device", "hip:0", "--", *command)
    return mneme(*line, **ENVIRONMENT, **TWO, **environment)


def _recorded(folder: Path) -> dict[str, dict[str, int]]:
    """How many instances each kernel has, and how many of them are cooperative."""
    found = {}
    for file in records(folder):
        facts = json.loads(file.read_text())
        launches = facts["instances"].values()
        together = sum(launch["Cooperative"] for launch in launches)
        found[facts["KernelName"]] = {"all": len(launches), "cooperative": together}
    return found


@pytest.mark.parametrize(
    ("version", "scaled", "whole"),
    [(HIP_5, 6, 5), (HIP_7, 4, 5)],
    ids=["HIP 5", "HIP 7"],
)
def test_launches_on_two_devices(
    version: str, scaled: int, whole: int, program: Path, tmp_path: Path
) -> None:
    """HIP 7 refuses kernels that differ; before it, each is recorded, too."""
    plain = on_stand_in(program, MNEME_STAND_IN_VERSION=version, **TWO)
    assert plain.stdout.startswith("2 devices\n")
    assert plain.stdout.endswith("as they should\n"), plain.stdout + plain.stderr
    recorded = _record(tmp_path, program, MNEME_STAND_IN_VERSION=version)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    expected = {
        "_Z5scalePiii": {"all": scaled, "cooperative": 0},
        "_Z9wholeGridPiii": {"all": whole, "cooperative": whole},
    }
    if version == HIP_5:
        expected["_Z5shiftPiii"] = {"all": 1, "cooperative": 0}
    assert _recorded(tmp_path) == expected
    assert (OTHERS in recorded.stderr) == (version == HIP_5)
    assert "'allGrids(int*, int, int)' is not recorded: its grids" in recorded.stderr
    assert "launches captured into a graph cannot be recorded" in recorded.stderr
    # AMD's libraries, compiled into code objects, have a barrier of whole grids of their own.
    for device in ("cpu", "hip:0"):
        assert set(replay_all(tmp_path, device)) == {"exact"}


def test_each_launch_is_recorded_on_its_own_device(program: Path, tmp_path: Path) -> None:
    """One kernel of two: its memory lies in the window of the second device."""
    _record(tmp_path, "env", "MNEME_RR_KERNELS=shift.*", program, MNEME_STAND_IN_VERSION=HIP_5)
    (file,) = records(tmp_path)
    facts = json.loads(file.read_text())
    assert (facts["KernelName"], facts["Device"]) == ("_Z5shiftPiii", "hip:1")
    for device in ("cpu", "hip:0", "hip:1"):
        line = ("replay", "-rdb", file, "--device", device, "default<O2>")
        done = mneme(*line, **ENVIRONMENT, **TWO)
        assert done.result["result_class"] == "exact", done.stderr


@pytest.mark.parametrize(
    ("options", "scaled"),
    [(("-mr", "1"), 1), (("-sr", "3"), 3), (("--kernels", "wholeGrid.*"), 0)],
    ids=["at most one", "three pass", "another kernel"],
)
def test_options_hold_for_each_launch(
    options: tuple[str, ...], scaled: int, program: Path, tmp_path: Path
) -> None:
    plain = on_stand_in(program, MNEME_STAND_IN_VERSION=HIP_5, **TWO)
    line = ("record", "-rdb", tmp_path, *options, "--device", "hip:0", "--", program)
    recorded = mneme(*line, **ENVIRONMENT, **TWO, MNEME_STAND_IN_VERSION=HIP_5)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    found = _recorded(tmp_path).get("_Z5scalePiii", {"all": 0})
    assert found["all"] == scaled, recorded.stderr
    assert "(19 launches)" in recorded.stderr


@pytest.mark.parametrize(
    ("missing", "is_told"),
    [(("hipStreamGetDevice",), True), (("hipStreamGetDevice", "hipGetStreamDeviceId"), False)],
)
def test_hip_may_not_tell_the_device_of_a_stream(
    missing: tuple[str, ...], is_told: bool, program: Path, tmp_path: Path
) -> None:
    fault = ",".join(f"missing:{name}" for name in missing)
    environment = {"MNEME_STAND_IN_FAULT": fault, "MNEME_STAND_IN_VERSION": HIP_5}
    plain = on_stand_in(program, **environment, **TWO)
    recorded = _record(tmp_path, program, **environment)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert ("cannot tell the devices of" in recorded.stderr) != is_told
    assert ("_Z5scalePiii" in _recorded(tmp_path)) == is_told


def test_threads_launch_on_several_devices(program: Path, tmp_path: Path) -> None:
    plain = on_stand_in(program, "threads", **TWO)
    recorded = _record(tmp_path, program, "threads")
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert "recorded 5 instances of 1 kernel (80 launches)" in recorded.stderr
    assert replay_all(tmp_path, "cpu") == ["exact"] * 5


def test_the_cpu_device_is_one(program: Path, tmp_path: Path) -> None:
    plain = mneme("run", "--device", "cpu", "--", program)
    assert plain.stdout.startswith("1 devices\n")
    assert plain.stdout.endswith("as they should\n"), plain.stdout + plain.stderr
    recorded = mneme("record", "-rdb", tmp_path, "-mr", "20", "--device", "cpu", "--", program)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert _recorded(tmp_path) == {
        "_Z5scalePiii": {"all": 4, "cooperative": 1},
        "_Z9wholeGridPiii": {"all": 3, "cooperative": 3},
    }
    assert replay_all(tmp_path, "cpu") == ["exact"] * 7


def test_cuda_launches_by_the_driver_and_the_runtime(tmp_path: Path) -> None:
    program, source = tmp_path / "several", ROOT / "tests" / "apps" / "gpu_record"
    compiler = BUILD / "bin" / "mneme-cxx"
    library = (f"-L{BUILD / 'lib' / 'driver_stubs'}", "-lcuda", "-lcudart")
    target = ("-O2", "-std=c++20", "--offload-arch=sm_90")
    done = run_command(compiler, *target, source / "several_devices.cu", "-o", program, *library)
    assert done.returncode == 0, done.stderr
    plain = mneme("run", "--device", "cpu", "--", program)
    assert "by the runtime: 0;" in plain.stdout, plain.stdout + plain.stderr
    recorded = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    (file,) = records(tmp_path / "db")
    launches = instances(file)
    assert len(launches) == 4, recorded.stderr
    for launch in launches:
        line = ("replay", "-rdb", file, "-rid", launch, "--device", "cpu", "default<O2>")
        done = mneme(*line)
        assert done.result["result_class"] == "exact", done.stderr
