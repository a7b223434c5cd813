; Relocatable device code for AMD GPUs is optimised again by the device linker; clang gives all other
; code the option that says nothing outside needs its symbols.
; RUN: split-file %s %t
; RUN: %opt -passes='mneme-embed<tuned=%t/tuned.json>,mneme-place-tuned' -S %t/kernels.ll -o /dev/null 2>&1 | FileCheck %t/kernels.ll
; RUN: %opt -amdgpu-internalize-symbols -passes='mneme-embed<tuned=%t/tuned.json>,mneme-place-tuned' -S %t/kernels.ll -o /dev/null 2>&1 | FileCheck --check-prefix=QUIET --allow-empty %t/kernels.ll

;--- kernels.ll
target triple = "amdgcn-amd-amdhsa"

; CHECK: warning: mneme: 'tuned' is optimised again when device code is linked (-fgpu-rdc)
; CHECK-NOT: ordinary
; QUIET-NOT: optimised again
define amdgpu_kernel void @tuned(ptr %p) "target-cpu"="gfx90a" {
  store i32 1, ptr %p
  ret void
}

define amdgpu_kernel void @ordinary(ptr %p) "target-cpu"="gfx90a" {
  store i32 1, ptr %p
  ret void
}

;--- tuned.json
{"tuned": {"LaunchBounds": false, "SpecializeDims": false, "Pipeline": "verify"}}
