; c[i] = a[i] + b[i], as clang writes it before optimisation.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define linkonce_odr i32 @threadIndex() alwaysinline convergent {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %tid
}

define ptx_kernel void @vectorAdd(ptr noundef %a, ptr noundef %b, ptr noundef %c, i32 noundef %n) {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %c.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  store ptr %a, ptr %a.addr, align 8
  store ptr %b, ptr %b.addr, align 8
  store ptr %c, ptr %c.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tid = call i32 @threadIndex()
  %base = mul i32 %ctaid, %ntid
  %sum = add i32 %base, %tid
  store i32 %sum, ptr %i, align 4
  %0 = load i32, ptr %i, align 4
  %1 = load i32, ptr %n.addr, align 4
  %inside = icmp slt i32 %0, %1
  br i1 %inside, label %then, label %end

then:
  %2 = load ptr, ptr %a.addr, align 8
  %3 = load i32, ptr %i, align 4
  %4 = sext i32 %3 to i64
  %5 = getelementptr inbounds float, ptr %2, i64 %4
  %6 = load float, ptr %5, align 4
  %7 = load ptr, ptr %b.addr, align 8
  %8 = getelementptr inbounds float, ptr %7, i64 %4
  %9 = load float, ptr %8, align 4
  %10 = fadd contract float %6, %9
  %11 = load ptr, ptr %c.addr, align 8
  %12 = getelementptr inbounds float, ptr %11, i64 %4
  store float %10, ptr %12, align 4
  br label %end

end:
  ret void
}
