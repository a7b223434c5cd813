"""What existing scripts import from here: `mneme.transforms.transform`."""

from __future__ import annotations

from mneme.transforms import transform

__all__ = ["transform"]
