"""The name that scripts import; see mneme.executors.async_executor."""

from __future__ import annotations

from mneme.executors.async_executor import (
    AsyncReplayExecutor,
    EvalFuture,
    TuneWorkerHandle,
    as_completed,
)

__all__ = ["AsyncReplayExecutor", "EvalFuture", "TuneWorkerHandle", "as_completed"]
