; Structures that a stub hands to a kernel have zeros between their members.
; RUN: %opt -passes=mneme-launch-padding -S %s | FileCheck %s --implicit-check-not=llvm.memset

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%wide = type { i8, double, i8 }
%small = type { i8, i32 }
%empty = type { i8 }

declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)

; A copy in memory of its own, one made of registers, an object without members, a number.
; CHECK-LABEL: define void @_Z19__device_stub__inMemory
; CHECK: store ptr %number, ptr
; CHECK-NEXT: [[FIRST:%.*]] = getelementptr inbounds i8, ptr %wide, i64 1
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr [[FIRST]], i8 0, i64 7, i1 false)
; CHECK-NEXT: [[LAST:%.*]] = getelementptr inbounds i8, ptr %wide, i64 17
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr [[LAST]], i8 0, i64 7, i1 false)
; CHECK-NEXT: [[MIDDLE:%.*]] = getelementptr inbounds i8, ptr %small, i64 1
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr [[MIDDLE]], i8 0, i64 3, i1 false)
; CHECK-NEXT: {{.*}} = getelementptr inbounds i8, ptr %empty, i64 0
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr {{.*}}, i8 0, i64 1, i1 false)
; CHECK-NEXT: call i32 @cudaLaunchKernel(
define void @_Z19__device_stub__inMemory(ptr byval(%wide) align 8 %wide, i64 %coerced, i32 %n) {
  %small = alloca %small
  %empty = alloca %empty
  %number = alloca i32
  store i64 %coerced, ptr %small
  store i32 %n, ptr %number
  %args = alloca ptr, i64 4
  store ptr %wide, ptr %args
  %second = getelementptr ptr, ptr %args, i32 1
  store ptr %small, ptr %second
  %third = getelementptr ptr, ptr %args, i32 2
  store ptr %empty, ptr %third
  %fourth = getelementptr ptr, ptr %args, i32 3
  store ptr %number, ptr %fourth
  %done = call i32 @cudaLaunchKernel(ptr @_Z19__device_stub__inMemory, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  ret void
}

; CHECK-LABEL: define void @_Z19__device_stub__byCaller
define void @_Z19__device_stub__byCaller(ptr %object, ptr %pointer) {
  %kept = alloca ptr
  store ptr %pointer, ptr %kept
  %args = alloca ptr, i64 2
  store ptr %object, ptr %args
  %second = getelementptr ptr, ptr %args, i32 1
  store ptr %kept, ptr %second
  %done = call i32 @cudaLaunchKernel(ptr @_Z19__device_stub__byCaller, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  ret void
}

; The copy of an object with a constructor of its own is the caller's; what a pointer argument leads
; to is the program's.
; CHECK-LABEL: define void @caller
; CHECK: call void @llvm.memset.p0.i64(ptr {{.*}}, i8 0, i64 3, i1 false)
; CHECK-NEXT: call void @_Z19__device_stub__byCaller(
define void @caller(i32 %n) {
  %copy = alloca %small
  %other = alloca %small
  store i32 %n, ptr %copy
  store i32 %n, ptr %other
  call void @_Z19__device_stub__byCaller(ptr %copy, ptr %other)
  ret void
}

; A launch that the program writes itself.
; CHECK-LABEL: define void @byHand
define void @byHand(ptr %kernel) {
  %value = alloca %small
  %args = alloca ptr
  store ptr %value, ptr %args
  %done = call i32 @cudaLaunchKernel(ptr %kernel, i64 1, i32 2, i64 3, i32 4, ptr %args, i64 5, ptr null)
  ret void
}

; CHECK: declare void @llvm.memset
