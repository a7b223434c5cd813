"""Results of tunings as `mneme tune` leaves them, for tests that tune nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mneme.mneme_types import ExperimentConfiguration, dim3

GRID, BLOCK = dim3(16, 16), dim3(16, 16)
OTHER_GRID, OTHER_BLOCK = dim3(8, 32), dim3(32, 8)


def facts(**changes: Any) -> dict[str, Any]:
    return {
        "static_hash": "00000000000000ab",
        "kernel_name": "_Z4walki",
        "demangled_name": "walk(int)",
        "source_arch": "sm_90",
        "grid": GRID.to_dict(),
        "block": BLOCK.to_dict(),
        "shared_mem": 0,
        "occurrences": 10,
        "args": [
            {"index": 0, "name": "n", "type": "i32", "size": 4, "bytes": "14000000", "value": 20}
        ],
        **changes,
    }


def config(**changes: Any) -> dict[str, Any]:
    data = {"grid": GRID, "block": BLOCK, "max_threads": 0, "min_blocks_per_sm": 0, **changes}
    return ExperimentConfiguration(**data).to_dict()


def gain(ratio: float, *, significant: bool = True, margin: float = 0.01) -> dict[str, Any]:
    return {
        "ratio": ratio,
        "low": ratio - margin,
        "high": ratio + margin,
        "significant": significant,
        "rounds": 5,
    }


def best(**changes: Any) -> dict[str, Any]:
    """The content of a best.json: best with other dimensions 1.5 times, same launch 1.2 times."""
    return {
        "status": "completed",
        "trial": 7,
        "speedup": 1.5,
        "baseline_metric": 3000,
        "best_metric": 2000,
        "metric": "median",
        "params": {},
        "config": config(
            grid=OTHER_GRID,
            block=OTHER_BLOCK,
            set_launch_bounds=True,
            max_threads=256,
            min_blocks_per_sm=2,
        ),
        "result": {"device": "cpu", "verified": True},
        "record": {"record_database": "gone.json", "record_id": "5", "kernel_name": "_Z4walki"},
        "gain": gain(1.5),
        "same_launch": {
            "trial": 3,
            "config": config(passes="default<O2>", specialize=True),
            "result": {"device": "cpu", "verified": True},
            "metric": 2500,
            "gain": gain(1.2),
        },
        "launch_rule": "cover",
        "facts": facts(),
        "weight": 0.75,
        **changes,
    }


def write_result(directory: Path, content: dict[str, Any] | None = None) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "best.json").write_text(json.dumps(best() if content is None else content))
    return directory
