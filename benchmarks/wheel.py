"""What the wheel costs: its size, and how long it takes to import and to answer.

python benchmarks/wheel.py WHEEL [OTHER...] [--runs N]     WHEEL: as scripts/wheel makes it, for this
Python; of the others only the size is noted

Writes benchmarks/results/wheel.jsonl. The wheel is installed into a fresh environment; what mneme
depends on comes from the environment of the Python that runs this.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from pathlib import Path

from common import publish

COMMANDS = {
    "python_alone": ("-c", "pass"),
    "import_mneme": ("-c", "import mneme"),
    "import_replay_executor": ("-c", "import mneme.measure.replay_executor"),
    "mneme_version": ("-m", "mneme", "--version"),
    "mneme_help": ("-m", "mneme", "--help"),
    "mneme_config_key": ("-m", "mneme", "config", "cmakedir"),
}


def sizes(wheel: Path) -> dict[str, float]:
    """Bytes of the wheel, of what it becomes, and of its largest library."""
    inside = zipfile.ZipFile(wheel).infolist()
    return {
        "wheel_mb": round(wheel.stat().st_size / 1e6, 2),
        "installed_mb": round(sum(item.file_size for item in inside) / 1e6, 2),
        "largest_file_mb": round(max(item.file_size for item in inside) / 1e6, 2),
        "files": len(inside),
    }


def install(wheel: Path, made: Path) -> tuple[Path, float]:
    """Make an environment with the wheel; return its interpreter and the seconds pip took."""
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    (site,) = made.glob("lib/python3*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = made / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel]
    start = time.perf_counter()
    subprocess.run(pip, check=True)
    return python, time.perf_counter() - start


def milliseconds(python: Path, arguments: tuple[str, ...], runs: int) -> list[float]:
    """Wall times of a command, after one run that fills the caches."""
    variables = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "MNEME_BUILD_DIR"}}
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(
            [python, *arguments], stdout=subprocess.DEVNULL, env=variables, check=True, cwd="/"
        )
        times.append((time.perf_counter() - start) * 1000)
    return times[1:]


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("others", type=Path, nargs="*")
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    numbers = sizes(arguments.wheel)
    for other in arguments.others:
        numbers[f"{other.name.split('-')[2]}_wheel_mb"] = sizes(other)["wheel_mb"]
    with tempfile.TemporaryDirectory() as folder:
        python, seconds = install(arguments.wheel, Path(folder) / "venv")
        numbers["pip_install_seconds"] = round(seconds, 2)
        for name, command in COMMANDS.items():
            times = milliseconds(python, command, arguments.runs)
            numbers[f"{name}_median_ms"] = round(statistics.median(times), 1)
            numbers[f"{name}_min_ms"] = round(min(times), 1)
    publish("wheel", f"{arguments.wheel.name}; wall time of {arguments.runs} runs, warm", numbers)


if __name__ == "__main__":
    main()
