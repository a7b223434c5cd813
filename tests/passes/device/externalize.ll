; Internal variables that change get a name the whole program knows; the others stay internal.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @_ZL7counter__mneme_[[UNIT:[0-9a-f]+]] = protected addrspace(1) global i32 0
; CHECK-DAG: @kernel_static__mneme_[[UNIT]] = protected addrspace(1) global i32 0
; CHECK-DAG: @table = internal addrspace(1) global [2 x i32] [i32 1, i32 2]
; CHECK-DAG: @fixed = internal addrspace(4) constant i32 4
; CHECK-DAG: @tile = internal addrspace(3) global [32 x i32] undef
; CHECK-DAG: @unused = internal addrspace(1) global i32 0
; CHECK-DAG: @visible = addrspace(1) externally_initialized global i32 0
@_ZL7counter = internal addrspace(1) global i32 0
@kernel.static = internal addrspace(1) global i32 0
@table = internal addrspace(1) global [2 x i32] [i32 1, i32 2]
@fixed = internal addrspace(4) constant i32 4
@tile = internal addrspace(3) global [32 x i32] undef
@unused = internal addrspace(1) global i32 0
@visible = addrspace(1) externally_initialized global i32 0

define ptx_kernel void @kernel(i64 %i) {
  %old = atomicrmw add ptr addrspace(1) @_ZL7counter, i32 1 seq_cst
  store i32 %old, ptr addrspace(1) @kernel.static
  %entry = getelementptr [2 x i32], ptr addrspace(1) @table, i64 0, i64 %i
  %v = load i32, ptr addrspace(1) %entry
  %f = load i32, ptr addrspace(4) @fixed
  store i32 %v, ptr addrspace(3) @tile
  store i32 %f, ptr addrspace(1) @visible
  ret void
}
