; AArch64 passes a dim3 as one array of registers.
; RUN: %opt -passes=mneme-launch -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32"
target triple = "aarch64-unknown-linux-gnu"

declare i32 @cudaLaunchKernel(ptr, [2 x i64], [2 x i64], ptr, i64, ptr)

; CHECK: call i32 @__mneme_launch_cudaLaunchKernel(
define i32 @caller(ptr %args, [2 x i64] %grid, [2 x i64] %block) {
  %a = call i32 @cudaLaunchKernel(ptr null, [2 x i64] %grid, [2 x i64] %block, ptr %args, i64 5, ptr null)
  ret i32 %a
}

; CHECK-LABEL: define internal i32 @__mneme_launch_cudaLaunchKernel(ptr %0, [2 x i64] %1, [2 x i64] %2, ptr %3, i64 %4, ptr %5)
; CHECK: store ptr %3, ptr
; CHECK: store [2 x i64] %1, ptr
; CHECK: store [2 x i64] %2, ptr
; CHECK: call i32 @mneme_launch_kernel(
