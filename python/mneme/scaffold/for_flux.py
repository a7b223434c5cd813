"""Prepares the template `flux`: a place for the password of the study's storage."""

from __future__ import annotations

from mneme.scaffold.study_storage import prepare

__all__ = ["prepare"]
