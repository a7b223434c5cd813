"""Finds processes of a pool that need much longer than others for one configuration.

A node that is busy with something else, throttled or misconfigured makes everything it measures
look slow: the search would learn from it.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.measure.remote_evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from concurrent.futures import Executor

    from mneme.measure.pool_processes import PoolProcess, PoolProcesses
    from mneme.measure.remote_evaluation import RemoteSpec
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["Baseline", "Comparison", "find_slow"]

# Short launches on the CPU device differ by more than a factor between processes that are alike.
_LEAST_ON_CPU_NS = 100_000.0

# Devices of one model differ by a few percent.
_FACTOR = 1.5
# What looks slow is measured again this often, and the best counts.
_ROUNDS = 3
_POLL_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Baseline:
    """What all processes measure, so that the slow ones are found."""

    config: ExperimentConfiguration

    least_ns: float = 0.0
    """Smaller differences do not count."""

    fastest_ns: float = math.inf
    """The best time so far."""


def find_slow(
    pool: Any,  # noqa: ANN401 - an `Executor`
    spec: RemoteSpec,
    addresses: Iterable[str],
    baseline: Baseline,
) -> dict[str, str]:
    """Return why processes are too slow, by address; those that fail are not among them.

    Args:
        pool: The pool. Where none of its processes can be chosen, it gets as many tasks as it has
            processes, while nothing else runs.
        spec: What they measure.
        addresses: The processes.
        baseline: What all of them measure: once, and again where it takes more than 1.5 times as
            long as on the fastest of these and of those before. Gets the best time.
    """
    best: dict[str, float] = dict.fromkeys(addresses, math.inf)
    slow = set(best)
    client = getattr(pool, "_client", None)
    for number in range(_ROUNDS):
        if client is None:
            times = _times_of_pool(pool, spec, len(best), baseline.config, number)
        else:
            times = _times(client, spec, slow, baseline.config, number)
        for address in slow & times.keys():
            found = times[address]
            best[address] = min(best[address], found)
        best = {address: found for address, found in best.items() if found < math.inf}
        fastest = min(best.values(), default=math.inf)
        fastest = baseline.fastest_ns = min(fastest, baseline.fastest_ns)
        limit = max(_FACTOR * fastest, fastest + baseline.least_ns)
        slow = {address for address, found in best.items() if found > limit}
        if not slow:
            break
    return {
        address: (
            f"takes {best[address] / 1e3:.1f} µs for the baseline, and the fastest "
            f"{fastest / 1e3:.1f} µs: something else slows it down"
        )
        for address in slow
    }


class Comparison:
    """Compares the processes of a pool by the baseline, and later those that join.

    Attributes:
        lock: Held while processes are compared, and until it is known which of them measure.
    """

    def __init__(self) -> None:
        """Nothing is compared yet."""
        self.lock = threading.Lock()
        self._baseline: Baseline | None = None

    def begin(
        self,
        pool: Any,  # noqa: ANN401 - an `Executor`
        spec: RemoteSpec,
        processes: Mapping[str, PoolProcess],
        config: ExperimentConfiguration,
    ) -> dict[str, str]:
        """Return why processes, which are given by address, are too slow for a baseline."""
        is_cpu = any(one.device == "cpu" for one in processes.values())
        self._baseline = Baseline(config=config, least_ns=_LEAST_ON_CPU_NS if is_cpu else 0.0)
        return find_slow(pool, spec, processes, self._baseline)

    def leave_out_late(self, found: PoolProcesses, spec: RemoteSpec) -> None:
        """Leave out processes that joined after `begin` and are too slow."""
        if self._baseline is None or not found.by_address:
            return
        slow = find_slow(found.pool, spec, found.by_address, self._baseline)
        for address, why in slow.items():
            found.left_out[address] = f"{found.by_address.pop(address).host} {why}"


def _times(
    client: Any,  # noqa: ANN401
    spec: RemoteSpec,
    addresses: Iterable[str],
    config: ExperimentConfiguration,
    number: int,
) -> Mapping[str, float]:
    """Return nanoseconds by address."""
    tasks = {
        address: client.submit(
            *_task(spec, config, number),
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )
        for address in addresses
    }
    answers = {address: _answer_of(client, address, task) for address, task in tasks.items()}
    return {address: one for address, (_, one) in answers.items() if one < math.inf}


def _answer_of(client: Any, address: str, task: Any) -> tuple[str, float]:  # noqa: ANN401
    """Return as `_answer`; infinite if the only process that may take the task is gone."""
    is_done = threading.Event()
    task.add_done_callback(lambda _: is_done.set())
    while not is_done.wait(_POLL_SECONDS):
        # Dask would wait for ever for another process with this address.
        if address not in _alive(client):
            task.cancel()
            return "", math.inf
    return _answer(task)


def _alive(client: Any) -> Collection[str]:  # noqa: ANN401
    """Return the addresses of all processes; none if the scheduler does not answer."""
    try:
        return set(client.nthreads())
    except Exception:  # noqa: BLE001 - of the cluster's own kinds
        return ()


def _times_of_pool(
    pool: Executor, spec: RemoteSpec, count: int, config: ExperimentConfiguration, number: int
) -> Mapping[str, float]:
    """Return nanoseconds by the places of those processes that took a task."""
    tasks = [pool.submit(*_task(spec, config, number)) for _ in range(count)]
    found: dict[str, float] = {}
    for place, one in map(_answer, tasks):
        found[place] = min(one, found.get(place, math.inf))
    return found


def _task(spec: RemoteSpec, config: ExperimentConfiguration, number: int) -> tuple[Any, ...]:
    options = {"fresh": True, "iterations": None, "measuring": None}
    return evaluate, spec, number, [config.to_dict()], b"", options


def _answer(task: Any) -> tuple[str, float]:  # noqa: ANN401 - a future, of Dask or of Python
    """Return which process took a task, and its nanoseconds; infinite if it failed."""
    try:
        answer = task.result()
        (result,) = answer["results"]
    except Exception:  # noqa: BLE001 - it fails in the search, too, and is named there
        return "", math.inf
    # Fields that are as usual are not sent: a result that failed has no times.
    return str(answer.get("place", "")), min(result.get("exec_time", ()), default=math.inf)
