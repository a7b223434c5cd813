"""The pools of other people's schedulers on which configurations are measured (`--on`).

Scheduling, transport, retries and dashboards are those of the scheduler. Dask and MPI are the two
that need nothing of ours on the nodes beyond mneme: Dask where workers come and go, MPI inside a
job that has its nodes already.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.install.hints import package_hint
from mneme.measure.sent_recordings import remove_sent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

__all__ = ["check_cluster", "open_cluster"]

_MPI: Final = "mpi"
# The schemes of addresses, and what Dask calls them.
_DASK: Final = {"dask": "tcp", "dask+tls": "tls"}
_DASK_EXTRA: Final = "'mneme-gpu[dask]'"
_CONNECT_SECONDS: Final = 10.0
_WORKER_SECONDS: Final = 60.0
_EXAMPLES: Final = "dask://HOST:PORT, dask:///PATH/TO/scheduler.json, or mpi"


def check_cluster(on: str) -> None:
    """Refuse what names no cluster.

    Raises:
        InvalidArgument: If it is neither "mpi" nor an address of Dask.
    """
    scheme, mark, place = on.partition("://")
    if on != _MPI and not (mark and place and scheme in _DASK):
        raise InvalidArgument(f"--on is '{on}'; it is {_EXAMPLES}")


@contextlib.contextmanager
def open_cluster(on: str | None) -> Iterator[Executor | None]:
    """Return the pool of a cluster, None for this machine; close it at the end.

    With "mpi" only the first process returns. The others measure until it closes the pool, and
    then exit with 0.

    Args:
        on: As in `--on`: "dask://HOST:PORT", "dask+tls://HOST:PORT" (certificates are those of
            Dask's own configuration), "dask:///PATH/TO/scheduler.json", "mpi"; None: here.

    Raises:
        InvalidArgument: If it is none of these.
        BackendUnavailable: If a package is missing, or nothing answers.
    """
    if on is None:
        yield None
        return
    check_cluster(on)
    with _mpi_pool() if on == _MPI else _dask_pool(on) as pool:
        yield pool


@contextlib.contextmanager
def _dask_pool(on: str) -> Iterator[Any]:
    try:
        import distributed as dask  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        raise BackendUnavailable(
            f"--on {on} needs Dask: {package_hint('distributed', _DASK_EXTRA)} ({error})"
        ) from error
    scheme, _, place = on.partition("://")
    named: dict[str, Any] = (
        {"scheduler_file": place}
        if place.startswith("/")
        else {"address": f"{_DASK[scheme]}://{place}"}
    )
    make_client: Any = dask.Client  # has no types
    try:
        client = make_client(**named, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise BackendUnavailable(
            f"no Dask scheduler answers at '{on}' ({error}); start one with 'dask scheduler'"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            raise BackendUnavailable(
                f"the Dask scheduler at '{on}' has had no worker for {_WORKER_SECONDS:g} s; start "
                "them with 'dask worker'"
            ) from error
        try:
            yield client.get_executor()
        finally:
            with contextlib.suppress(Exception):  # the cluster may be gone
                client.run(remove_sent, client.id)


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
