; The closure holds what the kernel reaches, and nothing else.
; RUN: %embedded %s kernel | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Device globals are referenced: the program owns their storage.
; CHECK-DAG: @state = available_externally addrspace(1) externally_initialized global i32 7
; CHECK-DAG: @link = available_externally addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @state to ptr)
; CHECK-DAG: @coefficients = available_externally addrspace(4) externally_initialized constant [2 x float]
; CHECK-DAG: @elsewhere = external addrspace(1) global i32
; Shared memory, constants and tables are copied.
; CHECK-DAG: @tile = internal addrspace(3) global [32 x i32] undef
; CHECK-DAG: @text = private unnamed_addr constant [3 x i8] c"hi\00"
; Tables of functions belong to the program as well, and their content is known.
; CHECK-DAG: @functions__mneme_[[UNIT:[0-9a-f]+]] = available_externally addrspace(1) constant [1 x ptr] [ptr @pointed__mneme_[[UNIT]]]
; CHECK-NOT: @unrelated
@state = addrspace(1) externally_initialized global i32 7
@link = addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @state to ptr)
@coefficients = addrspace(4) externally_initialized constant [2 x float] [float 1.0, float 2.0]
@elsewhere = external addrspace(1) global i32
@tile = internal addrspace(3) global [32 x i32] undef
@text = private unnamed_addr constant [3 x i8] c"hi\00"
@functions = internal addrspace(1) constant [1 x ptr] [ptr @pointed]
@unrelated = addrspace(1) externally_initialized global i32 0

; CHECK-LABEL: define ptx_kernel void @kernel(ptr %out)
; CHECK-SAME: #[[KERNEL:[0-9]+]]
define ptx_kernel void @kernel(ptr %out) #0 {
  %v = call i32 @shared(i32 1)
  %linked = load ptr, ptr addrspace(1) @link
  %f = load ptr, ptr addrspace(1) @functions
  call void %f(ptr %linked)
  store i32 %v, ptr %out
  ret void
}

; Other units may define the same function: the closure links with them.
; CHECK: define linkonce_odr i32 @shared
define i32 @shared(i32 %x) {
  %r = call i32 @deep(i32 %x)
  ret i32 %r
}

; CHECK: define internal i32 @deep
define internal i32 @deep(i32 %x) #1 {
  %c = load i32, ptr addrspace(4) @coefficients
  %s = load i32, ptr addrspace(3) @tile
  %t = load i8, ptr @text
  call void @vprintf(ptr @text, ptr null)
  ret i32 %x
}

; CHECK: define linkonce_odr {{.*}}void @pointed__mneme_
define internal void @pointed(ptr %p) {
  %v = load i32, ptr addrspace(1) @elsewhere
  store i32 %v, ptr %p
  ret void
}

declare void @vprintf(ptr, ptr)

define internal void @unrelated_function() {
  store i32 1, ptr addrspace(1) @unrelated
  ret void
}

define ptx_kernel void @unrelated_kernel() {
  call void @unrelated_function()
  ret void
}

; What the source says of single functions stays.
; CHECK: attributes #[[KERNEL]] = { noinline nounwind optnone }
; CHECK: attributes #{{[0-9]+}} = { noinline }
attributes #0 = { nounwind noinline optnone }
attributes #1 = { noinline }
