"""A pool of processes of a Ray cluster (https://docs.ray.io): `--on ray://HOST:PORT`."""

from __future__ import annotations

import contextlib
import socket
import threading
import warnings
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mneme.errors import BackendUnavailable
from mneme.install.hints import package_hint
from mneme.measure.remote_evaluation import place_here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from types import ModuleType

__all__ = ["RayPool", "ray_pool"]

_PORT, _SECONDS = 10001, 10.0
_EXTRA = "'mneme-gpu[ray]'"
# One task is measured while the next is compiled.
_TASKS_AT_ONCE = 2


class _Process:
    """An actor: a process of the cluster that keeps its GPU until the search ends."""

    def call(self, function: Callable[..., Any], *arguments: object) -> tuple[bool, Any]:
        """Return whether a function returned, and what it returned or raised."""
        try:
            return True, function(*arguments)
        except Exception as error:  # noqa: BLE001 - Ray would wrap it in an error of its own
            return False, error


class RayPool(Executor):
    """One process for each GPU of the cluster; without GPUs, one for each node. Thread-safe.

    What a dead process had is given to another one.
    """

    tasks_at_once = _TASKS_AT_ONCE
    """Tasks that a process takes at a time."""

    def __init__(self, ray: Any, device: str | None) -> None:  # noqa: ANN401 - the module
        """Start the processes.

        Args:
            ray: Ray, connected.
            device: What measures; with "cpu" no GPU is asked for.
        """
        gpus = 0 if device == "cpu" else int(ray.cluster_resources().get("GPU", 0))
        nodes = sum(1 for node in ray.nodes() if node["Alive"])
        kind = ray.remote(_Process).options(
            num_gpus=min(1, gpus),
            num_cpus=1,
            max_concurrency=_TASKS_AT_ONCE,
            scheduling_strategy="SPREAD",
        )
        self._ray = ray
        # Ray calls back in a thread of its own, in which its client must not be used.
        self._landing = ThreadPoolExecutor(1, thread_name_prefix="mneme-ray")
        self._lock = threading.Lock()
        self._loads = {kind.remote(): 0 for _ in range(gpus or nodes)}
        self._max_workers = len(self._loads)

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        """Call a function in the process that has least to do.

        Raises:
            BrokenExecutor: If no process is left.
        """
        if kwargs:
            raise TypeError("functions are called with positional arguments only")
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._start(future, fn, args)
        return future

    def count(self) -> int:
        """Return how many processes there are; fails if the cluster does not answer."""
        self._ray.nodes()
        return len(self._loads)

    def leave_out(self, places: Collection[str]) -> None:
        """End the processes with these places; nothing may be running in them."""
        for actor in list(self._loads):
            is_here, place = actor.call.remote(place_here).future().result(_SECONDS)
            if is_here and place in places:
                with self._lock:
                    self._loads.pop(actor, None)
                self._ray.kill(actor)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as in Executor
        """End all processes."""
        del wait, cancel_futures
        for actor in list(self._loads):
            with contextlib.suppress(Exception):  # it may be gone
                self._ray.kill(actor)
        self._loads.clear()
        self._landing.shutdown(wait=False)

    def _start(self, future: Future[Any], fn: Callable[..., Any], args: tuple[object, ...]) -> None:
        with self._lock:
            if not self._loads:
                raise BrokenExecutor("no process of the Ray cluster is left")
            actor = min(self._loads, key=lambda one: self._loads[one])
            self._loads[actor] += 1
        task = actor.call.remote(fn, *args).future()

        def land(done: Future[tuple[bool, Any]]) -> None:
            with contextlib.suppress(RuntimeError):  # the pool is shut down
                self._landing.submit(self._end, done, actor, future, fn, args)

        task.add_done_callback(land)

    def _end(
        self,
        done: Future[tuple[bool, Any]],
        actor: Any,  # noqa: ANN401
        future: Future[Any],
        fn: Callable[..., Any],
        args: tuple[object, ...],
    ) -> None:
        error = done.exception()
        with self._lock:
            if error is None and actor in self._loads:
                self._loads[actor] -= 1
            elif error is not None:
                self._loads.pop(actor, None)
        if error is None:
            is_returned, value = done.result()
            if is_returned:
                future.set_result(value)
            else:
                future.set_exception(value)
            return
        if "No module named" in str(error):
            future.set_exception(ImportError(str(error).strip().splitlines()[-1]))
            return
        try:
            self._start(future, fn, args)
        except Exception as broken:  # noqa: BLE001 - Ray's own, too, if its server is gone
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            future.set_exception(BrokenExecutor(f"{broken} ({reason})"))


def _connected(ray: ModuleType, on: str) -> object:
    """Connect; once more if Ray could not start the server that it has for each client."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the error says the same
        try:
            return ray.init(on, log_to_driver=False, logging_level="ERROR")
        except ConnectionAbortedError:
            ray.shutdown()
            return ray.init(on, log_to_driver=False, logging_level="ERROR")


@contextlib.contextmanager
def ray_pool(
    on: str, *, device: str | None, report: Callable[[str], None] = lambda _: None
) -> Iterator[RayPool]:
    """Connect to a Ray cluster, and use all its GPUs until the end.

    Args:
        on: The address of its client server, "ray://HOST:PORT".
        device: What measures.
        report: Receives where the cluster shows what it does.

    Raises:
        BackendUnavailable: If Ray is missing, or nothing answers.
    """
    try:
        import ray  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        raise BackendUnavailable(
            f"--on {on} needs Ray: {package_hint('ray', _EXTRA)} ({error})"
        ) from error
    module: Any = ray
    try:
        # Ray itself waits for half a minute before it says that nothing listens.
        place = urlsplit(on)
        socket.create_connection((place.hostname or "", place.port or _PORT), _SECONDS).close()
        context = _connected(module, on)
    except Exception as error:  # of many kinds: nobody answers, another Ray, another Python
        # A server's error ends with its reason, after the traceback.
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1].strip()
        raise BackendUnavailable(
            f"no Ray cluster can be used at '{on}' ({reason}); start one with 'ray start --head', "
            "whose client server has port 10001"
        ) from error
    if page := getattr(context, "dashboard_url", None):
        report(f"Ray shows what runs at http://{page}")
    try:
        with RayPool(module, device) as pool:
            yield pool
    finally:
        module.shutdown()
