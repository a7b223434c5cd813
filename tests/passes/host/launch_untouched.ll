; A module that defines a launch function, declares it with other parameters, or does not use it,
; keeps what it has.
; RUN: %opt -passes=mneme-launch -S < %s 2>%t | FileCheck %s
; RUN: FileCheck --check-prefix=WARNING --input-file=%t %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-NOT: mneme
define i32 @cudaLaunchKernel(ptr %f, i64 %a, i32 %b, i64 %c, i32 %d, ptr %args, i64 %s, ptr %stream) {
  ret i32 0
}

declare i32 @cudaLaunchKernel_ptsz(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchCooperativeKernel(...)

define i32 @caller(ptr %args) {
  %a = call i32 @cudaLaunchKernel(ptr null, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  %b = call i32 (...) @cudaLaunchCooperativeKernel(i32 1)
  ret i32 %a
}

; WARNING: warning: mneme: 'cudaLaunchCooperativeKernel' is declared with parameters of its own
