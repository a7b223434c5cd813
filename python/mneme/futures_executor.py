"""The name that scripts import; see mneme.measure.futures_executor."""

from __future__ import annotations

from mneme.measure.futures_executor import FuturesReplayExecutor

__all__ = ["FuturesReplayExecutor"]
