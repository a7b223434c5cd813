; A sanitizer's check before a mark makes blocks, and no branch of the function's: the mark counts. A
; mark behind a branch of the function's own does not.
; RUN: %opt -passes=mneme-host-functions -S < %s | FileCheck %s
; RUN: sed 's/, !nosanitize !0//' %s | not %opt -passes=mneme-host-functions -S 2>&1 >/dev/null | FileCheck --check-prefix=SAID %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-DAG: [[MARKS:@[a-z_.0-9]+]] = internal constant [1 x { i32, i32, i32, i32, i64, i64, i32, i32 }] [{{.*}} { i32 0, i32 3, i32 0, i32 -1, i64 4, i64 1, i32 0, i32 1 }]
; CHECK-DAG: internal global {{.*}} ptr [[MARKS]], {{.*}} ptr @work.built
; CHECK: define internal void @work.built(
; CHECK-NOT: jit_arg
; SAID: Expected instrumentation annotation to be in the entry basic block
define void @work(i32 %n) {
  %slot = alloca i32, align 4
  store i32 %n, ptr %slot, align 4
  %fits = icmp ne i32 %n, 7
  br i1 %fits, label %next, label %report, !nosanitize !0

report:
  call void @__ubsan_handle(), !nosanitize !0
  br label %next, !nosanitize !0

next:
  %value = load i32, ptr %slot, align 4
  call void @_ZN7proteus7jit_argIiEENSt9enable_ifIXsr3stdE11is_scalar_vIT_EEvE4typeES2_(i32 %value)
  ret void
}

declare void @__ubsan_handle()
declare void @_ZN7proteus7jit_argIiEENSt9enable_ifIXsr3stdE11is_scalar_vIT_EEvE4typeES2_(i32)

!0 = !{}
