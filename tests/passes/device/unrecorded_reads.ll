; What a kernel reads that no recording holds is told, of intrinsics and of inline assembly.
; RUN: %embedded %s | FileCheck %s

; CHECK: "kernel":"assembly"
; CHECK-SAME: "unrecorded_reads":["clocks","multiprocessor numbers","surfaces","textures"]
; CHECK: "kernel":"chooses"
; CHECK-SAME: "unrecorded_reads":["conditions of graphs"]
; CHECK: "kernel":"environment"
; CHECK-SAME: "unrecorded_reads":["environment registers"]
; CHECK: "kernel":"heap"
; CHECK-SAME: "unrecorded_reads":["the device's heap"]
; CHECK: "kernel":"helped"
; CHECK-SAME: "unrecorded_reads":["clocks"]
; CHECK: "kernel":"intrinsics"
; CHECK-SAME: "unrecorded_reads":["clocks","multiprocessor numbers","warp slots"]
; CHECK: "kernel":"launches"
; CHECK-SAME: "unrecorded_reads":["launches of its own"]
; CHECK: "kernel":"plain"
; CHECK-NOT: "unrecorded_reads"

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare i32 @llvm.nvvm.read.ptx.sreg.envreg2()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @assembly(i64 %handle, ptr %out) {
  %place = call i32 asm "mov.u32 $0, %smid;", "=r"()
  %time = call i64 asm sideeffect "mov.u64 $0, %globaltimer;", "=l"()
  %texel = call { float, float, float, float } asm "tex.1d.v4.f32.s32\09{$0, $1, $2, $3}, [$4, {$5}];", "=f,=f,=f,=f,l,r"(i64 %handle, i32 %place)
  %element = call float asm "suld.b.2d.b32.trap {$0}, [$1, {$2, $3}];", "=r,l,r,r"(i64 %handle, i32 4, i32 4)
  store i32 %place, ptr %out
  ret void
}

declare void @cudaGraphSetConditional(i64, i32)

define ptx_kernel void @chooses(i64 %handle) {
  call void @cudaGraphSetConditional(i64 %handle, i32 1)
  ret void
}

define ptx_kernel void @environment(ptr %out) {
  %other = call i32 asm sideeffect "mov.u32 $0, %envreg12;", "=r"()
  store i32 %other, ptr %out
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

define ptx_kernel void @heap(ptr %out) {
  %block = call ptr @malloc(i64 16)
  store ptr %block, ptr %out
  ret void
}

define ptx_kernel void @intrinsics(ptr %out) {
  %time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %count = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()
  %slot = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  store i32 %count, ptr %out
  ret void
}

define internal i64 @now() {
  %time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  ret i64 %time
}

define ptx_kernel void @helped(ptr %out) {
  %time = call i64 @now()
  store i64 %time, ptr %out
  ret void
}

declare ptr @__cudaCDP2GetParameterBufferV2(ptr, i64, i64, i32)
declare i32 @__cudaCDP2LaunchDeviceV2(ptr, ptr)
define ptx_kernel void @launches(ptr %stream) {
  %buffer = call ptr @__cudaCDP2GetParameterBufferV2(ptr @plain, i64 1, i64 1, i32 0)
  %status = call i32 @__cudaCDP2LaunchDeviceV2(ptr %buffer, ptr %stream)
  ret void
}

define ptx_kernel void @plain(ptr %out) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = call i32 asm "mov.u32 $0, %laneid; // %p1 and a texture", "=r"()
  %barrier = call i32 asm sideeffect "mov.u32 $0, %envreg1;", "=r"()
  %low = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
  store i32 %thread, ptr %out
  ret void
}
