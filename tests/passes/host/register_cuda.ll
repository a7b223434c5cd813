; The entry of a unit lists what clang's registration code lists.
; RUN: %opt -passes=mneme-register -S %s | FileCheck %s
; RUN: %opt -passes=mneme-register,mneme-register -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@0 = private unnamed_addr constant [4 x i8] c"add\00"
@1 = private unnamed_addr constant [4 x i8] c"mul\00"
@2 = private unnamed_addr constant [6 x i8] c"state\00"
@3 = private unnamed_addr constant [6 x i8] c"coeff\00"
@state = internal global [4 x i32] undef
@coeff = internal global i64 undef
@fatbin = private constant [16 x i8] zeroinitializer, section ".nv_fatbin"
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @fatbin, ptr null }, section ".nvFatBinSegment"

; CHECK: @__mneme_kernels = internal constant [2 x { ptr, ptr }] [{ ptr, ptr } { ptr @add_stub, ptr @0 }, { ptr, ptr } { ptr @mul_stub, ptr @1 }], align 8
; CHECK: @__mneme_globals = internal constant [2 x { ptr, ptr, i64, i32, i32 }] [{ ptr, ptr, i64, i32, i32 } { ptr @state, ptr @2, i64 16, i32 0, i32 0 }, { ptr, ptr, i64, i32, i32 } { ptr @coeff, ptr @3, i64 8, i32 9, i32 0 }], align 8
; CHECK: @__mneme_entry = internal constant { i32, i32, ptr, ptr, ptr, i64, i64 } { i32 1, i32 0, ptr @__cuda_fatbin_wrapper, ptr @__mneme_kernels, ptr @__mneme_globals, i64 2, i64 2 }, align 8
; CHECK: @llvm.global_ctors = {{.*}} { i32 101, ptr @__mneme_register, ptr null }
; CHECK: @llvm.global_dtors = {{.*}} { i32 101, ptr @__mneme_unregister, ptr null }
; libmneme_rt registers the code, and may add some for the GPU it meets.
; CHECK-LABEL: define internal void @__cuda_module_ctor()
; CHECK-NEXT: %h = call ptr @mneme_rt_register_code(ptr @__cuda_fatbin_wrapper, ptr @__cudaRegisterFatBinary)
; CHECK-NEXT: call void @__cuda_register_globals(ptr %h)
; CHECK-LABEL: define internal void @__mneme_register()
; CHECK: call void @mneme_rt_register_module(ptr @__mneme_entry)
; CHECK-LABEL: define internal void @__mneme_unregister()
; CHECK: call void @mneme_rt_unregister_module(ptr @__mneme_entry)

define void @add_stub() {
  ret void
}

define void @mul_stub() {
  ret void
}

define internal void @__cuda_register_globals(ptr %handle) {
  %a = call i32 @__cudaRegisterFunction(ptr %handle, ptr @add_stub, ptr @0, ptr @0, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  %b = call i32 @__cudaRegisterFunction(ptr %handle, ptr @mul_stub, ptr @1, ptr @1, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  call void @__cudaRegisterVar(ptr %handle, ptr @state, ptr @2, ptr @2, i32 0, i64 16, i32 0, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @coeff, ptr @3, ptr @3, i32 0, i64 8, i32 1, i32 0)
  ret void
}

define internal void @__cuda_module_ctor() {
  %h = call ptr @__cudaRegisterFatBinary(ptr @__cuda_fatbin_wrapper)
  call void @__cuda_register_globals(ptr %h)
  ret void
}

declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
declare void @__cudaRegisterVar(ptr, ptr, ptr, ptr, i32, i64, i32, i32)
declare ptr @__cudaRegisterFatBinary(ptr)
