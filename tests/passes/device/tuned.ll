; What of a tuned-kernels file an ahead-of-time build does, and what it leaves with a warning.
; REQUIRES: nvvm-attributes
; RUN: split-file %s %t
; RUN: %opt -passes='mneme-embed<tuned=%t/bounds.json>' -S %t/kernels.ll 2>%t/warnings | FileCheck %t/kernels.ll
; RUN: FileCheck --input-file=%t/warnings --check-prefix=WARN --implicit-check-not=warning %t/kernels.ll
; RUN: not %opt -passes='mneme-embed<tuned=%t/list.json>' -S %t/kernels.ll 2>&1 | FileCheck --check-prefix=LIST %s
; RUN: not %opt -passes='mneme-embed<tuned=%t/nothing.json>' -S %t/kernels.ll 2>&1 | FileCheck --check-prefix=NONE %s

; RUN: %opt -passes='mneme-embed<tuned=%t/foreign.json>' -S %t/kernels.ll 2>&1 >%t/foreign.ll | FileCheck --check-prefix=FOREIGN --implicit-check-not=warning %s
; RUN: FileCheck --input-file=%t/foreign.ll --check-prefix=UNLIMITED %s

; LIST: error: mneme: '{{.*}}list.json' is not a JSON object
; NONE: error: mneme: {{.*}}nothing.json'

; What a tuned run would not use is not built in, in the same words.
; FOREIGN-DAG: warning: mneme: '{{.*}}foreign.json', kernel 'bounded' has to be an object; the kernel runs as it was built
; FOREIGN-DAG: warning: mneme: '{{.*}}foreign.json', kernel 'free': LaunchBounds is "x" but has to be true or false; the kernel runs as it was built
; FOREIGN-DAG: warning: mneme: '{{.*}}foreign.json', kernel 'varied'{{.*}}: Version 99 is newer than this release of mneme; update it; the kernel runs
; FOREIGN-DAG: warning: mneme: '{{.*}}foreign.json', kernel 'defaults'{{.*}}: Guards has 'Moon', which this release does not know; this variant is not used
; UNLIMITED-NOT: maxnreg

;--- kernels.ll
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; 65536 registers for two blocks of 512 threads.
; CHECK-LABEL: define ptx_kernel void @bounded(
; CHECK-SAME: #[[BOUNDED:[0-9]+]]
define ptx_kernel void @bounded(ptr %p) #0 {
  store i32 1, ptr %p
  ret void
}

; Blocks of 256 threads leave a thread all it can have.
; CHECK-LABEL: define ptx_kernel void @free(
; CHECK-SAME: #[[PLAIN:[0-9]+]]
; WARN: warning: mneme: 'free': left to runs with PROTEUS_TUNED_KERNELS: specialised arguments, other launch dimensions
define ptx_kernel void @free(ptr %p) #0 {
  store i32 2, ptr %p
  ret void
}

; One of the variants has no bounds: its launches may have blocks of any size.
; CHECK-LABEL: define ptx_kernel void @varied(
; CHECK-SAME: #[[PLAIN]]
define ptx_kernel void @varied(ptr %p) #0 {
  store i32 3, ptr %p
  ret void
}

