"""Device memory at recorded addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme._memory_windows import window_closed, window_opened
from mneme.device import open_device
from mneme.errors import InvalidArgument, OutOfRange

if TYPE_CHECKING:
    from typing_extensions import Self

    from mneme.recording.memory_state import MemStateRef

__all__ = ["PageManagerRef"]

_BLOCK_BYTES = 16 << 20


class PageManagerRef:
    """A window of device addresses, as a recording names it; a context manager.

    Addresses are reserved at once; memory is mapped where there is content. Everything is released
    at the end, or when the window is garbage-collected. While the window exists, opening a launch's
    prologue (`with launch.prologue:`) loads its memory into the window.
    """

    def __init__(self, device_id: int, va_addr: str | int, va_size: int) -> None:
        """Reserve a window.

        Args:
            device_id: Number of the device.
            va_addr: First address, as in `RecordedExecution.va_addr`; 0: any.
            va_size: Bytes, rounded up to what the device can reserve.

        Raises:
            AddressUnavailable: If the addresses are taken in this process.
            InvalidArgument: If this is not an address or not a size.
        """
        try:
            address = va_addr if isinstance(va_addr, int) else int(va_addr, 16)
        except ValueError as error:
            raise InvalidArgument(f"'{va_addr}' is not an address") from error
        if address < 0 or va_size <= 0:
            raise InvalidArgument(f"a window needs an address and a size, not {va_addr}, {va_size}")
        self._device = open_device(device_id)
        unit = self._device.granularity()
        self._unit = unit
        self.size = -(-va_size // unit) * unit
        """Bytes of the window."""
        self.address = self._device.reserve(address, self.size)
        """First address."""
        self._mapped: set[int] = set()
        self._state: MemStateRef | None = None
        self._is_open = True
        window_opened(self)

    def map(self, address: int, size: int) -> None:
        """Map memory into a range; new memory is zeroed.

        Raises:
            OutOfRange: If the range is not in the window.
            OutOfMemory
        """
        self._check(address, size)
        first = (address - self.address) // self._unit
        last = -(-(address + size - self.address) // self._unit)
        for number in range(first, last):
            if number not in self._mapped:
                self._device.map(self.address + number * self._unit, self._unit)
                self._mapped.add(number)

    def write(self, address: int, content: bytes) -> None:
        """Copy bytes to the device; maps memory there if needed."""
        self.map(address, len(content))
        self._device.write(address, content)

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""
        self.map(address, size)
        return self._device.read(address, size)

    def load(self, state: MemStateRef) -> None:
        """Load a recorded state, without its globals, into the device's memory.

        Raises:
            OutOfRange: If a region is not in the window.
            ArtifactCorrupt: If the state is damaged.
        """
        for index, address, size in _regions(state):
            for offset in range(0, size, _BLOCK_BYTES):
                part = min(_BLOCK_BYTES, size - offset)
                self.write(address + offset, state.snapshot.read(index, offset, part))
        self._state = state
        state.is_put_into(self)

    def holds(self, state: MemStateRef) -> bool:
        """Whether the device's memory equals a recorded state, bit for bit."""
        return all(
            self.read(address + offset, part) == state.snapshot.read(index, offset, part)
            for index, address, size in _regions(state)
            for offset in range(0, size, _BLOCK_BYTES)
            for part in (min(_BLOCK_BYTES, size - offset),)
        )

    def covers(self, state: MemStateRef) -> bool:
        """Whether all of a recorded state, except its globals, is in the window."""
        end = self.address + self.size
        return all(
            self.address <= address and address + size <= end
            for _, address, size in _regions(state)
        )

    def is_of(self, state: MemStateRef) -> bool:
        """Whether this state was loaded last."""
        return self._is_open and self._state is state

    def close(self) -> None:
        """Release memory and addresses; further calls do nothing."""
        if not self._is_open:
            return
        self._is_open = False
        self._state = None
        window_closed(self)
        for number in self._mapped:
            self._device.unmap(self.address + number * self._unit, self._unit)
        self._device.release(self.address, self.size)

    def __del__(self) -> None:
        if getattr(self, "_is_open", False):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, address: int, size: int) -> None:
        is_inside = self.address <= address and address + size <= self.address + self.size
        if not self._is_open or size < 0 or not is_inside:
            raise OutOfRange(
                f"{size} bytes at {address:#x} are not in the window of {self.size} bytes at "
                f"{self.address:#x}"
            )


def _regions(state: MemStateRef) -> list[tuple[int, int, int]]:
    """Return number, address and size of the regions that are not globals."""
    return [
        (index, int(region["address"]), int(region["size"]))
        for index, region in enumerate(state.snapshot.regions())
        if region["kind"] != "global" and region["size"]
    ]
