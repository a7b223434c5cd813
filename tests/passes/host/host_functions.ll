; A marked host function becomes a stub that asks the run time which code to run and tail-calls it;
; what it was stays as an internal function, and the table has the addresses of what it refers to.
; RUN: %opt -passes=mneme-host-functions -S < %s | FileCheck %s
; A stub is not a function to convert: the plugin may have been loaded by two of its names.
; RUN: %opt -passes=mneme-host-functions,mneme-host-functions -S < %s \
; RUN:   | FileCheck --implicit-check-not=.built.built %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@counter = internal global i32 0
@table = constant [2 x i32] [i32 4, i32 5]
@own = internal thread_local global i32 1
@.jit = private unnamed_addr constant [4 x i8] c"jit\00", section "llvm.metadata"
@.file = private unnamed_addr constant [2 x i8] c"f\00", section "llvm.metadata"
@.first = private unnamed_addr constant { i32 } { i32 1 }, section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }]
  [{ ptr, ptr, ptr, i32, ptr } { ptr @work, ptr @.jit, ptr @.file, i32 1, ptr @.first }],
  section "llvm.metadata"

; CHECK-DAG: [[MARKS:@[a-z_.0-9]+]] = internal constant [1 x { i32, i32, i32, i32, i64, i64, i32, i32 }] [{{.*}} { i32 0, i32 3, i32 0, i32 -1, i64 4, i64 1, i32 0, i32 1 }]
; CHECK-DAG: [[TABLE:@[a-z_.0-9]+]] = internal constant [{{[0-9]+}} x ptr] [{{.*}}ptr @counter{{.*}}]
; CHECK-DAG: [[WHOLE:@[a-z_.0-9]+]] = internal global {{.*}} ptr [[MARKS]], ptr [[TABLE]], i64 {{[0-9]+}}, ptr @work.built, ptr null, ptr null, i32 0, i32 0 }

; CHECK: define i32 @caller(
; CHECK: call i32 @work(i32 3, double 2.000000e+00)
define i32 @caller() {
  %r = call i32 @work(i32 3, double 2.0)
  ret i32 %r
}

; CHECK: define internal i32 @work.built(
define i32 @work(i32 %n, double %x) {
  %c = load i32, ptr @counter
  %t = load i32, ptr @table
  %place = call ptr @llvm.threadlocal.address.p0(ptr @own)
  %o = load i32, ptr %place
  %h = call i32 @helper(i32 %n)
  call void @elsewhere()
  %s = add i32 %c, %t
  %u = add i32 %o, %h
  %v = add i32 %s, %u
  ret i32 %v
}

define internal i32 @helper(i32 %n) {
  ret i32 %n
}

; CHECK: define i32 @work(i32 %[[N:.+]], double %[[X:.+]])
; CHECK: %[[CODE:.+]] = call ptr @mneme_jit_host_function(ptr [[WHOLE]], ptr %
; CHECK: %[[RESULT:.+]] = musttail call i32 %[[CODE]](i32 %[[N]], double %[[X]])
; CHECK-NEXT: ret i32 %[[RESULT]]

; CHECK: define internal ptr @__mneme_thread_local_own()

declare void @elsewhere()
declare ptr @llvm.threadlocal.address.p0(ptr)
