"""Contains `mneme.transforms.transform`, which existing scripts import."""

from __future__ import annotations

from mneme.transforms import transform

__all__ = ["transform"]
