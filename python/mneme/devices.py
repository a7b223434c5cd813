"""Which devices there are, and which one is used when nobody says."""

from __future__ import annotations

import functools
import os
from dataclasses import asdict, dataclass, fields
from typing import Any

from mneme.errors import BackendUnavailable, InvalidArgument

__all__ = [
    "DeviceInfo",
    "DeviceLimits",
    "choose_device",
    "device_by_number",
    "device_limits",
    "list_devices",
]

_CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """One device, present or not."""

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
    """What a device can run at most."""

    id: str = "cpu"
    """As in `--device`."""

    name: str = ""
    """The vendor's name of the model."""

    target: str = "cpu"
    """What code is compiled for: "sm_90", "cpu"."""

    multiprocessors: int = 1
    """Blocks run on these side by side."""

    warp_size: int = 32
    """Threads that run in step."""

    max_threads_per_block: int = 1024
    """Product of the extents of a block."""

    max_block: tuple[int, int, int] = (1024, 1024, 64)
    """Extent of a block in x, y, z."""

    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    """Extent of a grid in x, y, z."""

    max_shared_per_block_bytes: int = 48 * 1024
    """Shared memory of a block, without asking for more."""

    max_shared_per_block_optin_bytes: int = 227 * 1024
    """Shared memory a kernel can ask for."""

    max_registers_per_block: int = 0
    """Registers of all threads of a block; 0: no such limit."""

    total_memory_bytes: int = 0
    """Memory of the device; 0: not known."""

    l2_cache_bytes: int = 0
    """Size of the last cache; 0: not known."""


def device_limits(device: str | None = None) -> DeviceLimits:
    """Return what a device can run at most, without opening it.

    Args:
        device: As in `--device`; None: the device used when nobody says.

    Raises:
        InvalidArgument: If there is no such device.
        BackendUnavailable: If it is not available; the message says why.
    """
    return _limits_of(device or choose_device())


@functools.cache  # asking starts the vendor's driver, which takes a while
def _limits_of(device: str) -> DeviceLimits:
    from mneme import _native  # noqa: PLC0415 - loads native code

    facts = dict[str, Any](_native.describe_device(device))
    known = {item.name for item in fields(DeviceLimits)}
    return DeviceLimits(**{key: value for key, value in facts.items() if key in known})


def list_devices() -> list[DeviceInfo]:
    """Return every kind of device mneme knows, with the reason where one is absent."""
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


def choose_device(wanted: str | None = None) -> str:
    """Return the device to use: `wanted`, else MNEME_DEVICE, else the first GPU, else the CPU.

    Raises:
        InvalidArgument: If no device has the wanted name.
        BackendUnavailable: If it is not available; the message says why.
    """
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
    """Return the GPU with this number among those available; the CPU device where there is no GPU.

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
