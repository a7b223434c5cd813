"""What modules made at run time cost: the first launch by stage, further modules, hot launches.

usage: frontends.py [--device cpu|cuda:0] [--runs N] [--output FILE] [CASE...]

A CASE is a frontend and where its code runs: dsl-host, ir-cuda, clang-cuda, nvcc-cuda, ...; all that
make sense here if none is named. The program is frontend_latency.cpp, built by the g++ of this
machine. Every run has an empty cache first and then the full one. Prints a table and writes JSON;
times are medians of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from common import RESULTS, write_results  # noqa: E402

from mneme.install import paths  # noqa: E402

LINE = re.compile(r"compiled kernel '' in ([\d.]+) ms, of which a process start ([\d.]+) ms: (.*)")
STAGES = {
    "source compiler": ("source_time",),
    "read IR": ("parse_time", "preprocess_ir_time"),
    "optimise": ("opt_time",),
    "generate code": ("codegen_time",),
    "assemble": ("assemble_time",),
}
GOALS = {"dsl": 20.0, "ir": 20.0, "clang": 10.0, "nvcc": 10.0}
HOT_GOAL_NS = 300.0

Times = dict[str, float]


def toolkit() -> Path | None:
    """Libraries of a CUDA toolkit that nvcc belongs to."""
    nvcc = shutil.which("nvcc")
    return Path(nvcc).resolve().parents[1] / "lib64" if nvcc else None


def build(folder: Path, *, is_gpu: bool) -> Path:
    """The program; on the CPU device it finds the vendor's functions when it is started."""
    libraries = toolkit()
    runtime = ["-Wl,--unresolved-symbols=ignore-in-object-files"]
    if is_gpu and libraries:
        runtime = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcudart"]
    include = next(
        one for one in (paths.prefix() / "include", HERE.parents[1] / "include") if one.is_dir()
    )
    program = folder / "frontend_latency"
    words = paths.config()["ldflags"].split()
    subprocess.run(
        ["g++", "-O2", "-std=c++17", f"-I{include}", HERE / "frontend_latency.cpp", "-o", program,
         *words, "-lmneme_frontend", "-rdynamic", *runtime],
        check=True,
    )  # fmt: skip
    return program


def run(command: list[str], folder: Path) -> tuple[Times, list[Times]]:
    """Times of one run, and the stages of each compilation in it."""
    variables = {
        "PROTEUS_CACHE_DIR": str(folder / "jit"),
        "MNEME_CACHE_DIR": str(folder / "device"),
        "MNEME_LOG_LEVEL": "debug",
    }
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        words = [line for line in done.stderr.splitlines() if "compiled kernel" not in line]
        raise RuntimeError(" ".join(words[:3])[:300] or f"it ended with {done.returncode}")
    return json.loads(lines[-1]), [
        staged(found) for line in done.stderr.splitlines() if (found := LINE.search(line))
    ]


def staged(found: re.Match[str]) -> Times:
    """The stages of one compilation, in milliseconds."""
    total, start = float(found[1]), float(found[2])
    read = json.loads(found[3])
    stages = {name: 1e3 * sum(read.get(key, 0.0) for key in keys) for name, keys in STAGES.items()}
    stages["generate code"] -= stages["assemble"]  # a part of it
    rest = total - start - sum(stages.values())
    return {"process start": start, **stages, "other": rest, "compile": total}


def medians(rows: list[Times]) -> Times:
    """Return the median of each column."""
    return {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}


def compiler_alone(frontend: str, target: str, folder: Path) -> list[str]:
    """The source's own compiler on the same text, by itself; empty if it has none."""
    if frontend not in ("clang", "nvcc"):
        return []
    text = (HERE / "frontend_latency.cpp").read_text()
    text = text.partition('kSource = R"cpp(')[2].partition(')cpp"')[0]
    source = folder / "alone.cu"
    source.write_text(text)
    words = ["-std=c++17", "-O3", "-DCOUNT=3", "-o", str(folder / "alone.out"), str(source)]
    if frontend == "nvcc":
        return ["nvcc", "-x", "cu", "--gpu-architecture=native", "-cubin", *words]
    compiler = str(Path(paths.config()["llvmdir"]) / "bin" / "clang++")
    command = [compiler, "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
    if target == "host":
        return [*command, "-x", "c++", "-fPIC", *words]
    root = os.environ.get("CUDA_HOME")
    command += [f"--cuda-path={root}"] if root else []
    return [*command, "-x", "cuda", "--offload-device-only", "--offload-arch=sm_90",
            "-Wno-unknown-cuda-version", *words]  # fmt: skip


def wall(command: list[str]) -> float:
    """Milliseconds of a command that succeeds."""
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"'{command[0]}' ended with {done.returncode}: {done.stderr[:200]}")
    return 1e3 * (time.perf_counter() - start)


