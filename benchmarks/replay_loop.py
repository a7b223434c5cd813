"""One open recording, replayed in a loop: what a Python user gets per second.

    python replay_loop.py RECORD ID DEVICE [--seconds S] [--pipelines N]

Prints one JSON object. A process of its own, because a failed kernel may cost the GPU's context.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from dataclasses import replace
from typing import Any

from mneme.measure.replay_executor import BaseExecutor

PASSES = (
    "sroa",
    "early-cse<memssa>",
    "instcombine<no-verify-fixpoint>",
    "simplifycfg",
    "reassociate",
    "gvn",
    "sccp",
    "adce",
    "bdce",
    "dse",
    "jump-threading",
    "correlated-propagation",
    "sink",
    "memcpyopt",
    "mem2reg",
    "nary-reassociate",
    "slsr",
    "separate-const-offset-from-gep",
    "speculative-execution",
    "loop(loop-rotate)",
    "loop-mssa(licm)",
    "loop(indvars)",
    "loop(loop-deletion)",
    "loop-unroll",
    "slp-vectorizer",
    "infer-address-spaces",
)


def pipelines(count: int, seed: int = 0) -> list[str]:
    """Return different pass pipelines: shuffled subsets, every second one after default<O2>."""
    source = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        chosen = source.sample(PASSES, source.randint(6, len(PASSES)))
        text = f"function({','.join(chosen)})"
        text = f"default<O2>,{text}" if len(found) % 2 else text
        if text not in found:
            found.append(text)
    return found


class Loop:
    """Runs one configuration again and again."""

    def __init__(self, executor: BaseExecutor) -> None:
        self.executor = executor
        self.configuration = executor.recorded_configuration()

    def run(self, iterations: int, warmup: int = 0) -> tuple[float, Any]:
        """Evaluate the recorded configuration; seconds and result."""
        self.executor.iterations, self.executor.warmup = iterations, warmup
        start = time.perf_counter()
        result = self.executor.evaluate(self.configuration)
        return time.perf_counter() - start, result

    def launches(self, seconds: float) -> dict[str, float]:
        """Many launches of one binary, memory restored before each."""
        trial, _ = self.run(5)
        count = max(5, min(20000, int(seconds / trial * 6)))
        base = statistics.median(self.run(0)[0] for _ in range(3))
        processor = time.process_time()
        wall, result = self.run(count)
        processor = time.process_time() - processor
        kernel = statistics.median(result.exec_time) * 1e-9
        return {
            "launches": count + 1,
            "launches_per_second": (count + 1) / wall,
            "cpu_seconds_per_launch": processor / (count + 1),
            "kernel_seconds": kernel,
            "seconds_beside_kernel": max(0.0, (wall - base) / count - kernel),
            "restore_seconds": result.restore_time / (count + 1),
        }

    def configurations(self, seconds: float, iterations: int, warmup: int) -> float:
        """Configurations per second, each with the binary at hand and verified."""
        end = time.perf_counter() + seconds
        count, start = 0, time.perf_counter()
        while time.perf_counter() < end or count < 2:
            self.run(iterations, warmup)
            count += 1
        return count / (time.perf_counter() - start)

    def compiled(self, count: int) -> dict[str, float]:
        """Configurations per second where each has another pipeline, compiled in this process."""
        self.executor.iterations, self.executor.warmup = 5, 2
        start = time.perf_counter()
        results = [
            self.executor.evaluate(replace(self.configuration, passes=text))
            for text in pipelines(count, seed=1)
        ]
        wall = time.perf_counter() - start
        return {
            "configurations": count,
            "per_second": count / wall,
            "verified": sum(result.verified for result in results),
            "distinct_binaries": len({result.image_hash for result in results}),
        }


def measure(executor: BaseExecutor, seconds: float, count: int) -> dict[str, Any]:
    """Everything about one recording."""
    start = time.perf_counter()
    executor.open()
    opened = time.perf_counter() - start
    loop = Loop(executor)
    first_seconds, first = loop.run(1)
    if first.failed:
        return {"failed": first.error, "open_seconds": opened}
    numbers: dict[str, Any] = {
        "open_seconds": opened,
        "device_open_seconds": first.device_open_time,
        "upload_seconds": first.upload_time,
        "first_seconds": first_seconds,
        "timer": first.timer,
        "class": first.result_class,
        "verified": first.verified,
        "max_ulp": first.max_ulp,
        "verify_seconds": statistics.median(loop.run(0)[1].verify_time for _ in range(5)),
        **loop.launches(seconds),
        "configurations_per_second": loop.configurations(seconds, 1, 0),
        "configurations_of_8_launches_per_second": loop.configurations(seconds, 5, 2),
    }
    if count:
        numbers["compiled_in_this_process"] = loop.compiled(count)
    return numbers


def main() -> None:
    """Measure one recorded launch and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record")
    parser.add_argument("record_id")
    parser.add_argument("device")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--pipelines", type=int, default=0)
    options = parser.parse_args()
    executor = BaseExecutor(options.record, options.record_id, device=options.device)
    try:
        print(json.dumps(measure(executor, options.seconds, options.pipelines)))
    finally:
        executor.close()


if __name__ == "__main__":
    main()
