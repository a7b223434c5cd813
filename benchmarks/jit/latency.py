"""What marked kernels cost: the first launch by stage, further values, a full cache, hot launches.

usage: latency.py [PROGRAM]

PROGRAM is benchmarks/jit/latency.cu, compiled with `mneme-cxx -O3 -x cuda --offload-arch=sm_90 ...
-lcudart`; it is built when none is named. It runs on the GPU, or on the CPU device (MNEME_DEVICE=cpu).
Needs Python and nothing else. Prints JSON; times are medians of some runs.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = 7
STAGES = {
    "read IR": "preprocess_ir_time",
    "optimise": "opt_time",
    "generate code": "codegen_time",
    "assemble": "assemble_time",
}
LINE = re.compile(
    r"compiled kernel '\S+' in ([\d.]+) ms, of which a process start ([\d.]+) ms: (.*)"
)

Times = dict[str, float]


def build(folder: Path) -> Path:
    """The program, compiled here."""
    target = folder / "latency"
    compiler = Path(os.environ.get("MNEME_BUILD_DIR", ROOT / "build")) / "bin" / "mneme-cxx"
    options = ("-O3", "-x", "cuda", "--offload-arch=sm_90")
    source = ROOT / "benchmarks" / "jit" / "latency.cu"
    subprocess.run([compiler, *options, source, "-o", target, "-lcudart"], check=True)
    return target


def run(program: Path, cache: Path, **environment: str) -> tuple[Times, list[Times]]:
    """Times of one run, and stages of each compilation in it."""
    device = os.environ.get("MNEME_DEVICE")
    begin = [sys.executable, "-m", "mneme", "run", "--device", device, "--"] if device else []
    variables = {"PROTEUS_CACHE_DIR": str(cache), "MNEME_LOG_LEVEL": "debug", **environment}
    done = subprocess.run(
        [*begin, program],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = []
    for line in done.stderr.splitlines():
        if found := LINE.search(line):
            total, start = float(found[1]), float(found[2])
            read = json.loads(found[3])
            stages = {name: read.get(key, 0.0) * 1e3 for name, key in STAGES.items()}
            stages["generate code"] -= stages["assemble"]  # a part of it
            rest = total - start - sum(stages.values())
            compiled.append({"process start": start, **stages, "other": rest, "compile": total})
    times: Times = json.loads(done.stdout.splitlines()[-1])
    return times, compiled


def medians(rows: list[Times]) -> Times:
    """Return the median of each column."""
    return {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}


def staged(launch: float, stages: Times) -> Times:
    """What of a launch is not compiling: reading the program, storing, loading, running."""
    return {**stages, "load and run": launch - stages["compile"], "launch": launch}


def main() -> None:
    """Cold, with a full cache, and as built, in turn."""
    cold, cached, plain = [], [], []
    first, second = [], []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        program = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else build(folder)
        for number in range(RUNS):
            cache = folder / f"cache-{number}"
            times, compiled = run(program, cache)
            cold.append(times)
            first.append(staged(times["first marked"], compiled[0]))
            second.append(staged(times["second marked"], compiled[1]))
            cached.append(run(program, cache)[0])
            plain.append(run(program, cache, PROTEUS_DISABLE="1")[0])
    results = {
        "first marked launch, empty cache (ms)": medians(first),
        "second value, empty cache (ms)": medians(second),
        "empty cache": medians(cold),
        "full cache": medians(cached),
        "as built": medians(plain),
    }
    starts = (results["full cache"]["first marked"], results["as built"]["first marked"])
    goals = {
        "first launch, no process yet (ms; goal 40)": results["empty cache"]["first marked"],
        "further value (ms; goal 15)": results["empty cache"]["further marked"],
        "full cache, over plain (ms; goal 5)": round(starts[0] - starts[1], 3),
        "hot launch, over plain (ns; goal 300)": round(
            results["empty cache"]["hot marked"] - results["empty cache"]["hot plain"], 1
        ),
    }
    print(json.dumps({**results, "goals": goals}, indent=2))


if __name__ == "__main__":
    main()
