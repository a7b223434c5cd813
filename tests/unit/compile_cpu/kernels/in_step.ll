; Which kernels count on the lanes of a warp going in step? The last three; in the others nothing is
; read, without a barrier between, that another lane has written.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__cuda_builtin_threadIdx_t = type { i8 }
%struct.__cuda_builtin_blockDim_t = type { i8 }

@barriers.1v = internal addrspace(3) global [128 x float] undef, align 4
@threadIdx = extern_weak dso_local addrspace(1) global %struct.__cuda_builtin_threadIdx_t, align 1
@blockDim = extern_weak dso_local addrspace(1) global %struct.__cuda_builtin_blockDim_t, align 1
@sums = external dso_local addrspace(3) global [0 x float], align 4
@triangle.1a = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@parts = external dso_local addrspace(3) global [0 x float], align 4
@counts = external dso_local addrspace(3) global [0 x i32], align 4
@ownStack.5stack = internal addrspace(3) global [768 x i32] undef, align 4
@oneThread.1v = internal addrspace(3) global [128 x float] undef, align 4
@border.1v = internal addrspace(3) global [130 x float] undef, align 4
@columns.1a = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@maskedScan.1s = internal addrspace(3) global [256 x float] undef, align 4
@lastWarp.1v = internal addrspace(3) global [128 x float] undef, align 4
@paddedScan.1v = internal addrspace(3) global [256 x float] undef, align 4
@mirror.1v = internal addrspace(3) global [128 x float] undef, align 4

; A reduction with barriers.
define ptx_kernel void @barriers(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds nuw float, ptr %0, i64 %4
  %6 = load float, ptr %5, align 4
  %7 = getelementptr inbounds nuw [128 x float], ptr addrspacecast (ptr addrspace(3) @barriers.1v to ptr), i64 0, i64 %4
  store float %6, ptr %7, align 4
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = udiv i32 %8, 2
  br label %10

10:
  %.0 = phi i32 [ %9, %2 ], [ %22, %21 ]
  %11 = icmp ugt i32 %.0, 0
  br i1 %11, label %12, label %23

12:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %13 = icmp ult i32 %3, %.0
  br i1 %13, label %14, label %21

14:
  %15 = add i32 %3, %.0
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds nuw [128 x float], ptr addrspacecast (ptr addrspace(3) @barriers.1v to ptr), i64 0, i64 %16
  %18 = load float, ptr %17, align 4
  %19 = load float, ptr %7, align 4
  %20 = fadd contract float %19, %18
  store float %20, ptr %7, align 4
  br label %21

21:
  %22 = lshr i32 %.0, 1
  br label %10

23:
  %24 = icmp eq i32 %3, 0
  br i1 %24, label %25, label %27

25:
  %26 = load float, ptr addrspacecast (ptr addrspace(3) @barriers.1v to ptr), align 4
  store float %26, ptr %1, align 4
  br label %27

27:
  ret void
}


declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)


; Both ends of each pair in a tree whose distance grows.
define ptx_kernel void @treeScan(ptr %0, i32 %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = mul nsw i32 2, %3
  %5 = sext i32 %4 to i64
  %6 = getelementptr inbounds float, ptr %0, i64 %5
  %7 = load float, ptr %6, align 4
  %8 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @sums to ptr), i64 0, i64 %5
  store float %7, ptr %8, align 4
  %9 = add nsw i32 %4, 1
  %10 = sext i32 %9 to i64
  %11 = getelementptr inbounds float, ptr %0, i64 %10
  %12 = load float, ptr %11, align 4
  %13 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @sums to ptr), i64 0, i64 %10
  store float %12, ptr %13, align 4
  %14 = ashr i32 %1, 1
  br label %15

15:
  %.023 = phi i32 [ %14, %2 ], [ %35, %33 ]
  %.0 = phi i32 [ 1, %2 ], [ %34, %33 ]
  %16 = icmp sgt i32 %.023, 0
  br i1 %16, label %17, label %36

17:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %18 = icmp slt i32 %3, %.023
  br i1 %18, label %19, label %33

19:
  %20 = mul nsw i32 %.0, %9
  %21 = sub nsw i32 %20, 1
  %22 = add nsw i32 %4, 2
  %23 = mul nsw i32 %.0, %22
  %24 = sub nsw i32 %23, 1
  %25 = sext i32 %21 to i64
  %26 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @sums to ptr), i64 0, i64 %25
  %27 = load float, ptr %26, align 4
  %28 = sext i32 %24 to i64
  %29 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @sums to ptr), i64 0, i64 %28
  %30 = load float, ptr %29, align 4
  store float %30, ptr %26, align 4
  %31 = load float, ptr %29, align 4
  %32 = fadd contract float %31, %27
  store float %32, ptr %29, align 4
  br label %33

33:
  %34 = mul nsw i32 %.0, 2
  %35 = ashr i32 %.023, 1
  br label %15

36:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %37 = sext i32 %3 to i64
  %38 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @sums to ptr), i64 0, i64 %37
  %39 = load float, ptr %38, align 4
  %40 = getelementptr inbounds float, ptr %0, i64 %37
  store float %39, ptr %40, align 4
  ret void
}

; A lane writes its row right of the diagonal, and reads rows above.
define ptx_kernel void @triangle(ptr %0) {
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %3

3:
  %.032 = phi i32 [ 0, %1 ], [ %15, %5 ]
  %4 = icmp slt i32 %.032, 16
  br i1 %4, label %5, label %16

5:
  %6 = mul nsw i32 %.032, 16
  %7 = add nsw i32 %6, %2
  %8 = sext i32 %7 to i64
  %9 = getelementptr inbounds float, ptr %0, i64 %8
  %10 = load float, ptr %9, align 4
  %11 = sext i32 %.032 to i64
  %12 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %11
  %13 = sext i32 %2 to i64
  %14 = getelementptr inbounds [16 x float], ptr %12, i64 0, i64 %13
  store float %10, ptr %14, align 4
  %15 = add nsw i32 %.032, 1
  br label %3

16:
  %.031 = phi i32 [ %48, %47 ], [ 0, %3 ]
  %17 = icmp slt i32 %.031, 15
  br i1 %17, label %18, label %49

18:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %19 = icmp sgt i32 %2, %.031
  br i1 %19, label %20, label %47

20:
  %.030 = phi i32 [ %36, %22 ], [ 0, %18 ]
  %21 = icmp slt i32 %.030, %.031
  br i1 %21, label %22, label %37

22:
  %23 = sext i32 %2 to i64
  %24 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %23
  %25 = sext i32 %.030 to i64
  %26 = getelementptr inbounds [16 x float], ptr %24, i64 0, i64 %25
  %27 = load float, ptr %26, align 4
  %28 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %25
  %29 = sext i32 %.031 to i64
  %30 = getelementptr inbounds [16 x float], ptr %28, i64 0, i64 %29
  %31 = load float, ptr %30, align 4
  %32 = fmul contract float %27, %31
  %33 = getelementptr inbounds [16 x float], ptr %24, i64 0, i64 %29
  %34 = load float, ptr %33, align 4
  %35 = fsub contract float %34, %32
  store float %35, ptr %33, align 4
  %36 = add nsw i32 %.030, 1
  br label %20

37:
  %38 = sext i32 %.031 to i64
  %39 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %38
  %40 = getelementptr inbounds [16 x float], ptr %39, i64 0, i64 %38
  %41 = load float, ptr %40, align 4
  %42 = sext i32 %2 to i64
  %43 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %42
  %44 = getelementptr inbounds [16 x float], ptr %43, i64 0, i64 %38
  %45 = load float, ptr %44, align 4
  %46 = fdiv contract float %45, %41
  store float %46, ptr %44, align 4
  br label %47

47:
  %48 = add nsw i32 %.031, 1
  br label %16

49:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %50

50:
  %.0 = phi i32 [ 0, %49 ], [ %62, %52 ]
  %51 = icmp slt i32 %.0, 16
  br i1 %51, label %52, label %63

52:
  %53 = sext i32 %.0 to i64
  %54 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @triangle.1a to ptr), i64 0, i64 %53
  %55 = sext i32 %2 to i64
  %56 = getelementptr inbounds [16 x float], ptr %54, i64 0, i64 %55
  %57 = load float, ptr %56, align 4
  %58 = mul nsw i32 %.0, 16
  %59 = add nsw i32 %58, %2
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds float, ptr %0, i64 %60
  store float %57, ptr %61, align 4
  %62 = add nsw i32 %.0, 1
  br label %50

