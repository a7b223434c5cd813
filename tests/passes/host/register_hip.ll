; HIP registers a handle that is a variable, and managed variables, which are pointers on the device.
; RUN: %opt -passes=mneme-register -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@0 = private unnamed_addr constant [4 x i8] c"add\00"
@1 = private unnamed_addr constant [2 x i8] c"m\00"
@add = constant ptr @add_stub
@m = global ptr null
@m.managed = global i32 0
@__hip_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1212764230, i32 1, ptr null, ptr null }, section ".hipFatBinSegment"

; CHECK: @__mneme_kernels = internal constant [1 x { ptr, ptr }] [{ ptr, ptr } { ptr @add, ptr @0 }]
; CHECK: @__mneme_globals = internal constant [1 x { ptr, ptr, i64, i32, i32 }] [{ ptr, ptr, i64, i32, i32 } { ptr @m, ptr @1, i64 8, i32 2, i32 0 }]
; CHECK: @__mneme_entry = internal constant { i32, i32, ptr, ptr, ptr, i64, i64 } { i32 1, i32 1, ptr @__hip_fatbin_wrapper,
define void @add_stub() {
  ret void
}

; CHECK: define internal void @__hip_module_ctor()
; CHECK-NEXT: %h = call ptr @__hipRegisterFatBinary(ptr @__hip_fatbin_wrapper)
; CHECK-NEXT: call void @mneme_rt_code_registered(ptr @__hip_fatbin_wrapper, ptr %h)
define internal void @__hip_module_ctor() {
  %h = call ptr @__hipRegisterFatBinary(ptr @__hip_fatbin_wrapper)
  %a = call i32 @__hipRegisterFunction(ptr %h, ptr @add, ptr @0, ptr @0, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  call void @__hipRegisterManagedVar(ptr %h, ptr @m, ptr @m.managed, ptr @1, i64 4, i32 4)
  ret void
}

; CHECK: define internal void @__hip_module_dtor(ptr %h)
; CHECK-NEXT: call void @mneme_rt_code_unregistered(ptr %h)
; CHECK-NEXT: call void @__hipUnregisterFatBinary(ptr %h)
define internal void @__hip_module_dtor(ptr %h) {
  call void @__hipUnregisterFatBinary(ptr %h)
  ret void
}

declare void @__hipUnregisterFatBinary(ptr)
declare i32 @__hipRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
declare void @__hipRegisterManagedVar(ptr, ptr, ptr, ptr, i64, i32)
declare ptr @__hipRegisterFatBinary(ptr)
