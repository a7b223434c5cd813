"""How many configurations a second are tried on a cluster, beside the pool of one machine.

    python benchmarks/cluster.py [--device cpu] [--gpus N [N ...]] [--trials N] [--rounds N]
    python benchmarks/cluster.py --device cuda:0 --kernels short middle --ways pool dask --rounds 4

Tunes kernels of several lengths with one process per GPU: the local pool, Dask's workers with all
cores and with one thread, and MPI's ranks. All ways have their turn in each round, in the other order
in every second one, and nothing is compiled before. A ratio is that of two turns of one round. The
rate is that of the search alone, without the start and the last rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from common import BUILD, RESULTS, ROOT, mneme, short, write_results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Kernel(NamedTuple):
    """A kernel that is tuned; each is named after its length."""

    cpu: tuple[str, ...]
    """An example with its arguments, on the CPU device; empty: none."""
    gpu: tuple[str, ...]
    trials: int
    """So many that a search takes seconds on one GPU: what its start costs counts in shorter ones."""


KERNELS = {
    "short": Kernel(("vector_add", "65536"), ("stencil2d",), 2000),
    "middle": Kernel((), ("stencil2d", "4096"), 2000),
    "long": Kernel(("nbody", "4096", "1"), ("nbody", "65536", "1"), 500),
}
# Searches that try a tenth as many configurations a second try a tenth as many.
_PART_OF_SLOW = 0.1
_PARTS = 4
_WORKER_SECONDS = 60
MNEME = [sys.executable, "-m", "mneme"]
Row = dict[str, Any]


@contextlib.contextmanager
def dask_cluster(scratch: Path, workers: int, threads: int, cache: Path) -> Iterator[str]:
    """Start a scheduler and workers on this machine; yield what `--on` names."""
    import distributed  # noqa: PLC0415 - large, and optional

    file = scratch / "scheduler.json"
    file.unlink(missing_ok=True)
    named = ["--scheduler-file", str(file), "--no-dashboard"]
    count = ["--nworkers", "1", "--nthreads", str(threads)]
    dask = [sys.executable, "-m", "dask"]
    lines = [[*dask, "scheduler", *named, "--host", "127.0.0.1", "--port", "0"]]
    lines += [[*dask, "worker", *named, *count] for _ in range(workers)]
    environment = {**os.environ, "MNEME_CACHE_DIR": str(cache)}
    with (scratch / "dask.log").open("ab") as log:
        started = [
            subprocess.Popen(line, cwd=scratch, stdout=log, stderr=log, env=environment)
            for line in lines
        ]
    try:
        end = time.monotonic() + _WORKER_SECONDS
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        make_client: Any = distributed.Client  # has no types
        with make_client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=_WORKER_SECONDS)
        yield f"dask://{file}"
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


def tuned(
    recording: Path, results: Path, trials: int, *more: str, before: tuple[str, ...] = ()
) -> Row:
    """Tune once; return what the session says of its executor, and the whole time."""
    known = ["--no-knowledge", "--seed", "1", "--trials", str(trials), "--quiet"]
    line = [*before, *MNEME, "tune", "-rdb", str(recording), "--results-dir", str(results), *known]
    began = time.perf_counter()
    environment = {**os.environ, "MNEME_CACHE_DIR": str(cache_of(results))}
    subprocess.run([*line, *more], check=True, timeout=900, env=environment)
    wall = time.perf_counter() - began
    summary = json.loads((results / "summary.json").read_text())
    found, count = summary["executor"], summary["num_trials_completed"]
    seconds = count / found["trials_per_second"]
    return {
        "trials": count,
        "per_second": found["trials_per_second"],
        **along(results / "trials.jsonl", seconds),
        "measured": found["measured"],
        "failures": found["failures"],
        "baseline_microseconds": summary["baseline_metric"] / 1e3,
        "seconds_in_all": wall,
    }


def cache_of(results: Path) -> Path:
    """Return the compile cache of a search: nothing that another one compiled is found."""
    return results.with_name("cache")


def along(trials: Path, seconds: float) -> Row:
    """Return how long a search took until its first result, and the rate in parts of what followed.

    Args:
        trials: The file of its trials, in the order in which they finished.
        seconds: How long it took.
    """
    lines = [json.loads(line)["result"] for line in trials.read_text().splitlines()]
    # One that takes the result of another one has the time at which that was measured.
    ends = [dt.datetime.fromisoformat(one["end_time"]) for one in lines if one["end_time"]]
    ends = list(accumulate(ends, max))
    if len(ends) < 2 * _PARTS:
        return {}
    places = [number * (len(ends) - 1) // _PARTS for number in range(_PARTS + 1)]
    took = [(ends[last] - ends[first]).total_seconds() for first, last in pairwise(places)]
    counts = [last - first for first, last in pairwise(places)]
    return {
        "seconds_to_first": max(0.0, seconds - (ends[-1] - ends[0]).total_seconds()),
        "per_second_in_parts": [
            count / max(1e-9, one) for count, one in zip(counts, took, strict=True)
        ],
    }


class Turns:
    """The ways in which one recording is tuned."""

    def __init__(
        self, scratch: Path, recording: Path, gpus: int, given: argparse.Namespace
    ) -> None:
        """Name them; nothing runs yet."""
        self._scratch, self._recording, self._gpus = scratch, recording, gpus
        self._device = ("--device", "cpu") if given.device == "cpu" else ()
        self._trials = given.trials or KERNELS[recording.name].trials
        threads = (os.cpu_count() or 2) // gpus
        known: dict[str, tuple[str, Callable[[], Row]]] = {
            "pool": ("local pool", self._pool),
            "dask": (f"Dask, {threads} threads a worker", lambda: self._dask(threads)),
            "dask-one": ("Dask, 1 threads a worker", lambda: self._dask(1)),
            "mpi": ("MPI", self._mpi),
        }
        wanted = [one for one in given.ways if one != "mpi" or has_mpi()]
        if self._device:  # its processes compile for themselves, with one core each
            wanted = [one for one in wanted if one != "dask"]
        self.ways = {way: one for way, one in known.items() if way in wanted}

    def _once(self, *more: str, part: float = 1.0, before: tuple[str, ...] = ()) -> Row:
        results, trials = self._scratch / "results", int(part * self._trials)
        return tuned(self._recording, results, max(8, trials), *self._device, *more, before=before)

    def _pool(self) -> Row:
        return self._once("--workers", str(self._gpus))

    def _dask(self, threads: int) -> Row:
        part = 1.0 if self._device or threads > 1 else _PART_OF_SLOW
        cache = cache_of(self._scratch / "results")
        with dask_cluster(self._scratch, self._gpus, threads, cache) as on:
            return self._once("--on", on, part=part)

    def _mpi(self) -> Row:
        ranks = (shutil.which("mpiexec") or "mpiexec", "-n", str(self._gpus + 1))
        return self._once("--on", "mpi", before=ranks)

    def clean(self) -> None:
        """Remove what a search left."""
        results = self._scratch / "results"
        shutil.rmtree(results, ignore_errors=True)
        shutil.rmtree(cache_of(results), ignore_errors=True)


def has_mpi() -> bool:
    """Whether ranks can be started: the package may be there without the library of an MPI."""
    line = [sys.executable, "-c", "import mpi4py.MPI"]
    tried = subprocess.run(line, capture_output=True, check=False)
    return shutil.which("mpiexec") is not None and tried.returncode == 0


def measure(turns: Turns, rounds: int) -> Iterator[Row]:
    """Yield a row for every turn of every round, then the ratios of each way."""
    rates: dict[str, list[float]] = {way: [] for way in turns.ways}
    for number in range(rounds):
        for way in list(turns.ways)[:: -1 if number % 2 else 1]:
            how, once = turns.ways[way]
            found = once()
            turns.clean()
            rates[way].append(found["per_second"])
            yield {"way": way, "how": how, "round": number + 1, **found}
    for way, own in rates.items():
        row = {"way": way, "how": turns.ways[way][0], "rounds": rounds, "per_second": spread(own)}
        if way != "pool" and "pool" in rates:
            parts = [one / pool for one, pool in zip(own, rates["pool"], strict=True)]
            row["of_local_pool"] = spread(parts)
        yield row


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median of values, the lowest and the highest."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gpus", type=int, default=[1], nargs="+")
    parser.add_argument("--trials", type=int, help="as many as take seconds, if it is left out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernels", choices=KERNELS, default=list(KERNELS), nargs="+")
    ways = ("pool", "dask", "dask-one", "mpi")
    parser.add_argument("--ways", choices=ways, default=ways, nargs="+")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    kind = "cpu" if given.device == "cpu" else "gpu"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, kernel in KERNELS.items():
            program, *arguments = getattr(kernel, kind) or ("",)
            if not program or name not in given.kernels:
                continue
            guest = [str(BUILD / "examples" / program), *arguments]
            mneme(
                *("record", "-rdb", scratch / name, "-mr", "1", "--device", given.device),
                *("--", *guest),
            )
            first: dict[str, float] = {}  # the rate on as many GPUs as come first, by way
            for gpus in given.gpus:
                for row in measure(Turns(scratch, scratch / name, gpus, given), given.rounds):
                    rows.append({"kernel": name, "gpus": gpus, **row})
                    if "round" not in row:
                        rate = row["per_second"]["median"]
                        rows[-1]["of_first_gpus"] = rate / first.setdefault(row["way"], rate)
                    print(json.dumps(short(rows[-1])), flush=True)
    several = "_two_gpus" if max(given.gpus) > 1 else "_gpu"
    path = given.output or RESULTS / (
        "cluster.jsonl" if kind == "cpu" else f"cluster{several}.jsonl"
    )
    write_results(path, (__doc__ or "").splitlines()[0], rows, device=given.device)
    print(f"written to {os.path.relpath(path, ROOT)}")


if __name__ == "__main__":
    main()
