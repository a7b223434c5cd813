"""Questions to the workers of a Dask cluster that end: Dask waits for ever for one that hangs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable
from mneme.measure.pool_task import BrokenPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["ANSWER_SECONDS", "ask_workers", "threads_of"]

ANSWER_SECONDS = 60.0
"""A worker that takes longer hangs, such as in the driver of its GPU, or is cut off."""


def ask_workers(
    client: Any,  # noqa: ANN401 - of Dask
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - of the function
    workers: Iterable[str] | None = None,
    seconds: float | None = None,
) -> dict[str, Any]:
    """Call a function in workers, in all at the same time; none makes the others wait.

    Args:
        client: The client of the cluster.
        function: Called in each worker.
        arguments: Its arguments.
        workers: The addresses of the workers; None: all.
        seconds: How long they may take; None: ANSWER_SECONDS.

    Returns:
        What it returned by address; where it failed, or nobody answered in time, the exception.

    Raises:
        BrokenPool: If the scheduler does not answer.
    """
    limit = ANSWER_SECONDS if seconds is None else seconds
    asked = list(threads_of(client) if workers is None else workers)
    if not asked:
        return {}

    async def ask(address: str) -> Any:  # noqa: ANN401 - of the function
        question = client._run(function, *arguments, workers=[address], on_error="return")  # noqa: SLF001
        try:
            return (await asyncio.wait_for(question, limit))[address]
        except (asyncio.TimeoutError, TimeoutError):  # two classes before Python 3.11
            return BackendUnavailable(
                f"nothing answers there within {limit:g} s: its process hangs, such as in "
                "the driver of its GPU, or the network is cut"
            )
        except Exception as error:  # noqa: BLE001 - the caller reports it
            return error

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*map(ask, asked))

    return dict(zip(asked, _answer_of(client.sync, ask_all), strict=True))


def threads_of(client: Any) -> dict[str, int]:  # noqa: ANN401 - of Dask
    """Return how many threads each worker of a cluster has, by its address.

    Raises:
        BrokenPool: If the scheduler does not answer.
    """
    return dict(_answer_of(client.nthreads))


def _answer_of(question: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
    try:
        return question(*arguments)
    except Exception as error:  # of Dask's and the system's kinds
        raise BrokenPool(f"the scheduler of Dask does not answer: {error}") from error