; A variant guarded by another architecture does not count.
; CHECK-LABEL: define ptx_kernel void @other_arch(
; CHECK-SAME: #[[LIMITED:[0-9]+]]
define ptx_kernel void @other_arch(ptr %p) #0 {
  store i32 4, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @stale(
; CHECK-SAME: #[[PLAIN]]
; WARN: warning: mneme: 'stale' is not the code that was tuned
define ptx_kernel void @stale(ptr %p) #0 {
  store i32 5, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @unnamed(
; CHECK-SAME: #[[PLAIN]]
define ptx_kernel void @unnamed(ptr %p) #0 {
  store i32 6, ptr %p
  ret void
}

; The source's own minimum of blocks stays; machine code has one or the other.
; CHECK-LABEL: define ptx_kernel void @source_bounds(
; CHECK-SAME: #[[SOURCE:[0-9]+]]
; WARN: warning: mneme: 'source_bounds': left to runs with PROTEUS_TUNED_KERNELS: launch bounds, beside
define ptx_kernel void @source_bounds(ptr %p) #1 {
  store i32 7, ptr %p
  ret void
}

; What a variant does not say is as for an entry of its own; so is a coordinate of a block.
; CHECK-LABEL: define ptx_kernel void @defaults(
; CHECK-SAME: #[[BOUNDED]]
; WARN: warning: mneme: 'defaults': left to runs with PROTEUS_TUNED_KERNELS: options of LLVM 'a=1', specialised dimensions{{$}}
define ptx_kernel void @defaults(ptr %p) #0 {
  store i32 8, ptr %p
  ret void
}

; CHECK-DAG: attributes #[[BOUNDED]] = { "nvvm.maxnreg"="64" "target-cpu"="sm_90" }
; CHECK-DAG: attributes #[[LIMITED]] = { "nvvm.maxnreg"="40" "target-cpu"="sm_90" }
; CHECK-DAG: attributes #[[PLAIN]] = { "target-cpu"="sm_90" }
; CHECK-DAG: attributes #[[SOURCE]] = { "nvvm.maxntid"="128" "nvvm.minctasm"="4" "target-cpu"="sm_90" }
attributes #0 = { "target-cpu"="sm_90" }
attributes #1 = { "target-cpu"="sm_90" "nvvm.maxntid"="128" "nvvm.minctasm"="4" }

;--- bounds.json
{
  "bounded": {"TunedMaxThreads": 512, "MinBlocksPerSM": 2, "SpecializeDims": false},
  "free": {"Mneme": {"Variants": [
    {"TunedMaxThreads": 256, "Pipeline": "default<O1>", "SpecializeArgs": true, "SpecializeDims": false,
     "Match": {"BlockDim": {"x": 16, "y": 16, "z": 1}, "SharedMem": 0, "GridDim": {"x": 8}},
     "Launch": {"Rule": "cover", "GridDim": {"x": 4}, "BlockDim": {"x": 512}}},
    {"TunedMaxThreads": 1024, "MinBlocksPerSM": 2, "SpecializeDims": false, "Pipeline": "default<O1>"}]}},
  "varied": {"Mneme": {"Variants": [
    {"TunedMaxThreads": 1024, "SpecializeDims": false},
    {"LaunchBounds": false, "SpecializeDims": false}]}},
  "other_arch": {"Mneme": {"Variants": [
    {"LaunchBounds": false, "MaxRegisters": 40, "SpecializeDims": false, "Guards": ["Arch"],
     "Match": {"Arch": "sm_90"}},
    {"LaunchBounds": false, "SpecializeDims": true, "Guards": ["Arch"], "Match": {"Arch": "sm_80"}}]}},
  "stale": {"TunedMaxThreads": 1024, "Mneme": {"StaticHash": "0123456789abcdef", "Variants": [{}]}},
  "defaults": {"Mneme": {"Variants": [{"MinBlocksPerSM": 2, "LlvmOptions": "a=1", "Match": {"BlockDim": {"y": 512}}}]}},
  "source_bounds": {"TunedMaxThreads": 1024, "SpecializeDims": false}
}
;--- foreign.json
{
  "bounded": "hello",
  "free": {"TunedMaxThreads": 1024, "LaunchBounds": "x"},
  "varied": {"Mneme": {"Version": 99, "Variants": [{"TunedMaxThreads": 1024}]}},
  "defaults": {"Mneme": {"Variants": [
    {"TunedMaxThreads": 1024, "Guards": ["Moon"]}, {"LaunchBounds": false, "SpecializeDims": false}]}}
}
;--- list.json
[]
