"""What a recorded launch does not need, found by trials, and recordings without it."""

from mneme.trim.trimming import Trimmed, TrimOptions, trim

__all__ = ["TrimOptions", "Trimmed", "trim"]
