"""Snapshots of memory, as values on the host."""

from __future__ import annotations

import weakref
from enum import Enum
from typing import TYPE_CHECKING

from mneme._memory_windows import window_for

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

    from mneme._memory_windows import Window
    from mneme._native import Snapshot

__all__ = ["MemStateRef", "SnapshotType"]

_BLOCK_BYTES = 16 << 20


class SnapshotType(Enum):
    """Whether a snapshot shows memory before or after the launch."""

    PROLOGUE = "prologue"
    EPILOGUE = "epilogue"


class MemStateRef:
    """Memory before or after a recorded launch.

    A context manager: the file is opened on entry. Content is read and checked when it is used. Two
    states are equal if they have the same regions with the same bytes.

    A prologue that is opened while a `PageManagerRef` of the recorded window exists is also loaded
    into the device's memory, and represents that memory from then on. After a launch, comparing it
    with the epilogue verifies the launch, and `reset()` restores the memory from before the launch.
    """

    def __init__(
        self,
        fn: str | Path,
        kernel_name: str,
        snapshot_type: SnapshotType = SnapshotType.PROLOGUE,
        base_prologue_fn: str | Path | None = None,
    ) -> None:
        """Name a snapshot file; nothing is read yet.

        Args:
            fn: The snapshot file.
            kernel_name: Mangled name of the kernel.
            snapshot_type: Before or after the launch.
            base_prologue_fn: Accepted from older scripts; snapshots name what they refer to.
        """
        self.fn = str(fn)
        self.kernel_name = kernel_name
        self.snapshot_type = snapshot_type
        self.base_prologue_fn = None if base_prologue_fn is None else str(base_prologue_fn)
        self._snapshot: Snapshot | None = None
        self._window: weakref.ref[Window] | None = None

    def open(self) -> MemStateRef:
        """Open the file; does nothing if it is open.

        Raises:
            NotFound: If there is no such file.
            ArtifactCorrupt: If it is damaged or foreign.
        """
        if self._snapshot is None and self.snapshot_type is SnapshotType.PROLOGUE:
            window = window_for(self)
            if window is not None:
                window.load(self)
        self._reader()
        return self

    def close(self) -> None:
        """Close the file; does nothing if it is closed."""
        self._snapshot = None
        self._window = None

    def is_put_into(self, window: Window) -> None:
        """Remember the window into whose memory this state is loaded."""
        self._window = weakref.ref(window)

    def reset(self) -> None:
        """Restore device memory with this state; otherwise read the file again at the next use."""
        window = self._live_in()
        self._snapshot = None
        if window is not None:
            window.load(self)

    @property
    def snapshot(self) -> Snapshot:
        """The native reader, opened if necessary. Does not change memory."""
        return self._reader()

    def _reader(self) -> Snapshot:
        if self._snapshot is None:
            from mneme import _native  # noqa: PLC0415 - loads native code

            self._snapshot = _native.Snapshot(self.fn)
        return self._snapshot

    def _live_in(self) -> Window | None:
        window = None if self._window is None else self._window()
        return window if window is not None and window.is_of(self) else None

    @property
    def args(self) -> list[bytes]:
        """Values of the kernel's arguments, in order; empty for states after a launch."""
        return self.snapshot.args()

    @property
    def num_args(self) -> int:
        """Number of arguments."""
        return len(self.args)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"MemStateRef({self.fn!r}, {self.kernel_name!r}, {self.snapshot_type})"

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemStateRef):
            return NotImplemented
        for live, recorded in ((self, other), (other, self)):
            window = live._live_in()
            if window is not None and recorded.snapshot_type is SnapshotType.EPILOGUE:
                return window.holds(recorded)
        mine, theirs = self.snapshot, other.snapshot
        if _outline(mine) != _outline(theirs):
            return False
        return all(
            _same_bytes(mine, theirs, index, size)
            for index, (_, size, _) in enumerate(_outline(mine))
        )


def _outline(snapshot: Snapshot) -> list[tuple[int, int, str]]:
    return [
        (int(region["address"]), int(region["size"]), str(region["name"]))
        for region in snapshot.regions()
    ]


def _same_bytes(mine: Snapshot, theirs: Snapshot, index: int, size: int) -> bool:
    blocks = ((offset, min(_BLOCK_BYTES, size - offset)) for offset in range(0, size, _BLOCK_BYTES))
    return all(mine.read(index, *block) == theirs.read(index, *block) for block in blocks)
