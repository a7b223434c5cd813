; Code and variables other units may refer to leave a blob of their own, under their own linkage.
; RUN: %embedded %s | FileCheck %s
; RUN: %embedded %s "" | FileCheck --check-prefix=IR %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: "kernel":"kernel"
; CHECK-SAME: "undefined":["elsewhere","replaceable"]
; CHECK: "arch":"sm_90"
; CHECK-SAME: "kernel":""
; CHECK-SAME: "offers":["offered","instantiated","replaceable","state"]
; CHECK-SAME: "undefined":["replaceable"]

; IR: @state = addrspace(1) externally_initialized global i32 1
; IR-NOT: kernel
; IR: define i32 @offered
; IR: define weak_odr i32 @instantiated
; IR: define weak i32 @replaceable
; IR: define internal i32 @_ZL6helperv
; IR-NOT: kernel
@state = addrspace(1) externally_initialized global i32 1

define i32 @offered() #0 {
  %r = call i32 @_ZL6helperv()
  ret i32 %r
}

; Other units only declare what is explicitly instantiated in one.
define weak_odr i32 @instantiated() #0 {
  %r = call i32 @replaceable()
  ret i32 %r
}

; Another unit's definition counts, if there is one.
define weak i32 @replaceable() #0 {
  ret i32 5
}

define internal i32 @_ZL6helperv() #0 {
  ret i32 3
}

define linkonce_odr i32 @inline_everywhere() #0 {
  ret i32 4
}

define ptx_kernel void @kernel(ptr %p) #0 {
  %v = call i32 @elsewhere()
  %w = call i32 @inline_everywhere()
  %x = call i32 @replaceable()
  store i32 %v, ptr %p
  ret void
}

declare i32 @elsewhere()

attributes #0 = { "target-cpu"="sm_90" }
