from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from launch_samples import GPU, dims, kernel, launches
from mneme.devices import DeviceLimits
from mneme.errors import InvalidArgument
from mneme.mneme_types import dim3
from mneme.search.launch_shapes import (
    LAUNCH_DIMS,
    LAUNCH_SAFETY,
    RecordedLaunch,
    _promised,
    block_shapes,
    covering_grid,
    fits_device,
    static_max_threads,
)


def launch(grid: str, block: str, **more: int) -> RecordedLaunch:
    return RecordedLaunch(grid=dims(grid), block=dims(block), **more)


def texts(shapes: list[dim3]) -> list[str]:
    return [f"{s.x}x{s.y}x{s.z}" for s in shapes]


def test_grids_cover_the_recorded_threads() -> None:
    recorded = launch("10x4x1", "100x2x1")
    assert covering_grid(recorded, dims("32x8x1")) == dims("32x1x1")
    assert covering_grid(recorded, dims("100x2x1")) == dims("10x4x1")
    assert covering_grid(recorded, dims("1024x1x1")) == dims("1x8x1")


@settings(max_examples=80, deadline=None)
@given(launches(), st.sampled_from(LAUNCH_DIMS), st.sampled_from(LAUNCH_SAFETY))
def test_every_shape_is_possible_and_covers_exactly(
    recorded: RecordedLaunch, dim: str, safety: str
) -> None:
    shapes = block_shapes(recorded, GPU, dim=dim, safety=safety)
    assert shapes[0] == recorded.block
    assert len(set(shapes)) == len(shapes)
    threads = recorded.grid.volume * recorded.block.volume
    for block in shapes[1:]:
        grid = covering_grid(recorded, block)
        assert fits_device(grid, block, GPU)
        for extent, blocks, size in zip(
            recorded.extents, (grid.x, grid.y, grid.z), (block.x, block.y, block.z), strict=True
        ):
            # All threads, and no block that is not needed.
            assert (blocks - 1) * size < extent <= blocks * size
        assert not recorded.max_threads or block.volume <= recorded.max_threads
        assert not recorded.shared_mem or block.volume <= recorded.block.volume
        if safety != "aggressive":
            assert block.volume % GPU.warp_size == 0
            assert grid.volume * block.volume <= 2 * threads
            assert not recorded.is_cooperative
        if safety == "conservative":
            assert grid.volume * block.volume == threads
            assert not recorded.shared_mem
    if dim == "x":
        assert {(s.y, s.z) for s in shapes} == {(recorded.block.y, recorded.block.z)}


def test_only_axes_with_threads_change() -> None:
    shapes = block_shapes(launch("64x1x1", "128x1x1"), GPU)
    assert texts(shapes)[:4] == ["128x1x1", "32x1x1", "64x1x1", "96x1x1"]
    assert {(s.y, s.z) for s in shapes} == {(1, 1)}
    flat = block_shapes(launch("64x64x1", "16x16x1"), GPU, dim="xy")
    assert {"256x1x1", "32x8x1", "8x32x1", "1x256x1"} <= set(texts(flat))
    assert {s.z for s in flat} == {1}


def test_dynamic_shared_memory_keeps_the_number_of_threads() -> None:
    recorded = launch("64x64x1", "16x16x1", shared_mem=4096)
    assert texts(block_shapes(recorded, GPU, safety="conservative")) == ["16x16x1"]
    assert {s.volume for s in block_shapes(recorded, GPU)} == {256}
    assert max(s.volume for s in block_shapes(recorded, GPU, safety="aggressive")) == 256


def test_launch_bounds_of_the_source_are_kept() -> None:
    recorded = launch("64x1x1", "128x1x1", max_threads=256)
    assert max(s.volume for s in block_shapes(recorded, GPU)) == 256


def test_limits_of_the_device_are_kept() -> None:
    small = DeviceLimits(max_threads_per_block=256, max_block=(256, 16, 1), max_grid=(600, 8, 1))
    shapes = block_shapes(launch("64x8x1", "64x2x1"), small)
    assert shapes
    assert all(s.volume <= 256 and s.y <= 16 for s in shapes)
    assert all(covering_grid(launch("64x8x1", "64x2x1"), s).y <= 8 for s in shapes)


def test_cooperative_launches_stay_as_they_are() -> None:
    recorded = launch("64x1x1", "128x1x1", is_cooperative=True)
    assert texts(block_shapes(recorded, GPU)) == ["128x1x1"]
    assert len(block_shapes(recorded, GPU, safety="aggressive")) > 1


def test_unknown_words_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="launch dim 'yz' is unknown"):
        block_shapes(launch("1x1x1", "1x1x1"), GPU, dim="yz")
    with pytest.raises(InvalidArgument, match="launch safety 'bold' is unknown"):
        block_shapes(launch("1x1x1", "1x1x1"), GPU, safety="bold")


IR = """
define dso_local ptx_kernel void @other(ptr %p) #1 {
define dso_local ptx_kernel void @k(ptr noundef %p, i32 %n) local_unnamed_addr #0 !dbg !3 {
attributes #0 = { nounwind "nvvm.maxntid"="16,8,2" "target-cpu"="sm_90" }
attributes #1 = { nounwind }
"""


def test_the_source_promises_are_read_from_the_code() -> None:
    assert _promised(IR, "k") == 256
    assert _promised(IR, "other") == 0
    assert _promised(IR, "absent") == 0
    amd = IR.replace('"nvvm.maxntid"="16,8,2"', '"amdgpu-flat-work-group-size"="1,512"')
    assert _promised(amd, "k") == 512


def test_a_kernel_without_files_promises_nothing() -> None:
    assert static_max_threads(kernel()) == 0
    lost = SimpleNamespace(prologue=SimpleNamespace(fn="/nowhere/x"), static_hash="1")
    assert static_max_threads(lost) == 0
    assert RecordedLaunch.of(kernel(shared_mem=8), max_threads=64) == launch(
        "64x1x1", "128x1x1", shared_mem=8, max_threads=64
    )
