; Variables of AMD GPUs lie in an address space of their own, and are used through a cast.
; RUN: %opt -passes=mneme-zero-locals -S %s | FileCheck %s --implicit-check-not=auto-init

target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

declare void @llvm.lifetime.start.p5(i64, ptr addrspace(5))

; The cast is made before the variable's life begins.
; CHECK-LABEL: @again(
; CHECK: call void @llvm.lifetime.start
; CHECK-NEXT: store float 0.000000e+00, ptr addrspace(5) %x, align 4, !annotation
; CHECK: ret void
define amdgpu_kernel void @again(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %count) {
entry:
  %x = alloca float, addrspace(5)
  %cast = addrspacecast ptr addrspace(5) %x to ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %rest ]
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %x)
  %place = getelementptr float, ptr addrspace(1) %in, i64 %i
  %element = load float, ptr addrspace(1) %place
  %isSet = fcmp ogt float %element, 0.0
  br i1 %isSet, label %set, label %rest
set:
  store float %element, ptr %cast
  br label %rest
rest:
  %value = load float, ptr %cast
  %target = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %target
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: @set(
; CHECK: ret void
define amdgpu_kernel void @set(ptr addrspace(1) %out, float %value) {
  %x = alloca float, addrspace(5)
  %cast = addrspacecast ptr addrspace(5) %x to ptr
  store float %value, ptr %cast
  %read = load float, ptr %cast
  store float %read, ptr addrspace(1) %out
  ret void
}

; CHECK: = !{!"auto-init"}
