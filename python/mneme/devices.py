"""Which devices there are, and which one is used when nobody says."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from mneme.errors import BackendUnavailable, InvalidArgument

__all__ = ["DeviceInfo", "choose_device", "device_by_number", "list_devices"]

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
