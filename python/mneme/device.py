"""Devices by number, and images loaded and launched on them; the CPU device if there is no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.devices import device_by_number, list_devices
from mneme.errors import CompileFailed, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme._native import Device, LoadedKernel
    from mneme.mneme_types import dim3

__all__ = [
    "DeviceFunction",
    "DeviceModule",
    "ObjectBuffer",
    "get_device_arch",
    "get_device_count",
    "open_device",
    "set_device",
]

_CPU = "cpu"
_current = 0
# One object per device, which owns what is reserved and loaded.
_opened: dict[str, Device] = {}


def get_device_count() -> int:
    """Return the number of GPUs; 1 if the CPU device replaces them."""
    gpus = [entry for entry in list_devices() if entry.is_available and entry.id != _CPU]
    return max(1, len(gpus))


def set_device(device_id: int) -> None:
    """Use a device from now on.

    Raises:
        InvalidArgument: If there is none of this number.
    """
    global _current  # noqa: PLW0603 - a state of the process, as in the drivers
    if not 0 <= device_id < get_device_count():
        raise InvalidArgument(
            f"there is no device number {device_id}; there are {get_device_count()}"
        )
    _current = device_id


def get_device_arch(device_id: int | None = None) -> str:
    """Return the target of compiled code: "sm_90", "gfx90a", "cpu"."""
    return open_device(device_id).target()


def open_device(device_id: int | None = None) -> Device:
    """Return a device, opened once; None: the one in use.

    Raises:
        BackendUnavailable: With the reason.
        InvalidArgument: If there is none of this number.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    name = device_by_number(_current if device_id is None else device_id)
    if name not in _opened:
        _opened[name] = _native.Device(name)
    return _opened[name]


class ObjectBuffer(bytes):
    """Machine code with the name of its kernel; an image for the CPU device has only one."""

    kernel: str = ""
    """Mangled name; empty: not known."""

    @classmethod
    def of(cls, image: bytes, kernel: str) -> ObjectBuffer:
        """Return an image with the name of its kernel."""
        buffer = cls(image)
        buffer.kernel = kernel
        return buffer


class DeviceModule:
    """An image for a device; kernels are loaded when requested."""

    def __init__(self, image: bytes, device_id: int | None = None) -> None:
        """Take an image; `from_MemBuffer` is the name scripts know."""
        self._image = image
        self._kernel = getattr(image, "kernel", "")
        self._device_id = _current if device_id is None else device_id

    @classmethod
    def from_MemBuffer(cls, buffer: Any, device_id: int | None = None) -> DeviceModule:  # noqa: ANN401, N802 - documented name
        """Take an image from `mneme.proteus.jit.codegen_object`, or any bytes.

        Args:
            buffer: The image.
            device_id: Where it will run; None: the device in use.

        Raises:
            InvalidArgument: If it is empty.
        """
        image = buffer if isinstance(buffer, bytes) else bytes(buffer)
        if not image:
            raise InvalidArgument("the image is empty")
        return cls(image, device_id)

    def get_function(
        self, name: str, placements: dict[str, tuple[int, int]] | None = None
    ) -> DeviceFunction:
        """Load a kernel.

        Args:
            name: Mangled name.
            placements: Address and size of globals, by name, on the CPU device.

        Raises:
            CompileFailed: If the image is not for this device, or has no such kernel.
        """
        if self._kernel not in ("", name) and get_device_arch(self._device_id) == _CPU:
            raise CompileFailed(f"the image is of the kernel '{self._kernel}', not '{name}'")
        loaded = open_device(self._device_id).load(bytes(self._image), name, placements or {})
        return DeviceFunction(name, loaded)


class DeviceFunction:
    """A loaded kernel."""

    def __init__(self, name: str, loaded: LoadedKernel) -> None:
        """Take a kernel over; `DeviceModule.get_function` loads one."""
        self.name = name
        """Mangled name."""
        self._loaded = loaded
        self._attributes = loaded.attributes()

    @property
    def local_mem(self) -> int:
        """Bytes of local memory per thread."""
        return self._attributes["local_bytes"]

    @property
    def const_mem(self) -> int:
        """Bytes of constant memory."""
        return self._attributes["constant_bytes"]

    @property
    def reg_usage(self) -> int:
        """Registers per thread; 0 if the device does not report them."""
        return self._attributes["registers"]

    @property
    def argument_sizes(self) -> list[int] | None:
        """Bytes of each argument; None if neither the code nor the device describes them."""
        return self._attributes["argument_sizes"]

    def launch(self, grid: dim3, block: dim3, args: Sequence[bytes], shared_mem: int = 0) -> int:
        """Run the kernel to its end on the present memory.

        Args:
            grid: Blocks.
            block: Threads of a block.
            args: The value of each argument, as in `MemStateRef.args`.
            shared_mem: Bytes of dynamic shared memory.

        Returns:
            The kernel's time in nanoseconds.

        Raises:
            InvalidArgument: For an impossible shape or wrong arguments; nothing ran.
            DeviceFailed: If the launch fails, with the reason.
        """
        return self._loaded.launch(
            (grid.x, grid.y, grid.z),
            (block.x, block.y, block.z),
            [bytes(one) for one in args],
            shared_mem,
        )

    def profile(  # noqa: PLR0913, PLR0917 - a launch and how often
        self,
        grid: dim3,
        block: dim3,
        args: Sequence[bytes],
        shared_mem: int = 0,
        iterations: int = 1,
        warmup: int = 0,
    ) -> list[int]:
        """Launch several times, each on the memory that the previous launch left; return the times.

        Returns:
            Nanoseconds of the launches after the first `warmup`.

        Raises:
            InvalidArgument, DeviceFailed: As `launch`.
        """
        if iterations < 0 or warmup < 0:
            raise InvalidArgument(
                f"need iterations >= 0 and warmup >= 0, not {iterations} and {warmup}"
            )
        times = [self.launch(grid, block, args, shared_mem) for _ in range(warmup + iterations)]
        return times[warmup:]
