; What annotate("jit") says of kernels is in what is embedded; what other tools say stays.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @other, ptr @mine, ptr @file, i32 5, ptr null }], section "llvm.metadata"
; CHECK-NOT: @llvm.global.annotations
@jit = private unnamed_addr constant [4 x i8] c"jit\00", section "llvm.metadata"
@mine = private unnamed_addr constant [5 x i8] c"mine\00", section "llvm.metadata"
@file = private unnamed_addr constant [5 x i8] c"k.cu\00", section "llvm.metadata"
@args = private unnamed_addr constant { i32 } { i32 1 }, section "llvm.metadata"
@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] [
  { ptr, ptr, ptr, i32, ptr } { ptr @marked, ptr @jit, ptr @file, i32 1, ptr @args },
  { ptr, ptr, ptr, i32, ptr } { ptr @other, ptr @mine, ptr @file, i32 5, ptr null },
  { ptr, ptr, ptr, i32, ptr } { ptr @other, ptr @jit, ptr @file, i32 5, ptr null }
], section "llvm.metadata"

define ptx_kernel void @marked(i32 %n) {
  ret void
}

define ptx_kernel void @other(i32 %n) {
  ret void
}
