"""The name that scripts import; see mneme.measure.replay_executor and .tune_worker."""

from __future__ import annotations

from mneme.measure.replay_executor import BaseExecutor, ReplayOutput, ir_bytes, options_text
from mneme.measure.tune_worker import TuneWorker

__all__ = ["BaseExecutor", "ReplayOutput", "TuneWorker", "ir_bytes", "options_text"]
