"""A replay that does something else than the recorded kernel is reported, at the right place."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Finished, mneme, records

N = 1 << 20


def replay_with(record: Path, ir: str, tmp_path: Path, *options: str) -> Finished:
    edited = tmp_path / "edited.ll"
    edited.write_text(ir)
    return mneme(
        "replay", "-rdb", record, "--device", "cpu", "--ir", edited, *options, "default<O1>"
    )


@pytest.fixture(scope="module")
def vector_add(recordings: dict[str, Path]) -> Path:
    (record,) = records(recordings["vector_add"])
    return record


def kernel_with_body(body: str) -> str:
    """IR of a kernel with vectorAdd's signature whose thread i runs `body` when i < n."""
    return f"""
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define ptx_kernel void @_Z9vectorAddPKfS0_Pffi(ptr %a, ptr %b, ptr %c, float %alpha, i32 %n) {{
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %ctaid, %ntid
  %i = add i32 %base, %tid
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %exit
work:
  %i64 = sext i32 %i to i64
  %pa = getelementptr float, ptr %a, i64 %i64
  %pb = getelementptr float, ptr %b, i64 %i64
  %pc = getelementptr float, ptr %c, i64 %i64
  %va = load float, ptr %pa
  %vb = load float, ptr %pb
  %scaled = fmul float %alpha, %va
  %sum = fadd float %scaled, %vb
{body}
  br label %exit
exit:
  ret void
}}
"""


STORE = "  store float %sum, ptr %pc"


def test_faithful_rewrite_verifies(vector_add: Path, tmp_path: Path) -> None:
    done = replay_with(vector_add, kernel_with_body(STORE), tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.result["result_class"] == "exact"


def test_off_by_one_is_reported_at_its_element(vector_add: Path, tmp_path: Path) -> None:
    body = f"""{STORE}
  %is = icmp eq i32 %i, 12345
  %wrong = fadd float %sum, 1.0
  %value = select i1 %is, float %wrong, float %sum
  store float %value, ptr %pc"""
    done = replay_with(vector_add, kernel_with_body(body), tmp_path, "--tolerance", "c=0:f32")
    assert done.returncode != 0
    (mismatch,) = done.result["mismatches"]
    assert not done.result["verified"]
    assert done.result["result_class"] == "wrong"
    assert "'c'" in mismatch["region"]
    assert mismatch["element"] == 12345
    assert mismatch["differing"] == 1


@pytest.mark.parametrize(
    "tolerance", [(), ("--tolerance", "c=rel:1e-3:f32"), ("--tolerance", "c=ulp:4:f32")]
)
def test_nan_is_never_close(vector_add: Path, tmp_path: Path, tolerance: tuple[str, ...]) -> None:
    body = f"""{STORE}
  %is = icmp eq i32 %i, 77
  %value = select i1 %is, float 0x7FF8000000000000, float %sum
  store float %value, ptr %pc"""
    done = replay_with(vector_add, kernel_with_body(body), tmp_path, *tolerance)
    assert done.returncode != 0
    assert not done.result["verified"]
    assert done.result["mismatches"][0]["offset"] // 4 == 77


def test_write_into_an_unwritten_buffer_is_found(vector_add: Path, tmp_path: Path) -> None:
    done = replay_with(
        vector_add, kernel_with_body(STORE + "\n  store float %sum, ptr %pa"), tmp_path
    )
    assert done.returncode != 0
    assert any("'a'" in mismatch["region"] for mismatch in done.result["mismatches"])


def test_stray_write_behind_a_buffer_is_found(vector_add: Path, tmp_path: Path) -> None:
    # 64 bytes behind the last element: inside mapped memory or not, it must not pass.
    body = f"""{STORE}
  %is = icmp eq i32 %i, 0
  %n64 = sext i32 %n to i64
  %end = getelementptr float, ptr %c, i64 %n64
  %behind = getelementptr i8, ptr %end, i64 64
  %target = select i1 %is, ptr %behind, ptr %pc
  store float %sum, ptr %target
  store float %sum, ptr %pc"""
    done = replay_with(vector_add, kernel_with_body(body), tmp_path)
    assert done.returncode != 0
    assert not done.result["verified"]


def test_write_to_unmapped_memory_is_an_illegal_address(vector_add: Path, tmp_path: Path) -> None:
    body = STORE + "\n  %bad = inttoptr i64 4096 to ptr\n  store float %sum, ptr %bad"
    done = replay_with(vector_add, kernel_with_body(body), tmp_path)
    assert done.returncode != 0
    assert done.result["failed"]
    assert "illegal" in done.result["error"]
    assert "0x1000" in done.result["error"]


def test_endless_kernel_ends_at_its_timeout(vector_add: Path, tmp_path: Path) -> None:
    ir = kernel_with_body(STORE).replace(
        "br label %exit", "br label %spin\nspin:\n  br label %spin"
    )
    ir = ir.replace(
        "br label %spin\nspin", "%flag = alloca i32\n  br label %spin\nspin", 1
    ).replace("spin:\n", "spin:\n  store volatile i32 1, ptr %flag\n")
    done = replay_with(vector_add, ir, tmp_path, "--timeout", "2")
    assert done.returncode != 0
    assert "did not finish within 2 s" in done.result["error"]
