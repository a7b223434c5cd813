"""The name that scripts import; see mneme.measure.eval_future."""

from __future__ import annotations

from mneme.measure.eval_future import EvalFuture, EvaluationFailed, as_completed

__all__ = ["EvalFuture", "EvaluationFailed", "as_completed"]
