"""Notices that a pool has lost all its processes: schedulers wait for new ones for ever."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from typing_extensions import Self

__all__ = ["PATIENCE_SECONDS", "PoolWatch"]

PATIENCE_SECONDS = 60.0
"""New processes may take this long: Dask's nannies and queues of jobs replace those that died."""

_POLL_SECONDS = 1.0


class PoolWatch:
    """A thread that calls back once a cluster has had no process for a while."""

    def __init__(self, count: Callable[[], int], on_lost: Callable[[str], None]) -> None:
        """Start.

        Args:
            count: Returns how many processes there are; whatever it raises means none.
            on_lost: Called once, with a sentence, from the thread.
        """
        self._count_all = count
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mneme-pool-watch", daemon=True)
        self._thread.start()

    @classmethod
    def of(
        cls,
        pool: Any,  # noqa: ANN401 - an `Executor`
        on_lost: Callable[[str], None],
        addresses: Callable[[], AbstractSet[str]],
    ) -> Self | None:
        """Watch a pool; None if it cannot say how many processes it has, as those of MPI.

        Args:
            pool: The pool.
            on_lost: Called once, with a sentence, from the thread.
            addresses: Returns the workers of a Dask cluster that count.
        """
        client, count = getattr(pool, "_client", None), getattr(pool, "count", None)
        if client is not None:
            return cls(lambda: len(addresses() & client.nthreads().keys()), on_lost)
        return None if count is None else cls(count, on_lost)

    def stop(self) -> None:
        """End; the callback is not called any more, unless it is running."""
        self._stop.set()

    def _run(self) -> None:
        last_seen = time.monotonic()
        while not self._stop.wait(_POLL_SECONDS):
            if self._count():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen >= PATIENCE_SECONDS:
                self._on_lost(f"the pool has had no process for {PATIENCE_SECONDS:g} s")
                return

    def _count(self) -> int:
        try:
            return self._count_all()
        except Exception:  # noqa: BLE001 - of the cluster's own kinds: nobody answers
            return 0
