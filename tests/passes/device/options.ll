; Options of the build that change results are read from the IR.
; RUN: split-file %s %t
; RUN: %embedded %t/floats.ll | FileCheck %s
; RUN: %embedded %t/flush.ll | FileCheck --check-prefix=FLUSH %s

; CHECK: "kernel":"contracted"
; CHECK-SAME: "fast_math":false,"flush_denormals":false,"fp_contract":"fast","opt_level":"","precise_division":true,"precise_sqrt":true
; CHECK: "kernel":"denormals"
; CHECK-SAME: "flush_denormals":true
; CHECK: "kernel":"fast"
; CHECK-SAME: "fast_math":true,"flush_denormals":false,"fp_contract":"fast","opt_level":"","precise_division":false,"precise_sqrt":false
; CHECK: "kernel":"separate"
; CHECK-SAME: "fp_contract":"off"
; CHECK: "kernel":"statement"
; CHECK-SAME: "fp_contract":"on"
; FLUSH: "flush_denormals":true

;--- floats.ll
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @contracted(float %a, ptr %p) {
  %r = fmul contract float %a, %a
  store float %r, ptr %p
  ret void
}

define ptx_kernel void @fast(float %a, ptr %p) {
  %r = fdiv fast float %a, %a
  store float %r, ptr %p
  ret void
}

define ptx_kernel void @separate(float %a, ptr %p) {
  %m = fmul float %a, %a
  %r = fadd float %m, %a
  store float %r, ptr %p
  ret void
}

define ptx_kernel void @statement(float %a, ptr %p) {
  %r = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
  %s = fadd float %r, %a
  store float %s, ptr %p
  ret void
}

define ptx_kernel void @denormals(float %a, ptr %p) "denormal-fp-math-f32"="preserve-sign,preserve-sign" {
  ret void
}

declare float @llvm.fmuladd.f32(float, float, float)

;--- flush.ll
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @kernel() {
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
