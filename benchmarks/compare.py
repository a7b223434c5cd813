"""How long `mneme compare` takes for a corpus, and whether it finds differences where there are none.

usage: compare.py CORPUS [--device cuda:0] [--alike 20] [--html FILE] [--output FILE]

CORPUS is what corpus/build.py made. Six pipelines are compared over all of its kernels, in one command, which
is timed; `nvidia-smi` says how busy the GPU was meanwhile. Then the pipeline that programs are built with is
compared with itself, as often as --alike says: each finding there is a false one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import RESULTS, mneme, write_results

from mneme.devices import choose_device
from mneme.search.pass_choices import LEVELS, UNROLLED

if TYPE_CHECKING:
    from collections.abc import Iterator

PIPELINES = (*LEVELS[:5], UNROLLED)
AS_BUILT = "--passes 'default<O3>'"
SECONDS_BETWEEN_LOOKS = 0.5


@contextlib.contextmanager
def watched(device: str) -> Iterator[list[float]]:
    """Collect meanwhile which share of the time the GPU runs kernels; nothing on the CPU device."""
    ordinal = device.partition(":")[2]
    query = ["nvidia-smi", f"--id={ordinal}", "--query-gpu=utilization.gpu"]
    shares: list[float] = []
    end = threading.Event()

    def watch() -> None:
        while ordinal and not end.wait(SECONDS_BETWEEN_LOOKS):
            done = subprocess.run(
                [*query, "--format=csv,noheader,nounits"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                shares.append(float(done.stdout) / 100)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield shares
    finally:
        end.set()
        thread.join()


def compare(corpus: Path, device: str, *options: str | Path) -> tuple[dict[str, Any], float]:
    """Run one comparison; return what it says, and how many seconds it took."""
    with tempfile.TemporaryDirectory() as results:
        start = time.perf_counter()
        done = mneme(
            "compare", corpus, "--device", device, "--results-dir", results, "--json", *options
        )
        seconds = time.perf_counter() - start
    return json.loads(done.stdout), seconds


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a line of results for each kernel."""
    return [
        {
            "kernel": kernel["name"],
            "variants": {
                name: {key: one.get(key) for key in ("ratio", "interval", "verdict")}
                for name, one in kernel["variants"].items()
            },
            **({"problem": kernel["problem"]} if kernel["problem"] else {}),
        }
        for kernel in found["kernels"]
    ]


def against_itself(corpus: Path, device: str, repeats: int) -> dict[str, Any]:
    """Compare equal code; return how often a difference was found."""
    verdicts: Counter[str] = Counter()
    runs_with_findings = 0
    start = time.perf_counter()
    for _ in range(repeats):
        equal = ("--variant", f"A={AS_BUILT}", "--variant", f"B={AS_BUILT}", "--measure-equal")
        found, _seconds = compare(corpus, device, *equal)
        these = Counter(found["summary"][0]["verdicts"])
        runs_with_findings += bool(these["faster"] + these["slower"])
        verdicts += these
    seconds = time.perf_counter() - start
    return {
        "repeats": repeats,
        "repeats_with_findings": runs_with_findings,
        "verdicts": dict(verdicts),
        "seconds": seconds,
    }


def main() -> None:
    """Time the comparison, count false findings, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--device", default="")
    parser.add_argument("--alike", type=int, default=20, metavar="N")
    parser.add_argument("--html", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, default=RESULTS / "compare.jsonl", metavar="FILE")
    options = parser.parse_args()
    device = choose_device(options.device)
    given = [word for passes in PIPELINES for word in ("--passes", passes)]
    page = ["--html", options.html] if options.html else []
    with watched(device) as shares:
        found, seconds = compare(options.corpus, device, *given, *page)
    total = {
        "kernels": len(found["kernels"]),
        "pipelines": len(PIPELINES),
        "rounds": found["rounds"],
        "seconds": seconds,
        "time": found["time"],
        "gpu_busy": statistics.mean(shares) if shares else None,
        "summary": found["summary"],
    }
    print(json.dumps(total, indent=1))
    alike = against_itself(options.corpus, device, options.alike)
    print(json.dumps(alike))
    write_results(
        options.output,
        "pipelines compared over a corpus",
        rows(found),
        device=device,
        total=total,
        against_itself=alike,
    )


if __name__ == "__main__":
    main()
