; Locals that may be read before they are set are told; those that are set, wholly, are not.
; RUN: %embedded %s | FileCheck %s

; CHECK: "kernel":"conditional"
; CHECK-SAME: "unset_locals":true
; CHECK: "kernel":"copied"
; CHECK-NOT: "unset_locals"
; CHECK: "kernel":"members"
; CHECK-NOT: "unset_locals"
; CHECK: "kernel":"partial"
; CHECK-SAME: "unset_locals":true
; CHECK: "kernel":"passed"
; CHECK-NOT: "unset_locals"
; CHECK: "kernel":"set"
; CHECK-NOT: "unset_locals"
; CHECK: "kernel":"zeroed"
; CHECK-NOT: "unset_locals"

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%pair = type { float, i8 }

define ptx_kernel void @conditional(i1 %condition, ptr %out) {
  %x = alloca float
  br i1 %condition, label %then, label %end
then:
  store float 1.0, ptr %x
  br label %end
end:
  %value = load float, ptr %x
  store float %value, ptr %out
  ret void
}

define ptx_kernel void @copied(ptr %in, ptr %out) {
  %x = alloca %pair
  call void @llvm.memcpy.p0.p0.i64(ptr %x, ptr %in, i64 8, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %x, i64 8, i1 false)
  ret void
}

; Between the members nothing is.
define ptx_kernel void @members(float %value, ptr %out) {
  %x = alloca %pair
  store float %value, ptr %x
  %second = getelementptr inbounds %pair, ptr %x, i32 0, i32 1
  store i8 1, ptr %second
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %x, i64 8, i1 false)
  ret void
}

define ptx_kernel void @partial(float %value, i64 %place, ptr %out) {
  %x = alloca [4 x float]
  store float %value, ptr %x
  %element = getelementptr [4 x float], ptr %x, i64 0, i64 %place
  %read = load float, ptr %element
  store float %read, ptr %out
  ret void
}

define ptx_kernel void @passed(ptr %out) {
  %x = alloca float
  call void @fill(ptr %x)
  %value = load float, ptr %x
  store float %value, ptr %out
  ret void
}

define ptx_kernel void @set(i1 %condition, ptr %out) {
  %x = alloca float
  br i1 %condition, label %then, label %else
then:
  store float 1.0, ptr %x
  br label %end
else:
  store float 2.0, ptr %x
  br label %end
end:
  %value = load float, ptr %x
  store float %value, ptr %out
  ret void
}

define ptx_kernel void @zeroed(i64 %place, ptr %out) {
  %x = alloca [4 x float]
  call void @llvm.memset.p0.i64(ptr %x, i8 0, i64 16, i1 false), !annotation !0
  %element = getelementptr [4 x float], ptr %x, i64 0, i64 %place
  %read = load float, ptr %element
  store float %read, ptr %out
  ret void
}

define internal void @fill(ptr %x) {
  store float 1.0, ptr %x
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

!0 = !{!"auto-init"}
