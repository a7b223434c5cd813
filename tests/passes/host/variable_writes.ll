; Writes of a constant are told where the unit cannot write it in another way.
; RUN: %opt -passes=mneme-register -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@0 = private unnamed_addr constant [2 x i8] c"x\00"
; Written and read with the template of CUDA's headers and with the function of C: 1 + 8.
@told = internal global [4 x i32] undef
@told_c = internal global i32 undef
@only_read = internal global i32 undef
; Somebody's own function; the address is taken; asynchronous; on the device; of a kind not known; in any unit; in a table.
@own = internal global i32 undef
@address = internal global i32 undef
@async = internal global i32 undef
@on_device = internal global i32 undef
@some_kind = internal global i32 undef
@everywhere = global i32 undef
@in_table = internal global i32 undef
@table = global ptr @in_table
; No constant.
@variable = internal global i32 undef
@fatbin = private constant [16 x i8] zeroinitializer, section ".nv_fatbin"
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @fatbin, ptr null }, section ".nvFatBinSegment"

; CHECK: @__mneme_globals =
; CHECK-SAME: { ptr @told, ptr @0, i64 4, i32 9, i32 0 }
; CHECK-SAME: { ptr @told_c, ptr @0, i64 4, i32 9, i32 0 }
; CHECK-SAME: { ptr @only_read, ptr @0, i64 4, i32 9, i32 0 }
; CHECK-SAME: { ptr @own, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @address, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @async, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @on_device, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @some_kind, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @everywhere, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @in_table, ptr @0, i64 4, i32 1, i32 0 }
; CHECK-SAME: { ptr @variable, ptr @0, i64 4, i32 0, i32 0 }

define void @write(ptr %from, i32 %kind) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: define void @write(
; CHECK: call i32 @_ZL18cudaMemcpyToSymbolIA4_iE9cudaErrorRKT_PKvmm14cudaMemcpyKind(ptr @told,
; CHECK-NEXT: call void @mneme_variable_written()
; CHECK: invoke i32 @cudaMemcpyToSymbol(ptr @told_c,
; CHECK: next:
; CHECK-NEXT: call void @mneme_variable_written()
; CHECK-NOT: mneme_variable_written
; CHECK: ret void
  %a = call i32 @_ZL18cudaMemcpyToSymbolIA4_iE9cudaErrorRKT_PKvmm14cudaMemcpyKind(ptr @told, ptr %from, i64 16, i64 0, i32 1)
  %b = call i32 @cudaMemcpyFromSymbol(ptr %from, ptr @told, i64 16, i64 0, i32 2)
  %c = invoke i32 @cudaMemcpyToSymbol(ptr @told_c, ptr %from, i64 4, i64 0, i32 1) to label %next unwind label %pad
next:
  %d = load i32, ptr @told_c
  %o = call i32 @_ZN3own18cudaMemcpyToSymbolIiEEiRKT_PKvmmi(ptr @own, ptr %from, i64 4, i64 0, i32 1)
  %e = call i32 @cudaMemcpyToSymbol(ptr @address, ptr %from, i64 4, i64 0, i32 1)
  %f = call i32 @cudaGetSymbolAddress(ptr %from, ptr @address)
  %g = call i32 @cudaMemcpyToSymbolAsync(ptr @async, ptr %from, i64 4, i64 0, i32 1, ptr null)
  %h = call i32 @cudaMemcpyToSymbol(ptr @on_device, ptr %from, i64 4, i64 0, i32 3)
  %i = call i32 @cudaMemcpyToSymbol(ptr @some_kind, ptr %from, i64 4, i64 0, i32 %kind)
  %j = call i32 @cudaMemcpyToSymbol(ptr @everywhere, ptr %from, i64 4, i64 0, i32 1)
  %k = call i32 @cudaMemcpyToSymbol(ptr @in_table, ptr %from, i64 4, i64 0, i32 1)
  %l = call i32 @cudaMemcpyToSymbol(ptr @variable, ptr %from, i64 4, i64 0, i32 1)
  ret void
pad:
  %p = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %p
}

define internal void @__cuda_register_globals(ptr %handle) {
  call void @__cudaRegisterVar(ptr %handle, ptr @told, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @told_c, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @only_read, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @own, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @address, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @async, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @on_device, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @some_kind, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @everywhere, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @in_table, ptr @0, ptr @0, i32 0, i64 4, i32 1, i32 0)
  call void @__cudaRegisterVar(ptr %handle, ptr @variable, ptr @0, ptr @0, i32 0, i64 4, i32 0, i32 0)
  ret void
}

define internal void @__cuda_module_ctor() {
  %h = call ptr @__cudaRegisterFatBinary(ptr @__cuda_fatbin_wrapper)
  call void @__cuda_register_globals(ptr %h)
  ret void
}

declare i32 @_ZL18cudaMemcpyToSymbolIA4_iE9cudaErrorRKT_PKvmm14cudaMemcpyKind(ptr, ptr, i64, i64, i32)
declare i32 @_ZN3own18cudaMemcpyToSymbolIiEEiRKT_PKvmmi(ptr, ptr, i64, i64, i32)
declare i32 @cudaMemcpyToSymbol(ptr, ptr, i64, i64, i32)
declare i32 @cudaMemcpyToSymbolAsync(ptr, ptr, i64, i64, i32, ptr)
declare i32 @cudaMemcpyFromSymbol(ptr, ptr, i64, i64, i32)
declare i32 @cudaGetSymbolAddress(ptr, ptr)
declare i32 @__gxx_personality_v0(...)
declare void @__cudaRegisterVar(ptr, ptr, ptr, ptr, i32, i64, i32, i32)
declare ptr @__cudaRegisterFatBinary(ptr)
