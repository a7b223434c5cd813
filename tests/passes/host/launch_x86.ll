; Every launch form goes through a thunk that fills an mneme_launch.
; RUN: %opt -passes=mneme-launch -S %s | FileCheck %s
; RUN: %opt -passes=mneme-launch,mneme-launch -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; An address taken is an address of the thunk.
; CHECK: @table = global ptr @__mneme_launch_cudaLaunchKernel
@table = global ptr @cudaLaunchKernel

declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchKernel_ptsz(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchCooperativeKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchKernelExC(ptr, ptr, ptr)
declare i32 @cudaMalloc(ptr, i64)

; CHECK-LABEL: define i32 @caller
; CHECK: call i32 @__mneme_launch_cudaLaunchKernel(ptr @stub, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
; CHECK: call i32 @__mneme_launch_cudaLaunchKernel_ptsz(
; CHECK: call i32 @__mneme_launch_cudaLaunchCooperativeKernel(
; CHECK: call i32 @__mneme_launch_cudaLaunchKernelExC(
; CHECK: call i32 @cudaMalloc(
define i32 @caller(ptr %args, ptr %config) {
  %a = call i32 @cudaLaunchKernel(ptr @stub, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %b = call i32 @cudaLaunchKernel_ptsz(ptr @stub, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %c = call i32 @cudaLaunchCooperativeKernel(ptr @stub, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %d = call i32 @cudaLaunchKernelExC(ptr %config, ptr @stub, ptr %args)
  %e = call i32 @cudaMalloc(ptr %args, i64 4)
  ret i32 %a
}

define void @stub() {
  ret void
}

; CHECK-LABEL: define internal i32 @__mneme_launch_cudaLaunchKernel(ptr %0, i64 %1, i32 %2, i64 %3, i32 %4, ptr %5, i64 %6, ptr %7)
; CHECK: %launch = alloca { i32, i32, ptr, [3 x i32], [3 x i32], ptr, i64, ptr, ptr, ptr }
; CHECK: store i32 1, ptr
; CHECK: store i32 0, ptr
; CHECK: store ptr %0, ptr
; CHECK: store ptr @cudaLaunchKernel, ptr
; CHECK: store ptr %5, ptr
; CHECK: store i64 %6, ptr
; CHECK: store ptr %7, ptr
; CHECK: store i64 %1, ptr [[GRID:%[0-9]+]]
; CHECK: store i32 %2, ptr
; CHECK: store i64 %3, ptr [[BLOCK:%[0-9]+]]
; CHECK: store i32 %4, ptr
; CHECK: [[RESULT:%[0-9]+]] = call i32 @mneme_launch_kernel(ptr %launch)
; CHECK: ret i32 [[RESULT]]

; CHECK-LABEL: define internal i32 @__mneme_launch_cudaLaunchCooperativeKernel(
; CHECK: store i32 1, ptr
; CHECK: store i32 1, ptr
; CHECK: store ptr @cudaLaunchCooperativeKernel, ptr

; CHECK-LABEL: define internal i32 @__mneme_launch_cudaLaunchKernelExC(ptr %0, ptr %1, ptr %2)
; CHECK: [[NULL:%[0-9]+]] = icmp eq ptr %0, null
; CHECK: br i1 [[NULL]], label %direct, label %routed
; CHECK: direct:
; CHECK: call i32 @cudaLaunchKernelExC(ptr %0, ptr %1, ptr %2)
; CHECK: routed:
; CHECK: store i32 2, ptr
; CHECK: store ptr %1, ptr
; CHECK: store ptr %0, ptr
; CHECK: store ptr %2, ptr
; CHECK: call i32 @mneme_launch_kernel(ptr %launch)
