"""Kernels on a GPU that reach what others have allocated: recorded and replayed with the heap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support

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

pytestmark = support.only_on_gpus("the CPU device has its own test")


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.program_of(request.param, "device_heap", tmp_path_factory)


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
