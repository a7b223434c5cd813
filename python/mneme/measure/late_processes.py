"""Looks at workers that join a Dask cluster after a search began, before they measure anything.

They refuse what they get until they are admitted. The pool of a search is limited to some workers
only while there are others that must not measure.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable
from mneme.measure.dask_questions import threads_of
from mneme.measure.pool_processes import PoolProcesses, look_at_late
from mneme.measure.pool_task import is_connected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from mneme.measure.pool_processes import PoolProcess
    from mneme.measure.remote_evaluation import RemoteSpec

__all__ = ["LateProcesses", "News"]

_POLL_SECONDS = 1.0


class News:
    """Sentences about workers that come late or go, found in another thread than the search's."""

    def __init__(self) -> None:
        """Make it empty."""
        self._lock = threading.Lock()
        self._gone: set[str] = set()
        self._left_out: deque[str] = deque()
        self._joined: deque[str] = deque()
        self.warn: Callable[[str], None] = lambda told: warnings.warn(
            told, RuntimeWarning, stacklevel=5
        )
        """Receives which workers are left out, or gone, and why."""
        self.note: Callable[[str], None] = lambda _: None
        """Receives which workers measure, too."""

    def add(
        self, found: PoolProcesses, known: Mapping[str, PoolProcess], alive: AbstractSet[str]
    ) -> None:
        """Remember what was found out about late workers, and which workers are gone.

        Args:
            found: The late ones.
            known: All that measure, by address.
            alive: The addresses of those that are there.
        """
        gone = known.keys() - alive
        with self._lock:
            newly, self._gone = gone - self._gone, gone
        for host, count in Counter(known[at].host for at in sorted(newly)).items():
            who = "a process is" if count == 1 else f"{count} processes are"
            self._left_out.append(f"{host}: {who} gone: dead, or cut off from the network")
        self._left_out += found.warnings
        for host, count in Counter(one.host for one in found.usable).items():
            more = "another process" if count == 1 else f"{count} more processes"
            self._joined.append(f"{more} of {host} joined and can measure")

    def tell(self) -> None:
        """Report what was not reported yet, in this thread."""
        while self._left_out:
            self.warn(self._left_out.popleft())
        while self._joined:
            self.note(self._joined.popleft())


class LateProcesses:
    """A thread that looks at workers when they join."""

    def __init__(
        self,
        pool: Any,  # noqa: ANN401 - of Dask
        spec: RemoteSpec,
        known: Iterable[str],
        on_look: Callable[[set[str], PoolProcesses], None],
    ) -> None:
        """Start.

        Args:
            pool: The pool as it was before the others were looked at.
            spec: What they are to measure, and on which model.
            known: The addresses of workers that were looked at.
            on_look: Called from the thread, again and again, with the addresses of all workers and
                what was found out about new ones.
        """
        self._pool, self._spec, self._seen, self._on_look = pool, spec, set(known), on_look
        self._stop = threading.Event()
        threading.Thread(target=self._run, name="mneme-late", daemon=True).start()

    def stop(self) -> None:
        """End; the callback is not called any more, unless it is running."""
        self._stop.set()

    def note_gone(self, news: News, known: Mapping[str, PoolProcess]) -> None:
        """Add which of the known workers are gone now, unless the scheduler does not answer."""
        if not is_connected(self._pool):
            return
        with contextlib.suppress(BackendUnavailable):
            alive = threads_of(self._pool._client).keys()  # noqa: SLF001
            news.add(PoolProcesses(pool=self._pool), known, alive)

    def _run(self) -> None:
        while not self._stop.wait(_POLL_SECONDS):
            try:
                alive = set(self._pool._client.nthreads())  # noqa: SLF001
                late = alive - self._seen
                found = look_at_late(self._pool, self._spec, sorted(late))
                if not self._stop.is_set():
                    self._on_look(alive, found)
            except Exception:  # noqa: BLE001, S112 - of the cluster's own kinds: nobody answers
                continue
            # One that comes back under its address may be another.
            self._seen = alive
