; Of a structure that is passed by value, the blob lists the members that the kernel reads: no padding, and
; nothing that is only there.
; RUN: %embedded %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

%struct.Sizes = type { i32, i32 }
%struct.Functor = type { ptr, ptr, i8, %struct.Sizes, double }
%struct.Table = type { [3 x double], i64 }
%union.Number = type { i64 }
%struct.Tagged = type { i8, %union.Number, ptr }

; An index that is known at run time only leads into its own array.
; CHECK: "fields":[{"kind":"float","offset":0,"size":8,"specializable":false,"type":"double"},
; CHECK-SAME: {"kind":"float","offset":8,"size":8,"specializable":false,"type":"double"},
; CHECK-SAME: {"kind":"float","offset":16,"size":8,"specializable":false,"type":"double"}],{{.*}}"kernel":"array"
define ptx_kernel void @array(ptr byval(%struct.Table) align 8 %table, i32 %index) #0 {
  %at = getelementptr inbounds [3 x double], ptr %table, i32 0, i32 %index
  %value = load double, ptr %at
  store double %value, ptr addrspace(1) @out
  ret void
}

; A member read by a function that gets a copy of the structure. Three of five members, without the padding
; behind the i8.
define ptx_kernel void @copied(ptr byval(%struct.Functor) align 8 %f) #0 {
  %copy = alloca %struct.Functor
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %f, i64 40, i1 false)
  call void @apply(ptr %copy)
  ret void
}

define internal void @apply(ptr %self) #0 {
  %data = load ptr, ptr %self
  %sizes = getelementptr inbounds %struct.Functor, ptr %self, i32 0, i32 3
  %inner = getelementptr inbounds %struct.Sizes, ptr %sizes, i32 0, i32 1
  %n = load i32, ptr %inner
  %third = getelementptr inbounds %struct.Functor, ptr %self, i32 0, i32 4
  %factor = load double, ptr %third
  %at = getelementptr double, ptr %data, i32 %n
  store double %factor, ptr %at
  ret void
}

; Facts about the address are no reads.
define ptx_kernel void @assumed(ptr byval(%struct.Sizes) align 4 %sizes) #0 {
  call void @llvm.assume(i1 true) [ "align"(ptr %sizes, i64 4), "nonnull"(ptr %sizes), "dereferenceable"(ptr %sizes, i64 8) ]
  %at = getelementptr inbounds %struct.Sizes, ptr %sizes, i32 0, i32 1
  %n = load i32, ptr %at
  store i32 %n, ptr addrspace(1) @out
  ret void
}

; Another unit's function may read everything, and write.
define ptx_kernel void @escapes(ptr byval(%struct.Sizes) align 4 %sizes) #0 {
  call void @elsewhere(ptr %sizes)
  ret void
}

; Both members of a union, each with a type of its own: bytes. A pointer that is read as a number counts.
define ptx_kernel void @union(ptr byval(%struct.Tagged) align 8 %t) #0 {
  %at = getelementptr inbounds %struct.Tagged, ptr %t, i32 0, i32 1
  %whole = load i64, ptr %at
  store i64 %whole, ptr addrspace(1) @out
  %real = load double, ptr %at
  store double %real, ptr addrspace(1) @second
  %last = getelementptr inbounds %struct.Tagged, ptr %t, i32 0, i32 2
  %number = load i64, ptr %last
  store i64 %number, ptr addrspace(1) @third
  ret void
}

; What a kernel changes in its own copy cannot become a constant.
define ptx_kernel void @writes(ptr byval(%struct.Sizes) align 4 %sizes, i1 %again) #0 {
  br i1 %again, label %change, label %end

change:
  store i32 1, ptr %sizes
  call void @llvm.nvvm.barrier0()
  br label %end

end:
  %new = load i32, ptr %sizes
  store i32 %new, ptr addrspace(1) @out
  ret void
}

; CHECK: "fields":[{"kind":"integer","offset":4,"size":4,"specializable":true,"type":"i32"}],{{.*}}"kernel":"assumed"
; CHECK: "fields":[{"kind":"pointer","offset":0,"size":8,"specializable":false,"type":"ptr"},
; CHECK-SAME: {"kind":"integer","offset":24,"size":4,"specializable":true,"type":"i32"},
; CHECK-SAME: {"kind":"float","offset":32,"size":8,"specializable":true,"type":"double"}],{{.*}}"kernel":"copied"
; CHECK: "fields":[{"kind":"integer","offset":0,"size":4,"specializable":false,"type":"i32"},
; CHECK-SAME: {"kind":"integer","offset":4,"size":4,"specializable":false,"type":"i32"}],{{.*}}"kernel":"escapes"
; CHECK: "fields":[{"kind":"bytes","offset":8,"size":8,"specializable":false,"type":"bytes"},
; CHECK-SAME: {"kind":"integer","offset":16,"size":8,"specializable":true,"type":"i64"}],{{.*}}"kernel":"union"
; CHECK: "fields":[{"kind":"integer","offset":0,"size":4,"specializable":false,"type":"i32"}],{{.*}}"kernel":"writes"

@out = addrspace(1) externally_initialized global i64 0
@second = addrspace(1) externally_initialized global i64 0
@third = addrspace(1) externally_initialized global i64 0

declare void @elsewhere(ptr)
declare void @llvm.assume(i1)
declare void @llvm.nvvm.barrier0()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

attributes #0 = { "target-cpu"="sm_90" }
