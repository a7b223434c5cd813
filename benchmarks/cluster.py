"""How many configurations a second are tried on a cluster, beside the pool of one machine.

    python benchmarks/cluster.py [--device cpu] [--gpus N [N ...]] [--trials N]

Tunes kernels of several lengths with one process per GPU: the local pool, Dask's workers with one
thread and with several, and MPI's ranks. The rate is that of the search alone, without the start and
the last rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import BUILD, RESULTS, ROOT, mneme, write_results

if TYPE_CHECKING:
    from collections.abc import Iterator

# Example with its arguments: on the CPU device, and on a GPU. Each is named after its kernel's length.
KERNELS: dict[str, dict[str, tuple[str, ...]]] = {
    "short": {"cpu": ("vector_add", "65536"), "gpu": ("stencil2d",)},
    "middle": {"gpu": ("stencil2d", "4096")},
    "long": {"cpu": ("nbody", "4096", "1"), "gpu": ("nbody", "65536", "1")},
}
MNEME = [sys.executable, "-m", "mneme"]


@contextlib.contextmanager
def dask_cluster(scratch: Path, workers: int, threads: int) -> Iterator[str]:
    """Start a scheduler and workers on this machine; yield what `--on` names."""
    file = scratch / f"scheduler-{workers}-{threads}.json"
    named = ["--scheduler-file", str(file), "--no-dashboard"]
    count = ["--nworkers", "1", "--nthreads", str(threads)]
    dask = [sys.executable, "-m", "dask"]
    lines = [[*dask, "scheduler", *named, "--host", "127.0.0.1", "--port", "0"]]
    lines += [[*dask, "worker", *named, *count] for _ in range(workers)]
    with (scratch / "dask.log").open("ab") as log:
        started = [subprocess.Popen(line, cwd=scratch, stdout=log, stderr=log) for line in lines]
    try:
        yield f"dask://{file}"
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


def tuned(
    recording: Path, results: Path, trials: int, *more: str, before: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Tune once; return what the session says of its executor, and the whole time."""
    known = ["--no-knowledge", "--seed", "1", "--trials", str(trials), "--quiet"]
    line = [*before, *MNEME, "tune", "-rdb", str(recording), "--results-dir", str(results), *known]
    began = time.perf_counter()
    # Nothing that another run compiled is found.
    environment = {**os.environ, "MNEME_CACHE_DIR": str(results) + "-cache"}
    subprocess.run([*line, *more], check=True, timeout=900, env=environment)
    wall = time.perf_counter() - began
    summary = json.loads((results / "summary.json").read_text())
    return {
        "trials": summary["num_trials_completed"],
        "per_second": summary["executor"]["trials_per_second"],
        "baseline_microseconds": summary["baseline_metric"] / 1e3,
        "seconds_in_all": wall,
    }


def measure(
    scratch: Path, recording: Path, gpus: int, given: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tune a recording in every way; yield the way and what came of it."""
    device = ("--device", "cpu") if given.device == "cpu" else ()

    def once(*more: str, before: tuple[str, ...] = ()) -> dict[str, Any]:
        results = Path(tempfile.mkdtemp(dir=scratch)) / "results"
        return tuned(recording, results, given.trials, *device, *more, before=before)

    yield "local pool", once("--workers", str(gpus))
    threads = (os.cpu_count() or 2) // gpus
    for count in (1,) if device else (1, threads):
        with dask_cluster(scratch, gpus, count) as on:
            yield f"Dask, {count} threads a worker", once("--on", on)
    launcher = shutil.which("mpiexec")
    # The package may be there without the library of an MPI.
    tried = subprocess.run([sys.executable, "-c", "import mpi4py.MPI"], capture_output=True)  # noqa: PLW1510
    if launcher and tried.returncode == 0:
        ranks = (launcher, "-n", str(gpus + 1))
        yield "MPI", once("--on", "mpi", before=ranks)


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gpus", type=int, default=[1], nargs="+")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--kernels", choices=KERNELS, default=list(KERNELS), nargs="+")
    given = parser.parse_args()
    kind = "cpu" if given.device == "cpu" else "gpu"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, programs in KERNELS.items():
            if kind not in programs or name not in given.kernels:
                continue
            program, *arguments = programs[kind]
            guest = [str(BUILD / "examples" / program), *arguments]
            mneme(
                *("record", "-rdb", scratch / name, "-mr", "1", "--device", given.device),
                *("--", *guest),
            )
            for gpus in given.gpus:
                for how, found in measure(scratch, scratch / name, gpus, given):
                    rows.append({"kernel": name, "gpus": gpus, "how": how, **found})
                    print(rows[-1], flush=True)
    machine = "_two_gpus" if max(given.gpus) > 1 else "_gpu"
    path = RESULTS / ("cluster.jsonl" if kind == "cpu" else f"cluster{machine}.jsonl")
    write_results(path, (__doc__ or "").splitlines()[0], rows, device=given.device)
    print(f"written to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
