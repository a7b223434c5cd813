"""What the cases of tests/apps/gpu_record/graph_kernels.cu launch in their graphs, and what is recorded of that."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STEP = "step"
JOIN = "join"
# Kernel, blocks and threads of each launch that is recorded, and how many there were of each kernel.
CASES: dict[str, tuple[Sequence[tuple[str, int, int]], dict[str, int]]] = {
    "captured": (
        [(STEP, 8, 128), (JOIN, 8, 128), (STEP, 8, 128)],
        {STEP: 6, JOIN: 3},
    ),
    "explicit": ([(STEP, 8, 128), (STEP, 16, 64)], {STEP: 5}),
    "updated": ([(STEP, 8, 128), (STEP, 4, 256), (STEP, 2, 512), (STEP, 32, 32)], {STEP: 4}),
    "child": (
        [(STEP, 16, 64), (STEP, 8, 128), (STEP, 8, 128), (STEP, 4, 256), (STEP, 32, 32), (STEP, 2, 512)],
        {STEP: 8},
    ),
    "forked": (
        [(STEP, 8, 128), (STEP, 4, 256), (STEP, 4, 256), (JOIN, 8, 128)],
        {STEP: 6, JOIN: 2},
    ),
}  # fmt: skip
# The same for "memory", whose nodes allocate memory and free it: with CUDA.
MEMORY = ([(STEP, 8, 128)], {STEP: 2})
# And for the cases of tests/apps/gpu_record/graph_allocations.cu.
FILL = "fill"
ADD = "addTo"
ALLOCATIONS: dict[str, tuple[Sequence[tuple[str, int, int]], dict[str, int]]] = {
    "captured": ([(FILL, 8, 128), (ADD, 4, 256)], {FILL: 3, ADD: 3}),
    "explicit": ([(FILL, 8, 128)] * 2 + [(ADD, 8, 128)], {FILL: 6, ADD: 3}),
    "left": ([(FILL, 8, 128)] + [(ADD, 8, 128)] * 3, {FILL: 4, ADD: 3}),
    "elsewhere": ([(FILL, 8, 128), (ADD, 8, 128)], {FILL: 2, ADD: 2}),
    "one by one": ([(FILL, 8, 128), (ADD, 8, 128)] * 6, {FILL: 6, ADD: 6}),
    "failed": ([(FILL, 8, 128), (ADD, 4, 256)], {FILL: 3, ADD: 3}),
    "again": ([(FILL, 8, 128), (ADD, 4, 256)], {FILL: 6, ADD: 6}),
}
# Options of `mneme record`, and what is recorded of "captured" and "updated" with them.
FILTERS: dict[str, tuple[str, Sequence[str], Sequence[tuple[str, int, int]]]] = {
    "one kernel": ("captured", ("--kernels", JOIN), [(JOIN, 8, 128)]),
    "one launch": ("updated", ("-mr", "1"), [(STEP, 8, 128)]),
    "dimensions": ("updated", ("--dims", "2/512"), [(STEP, 2, 512)]),
}
# What is recorded of "waiting", and what is said of the rest.
PATIENCE = ("--kernel-patience", "1")
BEFORE_THE_WAIT = [(STEP, 8, 128)]
# On a busy machine it is waited for longer: ten times the longest kernel.
GIVEN_UP = "'waitFor(int volatile*, int*)' was not recorded: after "
EVERYTHING = ("-mr", "20")
MEMORY_IS_NAMED = (
    "a graph was launched whose kernels are not recorded: it allocates or frees memory"
)


def recorded_launches(directory: Path) -> Counter[tuple[str, int, int]]:
    """Kernel, blocks and threads of each recorded launch."""
    return Counter(
        (
            record["DemangledName"].split("(")[0],
            instance["GridDims"]["x"],
            instance["BlockDims"]["x"],
        )
        for record in map(_read, directory.glob("*.json"))
        for instance in record["instances"].values()
    )


def launch_counts(directory: Path) -> dict[str, int]:
    """How often each recorded kernel was launched in all."""
    return {
        record["DemangledName"].split("(")[0]: record["Launches"]
        for record in map(_read, directory.glob("*.json"))
    }


def _read(path: Path) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    record: dict[str, dict[str, dict[str, dict[str, int]]]] = json.loads(path.read_text())
    return record
