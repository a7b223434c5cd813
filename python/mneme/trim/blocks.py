"""Blocks that a launch does not need."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance
    from mneme.trim.trials import Trials

__all__ = ["smallest_grid"]

_Grid = tuple[int, int, int]


def smallest_grid(trials: Trials, instance: KernelInstance) -> str:
    """Make the smallest grid that leaves a part of what the recorded one leaves the reference.

    The smallest is tried first, then each extent is doubled. Returns why the grid stays as it is;
    empty if it does not.
    """
    dims = instance.grid_dim
    whole = (dims.x, dims.y, dims.z)
    if whole == (1, 1, 1):
        return "it has one block"
    if instance.is_cooperative or instance.cluster_dim:
        return "its blocks know one another"
    refusal = ""
    for grid in _candidates(whole):
        if time.monotonic() > trials.ends:
            refusal = "the time was over"
            break
        answer = trials.take_reference(grid)
        if not answer:
            return ""
        refusal = refusal or answer
    trials.take_reference(whole)
    return refusal


def _candidates(whole: _Grid) -> list[_Grid]:
    grids: list[_Grid] = []
    extent = 1
    while True:
        x, y, z = (min(one, extent) for one in whole)
        grid = (x, y, z)
        if grid == whole:
            return grids
        grids.append(grid)
        extent *= 2
