"""Pageable memory of the host, on a device whose kernels can use it: through a stand-in for AMD's."""

from __future__ import annotations

import json
from pathlib import Path

import conftest
import pytest
from conftest import ROOT, mneme, records
from test_hip import build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_stand_in import STAND_IN, on_stand_in, stand_in  # noqa: F401 - skips without it

pytestmark = [pytest.mark.hip, pytest.mark.compile]

SOURCE = ROOT / "tests" / "apps" / "gpu_record" / "pageable.cu"
ON_STAND_IN = {
    "LD_LIBRARY_PATH": str(STAND_IN),
    "MNEME_HIP_LIBRARY": str(STAND_IN / "libamdhip64.so.6"),
    "MNEME_CARRY_IR": "1",
}
PAGEABLE = {**ON_STAND_IN, "MNEME_STAND_IN_PAGEABLE": "1"}
KERNELS = 8


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pageable") / "pageable"
    names = ROOT / "tests" / "apps" / "hip_api"
    build("-x", "hip", SOURCE, f"-I{names}", "-o", place, "-lamdhip64", "-pthread")
    return place


def test_launches_are_recorded_with_it_and_replay_exactly(program: Path, tmp_path: Path) -> None:
    assert on_stand_in(program, "asked", MNEME_STAND_IN_PAGEABLE="1").stdout == "1\n"
    alone = on_stand_in(program)
    line = ("record", "-rdb", tmp_path, "--device", "hip:0", "--", program)
    done = mneme(*line, **PAGEABLE)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert f"recorded {KERNELS} instances of {KERNELS} kernels" in done.stderr
    assert "ordinary memory of the host" not in done.stderr
    found = sizes(tmp_path)
    large = (1 << 20) + 4096 - 16  # malloc maps whole pages
    assert found["large"] == [large, large]
    assert (found["small"], found["functor"]) == ([168], [168, 168])
    assert found["variables"] == [320, 2400]
    assert found["mapped"] == [8192, 8192]
    # What was in this memory before may lead to more.
    assert found["linked"].count(168) >= 51
    # A free block that is larger by less than the smallest one is given out whole.
    assert {1224, 1240} & set(found["linked"]), found["linked"]
    assert 168 in found["captured"]
    for device in ("cpu", "hip:0"):
        replayed = conftest.replay_all(tmp_path, device=device, **PAGEABLE)
        classes = {one.kernel: one.result_class for one in replayed}
        assert classes == dict.fromkeys(classes, "exact"), [one.why for one in replayed]
        assert len(classes) == KERNELS


def sizes(folder: Path) -> dict[str, list[int]]:
    """How much memory of the host was recorded with each kernel."""
    found = {}
    for file in records(folder):
        shown = json.loads(mneme("show", file, "--json").stdout)
        (launch,) = shown["instances"]
        of_host = [r["size_bytes"] for r in launch["regions"] if r["kind"] == "host_pinned"]
        found[shown["demangled_name"].partition("(")[0]] = sorted(of_host)
    return found


def test_a_device_that_cannot_use_it_has_kernels_named(program: Path, tmp_path: Path) -> None:
    line = ("record", "-rdb", tmp_path, "--device", "hip:0", "--", program)
    done = mneme(*line, **ON_STAND_IN)
    assert "'small(double*, int)' was given ordinary memory of the host" in done.stderr