63:
  ret void
}

; Each thread has a part of its own, as wide as the launch says.
define ptx_kernel void @ownParts(ptr %0, i32 %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %4

4:
  %.022 = phi i32 [ 0, %2 ], [ %13, %6 ]
  %5 = icmp slt i32 %.022, %1
  br i1 %5, label %6, label %14

6:
  %7 = mul nsw i32 %3, %1
  %8 = add nsw i32 %7, %.022
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds float, ptr %0, i64 %9
  %11 = load float, ptr %10, align 4
  %12 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @parts to ptr), i64 0, i64 %9
  store float %11, ptr %12, align 4
  %13 = add nsw i32 %.022, 1
  br label %4

14:
  %.0 = phi i32 [ %28, %16 ], [ 1, %4 ]
  %15 = icmp slt i32 %.0, %1
  br i1 %15, label %16, label %29

16:
  %17 = mul nsw i32 %3, %1
  %18 = add nsw i32 %17, %1
  %19 = sub nsw i32 %18, %.0
  %20 = sext i32 %19 to i64
  %21 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @parts to ptr), i64 0, i64 %20
  %22 = load float, ptr %21, align 4
  %23 = add nsw i32 %17, %.0
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @parts to ptr), i64 0, i64 %24
  %26 = load float, ptr %25, align 4
  %27 = fadd contract float %26, %22
  store float %27, ptr %25, align 4
  %28 = add nsw i32 %.0, 1
  br label %14

29:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %30 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %31 = sub i32 %30, 1
  %32 = sub i32 %31, %3
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw [0 x float], ptr addrspacecast (ptr addrspace(3) @parts to ptr), i64 0, i64 %33
  %35 = load float, ptr %34, align 4
  %36 = sext i32 %3 to i64
  %37 = getelementptr inbounds float, ptr %0, i64 %36
  store float %35, ptr %37, align 4
  ret void
}

; Each thread has a column of its own; the row is read from memory.
define ptx_kernel void @ownColumns(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %5

5:
  %.012 = phi i32 [ 0, %3 ], [ %13, %7 ]
  %6 = icmp slt i32 %.012, 16
  br i1 %6, label %7, label %14

7:
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = mul i32 %.012, %8
  %10 = add i32 %9, %4
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds nuw [0 x i32], ptr addrspacecast (ptr addrspace(3) @counts to ptr), i64 0, i64 %11
  store i32 0, ptr %12, align 4
  %13 = add nsw i32 %.012, 1
  br label %5

14:
  %.0 = phi i32 [ %29, %16 ], [ %4, %5 ]
  %15 = icmp slt i32 %.0, %2
  br i1 %15, label %16, label %30

16:
  %17 = sext i32 %.0 to i64
  %18 = getelementptr inbounds i8, ptr %0, i64 %17
  %19 = load i8, ptr %18, align 1
  %20 = zext i8 %19 to i32
  %21 = and i32 %20, 15
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %23 = mul i32 %21, %22
  %24 = add i32 %23, %4
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds nuw [0 x i32], ptr addrspacecast (ptr addrspace(3) @counts to ptr), i64 0, i64 %25
  %27 = load i32, ptr %26, align 4
  %28 = add nsw i32 %27, 1
  store i32 %28, ptr %26, align 4
  %29 = add i32 %.0, %22
  br label %14

30:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %31 = load i32, ptr addrspacecast (ptr addrspace(3) @counts to ptr), align 4
  %32 = sext i32 %4 to i64
  %33 = getelementptr inbounds i32, ptr %1, i64 %32
  store i32 %31, ptr %33, align 4
  ret void
}

