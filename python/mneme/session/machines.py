"""Tells users on which machines a search measures, and on which it cannot."""

from __future__ import annotations

import functools
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mneme.measure.pool_processes import helpers_of
from mneme.session.events import NodeReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.measure.statistics import NodeStatistics
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.session.events import TuneListener
    from mneme.session.result_store import ResultStore

_NO_HELPERS = (
    "a process that has a single core compiles and measures in turn; with N cores for each GPU, by "
    "'dask worker --nthreads N' or 'srun --cpus-per-task=N', it tries several times as many "
    "configurations a second"
)

__all__ = [
    "count_workers",
    "leave_out_slow",
    "prepare",
    "renewed",
    "report_nodes",
    "warn_of_machines",
]


def prepare(executor: Any, store: ResultStore, listener: TuneListener) -> None:  # noqa: ANN401
    """Let an executor prepare, and report which processes of its pool can measure.

    Raises:
        BackendUnavailable: If none can.
    """
    if not hasattr(executor, "prepare"):
        return
    _warned(executor.prepare, store, listener)
    if hasattr(executor, "news"):
        executor.news.warn = functools.partial(_tell, store, listener.warn)
        executor.news.note = functools.partial(_tell, store, listener.note)
    if hosts := _nodes(executor):
        counts = {host: node.processes for host, node in hosts.items()}
        places = (f"{host} ({count})" if count > 1 else host for host, count in counts.items())
        model = _pool_processes(executor)[0].limits.name
        sentence = f"measuring on {model}, by processes of {', '.join(places)}"
        store.log(sentence)
        listener.note(sentence)
        processes = _pool_processes(executor)
        is_alone = any(one.threads == 1 and one.device != "cpu" for one in processes)
        is_rank = not any(one.threads or one.device == "cpu" for one in processes)
        if is_alone or (is_rank and not helpers_of(processes)):
            listener.warn(_NO_HELPERS)


def leave_out_slow(
    executor: Any,  # noqa: ANN401 - an `Executor`
    baseline: ExperimentConfiguration,
    store: ResultStore,
    listener: TuneListener,
) -> None:
    """Let an executor leave out processes that take far too long for the baseline."""
    if hasattr(executor, "leave_out_slow"):
        _warned(functools.partial(executor.leave_out_slow, baseline), store, listener)


def _warned(action: Callable[[], None], store: ResultStore, listener: TuneListener) -> None:
    """Report what an action warns of."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        action()
    for sentence in (str(one.message) for one in given):
        _tell(store, listener.warn, sentence)


def _tell(store: ResultStore, tell: Callable[[str], None], sentence: str) -> None:
    store.log(sentence)
    tell(sentence)


def report_nodes(
    executor: Any,  # noqa: ANN401 - an `Executor`
    store: ResultStore,
    listener: TuneListener,
) -> dict[str, Any]:
    """Report what each host of a pool has done, and what was left out; return it as plain values.

    Nothing for executors of this machine.
    """
    if hasattr(executor, "tell_news"):
        executor.tell_news()
    nodes = _nodes(executor)
    if not nodes:
        return {}
    found = NodeReport(
        hosts=nodes,
        left_out=dict(executor.left_out),
        seconds=executor.statistics.wall_seconds,
    )
    for host, node in nodes.items():
        failed = f", {node.failures} of them failed" if node.failures else ""
        busy = 100 * found.busy_share(host)
        store.log(f"{host}: {node.finished} configurations{failed}, busy {busy:.0f} %")
    listener.nodes(found)
    plain = {host: asdict(node) for host, node in nodes.items()}
    return {"nodes": plain, "left_out": found.left_out}


def renewed(
    executor: Any,  # noqa: ANN401 - an `Executor`
    opens: Callable[[], Any],
    *,
    cancel: bool = False,
) -> Any:  # noqa: ANN401
    """Return an executor that opens the recording anew: stray writes may be in what is open."""
    if hasattr(executor, "renew"):  # it knows which processes of a pool can measure
        executor.renew(cancel=cancel)
        return executor
    executor.shutdown(cancel=cancel)
    return opens()


def count_workers(executor: Any, wanted: int) -> int:  # noqa: ANN401 - an `Executor`
    """Return how many processes measure; `wanted` if the executor does not know."""
    return len(_pool_processes(executor)) or max(1, wanted)


def warn_of_machines(executor: Any, store: ResultStore, listener: TuneListener) -> None:  # noqa: ANN401
    """Warn of an executor that may compare times of different devices."""
    if getattr(executor, "can_pin", True) or hasattr(executor, "submit_together"):
        return
    sentence = (
        "the executor chooses for itself where it measures, so the last rounds may compare "
        "times of different devices; gains are right only if all devices of its pool are alike"
    )
    store.log(sentence)
    listener.warn(sentence)


def _nodes(executor: Any) -> dict[str, NodeStatistics]:  # noqa: ANN401
    nodes: dict[str, NodeStatistics] = getattr(executor, "nodes", {})
    return nodes


def _pool_processes(executor: Any) -> list[Any]:  # noqa: ANN401
    found = getattr(executor, "workers", None)
    return [one for one in found if hasattr(one, "limits")] if isinstance(found, list) else []
