"""Relocatable device code: units of a program may be compiled with different options, and what one
calls of another is not inlined in the program."""

from __future__ import annotations

import json

import pytest

from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

HEAD = """
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@ftz = private constant [11 x i8] c"__CUDA_FTZ\\00"
declare i32 @__nvvm_reflect(ptr)
!llvm.module.flags = !{{!0}}
!0 = !{{i32 4, !"nvvm-reflect-ftz", i32 {flush}}}
"""
KERNEL = """
declare float @other(float, float)
define ptx_kernel void @kernel(ptr %p) {
  %mode = call i32 @__nvvm_reflect(ptr @ftz)
  %a = load float, ptr %p
  %product = call contract float @other(float %a, float %a)
  %sum = fadd contract float %product, %a
  store float %sum, ptr %p
  %q = getelementptr i32, ptr %p, i64 1
  store volatile i32 %mode, ptr %q
  ret void
}
"""
OTHER = """
define float @other(float %a, float %b) {
  %mode = call i32 @__nvvm_reflect(ptr @ftz)
  %bits = uitofp i32 %mode to float
  %scaled = fadd float %a, %bits
  %product = fmul contract float %scaled, %b
  ret float %product
}
"""


def _assembly(passes: str, flush: tuple[int, int]) -> str:
    from mneme import _native  # noqa: PLC0415

    units = [
        HEAD.format(flush=value) + code for value, code in zip(flush, (KERNEL, OTHER), strict=True)
    ]
    text: str = _native.compile_ir(
        [unit.encode() for unit in units],
        "kernel",
        target="sm_90",
        passes=passes,
        options_json=json.dumps({"opt_level": "3", "fp_contract": "fast"}),
        use_cache=False,
        want_assembly=True,
    )["assembly"]
    return text


def test_units_are_kept_apart_by_the_programs_own_pipeline() -> None:
    text = _assembly("default<O3>", (0, 0))
    assert "call.uni" in text
    assert "fma.rn" not in text


def test_other_pipelines_may_inline_what_another_unit_has() -> None:
    text = _assembly("default<O2>", (0, 0))
    assert "call.uni" not in text
    assert "fma.rn" in text


@pytest.mark.parametrize("flush", [(0, 1), (1, 0)])
def test_units_with_and_without_denormals_are_linked(flush: tuple[int, int]) -> None:
    text = _assembly("default<O3>", flush)
    kernel = text[text.index(".entry kernel") :]
    kernel = kernel[: kernel.index("\n}")]
    assert f"], {flush[0]};" in kernel.replace("b32 \t", "b32 ")
    assert ("0f3F800000" in text) == (flush[1] == 1)
