"""Dask's executor as searches need it: it computes what it is given, and each of its futures ends.

Dask's own takes equal calls for one. What was cancelled, such as since all its workers were gone,
is then cancelled again when it is sent again. And its futures stay pending for ever if a result is
lost on its way and the call then fails, or is dropped.
"""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from typing import Any

import distributed.cfexecutor

__all__ = ["DaskPool"]

_dask: Any = distributed.cfexecutor  # has no types


class DaskPool(_dask.ClientExecutor):  # type: ignore[misc]
    """An executor of a client of Dask."""

    def __init__(self, client: Any, **options: Any) -> None:  # noqa: ANN401 - of Dask
        """Make it, with options of Dask's own executor."""
        # This saves Dask hashing all arguments, too.
        super().__init__(client, **{**options, "pure": False})

    def _wrap_future(self, call: Any) -> Future[Any]:  # noqa: ANN401 - of Dask
        future: Future[Any] = Future()

        def drop(ended: Future[Any]) -> None:
            if ended.cancelled() and call.status != "cancelled":
                call.cancel()

        future.add_done_callback(drop)
        self._client.loop.add_callback(_end, call, future)
        return future


async def _end(call: Any, future: Future[Any]) -> None:  # noqa: ANN401 - of Dask
    """Let a future end as a call does; if not that has failed, but Dask, as one that is cancelled.

    Dask may have failed to fetch the result, or to read it: then the error says why.
    """
    try:
        result = await call._result()  # noqa: SLF001 - there is no other way to it
    except BaseException as error:  # noqa: BLE001 - the future reports it
        if call.status == "cancelled":
            future.cancel()
        elif call.status != "error":
            error = CancelledError(f"{type(error).__name__}: {error}")
        if future.set_running_or_notify_cancel():
            future.set_exception(error)
    else:
        if future.set_running_or_notify_cancel():
            future.set_result(result)
