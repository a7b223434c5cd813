from __future__ import annotations

from collections.abc import Callable

import pytest

from launch_samples import GPU, dims
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.launch_rules import (
    LaunchRule,
    find_launch_rule,
    free_axes,
    free_grid_axis,
    shows_its_blocks,
    try_launches,
)

Judge = Callable[[ExperimentConfiguration], bool]


class Device:
    """Replays by asking a function whether the result would be right."""

    def __init__(self, is_right: Judge, most_threads: int = 1024) -> None:
        self.is_right = is_right
        self.most_threads = most_threads
        self.tried: list[ExperimentConfiguration] = []

    def __call__(self, config: ExperimentConfiguration) -> ExperimentResult:
        self.tried.append(config)
        if config.block.volume > self.most_threads:
            return ExperimentResult(failed=True, error="runs with at most some threads")
        return ExperimentResult(executed=True, verified=self.is_right(config))


def recorded(
    grid: str = "64x1x1", block: str = "128x1x1", **more: object
) -> ExperimentConfiguration:
    return ExperimentConfiguration(grid=dims(grid), block=dims(block), **more)  # type: ignore[arg-type]


def threads(config: ExperimentConfiguration) -> int:
    return config.grid.volume * config.block.volume


def test_a_kernel_that_loops_over_its_grid_is_agnostic() -> None:
    device = Device(lambda _: True)
    evidence = try_launches(device, recorded(), GPU)
    assert evidence.rule is LaunchRule.AGNOSTIC
    assert len(device.tried) == len(evidence.tried) <= 12
    assert all(launch.verified for launch in evidence.tried)
    counts = {threads(config) for config in device.tried}
    assert min(counts) <= threads(recorded()) // 8
    assert max(counts) > threads(recorded())
    smallest = min(device.tried, key=threads)
    assert (smallest.grid, smallest.block) == (dims("1x1x1"), dims("32x1x1"))
    assert (dims("21x1x1"), dims("128x1x1")) in [(one.grid, one.block) for one in device.tried]


def test_a_kernel_with_one_item_per_thread_covers() -> None:
    device = Device(lambda c: threads(c) >= 64 * 128)
    evidence = try_launches(device, recorded(), GPU)
    assert evidence.rule is LaunchRule.COVER
    assert evidence.tried[-1].verified is False
    assert evidence.tried[-1].reason == "the result differs from the recorded one"
    assert find_launch_rule(device, recorded(), GPU) is LaunchRule.COVER


def test_spare_threads_do_not_make_a_kernel_agnostic() -> None:
    needed = 64 * 128 // 6
    assert find_launch_rule(Device(lambda c: threads(c) >= needed), recorded(), GPU) == "cover"


def test_more_blocks_that_spoil_the_result_do_not_either() -> None:
    rule = find_launch_rule(Device(lambda c: threads(c) <= 64 * 128), recorded(), GPU)
    assert rule is LaunchRule.COVER


def test_a_kernel_that_minds_its_block_is_exact() -> None:
    device = Device(lambda c: c.block.x == 128)
    assert find_launch_rule(device, recorded(), GPU) is LaunchRule.EXACT
    assert len(device.tried) == 1


def test_a_kernel_that_minds_one_axis_is_exact() -> None:
    device = Device(lambda c: c.block.y == 16)
    assert find_launch_rule(device, recorded("8x8x1", "16x16x1"), GPU) is LaunchRule.EXACT


def test_refused_larger_blocks_prove_nothing() -> None:
    device = Device(lambda _: True, most_threads=128)
    evidence = try_launches(device, recorded(), GPU)
    assert evidence.rule is LaunchRule.EXACT
    assert all(dims(launch.block).volume <= 128 for launch in evidence.tried)


@pytest.mark.parametrize("rows", [64, 63, 7])
def test_a_row_per_block_is_not_covered_by_fewer_blocks(rows: int) -> None:
    device = Device(lambda c: c.grid.x >= rows)
    assert find_launch_rule(device, recorded(f"{rows}x1x1"), GPU) is LaunchRule.EXACT


def test_a_row_per_block_along_another_axis_is_not_either() -> None:
    device = Device(lambda c: c.grid.y >= 9)
    assert find_launch_rule(device, recorded("64x9x1", "32x4x1"), GPU) is LaunchRule.EXACT


def test_without_a_larger_block_nothing_is_claimed() -> None:
    device = Device(lambda _: True)
    assert find_launch_rule(device, recorded("64x1x1", "1024x1x1"), GPU) is LaunchRule.EXACT
    square = Device(lambda c: threads(c) >= 64 * 1024)
    assert find_launch_rule(square, recorded("8x8x1", "32x32x1"), GPU) is LaunchRule.COVER


def test_a_few_elements_of_a_large_grid_do_not_make_a_kernel_agnostic() -> None:
    for elements in (33, 300, 1000):
        device = Device(lambda c, needed=elements: threads(c) >= needed)  # type: ignore[misc]
        assert find_launch_rule(device, recorded(), GPU) is LaunchRule.COVER


def test_a_crash_counts_against_the_kernel() -> None:
    def crash(config: ExperimentConfiguration) -> ExperimentResult:
        return ExperimentResult(failed=True, error="Worker crashed")

    evidence = try_launches(crash, recorded(), GPU)
    assert evidence.rule is LaunchRule.EXACT
    assert evidence.tried[0].reason == "Worker crashed"


def test_what_cannot_be_tried_is_not_claimed() -> None:
    device = Device(lambda _: True)
    assert find_launch_rule(device, recorded("1x1x1", "1x1x1"), GPU) is LaunchRule.EXACT
    assert device.tried == []
    single = find_launch_rule(device, recorded("1x1x1", "128x1x1"), GPU)
    assert single is LaunchRule.COVER


