; Lanes of a wave read what others have written, with nothing between but that they go in step.
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@values = internal addrspace(3) global [128 x i32] undef, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.wavefrontsize()

define protected amdgpu_kernel void @mirror(ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %size = call i32 @llvm.amdgcn.wavefrontsize()
  %last = sub i32 %size, 1
  %lane = and i32 %t, %last
  %own = getelementptr [128 x i32], ptr addrspace(3) @values, i32 0, i32 %t
  store volatile i32 %t, ptr addrspace(3) %own
  %first = sub i32 %t, %lane
  %from = sub i32 %last, %lane
  %index = add i32 %first, %from
  %other = getelementptr [128 x i32], ptr addrspace(3) @values, i32 0, i32 %index
  %value = load volatile i32, ptr addrspace(3) %other
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %value, ptr addrspace(1) %place
  ret void
}

attributes #0 = { "target-cpu"="gfx90a" "target-features"="+wavefrontsize64" }
