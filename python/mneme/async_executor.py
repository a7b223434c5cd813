"""The name that scripts import; see mneme.measure.async_executor."""

from __future__ import annotations

from mneme.measure.async_executor import (
    AsyncReplayExecutor,
    EvalFuture,
    TuneWorkerHandle,
    as_completed,
)

__all__ = ["AsyncReplayExecutor", "EvalFuture", "TuneWorkerHandle", "as_completed"]
