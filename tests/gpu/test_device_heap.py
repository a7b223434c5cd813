"""Kernels on a GPU that reach what others have allocated: recorded and replayed with the heap."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD

ROOT = Path(__file__).parents[2]
# A bundle for a node has built programs where a checkout has their sources.
SOURCES = ROOT / "source" if (ROOT / "source").is_dir() else ROOT
SOURCE = SOURCES / "tests" / "apps" / "gpu_record" / "device_heap.cu"
NVCC = shutil.which("nvcc")
# Kernels that allocate or free are named, and replayed with an empty heap.
NOT_HELD = {"exact", "unreproducible", "nondeterministic", "failed"}
ALONE = {"usesOwn": {"exact"}}
READERS = {"sums", "doubles"}
KERNELS = {
    "own": {"usesOwn"},
    "left": {"usesOwn", "buildsAlone", "grows", "frees"} | READERS,
    "sized": {"usesOwn", "buildsAlone", "grows", "frees"} | READERS,
    "other": {"scale", "usesOwn", "buildsAlone", "grows", "frees"} | READERS,
}

pytestmark = [pytest.mark.skipif(not support.IS_GPU, reason="the CPU device has its own test")]


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the static runtime and no IR, or with the shared runtime and IR."""
    if request.param == "mneme":
        built: Path = BUILD / "tests" / "apps" / "gpu_record" / "device_heap"
        if not built.is_file():
            pytest.skip("tests/apps/gpu_record is not built")
        return built
    if not NVCC:
        pytest.skip("nvcc is not on PATH")
    place: Path = tmp_path_factory.mktemp("heap") / "device_heap"
    support.compile_by_nvcc(SOURCE, place)
    return place


@pytest.mark.parametrize("mode", sorted(KERNELS))
def test_readers_find_the_heap_as_it_was(program: Path, mode: str, tmp_path: Path) -> None:
    alone = support.run(program, mode)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path, program, mode)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    found = set()
    for path, record_id in support.launches(tmp_path):
        record = json.loads(path.read_text())
        kernel = next(name for name in KERNELS[mode] if name in record["KernelName"])
        found.add(kernel)
        launch = record["instances"][record_id]
        assert ("DeviceHeap" in launch) == (kernel in READERS)
        replayed = support.mneme(
            *("replay", "-rdb", path, "-rid", record_id, "--device", support.DEVICE),
            *("-it", "4", "--warmup", "1"),
        )
        result = replayed.result
        if kernel in READERS or kernel == "scale":
            assert result["result_class"] == "exact", (kernel, replayed.stderr)
            assert result["unrecorded_reads"] == []
        else:
            assert result["result_class"] in ALONE.get(kernel, NOT_HELD), (kernel, replayed.stderr)
            assert result["unrecorded_reads"] == ["the device's heap"]
    assert found == KERNELS[mode]


@pytest.mark.parametrize("options", [(), ("--kernels", "usesOwn|sums")])
def test_a_kernel_that_fills_the_gpu_is_not_waited_for(
    program: Path, options: tuple[str, ...], tmp_path: Path
) -> None:
    alone = support.run(program, "waits")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.mneme(
        *("record", "-rdb", tmp_path, "--kernel-patience", "1", "--device", support.DEVICE),
        *(*options, "--", program, "waits"),
    )
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    said = "recorded without the device's heap: the device was at work when it was looked for"
    assert said in done.stderr
    recorded = [
        json.loads(path.read_text())["instances"][record_id]
        for path, record_id in support.launches(tmp_path)
    ]
    assert recorded
    assert not any("DeviceHeap" in launch for launch in recorded)
