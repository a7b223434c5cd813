"""The name that scripts import; see mneme.executors.eval_future."""

from __future__ import annotations

from mneme.executors.eval_future import EvalFuture, EvaluationFailed, as_completed

__all__ = ["EvalFuture", "EvaluationFailed", "as_completed"]
