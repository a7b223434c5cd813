; Kernels marked the way of LLVM 19, by metadata.
; RUN: %embedded %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: "kernel":"old"
; CHECK-SAME: "max_threads":256,"min_blocks":3
define void @old(ptr %p) {
  ret void
}

; CHECK-NOT: "kernel":"function"
define internal void @function(ptr %p) {
  ret void
}

!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @old, !"kernel", i32 1}
!1 = !{ptr @old, !"maxntidx", i32 128, !"maxntidy", i32 2}
!2 = !{ptr @old, !"minctasm", i32 3}
