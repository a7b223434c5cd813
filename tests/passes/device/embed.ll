; Every kernel leaves one blob; functions do not.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck %s
; The pass may run twice without embedding its own output.
; RUN: %opt -passes=mneme-embed,mneme-embed -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-COUNT-2: @__mneme_ir_{{[0-9a-f]+}} = weak_odr addrspace(1) constant [{{[0-9]+}} x i8] c"MNEMEIR1{{.*}}, align 8
; CHECK-NOT: @__mneme_ir_
; CHECK: @llvm.used = appending global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @__mneme_ir_

define internal void @helper(ptr %p) {
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @first
define ptx_kernel void @first(ptr %p) {
  call void @helper(ptr %p)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @second
define ptx_kernel void @second(ptr %p) {
  store i32 2, ptr %p
  ret void
}
