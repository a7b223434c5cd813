; HIP: the blob lies in a section of its own.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck %s

target triple = "amdgcn-amd-amdhsa"


; Tables of functions that code objects would not export get a name there; what others decide stays.
; CHECK: @vtable = weak_odr protected unnamed_addr addrspace(1) constant [1 x ptr] [ptr @virtual]
; CHECK: @plain = hidden addrspace(1) global i32 0
@vtable = linkonce_odr hidden unnamed_addr addrspace(1) constant [1 x ptr] [ptr @virtual]
@plain = hidden addrspace(1) global i32 0

; CHECK: @__mneme_ir_{{[0-9a-f]+}} = weak_odr protected addrspace(1) constant [{{[0-9]+}} x i8] c"MNEMEIR1{{.*}}, section ".mneme", align 8
define hidden i32 @virtual(ptr %this) "target-cpu"="gfx90a" {
  ret i32 1
}

define amdgpu_kernel void @kernel(ptr %p) "target-cpu"="gfx90a" {
  store i32 1, ptr %p
  ret void
}