def measure(case: str, program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One frontend with one target: cold and with a full cache, in turn."""
    frontend, target = case.split("-")
    command = [str(program), frontend, target]
    if target != "host" and options.device == "cpu":
        command = [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", *command]
    own_compiler = compiler_alone(frontend, target, folder)
    cold, full, first, further, own = [], [], [], [], []
    for number in range(options.runs):
        caches = folder / f"{case}-{number}"
        # In turn, so that what else the machine does hits both.
        own += [wall(own_compiler) for _ in range(5 if own_compiler else 0)]
        times, compiled = run(command, caches)
        cold.append(times)
        full.append(run(command, caches)[0])
        for stages, rows, launch in ((compiled[0], first, times["first"]),
                                     (medians(compiled[1:]), further, times["further"])):  # fmt: skip
            rest = launch - stages["compile"]
            rows.append({**stages, "write, load and run": rest, "launch": launch})
    result: dict[str, Any] = {
        "empty cache": medians(cold),
        "full cache": medians(full),
        "first module (ms)": medians(first),
        "further module, compile process there (ms)": medians(further),
    }
    over = result["empty cache"]["further"]
    hot = round(result["empty cache"]["hot"] - result["empty cache"]["hot plain"], 1)
    what = "further module (ms)"
    if own:
        result["its compiler alone (ms)"] = round(statistics.median(own), 3)
        over -= result["its compiler alone (ms)"]
        what = "further module over its compiler alone (ms)"
    result["goals"] = {"hot launch over plain (ns)": {"is": hot, "goal": HOT_GOAL_NS}}
    # The CPU device makes code of its own when a kernel is launched first.
    if target == "host" or options.device != "cpu":
        result["goals"][what] = {"is": round(over, 3), "goal": GOALS[frontend]}
    return result


def show(case: str, result: dict[str, Any]) -> None:
    """A line of the table, and the stages below it."""
    if "failed" in result:
        print(f"{case:12} {result['failed']}")
        return
    cold, full = result["empty cache"], result["full cache"]
    print(
        f"{case:12} {cold['first']:9.2f} {cold['further']:9.2f} {full['first']:9.2f} "
        f"{full['further']:9.2f} {result.get('its compiler alone (ms)', 0):9.2f} "
        f"{cold['hot plain']:9.1f} {cold['hot']:9.1f}"
    )
    for name in ("first module (ms)", "further module, compile process there (ms)"):
        parts = ", ".join(f"{key} {value:.2f}" for key, value in result[name].items() if value)
        print(f"    {name.partition(',')[0].partition(' (')[0]}: {parts}")
    for name, goal in result["goals"].items():
        word = "met" if goal["is"] <= goal["goal"] else "MISSED"
        print(f"    {name}: {goal['is']} (goal {goal['goal']}: {word})")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULTS / "jit_frontends.jsonl")
    parser.add_argument("cases", nargs="*")
    return parser.parse_args()


def main() -> None:
    """Each case in its turn."""
    options = parse()
    is_gpu = options.device != "cpu"
    cases = options.cases or [
        *("dsl-host", "ir-host", "clang-host", "dsl-cuda", "ir-cuda", "clang-cuda"),
        *(["nvcc-cuda"] if is_gpu else []),  # it leaves code for GPUs only
    ]
    results = {}
    print("milliseconds   empty cache           full cache       compiler   hot launch (ns)")
    print("                 first   further     first   further     alone     plain    handle")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        program = build(folder, is_gpu=is_gpu)
        for case in cases:
            try:
                results[case] = measure(case, program, folder, options)
            except RuntimeError as error:
                results[case] = {"failed": str(error)}
            show(case, results[case])
    write_results(
        options.output,
        "modules made at run time: first launch by stage, further modules (the compile "
        "process is there), with a full cache, and hot launches; benchmarks/jit/frontends.py, "
        f"medians of {options.runs} runs",
        ({"case": case, **one} for case, one in results.items()),
        device=options.device,
    )
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
