"""Writes the gains that a program showed into the knowledge file."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mneme.deploy.tuning_results import read_result
from mneme.errors import MnemeError
from mneme.knowledge.place import knowledge_place
from mneme.knowledge.store import KnowledgeStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.deploy import Deployed
    from mneme.knowledge.entry import Entry
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.optimize.result import KernelResult

__all__ = ["learn_production"]


def learn_production(deployed: Iterable[Deployed], kernels: Iterable[KernelResult]) -> str:
    """Replace gains in replays by gains in the program, good or bad.

    Kernels with several tuned launches are left out: the program shows one gain for all of them.

    Args:
        deployed: The measured deployment.
        kernels: The gain of each kernel in the program.

    Returns:
        A message if it cannot be written; else nothing.
    """
    place = knowledge_place()
    shown = {one.name: one.production for one in kernels if one.production is not None}
    by_name: dict[str, list[Deployed]] = {}
    for one in deployed:
        by_name.setdefault(one.kernel_name, []).append(one)
    alone = [found[0] for name, found in by_name.items() if name in shown and len(found) == 1]
    if place is None or not alone:
        return ""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    store = KnowledgeStore(place)
    learned = []
    try:
        known = store.entries()
        for one in alone:
            gain = shown[one.kernel_name]
            learned += [
                replace(entry, gain=gain.ratio, low=gain.low, high=gain.high, date=now)
                for entry in known
                if _is_about(entry, one)
            ]
        if learned:
            store.add(learned)
    except MnemeError as error:
        return f"what the program showed is not remembered: {error}"
    return ""


def _is_about(entry: Entry, one: Deployed) -> bool:
    match = one.variant.match
    if match.grid is None or match.block is None:
        return False
    is_launch = (entry.grid, entry.block, entry.shared_mem) == (
        (match.grid.x, match.grid.y, match.grid.z),
        (match.block.x, match.block.y, match.block.z),
        match.shared_mem,
    )
    config = _config_of(one)
    is_code = entry.static_hash == one.code and entry.arch == match.arch
    return is_launch and is_code and config is not None and entry.config == config.to_dict()


def _config_of(one: Deployed) -> ExperimentConfiguration | None:
    """Return the configuration of a tuning that is deployed: the best, or that of the launch."""
    result = read_result(one.directory)
    for choice in (result.best, result.same_launch):
        if choice is not None and choice.gain == one.variant.gain:
            return choice.config
    return None
