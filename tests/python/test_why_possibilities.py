"""What is proposed for code without IR, by what is known of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mneme.machine_code import CodeFacts, PtxFacts, Resources
from mneme.machine_code.occupancy import gpus_for_ptx, residency, shared_percent
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.why.possibilities import possibilities


def _build(registers: int, block: int, **figures: int) -> Any:
    told = {"registers": registers, "shared_bytes": 0, "spilled_bytes": 0, **figures}
    config = ExperimentConfiguration(block=dim3(block), shared_mem=0)
    return SimpleNamespace(
        has_ir=False,
        figures=told,
        configuration=config,
        compiled=SimpleNamespace(target="sm_90"),
        code=_declaring(),
        residency=residency("sm_90", block, registers, told["shared_bytes"]),
    )


def _declaring(**limits: int) -> CodeFacts:
    names = ("max_threads", "exact_threads", "min_blocks", "max_registers")
    told = dict.fromkeys((*names, "cluster_blocks", "max_cluster_blocks"), 0) | limits
    ptx = PtxFacts(version="8.0", target="sm_90", features={}, accesses={}, **told)
    return CodeFacts(ptx=ptx, resources=None)


def _using(max_threads: int, exact_threads: int = 0) -> CodeFacts:
    names = ("registers", "shared_bytes", "local_bytes", "barriers")
    uses = Resources(
        target="sm_90",
        **dict.fromkeys(names),
        constant_bytes={},
        register_limit=0,
        max_threads=max_threads,
        exact_threads=exact_threads,
        code_bytes=0,
    )
    return CodeFacts(ptx=None, resources=uses)


def _tried(build: Any, form: str = "ptx") -> dict[str, str]:
    return {one.options: one.reason for one in possibilities(build, form)}


def test_a_limit_of_registers_is_tried_where_registers_limit() -> None:
    tried = _tried(_build(72, 256))  # 3 blocks
    assert "with 64 of them 4 blocks fit, an occupancy of 50 % in" in tried["--max-registers 64"]
    assert not any(one.startswith("--max-registers") for one in _tried(_build(32, 256)))
    assert not any(one.startswith("--max-registers") for one in _tried(_build(72, 256), "cubin"))


def _most_with_spills(build: Any) -> dict[str, str]:
    tried = _tried(build)
    return {name: text for name, text in tried.items() if "spilled" in text}


def test_more_registers_are_tried_where_some_are_spilled() -> None:
    tried = _most_with_spills(_build(64, 256, spilled_bytes=12))
    assert list(tried) == ["--max-registers 80"]
    text = tried["--max-registers 80"]
    assert text.startswith("12 bytes are spilled into local memory")
    assert text.endswith("fewer are, at 3 blocks on a multiprocessor in place of 4")
    # What else limits leaves room: all blocks stay.
    tried = _most_with_spills(_build(40, 256, spilled_bytes=12, shared_bytes=70 * 1024))
    assert tried["--max-registers 80"].endswith("at 3 blocks on a multiprocessor as now")
    tried = _most_with_spills(_build(64, 512, spilled_bytes=12, shared_bytes=200 * 1024))
    assert tried["--max-registers 128"].endswith("at 1 block on a multiprocessor as now")
    tried = _most_with_spills(_build(64, 512, spilled_bytes=12))
    assert tried["--max-registers 128"].endswith("at 1 block on a multiprocessor in place of 2")
    assert not _most_with_spills(_build(64, 1024, spilled_bytes=12))  # no block would fit


@pytest.mark.parametrize("name", ["max_threads", "exact_threads"])
def test_more_registers_are_not_tried_than_launch_bounds_leave(name: str) -> None:
    build = _build(64, 256, spilled_bytes=12)
    build.code = _declaring(**{name: 256}, min_blocks=4)
    assert not _most_with_spills(build)
    build.code = _declaring(**{name: 1024})  # without a number of blocks, ptxas takes .maxnreg
    assert list(_most_with_spills(build)) == ["--max-registers 80"]
    build.code = _declaring(**{name: 256}, min_blocks=3, max_registers=64)
    assert list(_most_with_spills(build)) == ["--max-registers 80"]


def test_other_blocks_are_tried_where_more_would_be_resident() -> None:
    tried = _tried(_build(32, 100), "cubin")
    assert tried["-bidx N -gidx M"].startswith("28 of 128 lanes are idle: 100 threads")
    assert _tried(_build(32, 96), "cubin")["-bidx N -gidx M"].endswith("100 % in place of 98 %")
    assert "-bidx N -gidx M" not in _tried(_build(32, 128), "cubin")
    large = _tried(_build(64, 544), "cubin")["-bidx N -gidx M"]
    assert "with 64 threads of a block 16 blocks fit" in large


def test_no_other_blocks_are_tried_than_launch_bounds_admit() -> None:
    dimensions = "-bidx N -gidx M"
    build = _build(40, 32)
    for code in (_using(32), _declaring(max_threads=32)):
        build.code = code
        assert dimensions not in _tried(build)
    # As Triton's kernels: 64 threads would fit better, and no launch with them begins.
    build = _build(168, 256)
    assert dimensions in _tried(build)
    for code in (_using(256, 256), _declaring(exact_threads=256)):
        build.code = code
        assert dimensions not in _tried(build)
    build = _build(32, 100)
    build.code = _using(100)
    assert _tried(build)[dimensions].endswith("; its launch bounds admit 100 at most")
    for code in (_using(100, 100), _declaring(exact_threads=100)):
        build.code = code
        assert dimensions not in _tried(build)
    build = _build(32, 20)
    build.code = _using(20)
    assert dimensions not in _tried(build)


def test_a_carve_out_is_tried_that_the_blocks_need() -> None:
    assert shared_percent("sm_90", 8, 10 * 1024) == 39  # of 228 KiB, with 1 KiB for each block
    tried = _tried(_build(32, 256, shared_bytes=10 * 1024), "cubin")
    assert "39 % of the shared memory" in tried["--shared-carveout 39"]
    full = _tried(_build(32, 128, shared_bytes=56 * 1024 - 1024), "cubin")
    assert full["--shared-carveout 99"]
    assert shared_percent("sm_35", 8, 0) is None


def test_launch_bounds_are_tried_where_there_are_none() -> None:
    build = _build(32, 256)
    assert "blocks have 256 threads" in _tried(build)["--set-launch-bounds"]
    assert "--set-launch-bounds" not in _tried(build, "cubin")
    build.configuration.llvm = "ptx"  # of code with IR beside it
    assert "--set-launch-bounds" in _tried(build, "")
    build.has_ir = True
    assert _tried(build) == {}


def test_newer_gpus_run_ptx_without_features_of_one() -> None:
    assert gpus_for_ptx("sm_52")[:3] == ["sm_70", "sm_72", "sm_75"]
    assert gpus_for_ptx("sm_90")[0] == "sm_90"
    for name in ("sm_90a", "sm_100f", "sm_999", ""):
        assert gpus_for_ptx(name) == [name]
