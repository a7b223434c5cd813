"""Tells why configurations of a recorded kernel give different code, and what it does."""

from __future__ import annotations

from mneme.why.build import Build
from mneme.why.comparison import Why, explain_builds
from mneme.why.roofline import measured
from mneme.why.ways import RECORDED, Way, way_of

__all__ = ["RECORDED", "Build", "Way", "Why", "explain_builds", "measured", "way_of"]
