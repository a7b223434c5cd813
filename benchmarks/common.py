"""What every benchmark shares: the machine it ran on, and files of results."""

from __future__ import annotations

import contextlib
import ctypes
import datetime as dt
import importlib.metadata
import json
import lzma
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[1]
# A bundle has what was built beside the sources, a checkout in a build tree.
BUILD = Path(
    os.environ.get("MNEME_BUILD_DIR", ROOT if (ROOT / "config.json").is_file() else ROOT / "build")
)
# What earlier tunings found would make later ones look better.
os.environ.setdefault("MNEME_KNOWLEDGE", "off")
PROGRAMS = BUILD / "benchmarks" / "bin"
RESULTS = ROOT / "benchmarks" / "results"


def compiler_version() -> str:
    """First line of `clang --version`; empty where there is no clang."""
    try:
        done = subprocess.run(["clang-22", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.splitlines()[0]


def gpu(device: str) -> dict[str, Any]:
    """Describe a CUDA device: what `nvidia-smi` says, and the CUDA version of the driver."""
    fields = ("name", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.mem")
    ordinal = device.partition(":")[2] or "0"
    query = [
        "nvidia-smi",
        f"--id={ordinal}",
        f"--query-gpu={','.join(fields)}",
        "--format=csv,noheader",
    ]
    facts: dict[str, Any] = {"device": device}
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30)
        values = done.stdout.strip().split(", ")
        facts.update(zip(fields, values, strict=False))
    except (OSError, subprocess.SubprocessError) as error:
        facts["nvidia_smi"] = str(error)
    with contextlib.suppress(OSError):
        version = ctypes.c_int()
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
        facts["cuda"] = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return facts


def machine(device: str = "cpu") -> dict[str, Any]:
    """Describe this machine: processor, cores, memory, versions, and the GPU if one is measured."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "clang": compiler_version(),
    }
    return facts if device == "cpu" else {**facts, "gpu": gpu(device)}


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


def stamp() -> dict[str, str]:
    """Version and date of a result."""
    try:
        version = importlib.metadata.version("mneme-gpu")
    except importlib.metadata.PackageNotFoundError:
        version = json.loads((BUILD / "config.json").read_text())["version"]
    return {"mneme": version, "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat()}


def write_results(
    path: Path, what: str, results: Iterable[Any], *, device: str = "cpu", **facts: object
) -> None:
    """Write a file of results: a line of JSON on what, where and when, then one for each result.

    Where the name of the file ends in `.xz`, it is compressed: raw data, for programs to read.
    """
    first = {"what": what, **stamp(), **facts, "machine": machine(device)}
    text = "".join(f"{json.dumps(short(one), ensure_ascii=False)}\n" for one in (first, *results))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode()) if path.suffix == ".xz" else text.encode())


def read_results(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """Return what such a file says of all its results, and these."""
    content = path.read_bytes()
    text = (lzma.decompress(content) if path.suffix == ".xz" else content).decode()
    first, *results = [json.loads(line) for line in text.splitlines()]
    return first, results


def short(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    """Round what is measured to six digits."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(one) for one in value]
    if isinstance(value, float):
        rounded = value if value.is_integer() else float(f"{value:.6g}")
        return int(rounded) if rounded.is_integer() else rounded
    return value


def publish(name: str, what: str, numbers: dict[str, Any], *, device: str = "cpu") -> None:
    """Print the numbers and write benchmarks/results/<name>.jsonl, a line for each."""
    for key, value in numbers.items():
        print(f"{key:48} {value}")
    path = RESULTS / f"{name}.jsonl"
    write_results(path, what, ({key: value} for key, value in numbers.items()), device=device)
    print(f"written to {path.relative_to(ROOT)}")
