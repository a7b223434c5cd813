; for (i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += gridDim.x * blockDim.x)
;   out[i] = in[i] * p.scale
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%params = type { i32, float }

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

define ptx_kernel void @gridStride(ptr %in, ptr %out, ptr byval(%params) align 4 %p) {
entry:
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = mul i32 %ctaid, %ntid
  %first = add i32 %base, %tid
  %n.at = getelementptr %params, ptr %p, i32 0, i32 0
  %scale.at = getelementptr %params, ptr %p, i32 0, i32 1
  %scale = load float, ptr %scale.at
  br label %loop

loop:
  %i = phi i32 [ %first, %entry ], [ %next, %body ]
  %n = load i32, ptr %n.at
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %body, label %done

body:
  %index = sext i32 %i to i64
  %from = getelementptr float, ptr %in, i64 %index
  %value = load float, ptr %from, align 4
  %scaled = fmul float %value, %scale
  %to = getelementptr float, ptr %out, i64 %index
  store float %scaled, ptr %to, align 4
  %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %step = mul i32 %nctaid, %ntid
  %next = add i32 %i, %step
  br label %loop

done:
  ret void
}
