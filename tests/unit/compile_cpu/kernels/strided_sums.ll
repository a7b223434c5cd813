; Sums over every so many-th element, by threads of which some have one more than others. Two in a loop
; that threads enter and leave at different times, and one whose elements not all count.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @stridedSum(ptr %0, ptr %1, ptr %2, i32 %3) {
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul i32 %5, %6
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add i32 %7, %8
  br label %10

10:
  %.014 = phi float [ 0.000000e+00, %4 ], [ %20, %12 ]
  %.013 = phi i32 [ 0, %4 ], [ %21, %12 ]
  %.0 = phi i32 [ %9, %4 ], [ %25, %12 ]
  %11 = icmp slt i32 %.0, %3
  br i1 %11, label %12, label %26

12:
  %13 = sext i32 %.0 to i64
  %14 = getelementptr inbounds float, ptr %0, i64 %13
  %15 = load float, ptr %14, align 4
  %16 = sext i32 %.0 to i64
  %17 = getelementptr inbounds float, ptr %1, i64 %16
  %18 = load float, ptr %17, align 4
  %19 = fmul contract float %15, %18
  %20 = fadd contract float %.014, %19
  %21 = add nsw i32 %.013, 3
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %23 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %24 = mul i32 %22, %23
  %25 = add i32 %.0, %24
  br label %10

26:
  %27 = sitofp i32 %.013 to float
  %28 = fadd contract float %.014, %27
  %29 = sext i32 %9 to i64
  %30 = getelementptr inbounds float, ptr %2, i64 %29
  store float %28, ptr %30, align 4
  ret void
}

define ptx_kernel void @twoSums(ptr %0, ptr %1, ptr %2, i32 %3, i32 %4) {
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = srem i32 %6, 3
  br label %8

8:
  %.031 = phi float [ 0.000000e+00, %5 ], [ %.132, %22 ]
  %.030 = phi i32 [ %7, %5 ], [ %25, %22 ]
  %9 = icmp slt i32 %.030, %4
  br i1 %9, label %10, label %26

10:
  %11 = sitofp i32 %.030 to float
  br label %12

12:
  %.029 = phi float [ %11, %10 ], [ %19, %14 ]
  %.028 = phi i32 [ %6, %10 ], [ %21, %14 ]
  %13 = icmp slt i32 %.028, %3
  br i1 %13, label %14, label %22

14:
  %15 = fmul contract float %.029, 5.000000e-01
  %16 = sext i32 %.028 to i64
  %17 = getelementptr inbounds float, ptr %0, i64 %16
  %18 = load float, ptr %17, align 4
  %19 = fadd contract float %15, %18
  %20 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %21 = add i32 %.028, %20
  br label %12

22:
  %23 = fcmp contract ogt float %.029, 1.000000e+00
  %24 = fadd contract float %.031, %.029
  %.132 = select i1 %23, float %24, float %.031
  %25 = add nsw i32 %.030, 1
  br label %8

26:
  %27 = add nsw i32 %6, 1
  br label %28

28:
  %.027 = phi float [ 1.000000e+00, %26 ], [ %.1, %40 ]
  %.0 = phi i32 [ %27, %26 ], [ %42, %40 ]
  %29 = icmp slt i32 %.0, %3
  br i1 %29, label %30, label %43

30:
  %31 = sext i32 %.0 to i64
  %32 = getelementptr inbounds float, ptr %1, i64 %31
  %33 = load float, ptr %32, align 4
  %34 = fcmp contract ogt float %33, 2.500000e-01
  br i1 %34, label %35, label %40

35:
  %36 = sext i32 %.0 to i64
  %37 = getelementptr inbounds float, ptr %1, i64 %36
  %38 = load float, ptr %37, align 4
  %39 = fsub contract float %38, %.027
  br label %40

40:
  %.1 = phi float [ %39, %35 ], [ %.027, %30 ]
  %41 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %42 = add i32 %.0, %41
  br label %28

43:
  %44 = fmul contract float %.031, %.027
  %45 = sext i32 %6 to i64
  %46 = getelementptr inbounds float, ptr %2, i64 %45
  store float %44, ptr %46, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
