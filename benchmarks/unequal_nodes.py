"""Whether the same code is ever found faster than itself on a cluster of unequal nodes.

    python benchmarks/unequal_nodes.py [--comparisons N]

Scheduler, workers, transport and the last rounds are real. Only the time of a launch is a model: one
node is 1.7 times slower, one as fast but noisy, one slowed down every now and then. A configuration
is compared with another one that takes the same time, and, so that silence is no virtue, with one
that takes 5 % less. Each comparison is repeated while the noise goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from common import RESULTS, ROOT, write_results

from mneme.devices import DeviceLimits
from mneme.measure import remote_evaluation
from mneme.measure.cluster import open_cluster
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.session.events import TuneListener
from mneme.session.options import TuneOptions
from mneme.session.trials import Candidate, CompletedCandidate
from mneme.session.winner import name_winner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

# Any recording: nothing opens it, the executor only has to find it.
RECORD = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
LAUNCH = {"grid": {"x": 4, "y": 1, "z": 1}, "block": {"x": 256, "y": 1, "z": 1}}
RECORDED: Any = SimpleNamespace(grid_dim=dim3(4), block_dim=dim3(256), shared_mem=0)
# Name: how slow, how noisy, and the part of the time for which it is a third slower still.
NODES = {
    "usual": (1.0, 0.01, 0.0),
    "slow": (1.7, 0.01, 0.0),
    "noisy": (1.0, 0.1, 0.0),
    "disturbed": (1.1, 0.02, 0.3),
}
_NANOSECONDS = 100_000
_GAIN = 1.05
_LAUNCHES = 5
_WAIT_SECONDS = 120


def examine(_spec: object, _version: str, number: int) -> dict[str, Any]:
    """Stand in for `remote_evaluation.examine`."""
    limits = asdict(DeviceLimits(id="cpu", name="simulated"))
    return {"host": _name, "pid": number, "limits": limits, "threads": 1, "cores": [0]}


_name = ""
_rng = random.Random()


def evaluate(
    _spec: object, _number: int, configurations: Sequence[dict[str, Any]], *_: object
) -> dict[str, Any]:
    """Stand in for `remote_evaluation.evaluate`."""
    results = [_replay(ExperimentConfiguration.from_dict(one)) for one in configurations]
    return {"host": _name, "results": [one.to_dict() for one in results], "seconds": 0.001}


def _replay(config: ExperimentConfiguration) -> ExperimentResult:
    slow, noise, disturbed = NODES[_name]
    # Something else runs for some replays, not for some launches of one.
    slow *= 4 / 3 if _rng.random() < disturbed else 1
    usual = _NANOSECONDS * slow / (_GAIN if config.codegen_opt == 1 else 1)
    times = [int(usual * max(0.5, _rng.gauss(1, noise))) for _ in range(_LAUNCHES)]
    return ExperimentResult(
        exec_time=times,
        iterations_used=_LAUNCHES,
        median_ns=int(statistics.median(times)),
        verified=True,
        executed=True,
        device="cpu",
        image_hash=config.hash()[:16],
        result_class="exact",
    )


async def work(scheduler_file: str, name: str) -> None:
    """Be one node."""
    import distributed  # noqa: PLC0415 - optional

    global _name  # noqa: PLW0603 - one node a process
    _name = name
    _rng.seed(name)
    remote_evaluation.examine, remote_evaluation.evaluate = examine, evaluate
    async with distributed.Worker(
        scheduler_file=scheduler_file, nthreads=1, dashboard=False
    ) as worker:
        await worker.finished()


@contextlib.contextmanager
def cluster(scratch: Path) -> Iterator[Executor | None]:
    """Start a scheduler and the nodes; yield the pool that `--on` makes."""
    file = scratch / "scheduler.json"
    named = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1", "--port", "0"]
    lines = [[sys.executable, "-m", "dask", "scheduler", *named]]
    lines += [[sys.executable, __file__, "--work", str(file), name] for name in NODES]
    started: list[subprocess.Popen[bytes]] = []
    with (scratch / "dask.log").open("ab") as log:
        to_log: dict[str, Any] = {"cwd": scratch, "stdout": log, "stderr": log}
        for line in lines:
            started.append(subprocess.Popen(line, env=os.environ, **to_log))
            while not file.exists() and started[0].poll() is None:
                time.sleep(0.1)
    try:
        with open_cluster(f"dask://{file}") as pool:
            client = getattr(pool, "_client")  # noqa: B009 - there is no other way to it
            client.wait_for_workers(len(NODES), timeout=_WAIT_SECONDS)
            yield pool
    finally:
        for process in reversed(started):
            process.kill()
            process.wait(30)


def config(level: int, number: int) -> ExperimentConfiguration:
    """Return a configuration of its own for each number, whose level decides how long it takes."""
    return ExperimentConfiguration(
        **LAUNCH, codegen_opt=level, passes=f"default<O3>,no-op-{number}"
    )


def compare(executor: FuturesReplayExecutor, level: int, number: int) -> dict[str, Any]:
    """Compare a configuration of a level with one of level 0, as the end of a search does."""

    def done(trial: int, one: ExperimentConfiguration, metric: float) -> CompletedCandidate:
        result = ExperimentResult(
            verified=True, executed=True, exec_time=[int(metric)] * _LAUNCHES, device="cpu"
        )
        return CompletedCandidate(
            candidate=Candidate(trial=trial, config=one),
            status="verified",
            result=result,
            metric=metric,
            baseline_metric=float(_NANOSECONDS),
        )

    baseline = done(-1, config(0, -1), _NANOSECONDS)
    # The search has met it on a node that was fast at that moment.
    trial = done(0, config(level, number), 0.9 * _NANOSECONDS)
    options = TuneOptions(record_database=RECORD, top=1, final_rounds=12)
    found = name_winner(executor, options, RECORDED, baseline, [trial], TuneListener())
    won = found.best.done.candidate.trial == 0
    standing = found.best if won else found.contender
    gain = None if standing is None else standing.gain
    return {"won": won, "ratio": None if gain is None else gain.ratio}


def measure(scratch: Path, comparisons: int) -> Iterator[dict[str, Any]]:
    """Compare often; yield a row for the same code, and one for faster code."""
    with (
        cluster(scratch) as pool,
        FuturesReplayExecutor(pool, RECORD, None, _LAUNCHES, device="cpu") as executor,
    ):
        executor.prepare()
        for level, what in ((3, "the same code"), (1, "code that takes 5 % less")):
            found = [compare(executor, level, number) for number in range(comparisons)]
            ratios = [one["ratio"] for one in found if one["ratio"] is not None]
            yield {
                "compared": what,
                "comparisons": comparisons,
                "significant": sum(one["won"] for one in found),
                "least_ratio": min(ratios, default=None),
                "median_ratio": statistics.median(ratios) if ratios else None,
                "largest_ratio": max(ratios, default=None),
            }
        done = Counter({name: one.finished for name, one in executor.nodes.items()})
        yield {"compared": "configurations measured by each node", **done}


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--output", type=Path, default=RESULTS / "unequal_nodes.jsonl")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        asyncio.run(work(*given.work))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for row in measure(Path(folder), given.comparisons):
            rows.append(row)
            print(json.dumps(row), flush=True)
    write_results(given.output, "the same code compared on unequal nodes", rows)


if __name__ == "__main__":
    main()
