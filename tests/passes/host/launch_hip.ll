; HIP's launch functions; hipExtLaunchKernel stays direct.
; RUN: %opt -passes=mneme-launch -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare i32 @hipLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @hipLaunchKernel_spt(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @hipLaunchCooperativeKernel(ptr, i64, i32, i64, i32, ptr, i32, ptr)
declare i32 @hipLaunchKernelExC(ptr, ptr, ptr)
declare i32 @hipExtLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr, ptr, ptr, i32)

; CHECK-LABEL: define i32 @caller
; CHECK: call i32 @__mneme_launch_hipLaunchKernel(
; CHECK: call i32 @__mneme_launch_hipLaunchKernel_spt(
; CHECK: call i32 @__mneme_launch_hipLaunchCooperativeKernel(
; CHECK: call i32 @__mneme_launch_hipLaunchKernelExC(
; CHECK: call i32 @hipExtLaunchKernel(
define i32 @caller(ptr %args, ptr %config) {
  %a = call i32 @hipLaunchKernel(ptr null, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %b = call i32 @hipLaunchKernel_spt(ptr null, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %c = call i32 @hipLaunchCooperativeKernel(ptr null, i64 1, i32 2, i64 3, i32 4, ptr %args, i32 5, ptr null)
  %d = call i32 @hipLaunchKernelExC(ptr %config, ptr null, ptr %args)
  %e = call i32 @hipExtLaunchKernel(ptr null, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null, ptr null, ptr null, i32 0)
  ret i32 %a
}

; HIP's cooperative launch counts shared memory in 32 bits.
; CHECK-LABEL: define internal i32 @__mneme_launch_hipLaunchCooperativeKernel(
; CHECK: zext i32 %6 to i64
; CHECK: call i32 @mneme_launch_kernel(