; Each thread has a stack.
define ptx_kernel void @ownStack(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = sext i32 %3 to i64
  %5 = getelementptr inbounds i32, ptr %0, i64 %4
  %6 = load i32, ptr %5, align 4
  %7 = mul nsw i32 %3, 12
  %8 = sext i32 %7 to i64
  %9 = getelementptr inbounds [768 x i32], ptr addrspacecast (ptr addrspace(3) @ownStack.5stack to ptr), i64 0, i64 %8
  store i32 %6, ptr %9, align 4
  br label %10

10:
  %.017 = phi i32 [ 0, %2 ], [ %18, %24 ]
  %.0 = phi i32 [ 1, %2 ], [ %.1, %24 ]
  %11 = icmp sgt i32 %.0, 0
  br i1 %11, label %12, label %25

12:
  %13 = add nsw i32 %.0, -1
  %14 = add nsw i32 %7, %13
  %15 = sext i32 %14 to i64
  %16 = getelementptr inbounds [768 x i32], ptr addrspacecast (ptr addrspace(3) @ownStack.5stack to ptr), i64 0, i64 %15
  %17 = load i32, ptr %16, align 4
  %18 = add nsw i32 %.017, %17
  %19 = sext i32 %17 to i64
  %20 = getelementptr inbounds i32, ptr %1, i64 %19
  %21 = load i32, ptr %20, align 4
  %22 = icmp sgt i32 %21, 0
  br i1 %22, label %23, label %24

23:
  store i32 %21, ptr %16, align 4
  br label %24

24:
  %.1 = phi i32 [ %.0, %23 ], [ %13, %12 ]
  br label %10

25:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %26 = load i32, ptr addrspacecast (ptr addrspace(3) @ownStack.5stack to ptr), align 4
  %27 = add nsw i32 %.017, %26
  store i32 %27, ptr %5, align 4
  ret void
}

; One thread of two dimensions does it all.
define ptx_kernel void @oneThread(ptr %0) {
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = mul i32 %2, %3
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds float, ptr %0, i64 %7
  %9 = load float, ptr %8, align 4
  %10 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @oneThread.1v to ptr), i64 0, i64 %7
  store float %9, ptr %10, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %11 = icmp eq i32 %6, 0
  br i1 %11, label %12, label %24

12:
  %.0 = phi i32 [ %23, %14 ], [ 1, %1 ]
  %13 = icmp slt i32 %.0, 128
  br i1 %13, label %14, label %24

14:
  %15 = sub nsw i32 %.0, 1
  %16 = sext i32 %15 to i64
  %17 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @oneThread.1v to ptr), i64 0, i64 %16
  %18 = load float, ptr %17, align 4
  %19 = sext i32 %.0 to i64
  %20 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @oneThread.1v to ptr), i64 0, i64 %19
  %21 = load float, ptr %20, align 4
  %22 = fadd contract float %21, %18
  store float %22, ptr %20, align 4
  %23 = add nsw i32 %.0, 1
  br label %12

24:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %25 = load float, ptr %10, align 4
  store float %25, ptr %8, align 4
  ret void
}

