; Kernel stubs and functions without marks stay as they are; what cannot be replaced is said.
; RUN: %opt -passes=mneme-host-functions -S < %s 2>%t | FileCheck %s
; RUN: FileCheck --check-prefix=SAID %s < %t

target triple = "x86_64-pc-linux-gnu"

@.jit = private unnamed_addr constant [4 x i8] c"jit\00", section "llvm.metadata"
@.file = private unnamed_addr constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }]
  [{ ptr, ptr, ptr, i32, ptr } { ptr @_Z21__device_stub__kernelv, ptr @.jit, ptr @.file, i32 1, ptr null },
   { ptr, ptr, ptr, i32, ptr } { ptr @naked, ptr @.jit, ptr @.file, i32 1, ptr null }],
  section "llvm.metadata"

; CHECK-NOT: mneme
; SAID: warning: mneme: 'naked' runs as it was built, because it is naked
define void @_Z21__device_stub__kernelv() {
  ret void
}

define void @plain() {
  ret void
}

define void @naked() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}
