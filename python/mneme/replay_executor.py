"""The name that scripts import; see mneme.executors.replay_executor and .tune_worker."""

from __future__ import annotations

from mneme.executors.replay_executor import BaseExecutor, ReplayOutput, ir_bytes, options_text
from mneme.executors.tune_worker import TuneWorker

__all__ = ["BaseExecutor", "ReplayOutput", "TuneWorker", "ir_bytes", "options_text"]
