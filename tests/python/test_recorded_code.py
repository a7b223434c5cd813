"""What the text of a kernel's code tells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mneme.search.recorded_code import (
    bound_of_image,
    counts_blocks,
    exchanges_values,
    prints,
    why_launch_stays,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("calls", "counts"),
    [
        ("@llvm.nvvm.read.ptx.sreg.ctaid.x @llvm.nvvm.read.ptx.sreg.ntid.x", False),
        ("@llvm.nvvm.read.ptx.sreg.ctaid.x @__nv_sinf @vprintf", False),
        ("@llvm.nvvm.read.ptx.sreg.ctaid.x @llvm.nvvm.read.ptx.sreg.nctaid.x", True),
        ("@llvm.nvvm.read.ptx.sreg.ctaid.x @llvm.nvvm.read.ptx.sreg.nctaid.y", False),
        ("@__ockl_get_group_id @__ockl_get_local_size @llvm.amdgcn.implicitarg.ptr", False),
        ("@__ockl_get_local_size @__ockl_get_global_size @llvm.amdgcn.dispatch.ptr", True),
        ("@__ockl_get_num_groups", True),
        ("@llvm.amdgcn.workgroup.id.x", False),
        # Which of the dimensions is read there is not told by names.
        ("@llvm.amdgcn.workgroup.id.x @llvm.amdgcn.implicitarg.ptr", None),
        # A queue of work is as good with any number of blocks.
        ("@llvm.nvvm.read.ptx.sreg.tid.x", None),
        ("@llvm.nvvm.read.ptx.sreg.ctaid.x @of_another_unit", None),
    ],
)
def test_code_that_counts_its_blocks_is_known_by_what_it_calls(
    calls: str, counts: bool | None
) -> None:
    declared = "".join(f"declare noundef i32 {call}(i32) #1\n" for call in calls.split())
    assert counts_blocks(declared, "x") is counts


@pytest.mark.parametrize(
    ("call", "is_print"),
    [
        ("@vprintf(ptr %a, ptr %b)", True),
        ("@__ockl_printf_begin(i64 0)", True),
        ("@printf(ptr %a)", True),
        ("@printf_counter(ptr %a)", False),
        ("@_Z9my_printfv()", False),
    ],
)
def test_kernels_that_print_are_known(call: str, is_print: bool) -> None:
    assert prints(f"  %1 = call i32 {call}") is is_print


@pytest.mark.parametrize(
    ("line", "is_exchange"),
    [
        ("@tile = internal addrspace(3) global [16 x float] undef", True),
        ("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", True),
        ('  call void asm sideeffect "bar.sync 1, 64;", ""()', True),
        ("  %1 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1)", True),
        ("  call void @llvm.amdgcn.s.barrier()", True),
        ("  %1 = call i32 @llvm.amdgcn.ds.bpermute(i32 0, i32 1)", True),
        ("  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()", False),
        ("  %1 = atomicrmw add ptr %p, i32 1 seq_cst", False),
    ],
)
def test_kernels_whose_threads_exchange_values_are_known(line: str, is_exchange: bool) -> None:
    assert exchanges_values(line) is is_exchange


@pytest.mark.parametrize(
    ("ir", "changes", "few", "reason"),
    [
        ("@tile = addrspace(3) global", True, True, "exchange values"),
        ("@tile = addrspace(3) global", True, False, ""),
        ("store i32 1, ptr %p", True, True, ""),
        ("store i32 1, ptr %p", False, False, "as it was"),
        ("call i32 @vprintf(ptr %a, ptr %b)", True, False, "prints"),
    ],
)
def test_launches_stay_where_replays_cannot_tell_right_ones(
    monkeypatch: pytest.MonkeyPatch, ir: str, changes: bool, few: bool, reason: str
) -> None:
    module = "mneme.search.recorded_code"
    monkeypatch.setattr(f"{module}.changes_memory", lambda _: changes)
    monkeypatch.setattr(f"{module}.recorded_ir", lambda _: ir)
    monkeypatch.setattr(f"{module}.sees_few_values", lambda _: few)
    said = why_launch_stays(object())
    assert reason in said
    assert bool(said) == bool(reason)


@pytest.mark.parametrize(
    ("bound", "most", "stays"),
    [(".reqntid 64", 64, True), (".maxntid 64", 64, False), ("", 0, False)],
)
def test_ptx_that_names_its_threads_keeps_its_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int, stays: bool
) -> None:
    monkeypatch.setattr("mneme.search.recorded_code.changes_memory", lambda _: True)
    monkeypatch.setattr("mneme.search.recorded_code.sees_few_values", lambda _: False)
    ptx = (
        f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{bound}\n{{ ret; }}\n"
    )
    (tmp_path / "RecordedCode_1.ptx").write_text(ptx)
    kernel = SimpleNamespace(
        kernel_name="k",
        static_hash="1",
        code_form="ptx",
        prologue=SimpleNamespace(fn=tmp_path / "prologue"),
    )
    assert bound_of_image(kernel) == most
    assert ("how many threads" in why_launch_stays(kernel)) is stays
