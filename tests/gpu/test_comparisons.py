"""`mneme compare` on a device: one process goes from recording to recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu.support import DEVICE, EXAMPLE_NAMES, launches, mneme
from mneme.devices import device_limits, list_devices
from mneme.errors import OutOfMemory
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.recording.configured import configured
from mneme.recording.recorded_execution import RecordedExecution

WITH_VARIABLES = {"linked_list", "nbody"}


def test_a_process_keeps_the_device_from_recording_to_recording(
    recording: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))
    places = [next(launches(recording(name))) for name in EXAMPLE_NAMES]
    target = device_limits(DEVICE).target
    results, pids = [], set()
    with SuiteExecutor([DEVICE], tmp_path, SuiteOptions(iterations=1, warmup=0)) as executor:
        for path, record_id in (*places, *places):
            record = RecordedExecution.from_json(path)
            config = replace(configured(record, record.get(record_id)), passes="default<O2>")
            launch = str(path), record_id
            assert not executor.compile(launch, config, target).result(120).failure
            results.append(executor.submit(0, launch, config)())
            pids.update(executor.pids)
    assert [(one.error, one.result_class) for one in results if not one.verified] == []
    assert len(pids) == 1
    # What was compiled beside the device is what it asked for. Device variables may have been
    # granted another place than recorded, which is other code.
    names = [*EXAMPLE_NAMES, *EXAMPLE_NAMES]
    compiled = {name for name, one in zip(names, results, strict=True) if not one.code_from_cache}
    assert compiled <= WITH_VARIABLES
    again = max(one.device_open_time for one in results[1:])
    record_property("opening the device for another recording", f"{again:.4f} s at most")


def test_a_launch_is_opened_beside_another_one_where_there_is_room(
    recording: Callable[[str], Path], tmp_path: Path
) -> None:
    asked = []
    for name in EXAMPLE_NAMES[:2]:
        path, record_id = next(launches(recording(name)))
        prologue = RecordedExecution.from_json(path).get(record_id).prologue.fn
        asked.append(((str(path), record_id), prologue))
    with SuiteExecutor([DEVICE], tmp_path, SuiteOptions(lanes=2)) as executor:
        for lane, (launch, prologue) in enumerate(asked):
            executor.open(0, launch, prologue, lane=lane, most_part=0.25)()
        assert len(executor.pids) == 2
        with pytest.raises(
            OutOfMemory, match=r"\d+ bytes beside another launch, with \d+ bytes left"
        ):
            executor.open(0, *asked[0], lane=1, most_part=1e-15)()


def test_every_example_is_compared(recording: Callable[[str], Path], tmp_path: Path) -> None:
    done = mneme(
        *("compare", *map(recording, EXAMPLE_NAMES), "--device", DEVICE, "--rounds", "6"),
        *("--passes", "default<O1>", "--passes", "default<O0>", "--json"),
        *("--results-dir", tmp_path / "results", "--html", tmp_path / "page.html"),
    )
    assert done.returncode == 0, done.stderr
    kernels: list[dict[str, Any]] = json.loads(done.stdout)["kernels"]
    assert len(kernels) >= len(EXAMPLE_NAMES)
    assert [one["problem"] for one in kernels if one["problem"]] == []
    for one in kernels:
        found = one["variants"]["default<O0>"]
        assert found["ratio"] > 0, found["reason"]
        assert one["device"] == DEVICE
        if DEVICE != "cpu":
            assert found["registers"] > 0
            assert found["occupancy"] is None or 0 < found["occupancy"] <= 1


@pytest.mark.usefixtures("only_gpu")
def test_all_gpus_measure(
    recording: Callable[[str], Path],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    gpus = [one.id for one in list_devices() if one.is_available and one.id != "cpu"]
    if len(gpus) < 2:
        pytest.skip(f"there is one GPU: {gpus}")
    done = mneme(
        *("compare", *map(recording, EXAMPLE_NAMES), "--device", ",".join(gpus), "--rounds", "40"),
        *("--passes", "default<O1>", "--passes", "default<O0>", "--measure-equal", "--json"),
        *("--results-dir", tmp_path / "results", "--html", tmp_path / "page.html"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["devices"] == sorted(gpus)
    assert [one["problem"] for one in found["kernels"] if one["problem"]] == []
    measured = {one["name"]: one["device"] for one in found["kernels"]}
    assert len(set(measured.values())) > 1
    assert set(measured.values()) <= set(gpus)
    record_property("kernels by GPU", measured)
