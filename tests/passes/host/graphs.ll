; What makes an executable graph, or updates all of one, tells libmneme_rt.
; RUN: %opt -passes=mneme-launch -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare i32 @cudaGraphInstantiate(ptr, ptr, i64)
declare i32 @cudaGraphExecUpdate(ptr, ptr, ptr)
declare i32 @hipGraphInstantiate(ptr, ptr, ptr, ptr, i64)
declare i32 @cudaGraphLaunch(ptr, ptr)

; One of the program's own.
; CHECK-LABEL: define i32 @cuGraphInstantiateWithFlags(
; CHECK-NEXT: ret i32 0
define i32 @cuGraphInstantiateWithFlags(ptr %exec, ptr %graph, i64 %flags) {
  ret i32 0
}

; CHECK-LABEL: define i32 @caller
; CHECK: call i32 @__mneme_graph_cudaGraphInstantiate(ptr %exec, ptr %graph, i64 0)
; CHECK: call i32 @__mneme_graph_cudaGraphExecUpdate(
; CHECK: call i32 @__mneme_graph_hipGraphInstantiate(
; CHECK: call i32 @cuGraphInstantiateWithFlags(
; CHECK: call i32 @cudaGraphLaunch(
define i32 @caller(ptr %exec, ptr %graph) {
  %a = call i32 @cudaGraphInstantiate(ptr %exec, ptr %graph, i64 0)
  %b = call i32 @cudaGraphExecUpdate(ptr %exec, ptr %graph, ptr null)
  %c = call i32 @hipGraphInstantiate(ptr %exec, ptr %graph, ptr null, ptr null, i64 0)
  %d = call i32 @cuGraphInstantiateWithFlags(ptr %exec, ptr %graph, i64 0)
  %e = call i32 @cudaGraphLaunch(ptr %exec, ptr null)
  ret i32 %a
}

; CHECK-LABEL: define internal i32 @__mneme_graph_cudaGraphInstantiate(ptr %0, ptr %1, i64 %2)
; CHECK: %[[STATUS:.*]] = call i32 @cudaGraphInstantiate(ptr %0, ptr %1, i64 %2)
; CHECK: call void @mneme_graph_changed(i32 %[[STATUS]], i32 0, i32 0, ptr %0, ptr %1)
; CHECK: ret i32 %[[STATUS]]
; CHECK-LABEL: define internal i32 @__mneme_graph_cudaGraphExecUpdate(
; CHECK: call void @mneme_graph_changed(i32 %{{.*}}, i32 1, i32 0, ptr %0, ptr %1)
; CHECK-LABEL: define internal i32 @__mneme_graph_hipGraphInstantiate(
; CHECK: call void @mneme_graph_changed(i32 %{{.*}}, i32 0, i32 1, ptr %0, ptr %1)
