; A tuned pipeline is run ahead of time, on the kernel it belongs to and on no other.
; RUN: split-file %s %t
; RUN: %opt -passes='mneme-embed<tuned=%t/tuned.json>,default<O3>' -S %t/kernels.ll -o %t/out.ll 2>%t/warnings
; RUN: FileCheck --input-file=%t/out.ll %t/kernels.ll
; RUN: FileCheck --input-file=%t/out.ll --check-prefix=PLACED %t/kernels.ll
; RUN: FileCheck --input-file=%t/warnings --check-prefix=WARN --implicit-check-not=warning %t/kernels.ll
; Whatever the program's own level is, the kernel's code is the same.
; RUN: %opt -passes='mneme-embed<tuned=%t/tuned.json>,default<O0>' -S %t/kernels.ll 2>/dev/null | FileCheck --check-prefix=LOOP %t/kernels.ll
; RUN: %opt -passes='mneme-embed<tuned=%t/tuned.json>,mneme-place-tuned' -S %t/kernels.ll 2>/dev/null | FileCheck --check-prefix=LOOP %t/kernels.ll
; Without the last step everything is ordinary.
; RUN: %opt -passes='mneme-embed<tuned=%t/tuned.json>' -S %t/kernels.ll 2>/dev/null | FileCheck --check-prefix=KEPT %t/kernels.ll

;--- kernels.ll
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; One storage of the variable, though the unit's own code no longer needs it.
; CHECK-DAG: @counter = linkonce_odr addrspace(1) externally_initialized global i32 7
; Shared memory of the copy in the place of the kernel's, and beside that of another kernel.
; CHECK-DAG: @own = internal {{.*}}addrspace(3) global [8 x i32]
; CHECK-DAG: @both = internal {{.*}}addrspace(3) global [4 x i32]
; CHECK-DAG: @both{{.+}} = internal {{.*}}addrspace(3) global [4 x i32]
; CHECK-NOT: @own{{.+}} = internal
; CHECK-NOT: @llvm.compiler.used = {{.*}}@counter
@counter = linkonce_odr addrspace(1) externally_initialized global i32 7
@own = internal addrspace(3) global [8 x i32] undef
@both = internal addrspace(3) global [4 x i32] undef

; CHECK-LABEL: define{{.*}} ptx_kernel void @ordinary(
; CHECK-NOT: br i1
; CHECK: ret void
define ptx_kernel void @ordinary(ptr %p, i32 %a) {
  call void @fill(ptr addrspace(3) @both, i32 %a)
  %at = getelementptr i32, ptr addrspace(3) @both, i32 %a
  %v = load volatile i32, ptr addrspace(3) %at
  store i32 %v, ptr %p
  ret void
}

; KEPT-LABEL: define weak_odr ptx_kernel void @tuned(
; KEPT: !mneme.tuned.bodies = !{!{{[0-9]+}}, !{{[0-9]+}}}
; LOOP-LABEL: define weak_odr ptx_kernel void @tuned(ptr %p, i32 %a)
; LOOP: load i32, ptr addrspace(1) @counter
; LOOP: call void @fill
; LOOP: !"llvm.loop.unroll.disable"
; PLACED-LABEL: define weak_odr ptx_kernel void @tuned(ptr %p, i32 %a)
; PLACED: load i32, ptr addrspace(1) @counter
; PLACED: call void @[[FILL:fill.+]](ptr addrspace(3) @own, i32 %a)
; PLACED: call void @[[FILL]](ptr addrspace(3) @{{both.+}}, i32 %a)
; PLACED: ret void
; PLACED: define internal void @[[FILL]](
; PLACED: br i1
define weak_odr ptx_kernel void @tuned(ptr %p, i32 %a) {
  %unused = load i32, ptr addrspace(1) @counter
  call void @fill(ptr addrspace(3) @own, i32 %a)
  call void @fill(ptr addrspace(3) @both, i32 %a)
  %v = load volatile i32, ptr addrspace(3) @both
  %w = load volatile i32, ptr addrspace(3) @own
  store i32 %v, ptr %p
  store i32 %w, ptr %p
  ret void
}

define void @fill(ptr addrspace(3) %to, i32 %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(3) %to, i32 %i
  %v = mul i32 %i, %a
  store i32 %v, ptr addrspace(3) %at
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, 4
  br i1 %again, label %loop, label %end
end:
  ret void
}

; The heaviest variant's pipeline serves every launch.
; PLACED-LABEL: define{{.*}} ptx_kernel void @varied(
; PLACED-NEXT: %unused = add i32 %a, 2
; WARN: warning: mneme: 'varied': left to runs with PROTEUS_TUNED_KERNELS: pipeline 'default<O1>' of other launches
define ptx_kernel void @varied(i32 %a) {
  %unused = add i32 %a, 2
  ret void
}

; What cannot be run leaves the kernel as everything else is.
; WARN: warning: mneme: 'unknown' is built with the program's own pipeline, not with 'no-such-pass': unknown {{.*}}'no-such-pass'
define ptx_kernel void @unknown(i32 %a) {
  %unused = add i32 %a, 3
  ret void
}
; WARN: warning: mneme: 'crashing' is built with the program's own pipeline, not with 'trigger-crash-module': LLVM crashed
define ptx_kernel void @crashing(i32 %a) {
  %unused = add i32 %a, 4
  ret void
}
; WARN: warning: mneme: 'broken' is built with the program's own pipeline, not with 'trigger-verifier-error': {{.+[^ ]$}}
define ptx_kernel void @broken(i32 %a) {
  %unused = add i32 %a, 5
  ret void
}
; WARN: warning: mneme: 'launching' is built with the program's own pipeline, not with 'verify': it launches other kernels
define ptx_kernel void @launching(i32 %a) {
  call ptx_kernel void @unknown(i32 %a)
  ret void
}

; PLACED: !"llvm.loop.unroll.disable"
; PLACED-NOT: mneme.tuned.bodies

;--- tuned.json
{
  "tuned": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "function(mneme-unroll<1>)"},
  "varied": {"Mneme": {"Variants": [
    {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "default<O1>", "Weight": 0.2},
    {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "verify", "Weight": 0.7},
    {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "default<O1>", "Weight": 0.1}]}},
  "unknown": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "no-such-pass"},
  "crashing": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "trigger-crash-module"},
  "broken": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "trigger-verifier-error"},
  "launching": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "verify"}
}
