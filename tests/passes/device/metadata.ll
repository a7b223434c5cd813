; What a blob says about its kernel.
; RUN: %embedded %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.S = type { [4 x double], i32 }

@state = addrspace(1) externally_initialized global [4 x i32] zeroinitializer, align 16
@coefficients = addrspace(4) externally_initialized constant i64 3, align 8
@elsewhere = external addrspace(1) global i32, align 4
@tileA = internal addrspace(3) global [3 x i8] undef, align 1
@tileB = internal addrspace(3) global [2 x i32] undef, align 4
@dynamic = external addrspace(3) global [0 x i32], align 4

; CHECK: {"arch":"sm_80","args":[
; CHECK-SAME: {"align":8,"kind":"pointer","name":"out","size":8,"specializable":false,"type":"ptr"}
; CHECK-SAME: {"align":8,"fields":[],"kind":"aggregate","name":"s","size":40,"specializable":false,"type":"struct.S"}
; CHECK-SAME: {"align":4,"kind":"integer","name":"n","size":4,"specializable":true,"type":"i32"}
; CHECK-SAME: {"align":2,"kind":"integer","name":"arg3","size":2,"specializable":false,"type":"i16"}
; CHECK-SAME: {"align":8,"kind":"float","name":"x","size":8,"specializable":true,"type":"double"}
; CHECK-SAME: {"align":2,"kind":"float","name":"h","size":2,"specializable":false,"type":"half"}
; CHECK-SAME: "clang":"22.1.8","code_hash":"{{[0-9a-f]+}}","demangled":"void scale<float>(float*)"
; CHECK-SAME: {"align":16,"constant":false,"defined":true,"name":"state","size":16}
; CHECK-SAME: {"align":8,"constant":true,"defined":true,"name":"coefficients","size":8}
; CHECK-SAME: {"align":4,"constant":false,"defined":false,"name":"elsewhere","size":4}
; CHECK-SAME: "kernel":"_Z5scaleIfEvPT_","max_threads":128,"min_blocks":2
; CHECK-SAME: "opt_level":"0"
; CHECK-SAME: "shared_bytes":12
; CHECK-SAME: "triple":"nvptx64-nvidia-cuda","undefined":["other_unit"]
define ptx_kernel void @_Z5scaleIfEvPT_(ptr %out, ptr byval(%struct.S) align 8 %s, i32 %n, i16 %0, double %x, half %h) #0 {
  %a = load i32, ptr addrspace(1) @state
  %b = load i32, ptr addrspace(4) @coefficients
  %c = load i32, ptr addrspace(1) @elsewhere
  %d = load i32, ptr addrspace(3) @dynamic
  store i8 0, ptr addrspace(3) @tileA
  store i32 0, ptr addrspace(3) @tileB
  call void @other_unit()
  ret void
}

declare void @other_unit()

attributes #0 = { noinline optnone "nvvm.maxntid"="32,4" "nvvm.minctasm"="2" "target-cpu"="sm_80" }

!llvm.ident = !{!0}
!0 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
