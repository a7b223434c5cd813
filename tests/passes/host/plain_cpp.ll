; A unit without device code and without launches stays as it is, at every level.
; RUN: %opt -passes=mneme-embed,mneme-launch,mneme-register -S < %s | FileCheck %s
; RUN: opt -load-pass-plugin=%plugin -passes='default<O2>' -S < %s | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-NOT: mneme
define i32 @main() {
  %a = call i32 @cudaMalloc(ptr null, i64 4)
  ret i32 %a
}

declare i32 @cudaMalloc(ptr, i64)
