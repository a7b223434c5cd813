"""Kernels that go wrong, as IR in place of vectorAdd's: the same name and arguments."""

from __future__ import annotations

__all__ = ["FAULTS", "registers"]

_HEAD = """\
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.trap()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @_Z9vectorAddPKfS0_Pffi(ptr %a, ptr %b, ptr %c, float %alpha, i32 %n) {
entry:
"""

_TRAP = "  call void @llvm.trap()\n  ret void\n"
_ADDRESS = "  store volatile i32 1, ptr inttoptr (i64 16 to ptr)\n  ret void\n"
_LOOP = "  br label %loop\nloop:\n  %x = load volatile float, ptr %a\n  br label %loop\n"
# Local memory of all resident threads together: more than any GPU has.
_LOCAL_BYTES = 500_000
_LOCAL = f"""\
  %memory = alloca [{_LOCAL_BYTES} x i8], align 16
  %place = getelementptr i8, ptr %memory, i32 %n
  store volatile i8 1, ptr %place
  %again = load volatile i8, ptr %place
  store volatile i8 %again, ptr %c
  ret void
"""


def registers(count: int = 160) -> str:
    """Return a kernel that keeps `count` values at once."""
    lines = []
    for i in range(count):
        lines.append(f"  %p{i} = getelementptr float, ptr %a, i32 {i}")
        lines.append(f"  %v{i} = load volatile float, ptr %p{i}")
    for i in reversed(range(count)):
        lines.append(f"  %q{i} = getelementptr float, ptr %c, i32 {i}")
        lines.append(f"  store volatile float %v{i}, ptr %q{i}")
    return _HEAD + "\n".join(lines) + "\n  ret void\n}\n"


FAULTS = {
    "trap": _HEAD + _TRAP + "}\n",
    "illegal address": _HEAD + _ADDRESS + "}\n",
    "infinite loop": _HEAD + _LOOP + "}\n",
    "local memory": _HEAD + _LOCAL + "}\n",
}
