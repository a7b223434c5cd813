; A device module without kernels and without code others may use stays as it is.
; RUN: %opt -passes=mneme-embed,mneme-launch,mneme-register -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-NOT: __mneme
; CHECK: @counter = internal addrspace(1) global i32 0
; CHECK-NOT: __mneme
@counter = internal addrspace(1) global i32 0

define internal i32 @helper() {
  %v = load i32, ptr addrspace(1) @counter
  store i32 5, ptr addrspace(1) @counter
  ret i32 %v
}
