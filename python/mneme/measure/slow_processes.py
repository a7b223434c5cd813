"""Finds processes of a pool that need much longer than others for one configuration.

A node that is busy with something else, throttled or misconfigured makes everything it measures
look slow: the search would learn from it.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable
from mneme.measure import dask_questions
from mneme.measure.dask_questions import threads_of
from mneme.measure.remote_evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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

    failed: set[str] = field(default_factory=set)
    """The addresses of those where it failed, though not everywhere."""


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
            long as on the fastest of these and of those before. Gets the best time, and where
            it failed.

    Raises:
        BackendUnavailable: If the scheduler of Dask does not answer for long.
    """
    best: dict[str, float] = dict.fromkeys(addresses, math.inf)
    slow = set(best)
    failed: set[str] = set()
    client = getattr(pool, "_client", None)
    for number in range(_ROUNDS):
        if client is None:
            times = _times_of_pool(pool, spec, len(best), baseline.config, number)
        else:
            times = _times(client, spec, slow, baseline.config, number)
        for address in slow & times.keys():
            found = times[address]
            best[address] = min(best[address], found)
        failed |= {address for address in best.keys() & times.keys() if best[address] == math.inf}
        best = {address: found for address, found in best.items() if found < math.inf}
        fastest = min(best.values(), default=math.inf)
        fastest = baseline.fastest_ns = min(fastest, baseline.fastest_ns)
        limit = max(_FACTOR * fastest, fastest + baseline.least_ns)
        slow = {address for address, found in best.items() if found > limit}
        if not slow:
            break
    baseline.failed = failed if fastest < math.inf else set()
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
        """Return why processes, which are given by address, are too slow for a baseline.

        Warns of those that could not be compared.

        Raises:
            BackendUnavailable: If the scheduler of Dask does not answer for long.
        """
        is_cpu = any(one.device == "cpu" for one in processes.values())
        self._baseline = Baseline(config=config, least_ns=_LEAST_ON_CPU_NS if is_cpu else 0.0)
        slow = find_slow(pool, spec, processes, self._baseline)
        for sentence in _not_compared(self._baseline, processes):
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)
        return slow

    def leave_out_late(self, found: PoolProcesses, spec: RemoteSpec) -> None:
        """Leave out processes that joined after `begin` and are too slow."""
        if self._baseline is None or not found.by_address:
            return
        slow = find_slow(found.pool, spec, found.by_address, self._baseline)
        found.doubts += _not_compared(self._baseline, found.by_address)
        for address, why in slow.items():
            found.left_out[address] = f"{found.by_address.pop(address).host} {why}"


def _not_compared(baseline: Baseline, processes: Mapping[str, PoolProcess]) -> list[str]:
    """Return a sentence for each host with processes where the baseline failed."""
    hosts = Counter(processes[address].host for address in sorted(baseline.failed))
    return [
        f"{host}: {'a process' if count == 1 else f'{count} processes'} could not be compared with "
        "the others, since the baseline failed there; if something slows it down, nobody notices"
        for host, count in hosts.items()
    ]


def _times(
    client: Any,  # noqa: ANN401
    spec: RemoteSpec,
    addresses: Iterable[str],
    config: ExperimentConfiguration,
    number: int,
) -> Mapping[str, float]:
    """Return nanoseconds by address, infinite where it failed, without processes that are gone."""

    def asked(among: Iterable[str]) -> dict[str, Any]:
        how = {"allow_other_workers": False, "pure": False}
        task = _task(spec, config, number)
        return {address: client.submit(*task, workers=[address], **how) for address in among}

    def answered(tasks: dict[str, Any]) -> dict[str, float | None]:
        return {address: _time_of(client, address, task) for address, task in tasks.items()}

    tasks = asked(addresses)
    answers = answered(tasks)
    # Dask drops all that a client has at the scheduler when their connection breaks.
    dropped = [one for one, at in answers.items() if at is not None and tasks[one].cancelled()]
    answers.update(answered(asked(dropped)))
    return {address: one for address, one in answers.items() if one is not None}


def _time_of(client: Any, address: str, task: Any) -> float | None:  # noqa: ANN401
    """Return nanoseconds, infinite if it failed; None: the only process that may take it is gone.

    Raises:
        BackendUnavailable: If the scheduler does not answer for long.
    """
    is_done = threading.Event()
    task.add_done_callback(lambda _: is_done.set())
    last_heard = time.monotonic()
    while not is_done.wait(_POLL_SECONDS):
        try:
            is_there = address in threads_of(client)
        except BackendUnavailable:  # this says nothing of the process
            if time.monotonic() - last_heard > dask_questions.ANSWER_SECONDS:
                raise
            continue
        last_heard = time.monotonic()
        # Dask would wait for ever for another process with this address.
        if not is_there:
            task.cancel()
            return None
    return _answer(task)[1]


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
