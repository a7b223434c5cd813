"""Dimensions of the built-in search spaces that depend on the kernel: blocks and unrolling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from launch_samples import GPU, dims, kernel
from mneme.knobs import CODE_NUMBERS
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.launch_shapes import RecordedLaunch, covering_grid, grid_of
from mneme.search.recorded_code import has_loops
from native_parts import needs_native

pytestmark = needs_native


def make(recorded: Any = None, **options: Any) -> BuiltinTuneSearchSpace:
    return BuiltinTuneSearchSpace(recorded or kernel(), limits=GPU, **options)


def values(space: BuiltinTuneSearchSpace, name: str) -> list[Any]:
    return list(space.dimensions()[name].values())


def threads(config: ExperimentConfiguration) -> int:
    return config.grid.volume * config.block.volume


def always_right(_: ExperimentConfiguration) -> ExperimentResult:
    return ExperimentResult(executed=True, verified=True)


COUNTS = [132, 264, 528, 1056, 2112, 4224]


def test_kernels_that_loop_over_their_grid_get_other_numbers_of_blocks() -> None:
    space = make(kernel("32x1x1", "128x1x1"), preset="launch")
    assert values(space, "blocks") == [0]
    space.adapt(always_right)
    assert values(space, "blocks") == [0, *COUNTS]
    found = {(config.grid.x, config.block.x) for config in space.sample_exhaustive()}
    assert {(count, 96) for count in COUNTS} | {(43, 96), (32, 128)} <= found
    assert {grid for grid, _ in found} >= set(COUNTS)


def test_kernels_with_one_item_per_thread_keep_covering_grids() -> None:
    recorded = kernel("64x1x1", "128x1x1")
    tried = []

    def covers(config: ExperimentConfiguration) -> ExperimentResult:
        tried.append(config)
        return ExperimentResult(executed=True, verified=threads(config) >= 64 * 128)

    space = make(recorded, preset="launch")
    space.adapt(covers)
    assert values(space, "blocks") == [0]
    assert all(threads(config) < 2 * 64 * 128 for config in space.sample_exhaustive())
    assert min(map(threads, tried)) < 64 * 128


def test_blocks_that_wait_for_one_another_keep_their_number() -> None:
    recorded = kernel("64x1x1", "128x1x1", is_cooperative=True)
    space = make(recorded)
    space.adapt(always_right)
    assert values(space, "blocks") == [0]
    bold = make(recorded, launch_safety="aggressive")
    bold.adapt(always_right)
    assert values(bold, "blocks") == [0, *COUNTS]


def test_a_block_with_shared_memory_may_have_another_number() -> None:
    def replay(config: ExperimentConfiguration) -> ExperimentResult:
        return ExperimentResult(executed=True, verified=config.block.x == 256)

    space = make(kernel("64x1x1", "256x1x1", shared_mem=2048))
    space.adapt(replay)
    assert values(space, "blocks") == [0, *COUNTS]


def test_blocks_are_made_up_along_the_axis_with_most() -> None:
    launch = RecordedLaunch(grid=dims("4x64x2"), block=dims("32x4x1"))
    assert grid_of(launch, launch.block) == launch.grid
    assert grid_of(launch, launch.block, 132) == dims("4x17x2")
    assert grid_of(launch, dims("64x2x1"), 132) == dims("2x33x2")
    assert grid_of(launch, dims("64x2x1")) == covering_grid(launch, dims("64x2x1"))
    assert grid_of(launch, launch.block, 1) == dims("4x1x2")


def test_grids_the_device_cannot_run_are_not_tried() -> None:
    limits = replace(GPU, max_grid=(1000, 65535, 65535))
    space = BuiltinTuneSearchSpace(kernel("64x1x1", "128x1x1"), preset="launch", limits=limits)
    space.adapt(always_right)
    configs = list(space.sample_exhaustive())
    assert max(config.grid.x for config in configs) == 528
    assert len({config.hash() for config in configs}) == len(configs)


def test_a_number_of_blocks_that_covers_is_tried_once() -> None:
    limits = replace(GPU, multiprocessors=2)
    space = BuiltinTuneSearchSpace(kernel("64x1x1", "128x1x1"), preset="launch", limits=limits)
    space.adapt(always_right)
    hashes = [config.hash() for config in space.sample_exhaustive()]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize(("used", "fewest"), [(0, 132), (32, 32), (132, 132)])
def test_numbers_of_blocks_follow_the_part_on_which_replays_run(used: int, fewest: int) -> None:
    launch = kernel("64x1x1", "128x1x1", multiprocessors={"Used": 30, "Of": 132})
    space = BuiltinTuneSearchSpace(launch, preset="launch", limits=GPU)
    space.adapt(lambda config: replace(always_right(config), multiprocessors=used))
    counts = values(space, "blocks")
    assert counts[:3] == [0, fewest, 2 * fewest]


@pytest.mark.parametrize("preset", ["standard", "compiler", "full"])
def test_loops_are_unrolled_by_a_pass_in_front(preset: str) -> None:
    space = make(preset=preset, launch_dim="none")
    assert values(space, "unroll") == [0, 1, 2, 4, 8, 16]
    params = sample_with(space, passes="default<O2>", unroll=8)
    assert space.sample_of(params).config.passes == "function(mneme-unroll<8>),default<O2>"
    params["unroll"] = 0
    assert space.sample_of(params).config.passes == "default<O2>"


def sample_with(space: BuiltinTuneSearchSpace, **chosen: Any) -> dict[str, Any]:
    params: dict[str, Any] = {
        "block_shape": "128x1x1",
        "blocks": 0,
        "codegen_opt": 3,
        **{one.key: one.default for one in CODE_NUMBERS},
        "specialize": False,
        "specialize_dims": False,
        "set_launch_bounds": False,
        "min_blocks_per_sm": 0,
        "max_threads": 0,
    }
    assert set(space.dimensions()) - {"pipeline"} == {*params, "passes", "unroll"}
    return {**params, **chosen}


def test_an_only_pipeline_and_other_presets_leave_loops_alone() -> None:
    for space in (make(preset="quick"), make(preset="launch"), make(fixed_passes="default<O2>")):
        assert values(space, "unroll") == [0]
    assert {config.passes for config in make(fixed_passes="function(gvn)").sample_exhaustive()} == {
        "function(gvn)"
    }


def test_kernels_without_loops_have_none_to_unroll(monkeypatch: pytest.MonkeyPatch) -> None:
    for ir, count in ((STRAIGHT, 1), (LOOP, 6)):
        monkeypatch.setattr("mneme.search.builtin_spaces.recorded_ir", lambda _, ir=ir: ir)
        assert len(values(make(), "unroll")) == count


STRAIGHT = """define void @first() {
  br label %2
2:                                                ; preds = %1
  br i1 true, label %"a b", label %done
"a b":
  br label %done
done:
  ret void
}
define void @second() {
entry:
  br label %done
done:
  ret void
}
"""
LOOP = STRAIGHT.replace('"a b":\n  br label %done', '"a b":\n  br i1 true, label %2, label %done')


def test_loops_are_jumps_back() -> None:
    assert not has_loops(STRAIGHT)
    assert has_loops(LOOP)
    assert has_loops(STRAIGHT.replace("br label %done\ndone", 'br label %"a b"\ndone', 1))
    assert has_loops("define void @f() {\nx:\n  br label %y\ny:\n  br label %y, !llvm.loop !0\n}")