def test_tries_keep_everything_but_the_launch() -> None:
    device = Device(lambda _: True)
    original = recorded(set_launch_bounds=True, max_threads=128, passes="default<O1>")
    find_launch_rule(device, original, GPU)
    assert {config.passes for config in device.tried} == {"default<O1>"}
    assert all(config.max_threads == config.block.volume for config in device.tried)
    assert original == recorded(set_launch_bounds=True, max_threads=128, passes="default<O1>")


@pytest.mark.parametrize(
    ("grid", "block"), [("7x3x2", "96x2x1"), ("8x8x8", "8x8x4"), ("16x16x1", "16x16x1")]
)
def test_covering_tries_cover(grid: str, block: str) -> None:
    launched = threads(recorded(grid, block))
    evidence = try_launches(Device(lambda c: threads(c) >= launched), recorded(grid, block), GPU)
    assert evidence.rule is LaunchRule.COVER


@pytest.mark.parametrize(
    ("is_right", "axes"),
    [
        (lambda _: True, "xyz"),
        (lambda c: c.block.x == 16, "yz"),
        (lambda c: c.block.y == 16, "xz"),
        (lambda c: c.block.volume == 256, "z"),
        (lambda c: c.block.y in (4, 16), "xz"),
        (lambda c: c.block.y in (32, 16), "xz"),
        (lambda c: threads(c) == 128 * 128, "xyz"),
    ],
)
def test_axes_are_free_where_another_extent_was_right(is_right: Judge, axes: str) -> None:
    device = Device(is_right)
    assert free_axes(device, recorded("8x8x1", "16x16x1"), GPU) == axes
    assert len(device.tried) <= 6


def test_a_refused_block_frees_no_axis() -> None:
    device = Device(lambda c: c.block.x == 16 or c.block.volume > 256, most_threads=256)
    assert free_axes(device, recorded("8x8x1", "16x16x1"), GPU) == "yz"


def test_rows_of_whole_warps_stay_whole_warps() -> None:
    device = Device(lambda c: c.block.x % 32 == 0)
    assert free_axes(device, recorded("64x1x1", "32x1x1"), GPU) == "xyz"
    assert free_axes(device, recorded("64x8x1", "64x4x1"), GPU) == "xyz"


@pytest.mark.parametrize(
    ("grid", "axis"), [("32x1x1", "x"), ("8x64x1", "y"), ("2x2x8", "z"), ("8x8x1", "x")]
)
def test_a_kernel_that_loops_over_its_grid_takes_any_number_of_blocks(grid: str, axis: str) -> None:
    device = Device(lambda _: True)
    assert free_grid_axis(device, recorded(grid), GPU) == axis
    fewer, more = device.tried
    assert threads(fewer) < threads(recorded(grid)) < threads(more)
    assert fewer.block == more.block == dims("128x1x1")


@pytest.mark.parametrize("is_right", [lambda c: c.grid.x >= 32, lambda c: c.grid.x <= 32])
def test_a_kernel_that_minds_their_number_does_not(is_right: Judge) -> None:
    assert free_grid_axis(Device(is_right), recorded("32x1x1"), GPU) == ""


def test_a_single_block_can_be_smaller_only() -> None:
    device = Device(lambda _: True)
    assert free_grid_axis(device, recorded("1x1x1"), GPU) == "x"
    assert [(c.grid.x, c.block.x) for c in device.tried] == [(1, 64), (2, 128)]
    assert free_grid_axis(Device(lambda c: c.block.x == 128), recorded("1x1x1"), GPU) == ""
    assert free_grid_axis(device, recorded("1x1x1", "1x64x1"), GPU) == ""


@pytest.mark.parametrize("grid", ["64x1x1", "8x64x1", "3x1x1"])
def test_a_result_without_the_work_of_half_the_blocks_shows_too_little(grid: str) -> None:
    needed = threads(recorded(grid)) // 3
    device = Device(lambda c: threads(c) >= needed)
    assert not shows_its_blocks(device, recorded(grid))
    assert threads(device.tried[0]) < threads(recorded(grid))
    evidence = try_launches(device, recorded(grid), GPU, takes_any_grid=False)
    assert evidence.rule is LaunchRule.EXACT
    assert "does not show" in evidence.tried[0].reason


def test_code_that_knows_its_number_of_blocks_may_do_with_half_of_them() -> None:
    device = Device(lambda c: threads(c) >= 20 * 128)
    assert find_launch_rule(device, recorded(), GPU, takes_any_grid=True) is LaunchRule.COVER


def test_code_that_cannot_know_its_number_of_blocks_needs_all_of_them() -> None:
    device = Device(lambda c: threads(c) >= 64 * 128)
    assert shows_its_blocks(device, recorded())
    evidence = try_launches(device, recorded(), GPU, takes_any_grid=False)
    assert evidence.rule is LaunchRule.COVER
    assert all(launch.verified for launch in evidence.tried)
    assert shows_its_blocks(Device(lambda _: True), recorded("1x1x1"))


def test_evidence_is_plain_json() -> None:
    evidence = try_launches(Device(lambda c: c.block.x == 128), recorded(), GPU)
    assert evidence.to_dict() == {
        "rule": "exact",
        "tried": [
            {
                "grid": "256x1x1",
                "block": "32x1x1",
                "rule": "cover",
                "verified": False,
                "reason": "the result differs from the recorded one",
            }
        ],
    }
    assert str(evidence.rule) == "exact"
