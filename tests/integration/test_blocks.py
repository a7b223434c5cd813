"""Numbers of blocks: which examples take any, and that what is tried is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import records

from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.recording.recorded_execution import RecordedExecution
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.launch_shapes import grid_of

EXPECTED = {
    "spmv_cg": [True, True],
    "reduction": [True],
    "vector_add": [False],
    "stencil2d": [False],
    "heat3d": [False],
    "nbody": [False],
}


@pytest.mark.compile
@pytest.mark.parametrize("name", EXPECTED)
def test_kernels_that_loop_over_their_grid_are_launched_with_other_grids(
    name: str, recordings: dict[str, Path], tmp_path: Path
) -> None:
    found = []
    for path in records(recordings[name]):
        record_id, instance = next(iter(RecordedExecution.from_json(path).items()))
        with AsyncReplayExecutor(
            path, record_id, 1, tmp_path, 1, 0, device="cpu", timeout=60.0
        ) as executor:
            space = BuiltinTuneSearchSpace(instance, preset="standard", device="cpu")
            space.adapt(executor.evaluate)
            counts = list(space.dimensions()["blocks"].values())
            found.append(len(counts) > 1)
            cores = space.limits.multiprocessors
            assert counts == [0, *(cores * n for n in (1, 2, 4, 8, 16, 32))][: len(counts)]
            configs = [space.baseline() for _ in counts]
            for count, config in zip(counts, configs, strict=True):
                config.grid = grid_of(space.launch, config.block, count)
            results = [executor.evaluate(config) for config in configs]
        assert [config.grid.volume for config in configs[1:]] == counts[1:]
        assert all(result.verified for result in results)
    assert found == EXPECTED[name]
