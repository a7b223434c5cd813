"""The name that scripts import; see mneme.recording.recorded_execution."""

from __future__ import annotations

from mneme.recording.recorded_execution import (
    KernelInstance,
    MemStateRef,
    RecordedExecution,
    SnapshotType,
)

__all__ = ["KernelInstance", "MemStateRef", "RecordedExecution", "SnapshotType"]
