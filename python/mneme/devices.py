"""The known devices, and the one that is used by default."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable, InvalidArgument

__all__ = [
    "DeviceInfo",
    "DeviceLimits",
    "choose_device",
    "device_by_number",
    "device_limits",
    "list_devices",
    "measures_elsewhere",
    "start_drivers",
    "use_limits",
]

if TYPE_CHECKING:
    from collections.abc import Iterator

_CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """One device, available or not."""

    id: str
    """As in `--device`: "cpu", or the vendor's word and a number."""

    is_available: bool
    """Whether it can be opened."""

    name: str
    """The vendor's name of the model, empty if unknown."""

    why_unavailable: str
    """What is missing and what to do, empty if it is available."""

    def to_dict(self) -> dict[str, str | bool]:
        """Return the device as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLimits:
    """The limits of a device."""

    id: str = "cpu"
    """As in `--device`."""

    name: str = ""
    """The vendor's name of the model."""

    target: str = "cpu"
    """The target of compiled code: "sm_90", "cpu"."""

    multiprocessors: int = 1
    """Number of units on which blocks run in parallel."""

    warp_size: int = 32
    """Threads that run in step."""

    max_threads_per_block: int = 1024
    """Product of the extents of a block."""

    max_block: tuple[int, int, int] = (1024, 1024, 64)
    """Extent of a block in x, y, z."""

    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    """Extent of a grid in x, y, z."""

    max_shared_per_block_bytes: int = 48 * 1024
    """Shared memory of a block, without a request for more."""

    max_shared_per_block_optin_bytes: int = 227 * 1024
    """Shared memory that a kernel can request."""

    max_registers_per_block: int = 0
    """Registers of all threads of a block; 0: no such limit."""

    total_memory_bytes: int = 0
    """Memory of the device; 0: not known."""

    l2_cache_bytes: int = 0
    """Size of the last cache; 0: not known."""

    driver: str = ""
    """Version of the vendor's driver; empty: none, or not known."""


_elsewhere: ContextVar[DeviceLimits | None] = ContextVar("mneme_device_elsewhere", default=None)


@contextlib.contextmanager
def use_limits(limits: DeviceLimits | None) -> Iterator[None]:
    """Answer with the device of another machine, which measures, within the `with` block.

    Args:
        limits: That device; None: those of this machine.
    """
    token = _elsewhere.set(limits)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def measures_elsewhere() -> bool:
    """Whether `use_limits` named the device of another machine."""
    return _elsewhere.get() is not None


def device_limits(device: str | None = None) -> DeviceLimits:
    """Return the limits of a device, without opening it.

    Args:
        device: As in `--device`; None: the default device.

    Raises:
        InvalidArgument: If there is no such device.
        BackendUnavailable: If it is not available; the message says why.
    """
    elsewhere = _elsewhere.get()
    if elsewhere is not None and device in (None, elsewhere.id):
        return elsewhere
    return _limits_of(device or choose_device())


@functools.cache  # asking starts the vendor's driver, which takes a while
def _limits_of(device: str) -> DeviceLimits:
    from mneme import _native  # noqa: PLC0415 - loads native code

    facts = dict[str, Any](_native.describe_device(device))
    known = {item.name for item in fields(DeviceLimits)}
    return DeviceLimits(**{key: value for key, value in facts.items() if key in known})


def list_devices() -> list[DeviceInfo]:
    """Return every kind of device that mneme knows, with the reason if one is unavailable."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    return [
        DeviceInfo(
            id=str(entry["id"]),
            is_available=bool(entry["is_available"]),
            name=str(entry["name"]),
            why_unavailable=str(entry["why_unavailable"]),
        )
        for entry in _native.devices()
    ]


def start_drivers(wanted: str | None = None) -> None:
    """Begin to start the vendors' drivers, which takes long: devices are asked for soon.

    Args:
        wanted: As in `--device`; the CPU device has no driver.
    """

    def ask() -> None:
        with contextlib.suppress(Exception):  # who asks for devices gets to know it
            list_devices()

    if (wanted or os.environ.get("MNEME_DEVICE")) != _CPU:
        # No daemon: a driver that starts while the process ends may crash.
        threading.Thread(target=ask, name="mneme-drivers").start()


def choose_device(wanted: str | None = None) -> str:
    """Return the device to use: `wanted`, else MNEME_DEVICE, else the first GPU, else the CPU.

    Raises:
        InvalidArgument: If no device has the wanted name.
        BackendUnavailable: If it is not available; the message says why.
    """
    if elsewhere := _elsewhere.get():
        return wanted or elsewhere.id
    wanted = wanted or os.environ.get("MNEME_DEVICE") or None
    if wanted == _CPU:
        return _CPU
    devices = list_devices()
    if wanted is None:
        gpus = (entry.id for entry in devices if entry.is_available and entry.id != _CPU)
        return next(gpus, _CPU)
    family = wanted.partition(":")[0]
    for entry in devices:
        if entry.is_available and entry.id in (wanted, f"{wanted}:0"):
            return entry.id
        if entry.id in (wanted, family) or entry.id.partition(":")[0] == family:
            reason = entry.why_unavailable
            if not entry.is_available and reason:
                raise BackendUnavailable(f"device '{wanted}' is not available: {reason}")
    known = ", ".join(entry.id for entry in devices)
    raise InvalidArgument(f"there is no device '{wanted}'; known devices: {known}")


def device_by_number(number: int) -> str:
    """Return the available GPU with this number; the CPU device if there is no GPU.

    With MNEME_DEVICE set, only that device counts.

    Raises:
        InvalidArgument: If there are fewer GPUs.
        BackendUnavailable: If MNEME_DEVICE names a device that is not available.
    """
    if os.environ.get("MNEME_DEVICE"):
        gpus = [choose_device()]
    else:
        devices = list_devices()
        gpus = [entry.id for entry in devices if entry.is_available and entry.id != _CPU]
    if not gpus or gpus == [_CPU]:
        return _CPU
    if not 0 <= number < len(gpus):
        raise InvalidArgument(f"there is no device number {number}; there are {len(gpus)}: {gpus}")
    return gpus[number]
