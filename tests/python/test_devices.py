"""Devices: the choice, and the sentences when there is none."""

from __future__ import annotations

import threading

import pytest

from mneme import devices
from mneme.devices import (
    DeviceInfo,
    choose_device,
    device_by_number,
    device_limits,
    list_devices,
)
from mneme.errors import BackendUnavailable, InvalidArgument
from native_parts import needs_native

pytestmark = needs_native


@pytest.fixture(autouse=True)
def _no_device_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MNEME_DEVICE", raising=False)


def has_gpu() -> bool:
    return any(entry.is_available and entry.id != "cpu" for entry in list_devices())


def test_there_is_always_the_cpu() -> None:
    assert {entry.id: entry.is_available for entry in list_devices()}["cpu"]


def test_unavailable_devices_say_why() -> None:
    assert all(entry.why_unavailable for entry in list_devices() if not entry.is_available)


def test_first_gpu_else_the_cpu() -> None:
    chosen = choose_device()
    assert (chosen == "cpu") == (not has_gpu())


def test_absent_gpu_gets_the_reason() -> None:
    if has_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises(BackendUnavailable, match="device 'cuda:0' is not available: "):
        choose_device("cuda:0")


def test_unknown_device_lists_the_known() -> None:
    with pytest.raises(InvalidArgument, match="no device 'abacus'; known devices: .*cpu"):
        choose_device("abacus")


def test_device_number_beyond_the_gpus() -> None:
    if not has_gpu():
        assert device_by_number(5) == "cpu"
        return
    with pytest.raises(InvalidArgument, match="no device number 64"):
        device_by_number(64)


def test_a_vendor_alone_means_its_first_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [
        DeviceInfo(id=f"cuda:{number}", is_available=True, name="GPU", why_unavailable="")
        for number in range(2)
    ]
    monkeypatch.setattr("mneme.devices.list_devices", lambda: gpus)
    assert choose_device("cuda") == "cuda:0"
    assert choose_device("cuda:1") == "cuda:1"


def test_the_limits_of_a_device_are_told() -> None:
    limits = device_limits("cpu")
    assert (limits.id, limits.target) == ("cpu", "cpu")
    assert limits.warp_size == 32
    assert limits.max_threads_per_block == 1024
    assert limits.max_block == (1024, 1024, 64)
    assert limits.max_grid[0] == 2**31 - 1
    assert limits.total_memory_bytes > 0


def test_limits_are_those_of_the_chosen_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_DEVICE", "cpu")
    assert device_limits() == device_limits("cpu")
    with pytest.raises(InvalidArgument, match="toaster"):
        device_limits("toaster")


@pytest.mark.parametrize(("wanted", "count"), [("cpu", 0), ("cpu,cpu", 1), (None, 1), ("x:0", 1)])
def test_drivers_start_before_devices_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, wanted: str | None, count: int
) -> None:
    asked = threading.Semaphore(0)
    monkeypatch.setattr(devices, "list_devices", asked.release)
    devices.start_drivers(wanted)
    assert asked.acquire(timeout=30 if count else 0.01) == bool(count)
