"""Recorded launches and devices as values, for tests of spaces and rules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from mneme.devices import DeviceLimits
from mneme.mneme_types import dim3
from mneme.search.launch_shapes import RecordedLaunch

__all__ = ["GPU", "dims", "kernel", "launches"]

GPU = DeviceLimits(id="gpu:0", name="a GPU", target="sm_90", multiprocessors=132)


def dims(text: str) -> dim3:
    return dim3(*map(int, text.split("x")))


def kernel(grid: str = "64x1x1", block: str = "128x1x1", **more: Any) -> SimpleNamespace:
    facts = {"shared_mem": 0, "available_specializations": [1], **more}
    return SimpleNamespace(grid_dim=dims(grid), block_dim=dims(block), **facts)


@st.composite
def launches(draw: Any) -> RecordedLaunch:
    """Launches a device could have run."""
    x = draw(st.sampled_from([1, 8, 16, 32, 37, 64, 96, 128, 256]))
    y = draw(st.sampled_from([1, 1, 2, 4]))
    z = draw(st.sampled_from([1, 1, 1, 3]))
    block = dim3(x, min(y, 1024 // x), 1 if x * y * z > 1024 else z)
    grid = dim3(draw(st.integers(1, 5000)), draw(st.integers(1, 40)), draw(st.integers(1, 5)))
    return RecordedLaunch(
        grid=grid,
        block=block,
        shared_mem=draw(st.sampled_from([0, 0, 1024])),
        max_threads=draw(st.sampled_from([0, 0, block.volume, 1024])),
        is_cooperative=draw(st.booleans()),
    )
