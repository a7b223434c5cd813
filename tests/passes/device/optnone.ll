; The optnone of -O0, which every function has but those that are always inlined, goes and noinline with
; it: the code is to be tuned.
; RUN: %embedded %s | FileCheck %s
; RUN: %embedded %s kernel | FileCheck --check-prefix=IR %s
; CHECK: "kernel":"kernel"
; CHECK-SAME: "opt_level":"0"
; IR: define ptx_kernel void @kernel(ptr %p) #[[ATTRIBUTES:[0-9]+]]
; IR: attributes #[[ATTRIBUTES]] = { nounwind }

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @kernel(ptr %p) #0 {
  call void @helper(ptr %p)
  ret void
}

define internal void @helper(ptr %p) #1 {
  store i32 1, ptr %p
  ret void
}

attributes #0 = { nounwind noinline optnone }
attributes #1 = { alwaysinline nounwind }
