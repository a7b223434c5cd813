"""Everything that is measured on a GPU node, in one go: a table, and benchmarks/results/gpu.jsonl.

    python benchmarks/gpu.py                        # the first GPU
    python benchmarks/gpu.py --device cpu           # the same on the CPU device, smaller

Needs the examples and the programs of benchmarks/CMakeLists.txt built, no compiler. Parts that fail
say so in the result and the others go on; the file is written after each part.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import BUILD, PROGRAMS, RESULTS, read_results, write_results
from gpu_examples import measure_examples
from gpu_table import show
from gpu_tuning import measure_reference, measure_tuning
from guests import BenchmarkError, Guests, last_json, repeated

from mneme.devices import choose_device

if TYPE_CHECKING:
    from collections.abc import Callable


def measure_bandwidth(guests: Guests) -> dict[str, Any]:
    """Copy bandwidths of this machine, by the vendor's own copies."""
    mebibytes = "1024" if guests.is_gpu else "64"
    return last_json(guests.plain("device_bandwidth", mebibytes).stdout)


def measure_bulk(guests: Guests) -> dict[str, Any]:
    """Our bulk operations alone, by the benchmark of their room."""
    program = BUILD / "bin" / "bench_gpu_bulk"
    if not program.is_file():
        raise BenchmarkError(f"'{program}' is not built")
    run = guests.execute([program], {**guests.environment, "MNEME_DEVICE": guests.device})
    lines = [line for line in run.stdout.splitlines() if line.lstrip().startswith(("{", "["))]
    try:
        return {"results": json.loads(run.stdout)}
    except ValueError:
        return {"results": [json.loads(line) for line in lines]}


def measure_launch_overhead(guests: Guests) -> dict[str, Any]:
    """Host time of one launch with and without libmneme_rt, nothing active."""
    batches = "4000" if guests.is_gpu else "5"
    runs: dict[str, list[float]] = {"launch_overhead_plain": [], "launch_overhead": []}
    # Taking turns keeps drifting clocks out of the difference.
    for _ in range(5 if guests.is_gpu else 1):
        for name, values in runs.items():
            if guests.is_gpu or name == "launch_overhead":
                values.append(last_json(guests.plain(name, batches).stdout)["median"])
    through = sorted(runs["launch_overhead"])[len(runs["launch_overhead"]) // 2]
    if not runs["launch_overhead_plain"]:
        return {"through_runtime_ns": through}
    plain = sorted(runs["launch_overhead_plain"])[len(runs["launch_overhead_plain"]) // 2]
    return {
        "plain_ns": plain,
        "through_runtime_ns": through,
        "overhead_ns": through - plain,
        "budget_ns": 300,
        "runs": runs,
    }


def measure_commands(guests: Guests) -> dict[str, Any]:
    """Start-up of the command line, and the first recording with an empty driver cache."""
    folder = guests.folder("commands")
    caches = guests.folder("caches/first")
    caches.mkdir(parents=True)
    variables = {"CUDA_CACHE_PATH": str(caches), "MNEME_CACHE_DIR": str(caches / "mneme")}
    return {
        "help_seconds": repeated(5, lambda: guests.mneme("--help").seconds),
        "config_seconds": repeated(5, lambda: guests.mneme("config", "prefix").seconds),
        "devices_seconds": repeated(3, lambda: guests.mneme("devices").seconds),
        "first_recording_ever_seconds": guests.record(folder, "vector_add", **variables).seconds,
    }


PARTS: dict[str, Callable[[Guests], dict[str, Any]]] = {
    "bandwidth": measure_bandwidth,
    "bulk": measure_bulk,
    "launch_overhead": measure_launch_overhead,
    "commands": measure_commands,
    "examples": measure_examples,
    "tuning": measure_tuning,
    "reference": measure_reference,
}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="default: the first GPU, else cpu")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--examples", type=Path, default=BUILD / "examples")
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    parser.add_argument(
        "--scratch", type=Path, help="where recordings go; default: a temporary one"
    )
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/gpu.jsonl")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, help="seconds after which nothing more is started")
    return parser.parse_args()


def run_parts(options: argparse.Namespace, guests: Guests, output: Path) -> list[dict[str, Any]]:
    """Run the chosen parts; the file is complete after each."""
    what = (
        "mneme on one device: medians of several runs with smallest and largest; bandwidths "
        "in bytes per second, copies, restoring and verifying counted read and written"
    )
    results: list[dict[str, Any]] = []
    for name in options.parts:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        start = time.monotonic()
        try:
            numbers = PARTS[name](guests)
        except Exception as error:  # noqa: BLE001 - the other parts are measured all the same
            numbers = {"failed": f"{type(error).__name__}: {error}"}
            print(f"  {numbers['failed']}", file=sys.stderr)
        numbers["part_took_seconds"] = time.monotonic() - start
        groups = {key: value for key, value in numbers.items() if isinstance(value, dict)}
        alone = {key: value for key, value in numbers.items() if key not in groups}
        results.append({"part": name, **alone})
        results += [{"part": name, "name": key, **value} for key, value in groups.items()]
        write_results(output, what, results, device=guests.device)
    return results


def main() -> int:
    """Measure and show; 0 if every part could be measured."""
    options = parse()
    device = choose_device(options.device)
    name = "gpu.jsonl" if device != "cpu" else "gpu_on_cpu.jsonl"
    output = options.output or RESULTS / name
    scratch = options.scratch or Path(tempfile.mkdtemp(prefix="mneme-benchmark-"))
    guests = Guests(
        device=device,
        examples=options.examples,
        programs=options.programs,
        scratch=scratch,
        repeats=options.repeats,
        deadline=time.monotonic() + options.limit if options.limit else math.inf,
    )
    try:
        results = run_parts(options, guests, output)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    show(*read_results(output))
    print(f"written to {output}")
    return 1 if any("failed" in one and "name" not in one for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
