"""Notices that a pool has lost all its processes: schedulers wait for new ones for ever."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PATIENCE_SECONDS", "PoolWatch"]

PATIENCE_SECONDS = 60.0
"""New processes may take this long: Dask's nannies and queues of jobs replace those that died."""

_POLL_SECONDS = 1.0


class PoolWatch:
    """A thread that calls back once a Dask cluster has had no worker for a while."""

    def __init__(self, client: Any, on_lost: Callable[[str], None]) -> None:  # noqa: ANN401 - of Dask
        """Start.

        Args:
            client: Dask's client.
            on_lost: Called once, with a sentence, from the thread.
        """
        self._client = client
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mneme-pool-watch", daemon=True)
        self._thread.start()

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
            return len(self._client.nthreads())
        except Exception:  # noqa: BLE001 - of Dask's own kinds: no scheduler, no workers
            return 0
