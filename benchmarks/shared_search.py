"""One search in many processes: what N processes on a study find with the trials of one.

    python benchmarks/shared_search.py                       # every table in results/spaces
    python benchmarks/shared_search.py --processes 1 4

The members of a space are tables of `simulate.py`, so nothing is compiled or run. The processes share a
study and have a sampler each, as on nodes of a cluster. A trial takes a fixed time and that of its launches
(`SECONDS`, `LAUNCHES`): whichever process ends first is next, and has not heard of what the others run. What
counts is the best time of the table over the best found after all trials, the same number for any number
of processes, and which trials repeat a member that was known or under way when they began.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

import optuna
from common import RESULTS, read_results, write_results
from simulate import SPACES, TableSpace, key_of

from mneme.search.auto_sampler import AutoSampler

PROCESSES = (1, 4, 16, 64)
SECONDS, LAUNCHES = 0.02, 50
"""What a trial takes besides its launches, and how many of these there are."""
FAILURE_SECONDS = 0.01
QUARTER, HALF = 0.25, 0.5


def search(table: dict[str, Any], processes: int, trials: int, seed: int) -> dict[str, Any]:
    """Search a table once; return the part of its best speed that was found, and repeats."""
    space = TableSpace(table)
    optimum = min(one for one in space.times.values() if one)
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(storage=storage, study_name="shared")
    studies = [
        optuna.load_study(
            study_name="shared",
            storage=storage,
            sampler=AutoSampler(space, seed=seed * 1000 + number),
        )
        for number in range(processes)
    ]
    rng = random.Random(seed)
    order = itertools.count()
    # When a process is free, and what it ends then.
    free: list[tuple[float, int, int, Any]] = [
        (rng.random() * SECONDS, next(order), number, None) for number in range(processes)
    ]
    heapq.heapify(free)
    begun: set[tuple[Any, ...]] = set()
    best, curve, repeated, asked, now = float("inf"), [], 0, 0, 0.0
    while free:
        now, _, number, ended = heapq.heappop(free)
        study = studies[number]
        if ended is not None:
            trial, metric = ended
            state = None if metric else optuna.trial.TrialState.PRUNED
            study.tell(trial, metric or None, state=state)
            best = min(best, metric or best)
            curve.append(optimum / best)
        if asked == trials:
            continue
        asked += 1
        trial = study.ask()
        key = key_of(study.sampler.sample_for(trial.number).params, space.names)  # type: ignore[attr-defined]
        repeated += key in begun
        begun.add(key)
        metric = space.times[key]
        takes = SECONDS + LAUNCHES * metric * 1e-9 if metric else FAILURE_SECONDS
        heapq.heappush(free, (now + takes, next(order), number, (trial, metric)))
    return {"curve": curve, "repeated": repeated / trials, "seconds": now}


def compare(
    table: dict[str, Any], counts: list[int], trials: int, seeds: int
) -> list[dict[str, Any]]:
    """Search a table with each number of processes and each seed."""
    rows: list[dict[str, Any]] = []
    for count in counts:
        runs = [search(table, count, trials, seed) for seed in range(seeds)]

        def after(part: float, runs: list[dict[str, Any]] = runs) -> float:
            return statistics.fmean(run["curve"][int(part * trials) - 1] for run in runs)

        rows.append(
            {
                "processes": count,
                "trials": trials,
                "found": after(1.0),
                "found_median": statistics.median(run["curve"][-1] for run in runs),
                "after_a_quarter": after(QUARTER),
                "after_a_half": after(HALF),
                "repeated": statistics.fmean(run["repeated"] for run in runs),
                "most_repeated": max(run["repeated"] for run in runs),
                "simulated_seconds": statistics.fmean(run["seconds"] for run in runs),
            }
        )
        print(f"  {count} processes: {rows[-1]['found']:.4f}", file=sys.stderr)
    return rows


def main() -> int:
    """Search every table and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", nargs="+", type=int, default=list(PROCESSES))
    parser.add_argument("--tables", nargs="*", default=[], help="names of tables; all if none")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS / "shared_search.jsonl")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore")
    results: list[dict[str, Any]] = []
    for path in sorted(SPACES.glob("*.jsonl.xz")):
        name = path.name.partition(".")[0]
        if options.tables and name not in options.tables:
            continue
        print(name, file=sys.stderr)
        facts, members = read_results(path)
        table = {**facts, "members": members}
        about = {"table": name, "members": len(members)}
        rows = compare(table, options.processes, options.trials, options.seeds)
        results += [{**about, **one} for one in rows]
    write_results(options.output, "one search in many processes", results, seeds=options.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
