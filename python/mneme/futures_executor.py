"""The name that scripts import; see mneme.executors.futures_executor."""

from __future__ import annotations

from mneme.executors.futures_executor import FuturesReplayExecutor

__all__ = ["FuturesReplayExecutor"]
