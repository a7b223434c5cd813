"""The command line starts without loading what it does not need."""

from __future__ import annotations

import subprocess
import sys
import time

HEAVY = ("rich", "optuna", "llvmlite", "numpy", "jinja2", "mneme._native", "multiprocessing")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from mneme.cli import main; main(['--help']); "
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert loaded.isdisjoint(HEAVY)


def test_startup_time_is_reported() -> None:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "mneme", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    print(f"mneme --help: {min(times) * 1000:.0f} ms (budget 150 ms)")
