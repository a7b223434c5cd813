; Relocatable device code: kernels and variables come from the offload entries, old and new.
; RUN: %opt -passes=mneme-register -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@name.k = internal unnamed_addr constant [2 x i8] c"k\00", section ".llvm.rodata.offloading"
@name.c = internal unnamed_addr constant [2 x i8] c"c\00", section ".llvm.rodata.offloading"
@name.t = internal unnamed_addr constant [2 x i8] c"t\00", section ".llvm.rodata.offloading"
@name.o = internal unnamed_addr constant [2 x i8] c"o\00", section ".llvm.rodata.offloading"
@c = global i32 undef
@t = global i32 undef
@entry.k = weak constant { i64, i16, i16, i32, ptr, ptr, i64, i64, ptr } { i64 0, i16 1, i16 2, i32 0, ptr @stub, ptr @name.k, i64 0, i64 0, ptr null }, section "llvm_offload_entries"
@entry.c = weak constant { i64, i16, i16, i32, ptr, ptr, i64, i64, ptr } { i64 0, i16 1, i16 2, i32 24, ptr @c, ptr @name.c, i64 4, i64 0, ptr null }, section "llvm_offload_entries"
@entry.t = weak constant { i64, i16, i16, i32, ptr, ptr, i64, i64, ptr } { i64 0, i16 1, i16 2, i32 3, ptr @t, ptr @name.t, i64 4, i64 0, ptr null }, section "llvm_offload_entries"
@entry.o = weak constant { ptr, ptr, i64, i32, i32 } { ptr @other, ptr @name.o, i64 0, i32 0, i32 0 }, section "cuda_offloading_entries"

; CHECK: @__mneme_kernels = internal constant [2 x { ptr, ptr }] [{ ptr, ptr } { ptr @stub, ptr @name.k }, { ptr, ptr } { ptr @other, ptr @name.o }]
; CHECK: @__mneme_globals = internal constant [1 x { ptr, ptr, i64, i32, i32 }] [{ ptr, ptr, i64, i32, i32 } { ptr @c, ptr @name.c, i64 4, i32 5, i32 0 }]
; CHECK: @__mneme_entry = internal constant { i32, i32, ptr, ptr, ptr, i64, i64 } { i32 1, i32 0, ptr null,
define void @stub() {
  ret void
}

define void @other() {
  ret void
}
