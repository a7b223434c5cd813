; Pairs of elements in two nested loops that all threads run equally often; some threads end early.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define dso_local ptx_kernel void @pairs(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = mul i32 %5, %7
  %14 = call noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %15 = mul i32 %13, %14
  %16 = urem i32 %12, 11
  %17 = icmp eq i32 %16, 7
  br i1 %17, label %59, label %18
18:                                               ; preds = %3
  %19 = call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %20 = mul i32 %19, %15
  %21 = add i32 %20, %12
  %22 = zext i32 %21 to i64
  %23 = getelementptr inbounds nuw float, ptr %0, i64 %22
  %24 = load float, ptr %23, align 4
  br label %25
25:                                               ; preds = %50, %18
  %26 = phi float [ 0.000000e+00, %18 ], [ %33, %50 ]
  %27 = phi i8 [ 0, %18 ], [ %34, %50 ]
  %28 = phi i32 [ 0, %18 ], [ %51, %50 ]
  %29 = srem i32 %2, 3
  %30 = add nsw i32 %29, 1
  %31 = icmp slt i32 %28, %30
  br i1 %31, label %32, label %52
32:                                               ; preds = %25, %37
  %33 = phi float [ %46, %37 ], [ %26, %25 ]
  %34 = phi i8 [ %48, %37 ], [ %27, %25 ]
  %35 = phi i32 [ %49, %37 ], [ 0, %25 ]
  %36 = icmp slt i32 %35, %2
  br i1 %36, label %37, label %50
37:                                               ; preds = %32
  %38 = add nsw i32 %35, %28
  %39 = sext i32 %38 to i64
  %40 = getelementptr inbounds float, ptr %0, i64 %39
  %41 = load float, ptr %40, align 4
  %42 = fsub contract float %41, %24
  %43 = fmul contract float %42, %42
  %44 = fadd contract float %43, 5.000000e-01
  %45 = fdiv contract float %42, %44
  %46 = fadd contract float %33, %45
  %47 = fcmp contract ogt float %46, %24
  %48 = zext i1 %47 to i8
  %49 = add nsw i32 %35, 1
  br label %32
50:                                               ; preds = %32
  %51 = add nsw i32 %28, 1
  br label %25
52:                                               ; preds = %25
  %53 = fadd contract float %26, %24
  %54 = trunc i8 %27 to i1
  %55 = select i1 %54, i32 1, i32 0
  %56 = sitofp i32 %55 to float
  %57 = fadd contract float %53, %56
  %58 = getelementptr inbounds nuw float, ptr %1, i64 %22
  store float %57, ptr %58, align 4
  br label %59
59:                                               ; preds = %52, %3
  ret void
}
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare noundef range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare noundef range(i32 1, 65) i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
