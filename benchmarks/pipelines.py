"""What the built-in pipelines do for the kernels of the examples and the benchmarks.

    python benchmarks/pipelines.py                     # the first GPU
    python benchmarks/pipelines.py --device cpu

Every kernel is replayed at its recorded launch with fixed arguments and dimensions, once through each of
LLVM's own pipelines and each of mneme's, as they are and with loops unrolled 16 times. Numbers are how many
times faster that is than `default<O3>` is, which is what the program was built with.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from guests import FAILURES, Guests
from samplers import CPU_PROGRAMS, GPU_PROGRAMS
from tables import show

from mneme.devices import choose_device
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.pipelines.unrolling import with_unrolling
from mneme.recording.inventory import find_record
from mneme.search.pass_choices import LEVELS, PROVEN

UNROLLING = (0, 16)
ITERATIONS = 6
SECONDS = 0.5


def measure(guests: Guests, name: str, arguments: tuple[str, ...]) -> list[dict[str, Any]]:
    """Measure one kernel with all of them."""
    recording = guests.folder(f"pipelines-{name}")
    guests.record(recording, *name.split(), *arguments, options=["-mr", "1"])
    record = find_record(min(recording.glob("[0-9]*.json")))
    identity, instance = next(iter(record.items()))
    built = ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )
    fixed = replace(built, specialize=True, specialize_dims=True)
    tried = [(passes, count) for passes in (*LEVELS, *PROVEN) for count in UNROLLING]
    measuring = Measuring(time_budget=SECONDS)
    with (
        tempfile.TemporaryDirectory() as logs,
        AsyncReplayExecutor(
            record.path, identity, ITERATIONS, logs, 1, device=guests.device
        ) as executor,
    ):
        usual = nanoseconds(executor.submit(built, measuring=measuring).result())
        futures = [
            executor.submit(
                replace(fixed, passes=with_unrolling(passes, count)), measuring=measuring
            )
            for passes, count in tried
        ]
        times = [nanoseconds(one.result()) for one in futures]
    rows = [
        {"passes": passes, "unroll": count, "ns": ns, "gain": ns and usual and usual / ns}
        for (passes, count), ns in zip(tried, times, strict=True)
    ]
    return [{"kernel": record.demangled_name, "built_ns": usual}, *rows]


def nanoseconds(result: ExperimentResult | None) -> float | None:
    """Return the median of a configuration that is right."""
    return result.median_ns if result is not None and result.verified else None


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--output", type=Path, default=RESULTS / "pipelines.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="mneme-pipelines-") as scratch:
        guests = Guests(
            device=device, examples=BUILD / "examples", programs=PROGRAMS, scratch=Path(scratch)
        )
        for name, arguments in (GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS).items():
            if options.programs and name not in options.programs:
                continue
            start = time.monotonic()
            try:
                found = measure(guests, name, arguments)
            except FAILURES as error:
                found = [{"failed": str(error)}]
            results += [{"program": name, **one} for one in found]
            print(f"  {name}: {time.monotonic() - start:.1f} s", file=sys.stderr)
    write_results(options.output, "built-in pipelines", results, device=device)
    show("pipelines", options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
