; HIP: the blob lies in a section of its own.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK: @__mneme_ir_{{[0-9a-f]+}} = weak_odr protected addrspace(1) constant [{{[0-9]+}} x i8] c"MNEMEIR1{{.*}}, section ".mneme", align 8
define amdgpu_kernel void @kernel(ptr %p) "target-cpu"="gfx90a" {
  store i32 1, ptr %p
  ret void
}
