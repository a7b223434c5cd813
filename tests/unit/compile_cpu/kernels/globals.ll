; Device variables: mutable, constant, one pointing to another, one defined elsewhere, a private table.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%pair = type { i32, ptr }

@counter = addrspace(1) externally_initialized global i32 5, align 4
@factors = addrspace(4) externally_initialized constant [2 x i32] [i32 10, i32 20], align 4
@link = addrspace(1) externally_initialized global %pair { i32 7, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(4) @factors to ptr), i64 4) }, align 8
@outside = external addrspace(1) global i64, align 8
@table = private constant [2 x i32] [i32 100, i32 200], align 4
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @counter to ptr)], section "llvm.metadata"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @globals(ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %old = atomicrmw add ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 1 syncscope("device") monotonic
  %target = load ptr, ptr getelementptr (%pair, ptr addrspacecast (ptr addrspace(1) @link to ptr), i32 0, i32 1)
  %linked = load i32, ptr %target
  %place = getelementptr [2 x i32], ptr @table, i32 0, i32 %tid
  %own = load i32, ptr %place
  %foreign = load i64, ptr addrspace(1) @outside
  %low = trunc i64 %foreign to i32
  %sum = add i32 %linked, %own
  %all = add i32 %sum, %low
  %to = getelementptr i32, ptr %out, i32 %tid
  store i32 %all, ptr %to
  ret void
}
