"""Recordings on disk, as Python objects."""

from __future__ import annotations

from mneme.recording.directory import Recording

__all__ = ["Recording"]
