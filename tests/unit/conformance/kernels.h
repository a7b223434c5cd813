// Conformance: the kernels, in the IR that compilers make for NVIDIA GPUs.
#pragma once

namespace conformance {

inline constexpr const char* kKernels = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare void @llvm.trap()
declare i32 @vprintf(ptr, ptr)
declare void @__assertfail(ptr, ptr, i32, ptr, i64)

@tile = internal addrspace(3) global [256 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x i32], align 16
@counter = addrspace(1) externally_initialized global i32 7, align 4
@limit = addrspace(4) externally_initialized constant [4 x i32] [i32 3, i32 4, i32 5, i32 6], align 4
@format = private constant [12 x i8] c"printed %d\0A\00", align 1
@text = private constant [6 x i8] c"x < y\00", align 1

define internal i32 @globalId() {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = mul i32 %block, %width
  %i = add i32 %base, %thread
  ret i32 %i
}

define ptx_kernel void @saxpy(i32 %n, float %a, ptr %x, ptr %y) {
  %i = call i32 @globalId()
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %then, label %done
then:
  %wide = sext i32 %i to i64
  %from = getelementptr inbounds float, ptr %x, i64 %wide
  %to = getelementptr inbounds float, ptr %y, i64 %wide
  %vx = load float, ptr %from, align 4
  %vy = load float, ptr %to, align 4
  %product = fmul float %vx, %a
  %sum = fadd float %product, %vy
  store float %sum, ptr %to, align 4
  br label %done
done:
  ret void
}

; One block of 256 threads adds 256 floats per block in shared memory.
define ptx_kernel void @reduce(ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = call i32 @globalId()
  %wide = sext i32 %i to i64
  %from = getelementptr inbounds float, ptr %in, i64 %wide
  %mine = load float, ptr %from, align 4
  %slot = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %mine, ptr addrspace(3) %slot, align 4
  br label %loop
loop:
  %half = phi i32 [ 128, %entry ], [ %next, %joined ]
  call void @llvm.nvvm.barrier0()
  %isLow = icmp ult i32 %t, %half
  br i1 %isLow, label %add, label %joined
add:
  %other = add i32 %t, %half
  %otherSlot = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %other
  %a = load float, ptr addrspace(3) %slot, align 4
  %b = load float, ptr addrspace(3) %otherSlot, align 4
  %sum = fadd float %a, %b
  store float %sum, ptr addrspace(3) %slot, align 4
  br label %joined
joined:
  %next = lshr i32 %half, 1
  %more = icmp ne i32 %next, 0
  br i1 %more, label %loop, label %finish
finish:
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %write, label %done
write:
  %total = load float, ptr addrspace(3) %slot, align 4
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %wideBlock = sext i32 %block to i64
  %to = getelementptr inbounds float, ptr %out, i64 %wideBlock
  store float %total, ptr %to, align 4
  br label %done
done:
  ret void
}

; out[2 i] = value of lane i + 1 (or the own one), out[2 i + 1] = lanes with odd numbers
define ptx_kernel void @warp(ptr %out) {
  %i = call i32 @globalId()
  %value = mul i32 %i, 10
  %down = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %value, i32 1, i32 31)
  %low = and i32 %i, 1
  %isOdd = icmp ne i32 %low, 0
  %votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %isOdd)
  %wide = sext i32 %i to i64
  %twice = shl i64 %wide, 1
  %first = getelementptr inbounds i32, ptr %out, i64 %twice
  %second = getelementptr inbounds i32, ptr %first, i64 1
  store i32 %down, ptr %first, align 4
  store i32 %votes, ptr %second, align 4
  ret void
}

; Every thread: add 1, take the maximum of its number, and one 64-bit exchange of all.
define ptx_kernel void @atomics(ptr %sum, ptr %max, ptr %wide) {
  %i = call i32 @globalId()
  %a = atomicrmw add ptr %sum, i32 1 monotonic, align 4
  %b = atomicrmw umax ptr %max, i32 %i monotonic, align 4
  %c = atomicrmw add ptr %wide, i64 4294967296 monotonic, align 8
  ret void
}

define ptx_kernel void @prints(i32 %value) {
  %buffer = alloca i32, align 8
  store i32 %value, ptr %buffer, align 4
  %count = call i32 @vprintf(ptr @format, ptr %buffer)
  ret void
}

; counter += limit[index]
define ptx_kernel void @globals(i32 %index) {
  %wide = sext i32 %index to i64
  %from = getelementptr inbounds [4 x i32], ptr addrspace(4) @limit, i64 0, i64 %wide
  %more = load i32, ptr addrspace(4) %from, align 4
  %old = load i32, ptr addrspace(1) @counter, align 4
  %new = add i32 %old, %more
  store i32 %new, ptr addrspace(1) @counter, align 4
  ret void
}

; Thread t writes words t, t + width, ... of the dynamic shared memory, then all are added up.
define ptx_kernel void @shared(i32 %words, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %fill
fill:
  %w = phi i32 [ %t, %entry ], [ %wNext, %fillBody ]
  %isInside = icmp ult i32 %w, %words
  br i1 %isInside, label %fillBody, label %filled
fillBody:
  %slot = getelementptr inbounds [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %w
  store i32 %w, ptr addrspace(3) %slot, align 4
  %wNext = add i32 %w, %width
  br label %fill
filled:
  call void @llvm.nvvm.barrier0()
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %sum, label %done
sum:
  %k = phi i32 [ 0, %filled ], [ %kNext, %sumBody ]
  %total = phi i64 [ 0, %filled ], [ %more, %sumBody ]
  %goesOn = icmp ult i32 %k, %words
  br i1 %goesOn, label %sumBody, label %store
sumBody:
  %from = getelementptr inbounds [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %k
  %value = load i32, ptr addrspace(3) %from, align 4
  %wide = zext i32 %value to i64
  %more = add i64 %total, %wide
  %kNext = add i32 %k, 1
  br label %sum
store:
  store i64 %total, ptr %out, align 8
  br label %done
done:
  ret void
}

; Every block waits until all have arrived.
define ptx_kernel void @meet(ptr %arrived) {
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %old = atomicrmw add ptr %arrived, i32 1 seq_cst, align 4
  br label %wait
wait:
  %now = load volatile i32, ptr %arrived, align 4
  %isThere = icmp uge i32 %now, %blocks
  br i1 %isThere, label %done, label %wait
done:
  ret void
}

define ptx_kernel void @traps() {
  call void @llvm.trap()
  ret void
}

define ptx_kernel void @asserts() {
  call void @__assertfail(ptr @text, ptr @text, i32 42, ptr @text, i64 1)
  ret void
}

define ptx_kernel void @writes(i64 %address) {
  %to = inttoptr i64 %address to ptr
  store volatile i32 1, ptr %to, align 4
  ret void
}

define ptx_kernel void @spins(ptr %flag) {
  br label %wait
wait:
  %now = load volatile i32, ptr %flag, align 4
  %isSet = icmp eq i32 %now, 12345
  br i1 %isSet, label %done, label %wait
done:
  ret void
}
)";

} // namespace conformance
