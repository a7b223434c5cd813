"""The device's heap and contexts of the program's own, in code of nvcc."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support
from gpu.support import run_command

HELD = {"exact"}
NOT_HELD = {"exact", "unreproducible", "nondeterministic", "failed"}
# By mode: each kernel's reads that no recording holds, and what its replay may be.
KERNELS = {
    "heap": {"usesHeap": ("the device's heap", HELD)},
    "kept": {
        "keepsHeap": ("the device's heap", NOT_HELD),
        "readsHeap": ("the device's heap", NOT_HELD),
    },
}

pytestmark = support.BY_NVCC


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("state") / "device_state"
    support.compile_by_nvcc(Path(__file__).with_name("device_state.cu"), place)
    return place


def recorded(program: Path, mode: str, directory: Path) -> str:
    """Record one mode; return what mneme said."""
    alone = run_command(program, mode)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(directory, program, mode)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    return str(done.stderr)


@pytest.mark.parametrize("mode", sorted(KERNELS))
def test_what_no_recording_holds_is_named(program: Path, mode: str, tmp_path: Path) -> None:
    said = recorded(program, mode, tmp_path)
    found = set()
    for path, record_id in support.launches(tmp_path):
        (kernel,) = (name for name in KERNELS[mode] if name in path.read_text())
        reads, classes = KERNELS[mode][kernel]
        assert f"reads what a recording does not hold ({reads})" in said
        assert reads in support.mneme("show", path).stdout
        result = support.replay(path, record_id).result
        assert result["unrecorded_reads"] == [reads]
        assert result["result_class"] in classes
        found.add(kernel)
    assert found == set(KERNELS[mode])


@pytest.mark.parametrize("mode", ["context", "green"])
def test_contexts_of_the_programs_own(program: Path, mode: str, tmp_path: Path) -> None:
    said = recorded(program, mode, tmp_path)
    if mode == "context":
        assert "where the vendor placed" in said
    launches = list(support.launches(tmp_path))
    assert launches, said
    for path, record_id in launches:
        done = support.replay(path, record_id)
        assert done.result["result_class"] == "exact", done.stderr


def test_a_replay_has_the_part_of_the_recorded_launch(program: Path, tmp_path: Path) -> None:
    said = recorded(program, "part", tmp_path)
    launches = list(support.launches(tmp_path))
    if not launches:
        pytest.skip("this CUDA has no green contexts")
    ((path, record_id),) = launches
    part = json.loads(path.read_text())["instances"][record_id]["Multiprocessors"]
    assert 16 <= part["Used"] < part["Of"], said
    again = support.replay(path, record_id)
    assert again.result["result_class"] == "exact", again.stderr
    assert again.result["multiprocessors"] == part["Used"]
    assert f"ran on {part['Used']} of {part['Of']} multiprocessors, as the" in again.stderr
    place = ("-rdb", path, "-rid", record_id, "--device", support.DEVICE, "-it", "1")
    everywhere = support.mneme("replay", *place, MNEME_MULTIPROCESSORS="all")
    assert everywhere.result["multiprocessors"] == part["Of"]
    assert f"ran on all {part['Of']} multiprocessors, the recorded launch on" in everywhere.stderr
    assert everywhere.result["result_class"] == "unreproducible"  # it counts them