; The first and the last thread write beside the block.
define ptx_kernel void @border(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = sext i32 %3 to i64
  %5 = getelementptr inbounds float, ptr %0, i64 %4
  %6 = load float, ptr %5, align 4
  %7 = add nsw i32 %3, 1
  %8 = sext i32 %7 to i64
  %9 = getelementptr inbounds [130 x float], ptr addrspacecast (ptr addrspace(3) @border.1v to ptr), i64 0, i64 %8
  store float %6, ptr %9, align 4
  %10 = icmp eq i32 %3, 0
  br i1 %10, label %11, label %14

11:
  %12 = getelementptr inbounds float, ptr %0, i64 127
  %13 = load float, ptr %12, align 4
  store float %13, ptr addrspacecast (ptr addrspace(3) @border.1v to ptr), align 4
  br label %14

14:
  %15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %16 = sub i32 %15, 1
  %17 = icmp eq i32 %3, %16
  br i1 %17, label %18, label %23

18:
  %19 = load float, ptr %0, align 4
  %20 = add nsw i32 %3, 2
  %21 = sext i32 %20 to i64
  %22 = getelementptr inbounds [130 x float], ptr addrspacecast (ptr addrspace(3) @border.1v to ptr), i64 0, i64 %21
  store float %19, ptr %22, align 4
  br label %23

23:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %24 = getelementptr inbounds [130 x float], ptr addrspacecast (ptr addrspace(3) @border.1v to ptr), i64 0, i64 %4
  %25 = load float, ptr %24, align 4
  %26 = load float, ptr %9, align 4
  %27 = fadd contract float %25, %26
  %28 = add nsw i32 %3, 2
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds [130 x float], ptr addrspacecast (ptr addrspace(3) @border.1v to ptr), i64 0, i64 %29
  %31 = load float, ptr %30, align 4
  %32 = fadd contract float %27, %31
  %33 = getelementptr inbounds float, ptr %1, i64 %4
  store float %32, ptr %33, align 4
  ret void
}

; A loop over the block's elements with fewer threads; what is added lies behind all that is written.
@strides.v = internal addrspace(3) global [512 x float] undef, align 4
define ptx_kernel void @strides(ptr %in, ptr %out, i32 %half) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %body ]
  %inside = icmp slt i32 %i, %half
  br i1 %inside, label %body, label %done
body:
  %own = getelementptr float, ptr addrspace(3) @strides.v, i32 %i
  %other.i = add i32 %i, %half
  %other = getelementptr float, ptr addrspace(3) @strides.v, i32 %other.i
  %a = load float, ptr addrspace(3) %own
  %b = load float, ptr addrspace(3) %other
  %sum = fadd float %a, %b
  store float %sum, ptr addrspace(3) %own
  %next = add i32 %i, %size
  br label %loop
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = load float, ptr addrspace(3) @strides.v
  store float %first, ptr %out
  ret void
}

; Each lane has a column; it reads what is above the element that it writes.
define ptx_kernel void @columns(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = icmp slt i32 %3, 16
  br i1 %4, label %5, label %46

5:
  %.022 = phi i32 [ %16, %7 ], [ 0, %2 ]
  %6 = icmp slt i32 %.022, 16
  br i1 %6, label %7, label %17

7:
  %8 = add nsw i32 %3, %.022
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds float, ptr %0, i64 %9
  %11 = load float, ptr %10, align 4
  %12 = sext i32 %.022 to i64
  %13 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @columns.1a to ptr), i64 0, i64 %12
  %14 = sext i32 %3 to i64
  %15 = getelementptr inbounds [16 x float], ptr %13, i64 0, i64 %14
  store float %11, ptr %15, align 4
  %16 = add nsw i32 %.022, 1
  br label %5

17:
  %.021 = phi i32 [ %39, %38 ], [ 1, %5 ]
  %18 = icmp slt i32 %.021, 16
  br i1 %18, label %19, label %40

19:
  %.0 = phi i32 [ %37, %21 ], [ 0, %17 ]
  %20 = icmp slt i32 %.0, %.021
  br i1 %20, label %21, label %38

