"""How long `mneme compare` takes for a corpus, and whether it finds differences where there are none.

usage: compare.py CORPUS [--device cuda:0] [--microseconds LOW HIGH] [--alike 20] [--html FILE]
                         [--before FILE] [--output FILE]

CORPUS is what corpus/build.py made; --microseconds takes only kernels that ran for so long when they were
recorded. Six pipelines are compared over all of its kernels, in one command, which
is timed with nothing in the compile cache, first with memory restored before every launch; `nvidia-smi`
says how busy the GPU was meanwhile. A table says what the time went into, also that of earlier results
(--before FILE). Then the pipeline that programs are built with is
compared with itself, as often as --alike says: each finding there is a false one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import RESULTS, mneme, write_results

from mneme.compare.cases import find_cases
from mneme.compare.results import SPENT
from mneme.devices import choose_device
from mneme.search.pass_choices import LEVELS, UNROLLED

if TYPE_CHECKING:
    from collections.abc import Iterator

PIPELINES = (*LEVELS[:5], UNROLLED)
AS_BUILT = "--passes 'default<O3>'"
MILLISECONDS_BETWEEN_LOOKS = 200
# The range that the budget is about.
LOW, HIGH = 10.0, 500.0


@contextlib.contextmanager
def watched(device: str) -> Iterator[list[float]]:
    """Collect which share of the time the GPU runs kernels; nothing on the CPU device.

    The list is full at the end of the block. One process looks all the time: to start one for each look
    would make the driver wait for it.
    """
    ordinal = device.partition(":")[2]
    shares: list[float] = []
    if not ordinal:
        yield shares
        return
    looks = subprocess.Popen(
        [
            *("nvidia-smi", f"--id={ordinal}", "--query-gpu=utilization.gpu"),
            *("--format=csv,noheader,nounits", f"--loop-ms={MILLISECONDS_BETWEEN_LOOKS}"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert looks.stdout is not None
    try:
        yield shares
    finally:
        looks.terminate()
        shares += [float(line) / 100 for line in looks.stdout if line.strip().isdigit()]
        looks.wait()


def compare(
    records: list[Path], device: str, *options: str | Path, cache: str = ""
) -> tuple[dict[str, Any], float]:
    """Run one comparison; return what it says, and how many seconds it took."""
    environment = {"MNEME_CACHE_DIR": cache} if cache else {}
    with tempfile.TemporaryDirectory() as results:
        start = time.perf_counter()
        done = mneme(
            "compare",
            *records,
            *("--device", device, "--results-dir", results, "--json"),
            *options,
            **environment,
        )
        seconds = time.perf_counter() - start
    return json.loads(done.stdout), seconds


def records_of(corpus: Path, low: float, high: float) -> list[Path]:
    """Return the records of a corpus whose launches took so many microseconds."""
    times: dict[Path, list[float]] = {}
    for case in find_cases([corpus]).found:
        times.setdefault(case.record.path, []).append(case.instance.recorded_ns / 1e3)
    return [path for path, several in times.items() if low <= min(several) <= max(several) <= high]


def baseline_us(kernel: dict[str, Any]) -> float | None:
    """Return how long a kernel takes as the baseline has it; None where it was not measured."""
    known = (one.get("baseline_ns") for one in kernel["variants"].values())
    return next((ns / 1e3 for ns in known if ns), None)


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a line of results for each kernel."""
    return [
        {
            "kernel": kernel["name"],
            "baseline_us": baseline_us(kernel),
            "variants": {
                name: {key: one.get(key) for key in ("ratio", "interval", "verdict")}
                for name, one in kernel["variants"].items()
            },
            **({"problem": kernel["problem"]} if kernel["problem"] else {}),
        }
        for kernel in found["kernels"]
    ]


