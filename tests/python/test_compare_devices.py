"""Comparisons on several devices: who measures what, and where the time goes."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import mneme.measure.suite_executor as room
from compare_samples import Simulated, compared, make_cases, variant
from mneme.compare import CompareListener, CompareOptions, session
from mneme.compare.measuring import (
    FEWEST_LAUNCHES,
    _Measurement,
    enough_launches,
    takes_as_long_in_place,
)
from mneme.compare.results import SPENT
from mneme.compare.turns import Lane, Turns
from mneme.devices import DeviceLimits
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

VARIANTS = (variant("A", "a"), variant("B", "b"))


def test_a_kernels_variants_stay_on_one_device_which_results_name(tmp_path: Path) -> None:
    simulated = Simulated()
    found = compared(
        make_cases(tmp_path, 30), VARIANTS, simulated, tmp_path / "r", device="cpu, cpu,cpu"
    )
    assert simulated.devices == ["cpu", "cpu", "cpu"]
    by_kernel: dict[str, set[int]] = {}
    for device, record, _ in simulated.asked:
        by_kernel.setdefault(record, set()).add(device)
    assert len(by_kernel) == 30
    assert {len(devices) for devices in by_kernel.values()} == {1}
    assert found.to_dict()["devices"] == ["cpu"]
    assert {one["device"] for one in found.to_dict()["kernels"]} == {"cpu"}


def named(wanted: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices of a text, where all GPUs but the one with number 9 are alike."""

    def limits(device: str) -> DeviceLimits:
        return DeviceLimits(target="sm_80" if device.endswith("9") else "sm_90")

    monkeypatch.setattr(room, "choose_device", lambda name: name)
    monkeypatch.setattr(room, "device_limits", limits)
    return room.devices_to_use(wanted)


