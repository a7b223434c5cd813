; Locals that may be read before they are set become zero where their life begins; no other does.
; RUN: %opt -passes=mneme-zero-locals -S %s | FileCheck %s --implicit-check-not=auto-init
; RUN: %opt -passes=mneme-zero-locals -pass-remarks=mneme -disable-output %s 2>&1 | FileCheck %s --check-prefix=SAID
; RUN: %opt -passes='mneme-zero-locals,mneme-zero-locals' -S %s | FileCheck %s --implicit-check-not=auto-init

; SAID-COUNT-5: before it is set: it is set to zero
; SAID-NOT: before it is set

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%pair = type { float, i8 }

declare void @other(ptr)
declare void @llvm.lifetime.start.p0(i64, ptr)

; CHECK-LABEL: @conditional(
; CHECK: %after = alloca i32
; CHECK-NEXT: store float 0.000000e+00, ptr %x, align 4, !annotation
; CHECK: ret void
define ptx_kernel void @conditional(i1 %condition, ptr %out) {
  %x = alloca float
  %after = alloca i32
  br i1 %condition, label %then, label %end
then:
  store float 1.0, ptr %x
  br label %end
end:
  %value = load float, ptr %x
  store float %value, ptr %out
  ret void
}

; Each round of the loop has a variable of its own.
; CHECK-LABEL: @again(
; CHECK: call void @llvm.lifetime.start
; CHECK-NEXT: store float 0.000000e+00, ptr %x, align 4, !annotation
; CHECK: ret void
define ptx_kernel void @again(ptr %in, ptr %out, i64 %count) {
entry:
  %x = alloca float
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %rest ]
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  %place = getelementptr float, ptr %in, i64 %i
  %element = load float, ptr %place
  %isSet = fcmp ogt float %element, 0.0
  br i1 %isSet, label %set, label %rest
set:
  store float %element, ptr %x
  br label %rest
rest:
  %value = load float, ptr %x
  %target = getelementptr float, ptr %out, i64 %i
  store float %value, ptr %target
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What is behind the condition is read only where it was set.
; CHECK-LABEL: @correlated(
; CHECK: ret void
define ptx_kernel void @correlated(i1 %condition, ptr %in, ptr %out) {
  %x = alloca float
  br i1 %condition, label %then, label %middle
then:
  %element = load float, ptr %in
  store float %element, ptr %x
  br label %middle
middle:
  br i1 %condition, label %use, label %end
use:
  %value = load float, ptr %x
  store float %value, ptr %out
  br label %end
end:
  ret void
}

; A loop fills the array.
; CHECK-LABEL: @filled(
; CHECK: ret void
define ptx_kernel void @filled(ptr %in, ptr %out, i64 %which) {
entry:
  %x = alloca [4 x float]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %in, i64 %i
  %element = load float, ptr %place
  %target = getelementptr [4 x float], ptr %x, i64 0, i64 %i
  store float %element, ptr %target
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 4
  br i1 %more, label %loop, label %read
read:
  %chosen = getelementptr [4 x float], ptr %x, i64 0, i64 %which
  %value = load float, ptr %chosen
  store float %value, ptr %out
  ret void
}

; As far as anybody knows, one element alone.
; CHECK-LABEL: @partly(
; CHECK: call void @llvm.memset{{.*}}ptr {{.*}}%x, i8 0, i64 16, i1 false), !annotation
; CHECK: ret void
define ptx_kernel void @partly(float %value, i64 %place, ptr %out) {
  %x = alloca [4 x float]
  store float %value, ptr %x
  %element = getelementptr [4 x float], ptr %x, i64 0, i64 %place
  %read = load float, ptr %element
  store float %read, ptr %out
  ret void
}

define internal void @fill(ptr %to, float %value) noinline {
  store float %value, ptr %to
  %second = getelementptr inbounds %pair, ptr %to, i32 0, i32 1
  store i8 1, ptr %second
  ret void
}

; The function sets it. Bytes between members do not count.
; CHECK-LABEL: @given(
; CHECK: ret void
define ptx_kernel void @given(float %value, ptr %out) {
  %x = alloca %pair
  call void @fill(ptr %x, float %value)
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %x, i64 8, i1 false)
  ret void
}

define internal float @look(ptr %at) {
  %value = load float, ptr %at
  ret float %value
}

; The function reads it.
; CHECK-LABEL: @lookedAt(
; CHECK: store float 0.000000e+00, ptr %x, align 4, !annotation
; CHECK: ret void
define ptx_kernel void @lookedAt(ptr %out) {
  %x = alloca float
  %value = call float @look(ptr %x)
  store float %value, ptr %out
  ret void
}

; Nobody knows what a function of another unit does.
; CHECK-LABEL: @elsewhere(
; CHECK: store float 0.000000e+00, ptr %x, align 4, !annotation
; CHECK: ret void
define ptx_kernel void @elsewhere(ptr %out) {
  %x = alloca float
  call void @other(ptr %x)
  %value = load float, ptr %x
  store float %value, ptr %out
  ret void
}

; CHECK-LABEL: @__nv_function(
; CHECK: ret float
define internal float @__nv_function(i64 %place) {
  %x = alloca [4 x float]
  store float 1.0, ptr %x
  %element = getelementptr [4 x float], ptr %x, i64 0, i64 %place
  %read = load float, ptr %element
  ret float %read
}

; CHECK: = !{!"auto-init"}
