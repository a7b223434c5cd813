"""Finds processes of a Dask cluster that need much longer than others for one configuration.

A node that is busy with something else, throttled or misconfigured makes everything it measures
look slow: the search would learn from it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mneme.measure.remote_evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mneme.measure.remote_evaluation import RemoteSpec
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["find_slow"]

# Devices of one model differ by a few percent.
_FACTOR = 1.5
# What looks slow is measured again this often, and the best counts.
_ROUNDS = 3


def find_slow(
    client: Any,  # noqa: ANN401 - of Dask
    spec: RemoteSpec,
    addresses: Iterable[str],
    config: ExperimentConfiguration,
    *,
    least_ns: float = 0.0,
) -> dict[str, str]:
    """Return why processes are too slow, by address; those that fail are not among them.

    Args:
        client: Dask's client.
        spec: What they measure.
        addresses: The processes.
        config: What all of them measure: once, and again where it takes more than 1.5 times as long
            as on the fastest.
        least_ns: Smaller differences do not count.
    """
    best: dict[str, float] = dict.fromkeys(addresses, math.inf)
    slow = set(best)
    for number in range(_ROUNDS):
        for address, found in _times(client, spec, slow, config, number).items():
            best[address] = min(best[address], found)
        best = {address: found for address, found in best.items() if found < math.inf}
        fastest = min(best.values(), default=math.inf)
        limit = max(_FACTOR * fastest, fastest + least_ns)
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


def _times(
    client: Any,  # noqa: ANN401
    spec: RemoteSpec,
    addresses: Iterable[str],
    config: ExperimentConfiguration,
    number: int,
) -> Mapping[str, float]:
    """Return nanoseconds by address."""
    options = {"fresh": True, "iterations": None, "measuring": None}
    tasks = {
        address: client.submit(
            *(evaluate, spec, number, [config.to_dict()], b"", options),
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )
        for address in addresses
    }
    found: dict[str, float] = {}
    for address, task in tasks.items():
        try:
            (result,) = task.result()["results"]
        except Exception:  # noqa: BLE001, S112 - it fails in the search, too, and is named there
            continue
        if result["exec_time"]:
            found[address] = min(result["exec_time"])
    return found
