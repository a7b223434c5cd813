; Where bounds of kernels are not attributes yet, tuned ones become annotations.
; UNSUPPORTED: nvvm-attributes
; RUN: split-file %s %t
; RUN: %opt -passes='mneme-embed<tuned=%t/bounds.json>' -S %t/kernels.ll | FileCheck %t/kernels.ll

;--- kernels.ll
target triple = "nvptx64-nvidia-cuda"

; CHECK: !nvvm.annotations = !{![[KERNEL:[0-9]+]], ![[BOUND:[0-9]+]]}
; CHECK-DAG: ![[KERNEL]] = !{ptr @bounded, !"kernel", i32 1}
; CHECK-DAG: ![[BOUND]] = !{ptr @bounded, !"maxnreg", i32 64}
define void @bounded(ptr %p) #0 {
  store i32 1, ptr %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @bounded, !"kernel", i32 1}
attributes #0 = { "target-cpu"="sm_90" }

;--- bounds.json
{"bounded": {"TunedMaxThreads": 512, "MinBlocksPerSM": 2, "SpecializeDims": false}}
