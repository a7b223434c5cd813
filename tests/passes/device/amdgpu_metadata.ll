; What a HIP kernel's blob says: structs by reference are arguments of their own size; objects that
; stand for special registers, and settings of device libraries, are not variables.
; RUN: %embedded %s | FileCheck %s

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

%struct.S = type { [4 x double], i32 }

$_ZN17__HIP_CoordinatesI15__HIP_ThreadIdxE1xE = comdat any

@state = protected addrspace(1) externally_initialized global [4 x i32] zeroinitializer, align 16
@_ZN17__HIP_CoordinatesI15__HIP_ThreadIdxE1xE = linkonce_odr protected addrspace(4) externally_initialized constant i8 undef, comdat, align 1
@__oclc_daz_opt = external addrspace(4) constant i8, align 1

; CHECK: {"arch":"gfx90a","args":[
; CHECK-SAME: {"align":8,"kind":"pointer","name":"out","size":8,"specializable":false,"type":"ptr addrspace(1)"}
; CHECK-SAME: {"align":8,"fields":[],"kind":"aggregate","name":"s","size":40,"specializable":false,"type":"struct.S"}
; CHECK-SAME: {"align":4,"kind":"integer","name":"n","size":4,"specializable":true,"type":"i32"}
; CHECK-SAME: "globals":[{"align":16,"constant":false,"defined":true,"name":"state","size":16}],
; CHECK-SAME: "max_threads":256
; CHECK-SAME: "triple":"amdgcn-amd-amdhsa","undefined":[]}
define protected amdgpu_kernel void @kernel(ptr addrspace(1) %out, ptr addrspace(4) byref(%struct.S) align 8 %s, i32 %n) #0 {
  %a = load i32, ptr addrspace(1) @state
  %b = load i8, ptr addrspace(4) @__oclc_daz_opt
  %c = load i8, ptr addrspace(4) @_ZN17__HIP_CoordinatesI15__HIP_ThreadIdxE1xE
  call void @__atomic_work_item_fence(i32 0, i32 5, i32 3)
  ret void
}

declare void @__atomic_work_item_fence(i32, i32, i32)

attributes #0 = { "target-cpu"="gfx90a" "amdgpu-flat-work-group-size"="1,256" }