21:
  %22 = sext i32 %.0 to i64
  %23 = getelementptr inbounds float, ptr %0, i64 %22
  %24 = load float, ptr %23, align 4
  %25 = sext i32 %.0 to i64
  %26 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @columns.1a to ptr), i64 0, i64 %25
  %27 = sext i32 %3 to i64
  %28 = getelementptr inbounds [16 x float], ptr %26, i64 0, i64 %27
  %29 = load float, ptr %28, align 4
  %30 = fmul contract float %24, %29
  %31 = sext i32 %.021 to i64
  %32 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @columns.1a to ptr), i64 0, i64 %31
  %33 = sext i32 %3 to i64
  %34 = getelementptr inbounds [16 x float], ptr %32, i64 0, i64 %33
  %35 = load float, ptr %34, align 4
  %36 = fsub contract float %35, %30
  store float %36, ptr %34, align 4
  %37 = add nsw i32 %.0, 1
  br label %19

38:
  %39 = add nsw i32 %.021, 1
  br label %17

40:
  %41 = sext i32 %3 to i64
  %42 = getelementptr inbounds [16 x float], ptr getelementptr inbounds ([16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @columns.1a to ptr), i64 0, i64 15), i64 0, i64 %41
  %43 = load float, ptr %42, align 4
  %44 = sext i32 %3 to i64
  %45 = getelementptr inbounds float, ptr %1, i64 %44
  store float %43, ptr %45, align 4
  br label %46

46:
  ret void
}

; A scan with zeros to the left, of as many elements as the launch says: a power of two.
define ptx_kernel void @maskedScan(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = mul i32 2, %4
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = sub i32 %2, 1
  %8 = and i32 %6, %7
  %9 = sub i32 %5, %8
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %10
  store volatile float 0.000000e+00, ptr %11, align 4
  %12 = add i32 %9, %2
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds nuw float, ptr %0, i64 %14
  %16 = load float, ptr %15, align 4
  %17 = zext i32 %12 to i64
  %18 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %17
  store volatile float %16, ptr %18, align 4
  br label %19

19:
  %.0 = phi i32 [ 1, %3 ], [ %32, %21 ]
  %20 = icmp ult i32 %.0, %2
  br i1 %20, label %21, label %33

21:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %22 = zext i32 %12 to i64
  %23 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %22
  %24 = load volatile float, ptr %23, align 4
  %25 = sub i32 %12, %.0
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %26
  %28 = load volatile float, ptr %27, align 4
  %29 = fadd contract float %24, %28
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %30 = zext i32 %12 to i64
  %31 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %30
  store volatile float %29, ptr %31, align 4
  %32 = shl i32 %.0, 1
  br label %19

33:
  %34 = zext i32 %12 to i64
  %35 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @maskedScan.1s to ptr), i64 0, i64 %34
  %36 = load volatile float, ptr %35, align 4
  %37 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds nuw float, ptr %1, i64 %38
  store float %36, ptr %39, align 4
  ret void
}

; The tail of a reduction.
define ptx_kernel void @lastWarp(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = sext i32 %3 to i64
  %5 = getelementptr inbounds float, ptr %0, i64 %4
  %6 = load float, ptr %5, align 4
  %7 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 0, i64 %4
  store float %6, ptr %7, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %8 = icmp slt i32 %3, 64
  br i1 %8, label %9, label %16

9:
  %10 = add nsw i32 %3, 64
  %11 = sext i32 %10 to i64
  %12 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 0, i64 %11
  %13 = load float, ptr %12, align 4
  %14 = load float, ptr %7, align 4
  %15 = fadd contract float %14, %13
  store float %15, ptr %7, align 4
  br label %16

16:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %17 = icmp slt i32 %3, 32
  br i1 %17, label %18, label %56

18:
  %19 = add nsw i32 %3, 32
  %20 = sext i32 %19 to i64
  %21 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %20
  %22 = load volatile float, ptr %21, align 4
  %23 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %4
  %24 = load volatile float, ptr %23, align 4
  %25 = fadd contract float %24, %22
  store volatile float %25, ptr %23, align 4
  %26 = add nsw i32 %3, 16
  %27 = sext i32 %26 to i64
  %28 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %27
  %29 = load volatile float, ptr %28, align 4
  %30 = load volatile float, ptr %23, align 4
  %31 = fadd contract float %30, %29
  store volatile float %31, ptr %23, align 4
  %32 = add nsw i32 %3, 8
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %33
  %35 = load volatile float, ptr %34, align 4
  %36 = load volatile float, ptr %23, align 4
  %37 = fadd contract float %36, %35
  store volatile float %37, ptr %23, align 4
  %38 = add nsw i32 %3, 4
  %39 = sext i32 %38 to i64
  %40 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %39
  %41 = load volatile float, ptr %40, align 4
  %42 = load volatile float, ptr %23, align 4
  %43 = fadd contract float %42, %41
  store volatile float %43, ptr %23, align 4
  %44 = add nsw i32 %3, 2
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %45
  %47 = load volatile float, ptr %46, align 4
  %48 = load volatile float, ptr %23, align 4
  %49 = fadd contract float %48, %47
  store volatile float %49, ptr %23, align 4
  %50 = add nsw i32 %3, 1
  %51 = sext i32 %50 to i64
  %52 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), i64 %51
  %53 = load volatile float, ptr %52, align 4
  %54 = load volatile float, ptr %23, align 4
  %55 = fadd contract float %54, %53
  store volatile float %55, ptr %23, align 4
  br label %56

