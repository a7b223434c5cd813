; A unit that may have kernels compiled at run time tells libmneme_jit so when it is loaded.
; RUN: split-file %s %t
; RUN: %opt -passes=mneme-jit-unit -S %t/header.ll | FileCheck %t/header.ll
; RUN: %opt -passes=mneme-jit-unit,mneme-jit-unit -S %t/header.ll | FileCheck %t/header.ll
; RUN: %opt -passes=mneme-jit-unit -S %t/annotated.ll | FileCheck %t/annotated.ll
; RUN: %opt -passes=mneme-jit-unit -S %t/plain.ll | FileCheck %t/plain.ll

;--- header.ll
target triple = "x86_64-pc-linux-gnu"

; Nothing keeps the header's variable any more.
; CHECK-NOT: @llvm.used
; CHECK: @llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 102, ptr @__mneme_jit_expect, ptr null }]
; CHECK-NOT: @llvm.used
; CHECK: define internal void @__mneme_jit_expect()
; CHECK-NEXT: entry:
; CHECK-NEXT: call void @mneme_jit_expect()
; CHECK-NEXT: ret void
; CHECK-NOT: call void @mneme_jit_expect()
@_ZN7proteus6detailL16UsesJitInterfaceE = internal constant i8 1
@llvm.used = appending global [1 x ptr] [ptr @_ZN7proteus6detailL16UsesJitInterfaceE], section "llvm.metadata"

define i32 @main() {
  ret i32 0
}

;--- annotated.ll
target triple = "x86_64-pc-linux-gnu"

; CHECK: { i32 102, ptr @__mneme_jit_expect, ptr null }
@.str = private unnamed_addr constant [4 x i8] c"jit\00", section "llvm.metadata"
@.file = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @stub, ptr @.str, ptr @.file, i32 1, ptr null }], section "llvm.metadata"

define void @stub() {
  ret void
}

;--- plain.ll
target triple = "x86_64-pc-linux-gnu"

; CHECK-NOT: mneme_jit_expect
define i32 @main() {
  ret i32 0
}
