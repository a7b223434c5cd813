"""A record says how often its kernel was launched, whatever the arguments were."""

from __future__ import annotations

import json
from pathlib import Path


def test_launches_that_are_not_recorded_are_counted(recordings: dict[str, Path]) -> None:
    counts = {}
    for path in recordings["spmv_cg"].glob("*.json"):
        record = json.loads(path.read_text())
        name = record["DemangledName"].split("<")[0].removeprefix("void ")
        counts[name] = (record["Launches"], len(record["instances"]))
    # One product and three sums in each of 50 iterations; every sum has factors of its own.
    assert counts == {"spmv": (50, 1), "axpby": (150, 4)}