def test_devices_are_named_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named("gpu:1, gpu:0", monkeypatch) == ["gpu:1", "gpu:0"]
    monkeypatch.setenv("MNEME_DEVICE", "gpu:2,gpu:3")
    assert named("", monkeypatch) == ["gpu:2", "gpu:3"]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("gpu:0,gpu:0", "--device names gpu:0 twice"),
        (" ,", "--device is ' ,', which names no device"),
        ("gpu:0,gpu:9", r"not for all: gpu:0 \(sm_90\), gpu:9 \(sm_80\)"),
    ],
)
def test_devices_that_do_not_fit_together_are_refused(
    wanted: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        named(wanted, monkeypatch)


@pytest.mark.parametrize(
    ("times", "launches"),
    [([], FEWEST_LAUNCHES), ([5e6], FEWEST_LAUNCHES), ([1e5, 2e5], 20), ([3e3], 50)],
)
def test_short_kernels_are_launched_more_often(times: list[float], launches: int) -> None:
    assert enough_launches(times) == launches


def test_launches_in_rounds_are_as_many_as_wanted(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 1)
    free, fixed = Simulated(), Simulated()
    compared(cases, VARIANTS, free, tmp_path / "free")
    compared(cases, VARIANTS, fixed, tmp_path / "fixed", iterations=3)
    # The first two find out how long it takes: 0.1 ms.
    assert [asked for _, _, asked in free.asked[:2]] == [None, None]
    assert all(18 <= (asked or 0) <= 20 for _, _, asked in free.asked[2:])
    assert {asked for _, _, asked in fixed.asked} == {3}


def test_what_devices_spent_their_time_on_is_told(tmp_path: Path) -> None:
    found = compared(make_cases(tmp_path, 2), VARIANTS, Simulated(), tmp_path / "r")
    time = found.to_dict()["time"]
    assert set(SPENT) <= time.keys()
    assert time["kernels"] == pytest.approx(2 * 2 * (1 + 16) * 1e-6)
    assert time["busy"] == pytest.approx(time["kernels"] / time["seconds"])
    lines = (tmp_path / "r" / "kernels.jsonl").read_text().splitlines()
    assert [json.loads(line)["spent"]["kernels"] for line in lines] == [time["kernels"] / 2] * 2


@pytest.mark.parametrize("too_large", [(), ("1000.json", "1001.json")])
def test_opening_a_launch_is_not_waiting_for_code(
    too_large: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def passes(_: int) -> None:
        now[0] += 0 if too_large else 0.25

    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("mneme.compare.measuring.time", clock)
    monkeypatch.setattr("mneme.compare.turns.time", clock)
    simulated = Simulated(on_open=passes, too_large=too_large)
    found = compared(make_cases(tmp_path, 2), VARIANTS, simulated, tmp_path / "r")
    time = found.to_dict()["time"]
    # Each launch once: ahead, or in its first replay.
    assert time["opening"] == pytest.approx(2 * 0.25)
    assert time["compiling"] == 0


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that are none of this machine."""
    limits = DeviceLimits(target="sm_90", total_memory_bytes=8 << 30)
    monkeypatch.setattr("mneme.compare.session.devices_to_use", lambda text: text.split(","))
    monkeypatch.setattr("mneme.compare.session.device_limits", lambda _: limits)


@pytest.mark.usefixtures("gpus")
def test_two_processes_of_a_gpu_open_launches_and_one_measures(tmp_path: Path) -> None:
    simulated = Simulated()
    found = compared(
        make_cases(tmp_path, 12), VARIANTS, simulated, tmp_path / "r", device="g:0,g:1", rounds=12
    )
    assert len(found.results) == 12
    for device in (0, 1):
        files = [file for number, file, _ in simulated.asked if number == device]
        changes = [file for at, file in enumerate(files) if at == 0 or files[at - 1] != file]
        assert len(changes) == len(set(changes))
        assert {file for number, _, file in simulated.opened if number == device} == set(files)
    assert simulated.alone == []


@pytest.mark.usefixtures("gpus")
def test_a_launch_that_needs_the_whole_memory_has_it(tmp_path: Path) -> None:
    simulated = Simulated(too_large=("1001.json",))
    found = compared(make_cases(tmp_path, 4), VARIANTS, simulated, tmp_path / "r", device="g:0")
    assert [one.problem for one in found.results] == [""] * 4
    assert simulated.alone == [0]
    assert {file for _, _, file in simulated.late} == {"1001.json"}
    assert "1001.json" not in simulated.present.values()


def test_a_launch_that_was_closed_for_a_large_one_is_opened_again(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 2)
    simulated = Simulated(too_large=("1001.json",))(["g:0"], tmp_path, None)
    turns = Turns()
    options = CompareOptions(variants=list(VARIANTS), results_dir=tmp_path / "r")
    small, large = (
        _Measurement(
            simulated,
            Lane(device=0, number=at, most_part=0.25, turns=turns),
            cast("Any", SimpleNamespace(case=case)),
            options,
        )
        for at, case in enumerate(cases)
    )
    small.open()
    large.open()
    with large.turn():
        assert simulated.present == {}
        simulated.submit(0, cases[1].launch, ExperimentConfiguration(), lane=1)()
    assert simulated.present == {}
    with small.turn():
        assert simulated.present == {(0, 0): "1000.json"}
    assert simulated.alone == [0]


@pytest.mark.usefixtures("gpus")
def test_nothing_is_opened_beside_a_launch_that_has_the_memory_alone() -> None:
    turns = Turns()
    has_begun, may_open = threading.Event(), threading.Event()

    def open_one() -> None:
        has_begun.set()
        with turns.opening():
            may_open.set()

    with turns.taken():
        with turns.opening():
            threading.Thread(target=open_one, daemon=True).start()
            assert has_begun.wait(30)
            assert not may_open.wait(0.05)
        assert may_open.wait(30)


@pytest.mark.usefixtures("gpus")
def test_findings_are_confirmed_where_they_were_found(tmp_path: Path) -> None:
    simulated = Simulated(factors={"b": 1.5}, noise=0.001, bursts=0)
    found = compared(
        make_cases(tmp_path, 8), VARIANTS, simulated, tmp_path / "r", device="g:0,g:1,g:2"
    )
    assert all(one.outcomes["B"].again for one in found.results)
    by_kernel: dict[str, set[int]] = {}
    for device, record, _ in simulated.asked:
        by_kernel.setdefault(record, set()).add(device)
    assert len(by_kernel) == 8
    assert {len(devices) for devices in by_kernel.values()} == {1}


@pytest.mark.usefixtures("gpus")
def test_a_gpu_that_failed_is_not_used_again(tmp_path: Path) -> None:
    simulated = Simulated(factors={"b": 1.5}, noise=0.001, bursts=0, unavailable=(1,))
    found = compared(make_cases(tmp_path, 8), VARIANTS, simulated, tmp_path / "r", device="g:0,g:1")
    assert all(one.outcomes["B"].again for one in found.results)
    # Two processes, each asked once at most.
    assert simulated.refused.count(1) <= 2


class Guarded(deque[Any]):
    """A queue that notes whether its owner had the lock when something came back."""

    def __init__(self, has_lock: Callable[[], bool]) -> None:
        super().__init__()
        self.has_lock = has_lock
        self.came_back: list[bool] = []

    def appendleft(self, one: Any) -> None:
        self.came_back.append(self.has_lock())
        super().appendleft(one)


@pytest.mark.usefixtures("gpus")
def test_a_launch_comes_back_from_a_gpu_while_no_other_lane_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Guarded] = []

    class Run(session._Run):
        def __init__(self, *those: Any) -> None:
            super().__init__(*those)
            self._ahead = Guarded(cast("Any", self._changed)._is_owned)
            made.append(self._ahead)

    monkeypatch.setattr(session, "_Run", Run)
    simulated = Simulated(unavailable=(0,))
    with pytest.raises(BackendUnavailable):
        compared(make_cases(tmp_path, 4), VARIANTS, simulated, tmp_path / "r", device="g:0")
    assert made[0].came_back == [True, True]


@pytest.mark.usefixtures("gpus")
def test_what_a_gpu_found_that_is_gone_is_confirmed_elsewhere(tmp_path: Path) -> None:
    meeting, opening = threading.Barrier(2), {0, 1}

    def meet(device: int) -> None:
        """Wait for the other device, so that each measures something."""
        if device in opening:
            opening.remove(device)
            meeting.wait(30)

    class Listener(CompareListener):
        def confirming(self, count: int) -> None:
            assert count == 3
            simulated.unavailable = (0,)

    simulated = Simulated(factors={"b": 1.5}, noise=0.001, bursts=0, on_open=meet)
    cases = make_cases(tmp_path, 3)
    found = compared(cases, VARIANTS, simulated, tmp_path / "r", Listener(), device="g:0,g:1")
    assert "g:0" in {one.device for one in found.results}
    assert 0 in simulated.refused
    assert all(one.outcomes["B"].again for one in found.results)


def test_launches_of_a_device_take_as_long_as_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", iter((1.0, 10.0, 14.0, 20.0)).__next__)
    turns = Turns()
    assert turns.finish(3.0) == (3.0, 7.0)
    # This one was opened while the other was measured.
    assert turns.finish(8.0) == (10.0, 4.0)
    # For two seconds nothing was to be measured.
    assert turns.finish(16.0) == (16.0, 4.0)


@pytest.mark.parametrize(
    ("restored", "in_place", "expected"),
    [
        ([100, 101, 100, 103, 99], [95, 96, 95, 97, 98], True),
        ([100, 101, 100, 103, 99], [60, 61, 60, 62, 60], False),
        ([100, 101, 100, 103, 99], [], False),
    ],
)
def test_a_launch_that_takes_as_long_on_its_own_output_need_not_be_restored(
    restored: list[int], in_place: list[int], *, expected: bool
) -> None:
    result = ExperimentResult(verified=True, exec_time=[500, *restored], in_place_ns=in_place)
    assert takes_as_long_in_place(result) == expected


@pytest.mark.parametrize("options", [{}, {"restores_always": True}, {"is_cold": True}])
def test_rounds_are_in_place_if_no_variant_needs_to_be_restored(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.compare.measuring._CPU", "none")
    simulated = Simulated(in_place=("a", "b"), factors={"b": 1.2}, bursts=0)
    found = compared(make_cases(tmp_path, 2), VARIANTS, simulated, tmp_path / "r", **options)
    assert {one.is_in_place for one in found.results} == {not options}
    how = [(one.probes_in_place, one.in_place) for one in simulated.measured if one]
    # Two launches, two variants: the rounds, and those that measure what differs again.
    in_place = 0 if options else 2 * 2 * (found.rounds + 12)
    assert how.count((True, False)) == (0 if options else 2 * 2)
    assert how.count((False, True)) == in_place


def test_one_variant_that_has_to_be_restored_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.compare.measuring._CPU", "none")
    simulated = Simulated(in_place=("a",))
    found = compared(make_cases(tmp_path, 1), VARIANTS, simulated, tmp_path / "r")
    assert not found.results[0].is_in_place
    assert not any(one.in_place for one in simulated.measured if one)
