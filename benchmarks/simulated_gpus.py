"""How well a search keeps many GPUs busy: a Dask cluster whose GPUs are simulated.

    python benchmarks/simulated_gpus.py [--gpus N [N ...]] [--milliseconds N [N ...]]

Scheduler, workers, transport and search are real, and only measuring is not: a worker sleeps for as
long as a configuration takes, and returns the time that a table of `results/spaces` has for it. What
counts is the efficiency: the share of their time that all GPUs together spend with configurations,
from the first one until the last result. "executor" submits configurations that are known before, and
"search" lets the sampler `auto` choose each. A search also says when it knew a configuration that is
within 5 % of the best one of the table.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import os
import queue
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import RESULTS, ROOT, read_results, write_results
from simulate import SPACES, TableSpace

from mneme.devices import DeviceLimits
from mneme.measure import remote_evaluation
from mneme.measure.cluster import open_cluster
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search import portfolio
from mneme.session.events import TuneListener
from mneme.session.loop import SearchLoop
from mneme.session.options import TuneOptions
from mneme.session.result_store import ResultStore
from mneme.session.studies import make_search
from mneme.session.trials import Candidate, CompletedCandidate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

TABLE = SPACES / "spmv_cg_cuda.jsonl.xz"
# Any recording: nothing opens it, the executor only has to find it.
RECORD = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
NEAR = 0.95
WAYS = ("executor", "search")
# Simulated GPUs of one process at most: a cluster of real ones has a process for each.
_GPUS_OF_A_PROCESS = 32
# Cores of this machine that are left to the scheduler and the search.
_OWN_CORES = 3
_TICK_MILLISECONDS = 1e3 / os.sysconf("SC_CLK_TCK")
_WAIT_SECONDS = 120
# Workers that share a process would spend its time with what Dask notes of each.
_QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5s",
}


@functools.cache
def table() -> dict[str, Any]:
    """Return the table that says how fast configurations are."""
    facts, members = read_results(TABLE)
    return {**facts, "members": members}


def examine(_spec: object, _version: str, number: int) -> dict[str, Any]:
    """Stand in for `remote_evaluation.examine`."""
    limits = asdict(DeviceLimits(id="cpu", name="simulated"))
    return {
        "host": os.uname().nodename,
        "pid": number,
        "limits": limits,
        "threads": 1,
        "cores": [0],
    }


def evaluate(
    seconds: float,
    _spec: object,
    _number: int,
    configurations: Sequence[dict[str, Any]],
    *_: object,
) -> dict[str, Any]:
    """Stand in for `remote_evaluation.evaluate`: let the time pass."""
    began, results = time.monotonic(), []
    for one in configurations:
        time.sleep(seconds)
        metric = table()["members"][int(one["passes"].split()[-1])][-1]
        done = ExperimentResult(
            verified=bool(metric),
            executed=True,
            failed=not metric,
            exec_time=[metric] if metric else [],
            launched_ns=int(seconds * 1e9),
            image_hash=one["passes"],
            result_class="exact" if metric else "failed",
        )
        results.append(done.to_dict())
    took = time.monotonic() - began
    return {"host": os.uname().nodename, "results": results, "seconds": took}


async def work(scheduler_file: str, gpus: int, seconds: float) -> None:
    """Be some workers of a cluster."""
    import distributed  # noqa: PLC0415 - optional

    remote_evaluation.examine = examine
    remote_evaluation.evaluate = functools.partial(evaluate, seconds)
    table()
    async with contextlib.AsyncExitStack() as stack:
        named = {"scheduler_file": scheduler_file, "nthreads": 1, "dashboard": False}
        workers = [distributed.Worker(**named) for _ in range(gpus)]
        for one in workers:
            await stack.enter_async_context(one)
        await asyncio.gather(*(one.finished() for one in workers))


@contextlib.contextmanager
def cluster(scratch: Path, gpus: int, seconds: float) -> Iterator[tuple[Executor | None, int]]:
    """Start a scheduler and workers; return the pool that `--on` makes, and the scheduler's id."""
    file = scratch / "scheduler.json"
    file.unlink(missing_ok=True)
    named = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1", "--port", "0"]
    lines = [[sys.executable, "-m", "dask", "scheduler", *named]]
    cores = max(1, (os.cpu_count() or 1) - _OWN_CORES)
    most = min(_GPUS_OF_A_PROCESS, -(-gpus // cores))
    for first in range(0, gpus, most):
        count = min(most, gpus - first)
        lines.append([sys.executable, __file__, "--work", str(file), str(count), str(seconds)])
    started: list[subprocess.Popen[bytes]] = []
    with (scratch / "dask.log").open("ab") as log:
        to_log: dict[str, Any] = {"cwd": scratch, "stdout": log, "stderr": log}
        for line in lines:
            started.append(subprocess.Popen(line, env={**os.environ, **_QUIET}, **to_log))
            while not file.exists() and started[0].poll() is None:
                time.sleep(0.1)
    try:
        with open_cluster(f"dask://{file}") as pool:
            client = getattr(pool, "_client")  # noqa: B009 - there is no other way to it
            client.wait_for_workers(gpus, timeout=_WAIT_SECONDS)
            yield pool, started[0].pid
    finally:
        for process in reversed(started):
            process.kill()
            process.wait(30)


def busy_milliseconds(process: int) -> float:
    """Return the processor time of a process so far."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) * _TICK_MILLISECONDS


def run_executor(executor: FuturesReplayExecutor, count: int) -> dict[str, Any]:
    """Submit known configurations, as many at a time as the executor wants."""
    configs = [ExperimentConfiguration(passes=f"member {one}") for one in range(count)]
    began = time.perf_counter()
    finished: queue.SimpleQueue[object] = queue.SimpleQueue()
    flying = 0
    for number, one in enumerate(configs):
        getattr(executor, "expect", int)(count - number)
        while flying >= executor.capacity:
            finished.get()
            flying -= 1
        executor.submit(one).add_done_callback(finished.put)
        flying += 1
    for _ in range(flying):
        finished.get()
    return {"configurations": count, "seconds": time.perf_counter() - began}


class _Clock(TuneListener):
    """Notes when the best of a table was nearly found."""

    def __init__(self, wanted: float) -> None:
        self._wanted = wanted
        self.seconds: float | None = None

    def progress(self, progress: Any) -> None:  # noqa: ANN401 - `Progress`
        best = progress.best
        if self.seconds is None and best is not None and best.metric <= self._wanted:
            self.seconds = progress.seconds


def run_search(executor: FuturesReplayExecutor, count: int, scratch: Path) -> dict[str, Any]:
    """Let `auto` choose, with everything that a session does for a trial."""
    space = TableSpace(table())
    options = TuneOptions(record_database="table", sampler="auto", seed=1, trials=count)
    search = make_search(options, space, record="table", capacity=executor.capacity)
    # It would end where nothing better is expected, which says nothing about busy GPUs.
    portfolio._PATIENCE = count  # noqa: SLF001
    usual = Candidate(trial=-1, config=ExperimentConfiguration(passes="usual"), params={})
    measured = ExperimentResult(verified=True, executed=True, exec_time=[table()["baseline_ns"]])
    baseline = CompletedCandidate(
        candidate=usual, status="verified", result=measured, metric=table()["baseline_ns"]
    )
    clock = _Clock(min(one for one in space.times.values() if one) / NEAR)
    with ResultStore(tempfile.mkdtemp(dir=scratch)) as store:
        store.open()
        loop = SearchLoop(
            executor,
            search,
            store,
            clock,
            options,
            baseline,
            measuring=Measuring(),
            iterations=1,
            capacity=executor.capacity,
        )
        began = time.perf_counter()
        loop.run(trials=count, timeout=None)
        seconds = time.perf_counter() - began
    near = {"seconds_to_95_percent": clock.seconds}
    return {"configurations": len(loop.completed), "seconds": seconds, **near}


def measure(
    scratch: Path, gpus: int, seconds: float, rounds: int, ways: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Measure one cluster; yield a row for each way."""
    for how in ways:
        with (
            cluster(scratch, gpus, seconds) as (pool, scheduler),
            FuturesReplayExecutor(pool, RECORD, None, 1, device="cpu") as executor,
        ):
            executor.prepare()
            busy, others = time.process_time(), busy_milliseconds(scheduler)
            if how == "executor":
                found = run_executor(executor, gpus * rounds)
            else:
                found = run_search(executor, gpus * rounds, scratch)
            busy = time.process_time() - busy
            others = busy_milliseconds(scheduler) - others
        share = found["configurations"] * seconds / (gpus * found["seconds"])
        yield {
            "gpus": gpus,
            "milliseconds": seconds * 1e3,
            "how": how,
            **found,
            "per_second": found["configurations"] / found["seconds"],
            "client_milliseconds": 1e3 * busy / found["configurations"],
            "scheduler_milliseconds": others / found["configurations"],
            "efficiency": share,
        }


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=[1, 4, 16, 64, 256], nargs="+")
    parser.add_argument("--milliseconds", type=float, default=[100], nargs="+")
    parser.add_argument("--rounds", type=int, default=100, help="configurations of each GPU")
    parser.add_argument("--ways", choices=WAYS, default=WAYS, nargs="+")
    parser.add_argument("--output", type=Path, default=RESULTS / "simulated_gpus.jsonl")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        file, gpus, seconds = given.work
        asyncio.run(work(file, int(gpus), float(seconds)))
        return
    rows = []
    load = os.getloadavg()[0]  # what else the machine does
    with tempfile.TemporaryDirectory() as folder:
        for milliseconds in given.milliseconds:
            for gpus in given.gpus:
                for row in measure(
                    Path(folder), gpus, milliseconds / 1e3, given.rounds, given.ways
                ):
                    rows.append(row)
                    print(json.dumps(row), flush=True)
    write_results(
        given.output,
        "a search on simulated GPUs of a Dask cluster",
        rows,
        rounds=given.rounds,
        load_before=load,
    )


if __name__ == "__main__":
    main()
