; Functions whose address is data get cells; what holds their addresses belongs to the program.
; RUN: %opt -passes=mneme-embed -S %s | FileCheck --check-prefix=AOT %s
; RUN: %embedded %s caller | FileCheck --check-prefix=CALLER %s
; RUN: %embedded %s maker | FileCheck --check-prefix=MAKER %s
; RUN: %embedded %s plain | FileCheck --check-prefix=PLAIN %s
; RUN: %embedded %s | FileCheck --check-prefix=METADATA %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; The optimiser keeps a vtable that only a constructor names, and other modules find it.
; AOT-DAG: @vtable = weak_odr unnamed_addr constant [2 x ptr] [ptr @virtual, ptr @__cxa_pure_virtual]
; AOT-DAG: @local__mneme_[[UNIT:[0-9a-f]+]] = protected unnamed_addr constant [1 x ptr] [ptr @own__mneme_[[UNIT]]]
; AOT-DAG: @__mneme_function_virtual = weak_odr addrspace(1) constant ptr @virtual, align 8
; AOT-DAG: @__mneme_function_own__mneme_[[UNIT]] = protected addrspace(1) constant ptr @own__mneme_[[UNIT]]
; AOT-DAG: @__mneme_function_other = weak_odr addrspace(1) constant ptr @other
; AOT-NOT: @__mneme_function_called
; AOT: define protected i32 @own__mneme_[[UNIT]]
; AOT: define linkonce_odr void @__cxa_pure_virtual()
; AOT-NEXT: entry:
; AOT-NEXT: call void @llvm.trap()
@vtable = linkonce_odr unnamed_addr constant [2 x ptr] [ptr @virtual, ptr @__cxa_pure_virtual]
@local = private unnamed_addr constant [1 x ptr] [ptr @own]
@llvm.used = appending global [1 x ptr] [ptr @called], section "llvm.metadata"

; What a pointer may mean is known by its type; the optimiser may not take cells for constants.
; CALLER-DAG: @__mneme_function_own__mneme_{{[0-9a-f]+}} = available_externally addrspace(1) externally_initialized constant ptr @own__mneme_
; CALLER-DAG: @__mneme_function_virtual = available_externally
; CALLER-NOT: @__mneme_function_other
; CALLER-NOT: @vtable
; CALLER: define linkonce_odr {{.*}}i32 @own__mneme_
define ptx_kernel void @caller(ptr %objects, ptr %out) #0 {
  %vptr = load ptr, ptr %objects
  %function = load ptr, ptr %vptr
  %result = call i32 %function(ptr %objects)
  store i32 %result, ptr %out
  ret void
}

; Tables keep their content for the optimiser: nobody writes to them.
; MAKER-DAG: @vtable = available_externally unnamed_addr constant [2 x ptr] [ptr @virtual, ptr @__cxa_pure_virtual]
; MAKER-DAG: @__mneme_function_other = available_externally
; MAKER-DAG: @__mneme_function_virtual = available_externally
define ptx_kernel void @maker(ptr %object, ptr %to) #0 {
  store ptr @vtable, ptr %object
  store ptr @other, ptr %to
  %first = load ptr, ptr @local
  store ptr %first, ptr %to
  ret void
}

; PLAIN-NOT: __mneme_function_
define ptx_kernel void @plain(ptr %out) #0 {
  %v = call i32 @virtual(ptr %out)
  call void @called()
  store i32 %v, ptr %out
  ret void
}

define i32 @virtual(ptr %this) #0 {
  ret i32 1
}

define internal i32 @own(ptr %this) #0 {
  ret i32 2
}

define float @other(float %x) #0 {
  ret float %x
}

define internal void @called() #0 {
  ret void
}

declare void @__cxa_pure_virtual()

attributes #0 = { "target-cpu"="sm_90" }

; METADATA-DAG: "calls_pointers":true,{{.*}}"kernel":"caller"{{.*}}"tables":[{"name":"vtable","size":16},{"name":"local__mneme_{{[0-9a-f]+}}","size":8}]
; METADATA-DAG: "calls_pointers":false,{{.*}}"functions":true{{.*}}"kernel":"maker"{{.*}}"tables":[]
; METADATA-DAG: "calls_pointers":false,{{.*}}"globals":[],"kernel":"plain"