def shares(total: dict[str, Any]) -> dict[str, float | None]:
    """Return what a comparison spent its seconds on, and the shares of the GPU."""
    time_of, seconds = total["time"], total["seconds"]
    return {
        "all": seconds,
        "outside the devices": seconds - time_of["seconds"],
        **{name: time_of.get(name) for name in SPENT},
        "other": time_of["other"],
        "kernels, share of all": time_of["kernels"] / seconds,
        "GPU busy (nvidia-smi), share": total["gpu_busy"],
    }


def show_shares(totals: dict[str, dict[str, Any] | None]) -> None:
    """Print a column for each comparison."""
    columns = [shares(total) if total else {} for total in totals.values()]
    print(f"{'seconds':30}" + "".join(f"{name:>10}" for name in totals))
    for name in columns[-1]:
        texts = ["" if one.get(name) is None else f"{one[name]:.3f}" for one in columns]
        print(f"{name:30}" + "".join(f"{text:>10}" for text in texts))


def against_itself(records: list[Path], device: str, repeats: int) -> dict[str, Any]:
    """Compare equal code; return how often a difference was found."""
    verdicts: Counter[str] = Counter()
    runs_with_findings = 0
    start = time.perf_counter()
    for _ in range(repeats):
        equal = ("--variant", f"A={AS_BUILT}", "--variant", f"B={AS_BUILT}", "--measure-equal")
        found, _seconds = compare(records, device, *equal)
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


def measured(
    records: list[Path], device: str, *words: str | Path
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Compare the pipelines with nothing in the cache; return lines of results, and the total."""
    given = [word for passes in PIPELINES for word in ("--passes", passes)]
    with tempfile.TemporaryDirectory() as cache, watched(device) as busy:
        found, seconds = compare(records, device, *given, *words, cache=cache)
    total = {
        "kernels": len(found["kernels"]),
        "kernels_10_to_500_us": sum(
            LOW <= (baseline_us(one) or 0.0) <= HIGH for one in found["kernels"]
        ),
        "in_place": sum(bool(one["in_place"]) for one in found["kernels"]),
        "pipelines": len(PIPELINES),
        "rounds": found["rounds"],
        "seconds": seconds,
        "time": found["time"],
        "gpu_busy": statistics.mean(busy) if busy else None,
        "summary": found["summary"],
    }
    told = ("kernels", "kernels_10_to_500_us", "pipelines", "rounds", "seconds", "gpu_busy")
    print(json.dumps({key: total[key] for key in told}), flush=True)  # should the next be cut off
    return rows(found), total


def main() -> None:
    """Time the comparison, count false findings, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--device", default="")
    parser.add_argument("--microseconds", type=float, nargs=2, metavar=("LOW", "HIGH"))
    parser.add_argument("--alike", type=int, default=20, metavar="N")
    parser.add_argument("--html", type=Path, metavar="FILE")
    parser.add_argument("--before", type=Path, default=RESULTS / "compare_h200.jsonl")
    parser.add_argument("--output", type=Path, default=RESULTS / "compare.jsonl", metavar="FILE")
    options = parser.parse_args()
    device = choose_device(options.device)
    records = [options.corpus]
    if options.microseconds:
        records = records_of(options.corpus, *options.microseconds)
    before = None
    if options.before.is_file():
        with options.before.open(encoding="utf-8") as file:
            before = json.loads(file.readline())["total"]
    _, restored = measured(records, device, "--always-restore")
    lines, total = measured(records, device)
    print(json.dumps(total["summary"], indent=1))
    show_shares({"before": before, "restored": restored, "now": total})
    if options.html:
        measured(records, device, "--html", options.html)
    alike = against_itself(records, device, options.alike) if options.alike else None
    print(json.dumps(alike))
    write_results(
        options.output,
        "pipelines compared over a corpus",
        lines,
        device=device,
        microseconds=options.microseconds,
        total=total,
        always_restored={key: one for key, one in restored.items() if key != "summary"},
        against_itself=alike,
    )


if __name__ == "__main__":
    main()
