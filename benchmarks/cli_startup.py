"""How long commands take that only say something: benchmarks/results/cli_startup.jsonl.

python benchmarks/cli_startup.py [--runs N]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from common import publish

COMMANDS = {
    "python_alone": ("-c", "pass"),
    "import_mneme": ("-c", "import mneme"),
    "mneme_version": ("-m", "mneme", "--version"),
    "mneme_help": ("-m", "mneme", "--help"),
    "mneme_config_key": ("-m", "mneme", "config", "cflags"),
    "mneme_config_help": ("-m", "mneme", "config", "--help"),
    "mneme_replay_help": ("-m", "mneme", "replay", "--help"),
}


def milliseconds(arguments: tuple[str, ...], runs: int) -> list[float]:
    """Wall times of a command, after one run that fills the caches."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - start) * 1000)
    return times[1:]


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    numbers: dict[str, float] = {}
    for name, arguments in COMMANDS.items():
        times = milliseconds(arguments, runs)
        numbers[f"{name}_median_ms"] = round(statistics.median(times), 1)
        numbers[f"{name}_min_ms"] = round(min(times), 1)
    publish("cli_startup", f"wall time of {runs} runs of each command, warm", numbers)


if __name__ == "__main__":
    main()
