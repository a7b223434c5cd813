; Loaded by a compiler, the passes run first in every pipeline: the IR is embedded raw.
; RUN: opt -load-pass-plugin=%plugin -passes='default<O0>' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin=%plugin -passes='default<O1>' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin=%plugin -passes='default<O3>' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin=%plugin -passes='default<Os>' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin=%plugin -mneme-kernels=other -passes='default<O2>' -S %s | FileCheck --check-prefix=NONE %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @__mneme_ir_[[HASH:[0-9a-f]+]] = weak_odr
; NONE-NOT: @__mneme_ir_
define ptx_kernel void @kernel(ptr %p) {
  %slot = alloca i32
  store i32 1, ptr %slot
  %v = load i32, ptr %slot
  store i32 %v, ptr %p
  ret void
}
