; The parameter selects kernels by their demangled names; a bad one is an error.
; RUN: %opt -passes='mneme-embed<kernels=^void scale<float>>' -S %s | FileCheck %s
; RUN: %opt -passes='mneme-embed<kernels=nothing>' -S %s | FileCheck --check-prefix=NONE %s
; RUN: not %opt -passes='mneme-embed<kernels=[>' -S %s 2>&1 | FileCheck --check-prefix=BAD %s
; RUN: not %opt -passes='mneme-embed<names=x>' -S %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-COUNT-1: @__mneme_ir_
; CHECK: _Z5scaleIfEvPT_
; NONE-NOT: @__mneme
; BAD: error: mneme: '[' is not a regular expression for kernel names
; UNKNOWN: unknown pass name 'mneme-embed<names=x>'

define ptx_kernel void @_Z5scaleIfEvPT_(ptr %p) {
  ret void
}

define ptx_kernel void @_Z5scaleIdEvPT_(ptr %p) {
  ret void
}
