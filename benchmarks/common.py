"""What every benchmark shares: the machine it ran on, a table, and one JSON result file."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MNEME_BUILD_DIR", ROOT / "build"))
RESULTS = ROOT / "benchmarks" / "results"


def machine() -> dict[str, Any]:
    """Describe this machine: processor, cores, memory, versions."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    clang = subprocess.run(["clang-22", "--version"], capture_output=True, text=True, check=False)
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "clang": clang.stdout.splitlines()[0] if clang.returncode == 0 else "",
    }


def best_of(repeats: int, action: Callable[[], object]) -> float:
    """Shortest wall time of `action` in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def median_of(repeats: int, action: Callable[[], object]) -> float:
    """Median wall time of `action` in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def mneme(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one mneme command; a failure ends the benchmark."""
    done = subprocess.run(
        [sys.executable, "-m", "mneme", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if done.returncode != 0:
        sys.exit(f"mneme {' '.join(map(str, arguments))} failed:\n{done.stderr}")
    return done


def publish(name: str, what: str, numbers: dict[str, Any]) -> None:
    """Print the numbers and write benchmarks/results/<name>.json."""
    for key, value in numbers.items():
        print(f"{key:48} {value}")
    content = {
        "what": what,
        "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "machine": machine(),
        "numbers": numbers,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(f"written to {path.relative_to(ROOT)}")