56:
  %57 = icmp eq i32 %3, 0
  br i1 %57, label %58, label %60

58:
  %59 = load float, ptr addrspacecast (ptr addrspace(3) @lastWarp.1v to ptr), align 4
  store float %59, ptr %1, align 4
  br label %60

60:
  ret void
}

; A scan with zeros to the left.
define ptx_kernel void @paddedScan(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = mul i32 2, %4
  %6 = sub i32 %2, 1
  %7 = and i32 %4, %6
  %8 = sub i32 %5, %7
  %9 = zext i32 %8 to i64
  %10 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @paddedScan.1v to ptr), i64 0, i64 %9
  store float 0.000000e+00, ptr %10, align 4
  %11 = add i32 %8, %2
  %12 = zext i32 %4 to i64
  %13 = getelementptr inbounds nuw float, ptr %0, i64 %12
  %14 = load float, ptr %13, align 4
  %15 = zext i32 %11 to i64
  %16 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @paddedScan.1v to ptr), i64 0, i64 %15
  store float %14, ptr %16, align 4
  br label %17

17:
  %.0 = phi i32 [ 1, %3 ], [ %26, %19 ]
  %18 = icmp ult i32 %.0, %2
  br i1 %18, label %19, label %27

19:
  %20 = sub i32 %11, %.0
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds nuw [256 x float], ptr addrspacecast (ptr addrspace(3) @paddedScan.1v to ptr), i64 0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = load float, ptr %16, align 4
  %25 = fadd contract float %24, %23
  store float %25, ptr %16, align 4
  %26 = shl i32 %.0, 1
  br label %17

27:
  %28 = load float, ptr %16, align 4
  %29 = getelementptr inbounds nuw float, ptr %1, i64 %12
  store float %28, ptr %29, align 4
  ret void
}

; A fence is not a barrier.
define ptx_kernel void @mirror(ptr %0, ptr %1) {
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = and i32 %3, 31
  %5 = sext i32 %3 to i64
  %6 = getelementptr inbounds float, ptr %0, i64 %5
  %7 = load float, ptr %6, align 4
  %8 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @mirror.1v to ptr), i64 0, i64 %5
  store float %7, ptr %8, align 4
  call void @llvm.nvvm.membar.cta()
  %9 = sub nsw i32 %3, %4
  %10 = add nsw i32 %9, 31
  %11 = sub nsw i32 %10, %4
  %12 = sext i32 %11 to i64
  %13 = getelementptr inbounds [128 x float], ptr addrspacecast (ptr addrspace(3) @mirror.1v to ptr), i64 0, i64 %12
  %14 = load float, ptr %13, align 4
  %15 = getelementptr inbounds float, ptr %1, i64 %5
  store float %14, ptr %15, align 4
  ret void
}

declare range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

declare range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()

declare void @llvm.nvvm.membar.cta()
