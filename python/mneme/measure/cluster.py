"""The pools of other people's schedulers on which configurations are measured (`--on`).

Scheduling, transport, retries and dashboards are those of the scheduler. Dask and MPI are the two
that need nothing of ours on the nodes beyond mneme: Dask where workers come and go, in jobs of
Slurm or Flux too, MPI inside a job that has its nodes already. Ray is for those who have it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.install.hints import package_hint
from mneme.measure.dask_questions import ask_workers
from mneme.measure.interpreter_settings import quick_switches
from mneme.measure.job_queue import BATCH_SYSTEMS, check_cluster_options, job_cluster
from mneme.measure.job_time import seconds_of_job
from mneme.measure.pool_processes import of_model
from mneme.measure.ray_pool import ray_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

__all__ = ["check_cluster", "open_cluster", "seconds_left"]

_MPI: Final = "mpi"
# The schemes of addresses, and what Dask calls them.
_DASK: Final = {"dask": "tcp", "dask+tls": "tls", "dask+tcp": "tcp"}
_DASK_EXTRA: Final = "'mneme-gpu[dask]'"
_CONNECT_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1
_WORKER_SECONDS: Final = 60.0
# Closing a recording takes less; nobody should wait for a worker that hangs.
_END_SECONDS: Final = 5.0
_RAY: Final = "ray"
_EXAMPLES: Final = (
    "dask://HOST:PORT, dask:///PATH/TO/scheduler.json, slurm, flux, mpi, or ray://HOST:PORT"
)


def check_cluster(on: str | None, cluster_options: Sequence[str] = ()) -> None:
    """Refuse what names no cluster.

    Raises:
        InvalidArgument: If it is neither "mpi", nor a batch system, nor an address; or if
            there are options of jobs and no jobs.
    """
    scheme, mark, place = (on or "").partition("://")
    is_known = on in (None, _MPI, *BATCH_SYSTEMS) or (mark and place and scheme in (*_DASK, _RAY))
    if not is_known:
        raise InvalidArgument(f"--on is '{on}'; it is {_EXAMPLES}")
    if cluster_options and on not in BATCH_SYSTEMS:
        raise InvalidArgument(f"--cluster is for --on {' and --on '.join(BATCH_SYSTEMS)}")
    check_cluster_options(cluster_options)


@contextlib.contextmanager
def open_cluster(
    on: str | None,
    *,
    cluster_options: Sequence[str] = (),
    model: str | None = None,
    device: str | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Executor | None]:
    """Return the pool of a cluster, None for this machine; close it at the end.

    With "mpi" only the first process returns. The others measure until it closes the pool, and
    then exit with 0.

    Args:
        on: As in `--on`: "dask://HOST:PORT", "dask+tls://HOST:PORT" (certificates are those of
            Dask's own configuration; where it has some, "dask://" is encrypted, too, and
            "dask+tcp://" is not), "dask:///PATH/TO/scheduler.json", "slurm", "flux", "mpi",
            "ray://HOST:PORT"; None: here.
        cluster_options: As in `--cluster`: for "slurm" and "flux".
        model: As in `--model`: only processes whose GPU has this in its name; None: all.
        device: What measures; jobs for "cpu" ask for no GPU.
        report: Receives what happens to jobs, and where the cluster shows what it does.

    Raises:
        InvalidArgument: If it is none of these.
        BackendUnavailable: If a package is missing, nothing answers, or there is no such GPU.
    """
    check_cluster(on, cluster_options)
    if on is None:
        yield None
        return
    if on == _MPI:
        opened: contextlib.AbstractContextManager[Any] = _mpi_pool()
    elif on.startswith(_RAY + "://"):
        opened = ray_pool(on, device=device, report=report)
    elif on in BATCH_SYSTEMS:
        opened = _pool_of(job_cluster(on, cluster_options, device=device, report=report))
    else:
        opened = _pool_of(_dask_client(on, report))
    with opened as pool:
        yield pool if model is None else of_model(pool, model, device)


def seconds_left(pool: Executor | None) -> float | None:
    """Return the seconds until the job of this process, or the last one of a pool's, has to end.

    Args:
        pool: As `open_cluster` gives it.

    Returns:
        None if nothing limits them.
    """
    own = seconds_of_job()
    client: Any = getattr(pool, "_client", None)
    if client is None:
        return own
    # Processes that cannot answer are named when they are looked at.
    answers = ask_workers(client, seconds_of_job).values()
    theirs = [one for one in answers if not isinstance(one, BaseException)]
    last = None if None in theirs else max(theirs, default=None)
    return min((one for one in (own, last) if one is not None), default=None)


@contextlib.contextmanager
def _pool_of(opened: contextlib.AbstractContextManager[Any]) -> Iterator[Any]:
    """Return the pool of a Dask client."""
    from mneme.measure.remote_evaluation import end_search  # noqa: PLC0415 - opens recordings

    with opened as client, quick_switches(), _quiet_client():
        try:
            yield client.get_executor()
        finally:
            with contextlib.suppress(Exception):  # the cluster may be gone
                ask_workers(client, end_search, client.id, seconds=_END_SECONDS)


@contextlib.contextmanager
def _quiet_client() -> Iterator[None]:
    """Leave it to this program to say what became of a connection: Dask prints tracebacks."""
    loggers = [logging.getLogger(name) for name in ("distributed.client", "tornado.application")]
    levels = [one.level for one in loggers]
    try:
        for one in loggers:
            one.setLevel(logging.CRITICAL)
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


@contextlib.contextmanager
def _dask_client(on: str, report: Callable[[str], None]) -> Iterator[Any]:
    try:
        import distributed as dask  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        raise BackendUnavailable(
            f"--on {on} needs Dask: {package_hint('distributed', _DASK_EXTRA)} ({error})"
        ) from error
    make_client: Any = dask.Client  # has no types
    try:
        address = _address_of(on)
        # A client that cannot connect says so at length, when it is thrown away.
        asyncio.run(_try_to_connect(address))
        client = make_client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, asyncio.TimeoutError) as error:
        raise BackendUnavailable(
            f"no Dask scheduler answers at '{on}' ({error}); start one with 'dask scheduler'"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except (TimeoutError, asyncio.TimeoutError) as error:  # two classes before Python 3.11
            raise BackendUnavailable(
                f"the Dask scheduler at '{on}' has had no worker for {_WORKER_SECONDS:g} s; start "
                "them with 'dask worker'"
            ) from error
        if "dashboard" in client.scheduler_info()["services"]:
            report(f"Dask shows what runs at {client.dashboard_link}")
        yield client


def _address_of(on: str) -> str:
    """Return what Dask calls a scheduler, which may still be starting.

    Raises:
        OSError, ValueError: If its file does not appear, or is not one.
    """
    scheme, _, place = on.partition("://")
    if not place.startswith("/"):
        protocol = "tls" if scheme == "dask" and _has_certificates() else _DASK[scheme]
        return f"{protocol}://{place}"
    end = time.monotonic() + _CONNECT_SECONDS
    while not Path(place).exists() and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
    return str(json.loads(Path(place).read_text())["address"])


def _has_certificates() -> bool:
    """Whether Dask's configuration gives certificates: a connection is encrypted then."""
    import distributed  # noqa: PLC0415 - large, and optional

    dask: Any = distributed  # has no types
    return dask.Security().get_connection_args("client").get("ssl_context") is not None


async def _try_to_connect(address: str) -> None:
    import distributed  # noqa: PLC0415 - large, and optional

    dask: Any = distributed  # has no types
    secrets = dask.Security().get_connection_args("client")
    connection = await dask.comm.connect(address, timeout=_CONNECT_SECONDS, **secrets)
    await connection.close()


@contextlib.contextmanager
def _mpi_pool() -> Iterator[Any]:
    try:
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI
        from mpi4py.futures import MPICommExecutor  # noqa: PLC0415
    except (ImportError, RuntimeError) as error:
        raise BackendUnavailable(
            f"--on mpi needs mpi4py for the MPI of this cluster: {package_hint('mpi4py')} ({error})"
        ) from error
    if MPI.COMM_WORLD.size == 1:
        raise InvalidArgument(
            "--on mpi needs two processes or more, since the first one only searches: say "
            "'mpiexec -n 5 mneme tune ... --on mpi', or the same with srun"
        )
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
        if pool is not None:
            yield pool
            return
    raise SystemExit(0)  # the pool of this process's work has been closed
