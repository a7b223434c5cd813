; Block sums: a tree in shared memory with barriers, then a warp's shuffles, then one atomic per block.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [128 x float] undef, align 4
@extra = external addrspace(3) global [0 x float], align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)

define ptx_kernel void @reduction(ptr %in, ptr %sum) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %ctaid, %ntid
  %index = add i32 %base, %tid
  %from = getelementptr float, ptr %in, i32 %index
  %value = load float, ptr %from
  %slot = getelementptr [128 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i32 0, i32 %tid
  store float %value, ptr %slot
  %copy = getelementptr [0 x float], ptr addrspace(3) @extra, i32 0, i32 %tid
  store float %value, ptr addrspace(3) %copy
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %tree

tree:
  %width = phi i32 [ 64, %entry ], [ %half, %next ]
  %active = icmp ult i32 %tid, %width
  br i1 %active, label %add, label %next

add:
  %partner = add i32 %tid, %width
  %other = getelementptr [128 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i32 0, i32 %partner
  %theirs = load float, ptr %other
  %mine = load float, ptr %slot
  %both = fadd float %mine, %theirs
  store float %both, ptr %slot
  br label %next

next:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %half = lshr i32 %width, 1
  %more = icmp uge i32 %half, 32
  br i1 %more, label %tree, label %warp

warp:
  %isFirst = icmp ult i32 %tid, 32
  br i1 %isFirst, label %shuffle, label %done

shuffle:
  %start = load float, ptr %slot
  br label %fold

fold:
  %step = phi i32 [ 16, %shuffle ], [ %smaller, %fold ]
  %partial = phi float [ %start, %shuffle ], [ %folded, %fold ]
  %moved = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %partial, i32 %step, i32 31)
  %folded = fadd float %partial, %moved
  %smaller = lshr i32 %step, 1
  %again = icmp ne i32 %smaller, 0
  br i1 %again, label %fold, label %publish

publish:
  %isLeader = icmp eq i32 %tid, 0
  br i1 %isLeader, label %store, label %done

store:
  %dynamic = load float, ptr addrspace(3) @extra
  %withFirst = fadd float %folded, %dynamic
  %old = atomicrmw fadd ptr %sum, float %withFirst syncscope("device") monotonic
  br label %done

done:
  ret void
}
