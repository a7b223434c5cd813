"""Clusters of one machine, for tests: Dask with hosts that are namespaces, and ranks of MPI."""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

with contextlib.suppress(ImportError):
    import dask.config  # noqa: F401 - now, while no test has set variables that it reads

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
CPU = ("--device", "cpu")


@contextlib.contextmanager
def dask_cluster(workers: int) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


def address_of(cluster: Any) -> str:
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


def mneme(
    *line: str | Path, before: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "mneme", *map(str, line)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, **variables},
    )


@contextlib.contextmanager
def settings_of_variables() -> Iterator[None]:
    """Let Dask have what variables say now, in this process too; then again what it had."""
    config = pytest.importorskip("dask").config
    before = copy.deepcopy(config.config)
    config.refresh()
    try:
        yield
    finally:
        config.config.clear()
        config.config.update(before)


@contextlib.contextmanager
def dask_nodes(
    folder: Path, hosts: dict[str, str], *options: str
) -> Iterator[tuple[str, dict[str, int]]]:
    """Start a worker on each of these hosts, which are namespaces, after a command of the shell.

    Variables that are set count until the end.

    Yields what `--on` names, and the process of each worker and of the scheduler.
    """
    pytest.importorskip("distributed")
    if subprocess.run(["unshare", "-um", "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces cannot be made: run as root")
    named = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    scheduler = [sys.executable, "-m", "dask", "scheduler", *named, "--host", "127.0.0.1"]
    started: dict[str, subprocess.Popen[bytes]] = {}
    with (folder / "dask.log").open("wb") as log:
        to_log: dict[str, Any] = {"stdout": log, "stderr": log, "cwd": folder}
        started["scheduler"] = subprocess.Popen([*scheduler, "--port", "0", *options], **to_log)
        for host, command in hosts.items():
            started[host] = subprocess.Popen(_line_of(folder, host, command), **to_log)
    try:
        with settings_of_variables():
            client = wait_for_client(folder / "scheduler.json")
            client.wait_for_workers(len(hosts), timeout=60)
            client.close()
            pids = {name: process.pid for name, process in started.items()}
            yield f"dask://{folder}/scheduler.json", pids
    finally:
        for one in started.values():
            one.kill()
            one.wait(30)


@contextlib.contextmanager
def late_node(folder: Path, host: str, command: str = "") -> Iterator[None]:
    """Start one more worker for the scheduler of `dask_nodes`; do not wait for it."""
    with (folder / f"{host}.log").open("wb") as log:
        line = _line_of(folder, host, command)
        worker = subprocess.Popen(line, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        worker.kill()
        worker.wait(30)


def _line_of(folder: Path, host: str, command: str) -> list[str]:
    named = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    worker = [sys.executable, "-m", "dask", "worker", *named, "--nthreads", "1", "--no-nanny"]
    script = f'hostname {host}; {command or ":"}; exec "$@"'
    return ["unshare", "-um", "sh", "-c", script, "sh", *worker]


def wait_for_client(file: Path) -> Any:
    distributed = pytest.importorskip("distributed")
    end = time.monotonic() + 30
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.05)
    security = distributed.Security()
    return distributed.Client(scheduler_file=str(file), security=security, set_as_default=False)


def mpi(tmp_path: Path, processes: int) -> dict[str, Any]:
    """Return how processes are started; PyPI's mpi4py looks for MPICH by the name of its ABI."""
    pytest.importorskip("mpi4py", exc_type=ImportError)
    launcher = shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("mpiexec is not installed (Debian: mpich)")
    own = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "libmpich.so.12"
    if own.exists():
        (tmp_path / "libmpi.so.12").symlink_to(own)
    return {
        "before": (launcher, "-n", str(processes)),
        "LD_LIBRARY_PATH": str(tmp_path),
    }
