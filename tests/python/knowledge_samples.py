"""Entries of a knowledge file."""

from __future__ import annotations

from typing import Any

from mneme.knowledge.entry import Entry


def entry(**changes: Any) -> Entry:
    """Return an entry of a kernel on the CPU device."""
    values: dict[str, Any] = {
        "kernel": "_Z5scalePf",
        "demangled": "scale(float*)",
        "static_hash": "00000000000000aa",
        "family": "cpu",
        "arch": "cpu",
        "grid": (4, 1, 1),
        "block": (256, 1, 1),
        "shared_mem": 0,
        "baseline_ns": 1000.0,
        "rank": 0,
        "gain": 1.5,
        "low": 1.4,
        "high": 1.6,
        "trials": 10,
        "date": "2026-11-23T00:00:00Z",
        "version": "0.1.0",
    }
    return Entry(**{**values, **changes})
