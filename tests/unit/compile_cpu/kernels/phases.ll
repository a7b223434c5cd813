; Kernels with barriers, made from CUDA: a stencil, a tree reduction, a tiled product, threads that
; end early, barriers under a uniform condition and apart, reductions, locals that outlive barriers.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%0 = type { [4 x i32], float }

$_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv = comdat any

$_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv = comdat any

$_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv = comdat any

$_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv = comdat any

$_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv = comdat any

$_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv = comdat any

$_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv = comdat any

@0 = internal addrspace(3) global [18 x [18 x float]] undef, align 4
@partial = external dso_local addrspace(3) global [0 x float], align 4
@1 = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@2 = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@line = external dso_local addrspace(3) global [0 x float], align 4

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @stencil(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %6 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %7 = mul i32 %6, 256
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds float, ptr %0, i64 %8
  %10 = mul nsw i32 %5, 16
  %11 = add nsw i32 %10, %4
  %12 = sext i32 %11 to i64
  %13 = getelementptr inbounds float, ptr %9, i64 %12
  %14 = load float, ptr %13, align 4
  %15 = add nsw i32 %5, 1
  %16 = sext i32 %15 to i64
  %17 = getelementptr inbounds [18 x [18 x float]], ptr addrspacecast (ptr addrspace(3) @0 to ptr), i64 0, i64 %16
  %18 = add nsw i32 %4, 1
  %19 = sext i32 %18 to i64
  %20 = getelementptr inbounds [18 x float], ptr %17, i64 0, i64 %19
  store float %14, ptr %20, align 4
  switch i32 %4, label %31 [
    i32 0, label %21
    i32 15, label %25
  ]

21:                                               ; preds = %3
  %22 = sext i32 %10 to i64
  %23 = getelementptr inbounds float, ptr %9, i64 %22
  %24 = load float, ptr %23, align 4
  store float %24, ptr %17, align 4
  br label %31

25:                                               ; preds = %3
  %26 = add nsw i32 %10, 15
  %27 = sext i32 %26 to i64
  %28 = getelementptr inbounds float, ptr %9, i64 %27
  %29 = load float, ptr %28, align 4
  %30 = getelementptr inbounds [18 x float], ptr %17, i64 0, i64 17
  store float %29, ptr %30, align 4
  br label %31

31:                                               ; preds = %21, %3, %25
  switch i32 %5, label %43 [
    i32 0, label %32
    i32 15, label %37
  ]

32:                                               ; preds = %31
  %33 = sext i32 %4 to i64
  %34 = getelementptr inbounds float, ptr %9, i64 %33
  %35 = load float, ptr %34, align 4
  %36 = getelementptr inbounds [18 x float], ptr addrspacecast (ptr addrspace(3) @0 to ptr), i64 0, i64 %19
  store float %35, ptr %36, align 4
  br label %43

37:                                               ; preds = %31
  %38 = add nsw i32 240, %4
  %39 = sext i32 %38 to i64
  %40 = getelementptr inbounds float, ptr %9, i64 %39
  %41 = load float, ptr %40, align 4
  %42 = getelementptr inbounds [18 x float], ptr getelementptr inbounds ([18 x [18 x float]], ptr addrspacecast (ptr addrspace(3) @0 to ptr), i64 0, i64 17), i64 0, i64 %19
  store float %41, ptr %42, align 4
  br label %43

43:                                               ; preds = %32, %31, %37
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %44 = icmp slt i32 %4, %2
  br i1 %44, label %45, label %74

45:                                               ; preds = %43
  %46 = sext i32 %5 to i64
  %47 = getelementptr inbounds [18 x [18 x float]], ptr addrspacecast (ptr addrspace(3) @0 to ptr), i64 0, i64 %46
  %48 = getelementptr inbounds [18 x float], ptr %47, i64 0, i64 %19
  %49 = load float, ptr %48, align 4
  %50 = add nsw i32 %5, 2
  %51 = sext i32 %50 to i64
  %52 = getelementptr inbounds [18 x [18 x float]], ptr addrspacecast (ptr addrspace(3) @0 to ptr), i64 0, i64 %51
  %53 = getelementptr inbounds [18 x float], ptr %52, i64 0, i64 %19
  %54 = load float, ptr %53, align 4
  %55 = fadd contract float %49, %54
  %56 = sext i32 %4 to i64
  %57 = getelementptr inbounds [18 x float], ptr %17, i64 0, i64 %56
  %58 = load float, ptr %57, align 4
  %59 = fadd contract float %55, %58
  %60 = add nsw i32 %4, 2
  %61 = sext i32 %60 to i64
  %62 = getelementptr inbounds [18 x float], ptr %17, i64 0, i64 %61
  %63 = load float, ptr %62, align 4
  %64 = fadd contract float %59, %63
  %65 = load float, ptr %20, align 4
  %66 = fmul contract float 0x400F333340000000, %65
  %67 = fsub contract float %64, %66
  %68 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %69 = mul i32 %68, 256
  %70 = add i32 %69, %10
  %71 = add i32 %70, %4
  %72 = zext i32 %71 to i64
  %73 = getelementptr inbounds float, ptr %1, i64 %72
  store float %67, ptr %73, align 4
  br label %74

74:                                               ; preds = %45, %43
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64, ptr)

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %1
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64, ptr)

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @tree(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %19 = mul i32 %18, %17
  %20 = add i32 %19, %12
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = sitofp i32 %2 to float
  %25 = fmul contract float %23, %24
  %26 = zext i32 %12 to i64
  %27 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 0, i64 %26
  store float %25, ptr %27, align 4
  %28 = udiv i32 %17, 2
  br label %29

29:                                               ; preds = %41, %3
  %30 = phi i32 [ %28, %3 ], [ %42, %41 ]
  %31 = icmp ugt i32 %30, 0
  br i1 %31, label %32, label %43

32:                                               ; preds = %29
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %33 = icmp ult i32 %12, %30
  br i1 %33, label %34, label %41

34:                                               ; preds = %32
  %35 = add i32 %12, %30
  %36 = zext i32 %35 to i64
  %37 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 0, i64 %36
  %38 = load float, ptr %37, align 4
  %39 = load float, ptr %27, align 4
  %40 = fadd contract float %39, %38
  store float %40, ptr %27, align 4
  br label %41

41:                                               ; preds = %32, %34
  %42 = udiv i32 %30, 2
  br label %29

43:                                               ; preds = %29
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %44 = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), align 4
  %45 = fadd contract float %44, %25
  %46 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %47 = mul i32 %46, %17
  %48 = add i32 %47, %12
  %49 = zext i32 %48 to i64
  %50 = getelementptr inbounds float, ptr %1, i64 %49
  store float %45, ptr %50, align 4
  ret void
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv() comdat align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  ret i32 %1
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @matmul(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  br label %6

6:                                                ; preds = %46, %3
  %7 = phi float [ 0.000000e+00, %3 ], [ %33, %46 ]
  %8 = phi i32 [ 0, %3 ], [ %47, %46 ]
  %9 = icmp slt i32 %8, %2
  br i1 %9, label %10, label %48

10:                                               ; preds = %6
  %11 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %12 = mul i32 %11, 16
  %13 = add i32 %12, %5
  %14 = mul i32 %13, %2
  %15 = add i32 %14, %8
  %16 = add i32 %15, %4
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds float, ptr %0, i64 %17
  %19 = load float, ptr %18, align 4
  %20 = sext i32 %5 to i64
  %21 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @1 to ptr), i64 0, i64 %20
  %22 = sext i32 %4 to i64
  %23 = getelementptr inbounds [16 x float], ptr %21, i64 0, i64 %22
  store float %19, ptr %23, align 4
  %24 = add nsw i32 %8, %5
  %25 = mul nsw i32 %24, %2
  %26 = add nsw i32 %25, %4
  %27 = sext i32 %26 to i64
  %28 = getelementptr inbounds float, ptr %0, i64 %27
  %29 = load float, ptr %28, align 4
  %30 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @2 to ptr), i64 0, i64 %20
  %31 = getelementptr inbounds [16 x float], ptr %30, i64 0, i64 %22
  store float %29, ptr %31, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %32

32:                                               ; preds = %36, %10
  %33 = phi float [ %7, %10 ], [ %44, %36 ]
  %34 = phi i32 [ 0, %10 ], [ %45, %36 ]
  %35 = icmp slt i32 %34, 16
  br i1 %35, label %36, label %46

36:                                               ; preds = %32
  %37 = sext i32 %34 to i64
  %38 = getelementptr inbounds [16 x float], ptr %21, i64 0, i64 %37
  %39 = load float, ptr %38, align 4
  %40 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @2 to ptr), i64 0, i64 %37
  %41 = getelementptr inbounds [16 x float], ptr %40, i64 0, i64 %22
  %42 = load float, ptr %41, align 4
  %43 = fmul contract float %39, %42
  %44 = fadd contract float %33, %43
  %45 = add nsw i32 %34, 1
  br label %32

46:                                               ; preds = %32
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %47 = add nsw i32 %8, 16
  br label %6

48:                                               ; preds = %6
  %49 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %50 = mul i32 %49, 16
  %51 = add i32 %50, %5
  %52 = mul i32 %51, 16
  %53 = add i32 %52, %4
  %54 = zext i32 %53 to i64
  %55 = getelementptr inbounds float, ptr %1, i64 %54
  store float %7, ptr %55, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @early(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = urem i32 %12, 5
  %19 = icmp eq i32 %18, 3
  %20 = icmp sge i32 %12, %2
  %21 = or i1 %19, %20
  br i1 %21, label %22, label %28

22:                                               ; preds = %3
  %23 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %24 = mul i32 %23, %17
  %25 = add i32 %24, %12
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds float, ptr %1, i64 %26
  store float -1.000000e+00, ptr %27, align 4
  br label %74

28:                                               ; preds = %3
  %29 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %30 = mul i32 %29, %17
  %31 = add i32 %30, %12
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds float, ptr %0, i64 %32
  %34 = load float, ptr %33, align 4
  %35 = zext i32 %12 to i64
  %36 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %35
  store float %34, ptr %36, align 4
  br label %37

37:                                               ; preds = %60, %28
  %38 = phi float [ 0.000000e+00, %28 ], [ %49, %60 ]
  %39 = phi i32 [ 0, %28 ], [ %63, %60 ]
  %40 = icmp slt i32 %39, 3
  br i1 %40, label %41, label %64

41:                                               ; preds = %37
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %42 = udiv i32 %12, 5
  %43 = mul i32 %42, 5
  %44 = zext i32 %43 to i64
  %45 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %44
  %46 = load float, ptr %45, align 4
  %47 = sitofp i32 %39 to float
  %48 = fmul contract float %46, %47
  %49 = fadd contract float %38, %48
  %50 = icmp eq i32 %39, 1
  %51 = urem i32 %12, 7
  %52 = icmp eq i32 %51, 0
  %53 = and i1 %50, %52
  br i1 %53, label %54, label %60

54:                                               ; preds = %41
  %55 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %56 = mul i32 %55, %17
  %57 = add i32 %56, %12
  %58 = zext i32 %57 to i64
  %59 = getelementptr inbounds float, ptr %1, i64 %58
  store float %49, ptr %59, align 4
  br label %64

60:                                               ; preds = %41
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %61 = load float, ptr %36, align 4
  %62 = fadd contract float %61, %49
  store float %62, ptr %36, align 4
  %63 = add nsw i32 %39, 1
  br label %37

64:                                               ; preds = %37, %54
  %65 = phi i32 [ 1, %54 ], [ 2, %37 ]
  %66 = phi float [ %49, %54 ], [ %38, %37 ]
  %67 = icmp eq i32 %65, 2
  br i1 %67, label %68, label %74

68:                                               ; preds = %64
  %69 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %70 = mul i32 %69, %17
  %71 = add i32 %70, %12
  %72 = zext i32 %71 to i64
  %73 = getelementptr inbounds float, ptr %1, i64 %72
  store float %66, ptr %73, align 4
  br label %74

74:                                               ; preds = %22, %64, %68
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @choice(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %19 = mul i32 %18, %17
  %20 = add i32 %19, %12
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = zext i32 %12 to i64
  %25 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %24
  store float %23, ptr %25, align 4
  %26 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %27 = add i32 %2, %26
  %28 = urem i32 %27, 2
  %29 = icmp ne i32 %28, 0
  br i1 %29, label %30, label %36

30:                                               ; preds = %3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %31 = sub i32 %17, 1
  %32 = sub i32 %31, %12
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %33
  %35 = load float, ptr %34, align 4
  br label %45

36:                                               ; preds = %3
  %37 = load float, ptr %25, align 4
  %38 = fmul contract float %37, 2.000000e+00
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %39 = add i32 %12, 1
  %40 = urem i32 %39, %17
  %41 = zext i32 %40 to i64
  %42 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %41
  %43 = load float, ptr %42, align 4
  %44 = fadd contract float %38, %43
  br label %45

45:                                               ; preds = %36, %30
  %46 = phi float [ %35, %30 ], [ %44, %36 ]
  %47 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %48 = mul i32 %47, %17
  %49 = add i32 %48, %12
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds float, ptr %1, i64 %50
  store float %46, ptr %51, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @apart(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %19 = mul i32 %18, %17
  %20 = add i32 %19, %12
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = zext i32 %12 to i64
  %25 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %24
  store float %23, ptr %25, align 4
  %26 = urem i32 %12, 3
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %28, label %40

28:                                               ; preds = %3, %32
  %29 = phi float [ %38, %32 ], [ 1.000000e+00, %3 ]
  %30 = phi i32 [ %39, %32 ], [ 0, %3 ]
  %31 = icmp slt i32 %30, %2
  br i1 %31, label %32, label %51

32:                                               ; preds = %28
  call void asm sideeffect "barrier.sync 0;", "~{memory}"()
  %33 = add i32 %12, %30
  %34 = urem i32 %33, %17
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %35
  %37 = load float, ptr %36, align 4
  %38 = fadd contract float %29, %37
  %39 = add nsw i32 %30, 1
  br label %28

40:                                               ; preds = %3
  call void asm sideeffect "barrier.sync 0;", "~{memory}"()
  %41 = add i32 %12, 1
  %42 = urem i32 %41, %17
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %43
  %45 = load float, ptr %44, align 4
  br label %46

46:                                               ; preds = %49, %40
  %47 = phi i32 [ 1, %40 ], [ %50, %49 ]
  %48 = icmp slt i32 %47, %2
  br i1 %48, label %49, label %51

49:                                               ; preds = %46
  call void asm sideeffect "barrier.sync 0;", "~{memory}"()
  %50 = add nsw i32 %47, 1
  br label %46

51:                                               ; preds = %46, %28
  %52 = phi float [ %29, %28 ], [ %45, %46 ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %52, ptr %25, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %53 = sub i32 %17, 1
  %54 = sub i32 %53, %12
  %55 = zext i32 %54 to i64
  %56 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %55
  %57 = load float, ptr %56, align 4
  %58 = fadd contract float %52, %57
  %59 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %60 = mul i32 %59, %17
  %61 = add i32 %60, %12
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds float, ptr %1, i64 %62
  store float %58, ptr %63, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @reducing(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %19 = mul i32 %18, %17
  %20 = add i32 %19, %12
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = sitofp i32 %2 to float
  %25 = fcmp contract ogt float %23, %24
  %26 = zext i1 %25 to i32
  %27 = call noundef i32 @3(i32 noundef %26)
  %28 = fcmp contract ogt float %23, -1.000000e+00
  %29 = zext i1 %28 to i32
  %30 = call noundef i32 @4(i32 noundef %29)
  %31 = fcmp contract oeq float %23, %24
  %32 = zext i1 %31 to i32
  %33 = call noundef i32 @5(i32 noundef %32)
  br label %34

34:                                               ; preds = %41, %3
  %35 = phi float [ %23, %3 ], [ %42, %41 ]
  %36 = phi i32 [ 0, %3 ], [ %43, %41 ]
  %37 = fcmp contract ogt float %35, 1.000000e+00
  %38 = zext i1 %37 to i32
  %39 = call noundef i32 @5(i32 noundef %38)
  %40 = icmp ne i32 %39, 0
  br i1 %40, label %41, label %44

41:                                               ; preds = %34
  %42 = fdiv contract float %35, 2.000000e+00
  %43 = add nsw i32 %36, 1
  br label %34

44:                                               ; preds = %34
  %45 = mul nsw i32 %27, 1000
  %46 = mul nsw i32 %30, 100
  %47 = add nsw i32 %45, %46
  %48 = mul nsw i32 %33, 10
  %49 = add nsw i32 %47, %48
  %50 = add nsw i32 %49, %36
  %51 = sitofp i32 %50 to float
  %52 = fadd contract float %51, %35
  %53 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %54 = mul i32 %53, %17
  %55 = add i32 %54, %12
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds float, ptr %1, i64 %56
  store float %52, ptr %57, align 4
  ret void
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @3(i32 noundef %0) {
  %2 = icmp ne i32 %0, 0
  %3 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %2)
  ret i32 %3
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @4(i32 noundef %0) {
  %2 = icmp ne i32 %0, 0
  %3 = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %2)
  %4 = zext i1 %3 to i32
  ret i32 %4
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @5(i32 noundef %0) {
  %2 = icmp ne i32 %0, 0
  %3 = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %2)
  %4 = zext i1 %3 to i32
  ret i32 %4
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @locals(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = alloca [7 x float], align 4
  %5 = alloca [2 x double], align 8
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %9 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %10 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %11 = mul i32 %9, %10
  %12 = add i32 %8, %11
  %13 = mul i32 %7, %12
  %14 = add i32 %6, %13
  %15 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %17 = mul i32 %15, %16
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %19 = mul i32 %17, %18
  call void @llvm.lifetime.start.p0(i64 -1, ptr %4)
  call void @llvm.lifetime.start.p0(i64 -1, ptr %5)
  call void @llvm.memset.p0.i64(ptr align 8 %5, i8 0, i64 16, i1 false)
  br label %20

20:                                               ; preds = %23, %3
  %21 = phi i32 [ 0, %3 ], [ %34, %23 ]
  %22 = icmp slt i32 %21, 7
  br i1 %22, label %23, label %35

23:                                               ; preds = %20
  %24 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %25 = mul i32 %24, %19
  %26 = add i32 %14, %21
  %27 = urem i32 %26, %19
  %28 = add i32 %25, %27
  %29 = zext i32 %28 to i64
  %30 = getelementptr inbounds float, ptr %0, i64 %29
  %31 = load float, ptr %30, align 4
  %32 = sext i32 %21 to i64
  %33 = getelementptr inbounds [7 x float], ptr %4, i64 0, i64 %32
  store float %31, ptr %33, align 4
  %34 = add nsw i32 %21, 1
  br label %20

35:                                               ; preds = %20
  %36 = add i32 %14, %2
  %37 = urem i32 %36, 7
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds [7 x float], ptr %4, i64 0, i64 %38
  %40 = urem i32 %14, 7
  %41 = zext i32 %40 to i64
  %42 = getelementptr inbounds [7 x float], ptr %4, i64 0, i64 %41
  %43 = load float, ptr %42, align 4
  %44 = fcmp contract ogt float %43, 3.000000e+00
  %45 = zext i1 %44 to i8
  %46 = load float, ptr %39, align 4
  %47 = zext i32 %14 to i64
  %48 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %47
  store float %46, ptr %48, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %49 = add i32 %14, 1
  %50 = urem i32 %49, %19
  %51 = zext i32 %50 to i64
  %52 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %51
  %53 = load float, ptr %52, align 4
  %54 = load float, ptr %39, align 4
  %55 = fadd contract float %54, %53
  store float %55, ptr %39, align 4
  %56 = srem i32 %2, 7
  %57 = sext i32 %56 to i64
  %58 = getelementptr inbounds [7 x float], ptr %4, i64 0, i64 %57
  %59 = load float, ptr %58, align 4
  %60 = fpext float %59 to double
  %61 = and i32 %14, 1
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds [2 x double], ptr %5, i64 0, i64 %62
  store double %60, ptr %63, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %64 = load float, ptr %42, align 4
  %65 = select i1 %44, i32 1, i32 2
  %66 = sitofp i32 %65 to float
  %67 = fadd contract float %64, %66
  store float %67, ptr %48, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %68 = add i32 %14, 2
  %69 = urem i32 %68, 7
  %70 = zext i32 %69 to i64
  %71 = getelementptr inbounds [7 x float], ptr %4, i64 0, i64 %70
  %72 = load float, ptr %71, align 4
  %73 = and i32 %36, 1
  %74 = zext i32 %73 to i64
  %75 = getelementptr inbounds [2 x double], ptr %5, i64 0, i64 %74
  %76 = load double, ptr %75, align 8
  %77 = fptrunc double %76 to float
  %78 = fadd contract float %72, %77
  %79 = sub i32 %19, 1
  %80 = sub i32 %79, %14
  %81 = zext i32 %80 to i64
  %82 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %81
  %83 = load float, ptr %82, align 4
  %84 = fadd contract float %78, %83
  %85 = load float, ptr %39, align 4
  %86 = fadd contract float %84, %85
  %87 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %88 = mul i32 %87, %19
  %89 = add i32 %88, %14
  %90 = zext i32 %89 to i64
  %91 = getelementptr inbounds float, ptr %1, i64 %90
  store float %86, ptr %91, align 4
  call void @llvm.lifetime.end.p0(i64 -1, ptr %5)
  call void @llvm.lifetime.end.p0(i64 -1, ptr %4)
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly, i8, i64, i1 immarg)

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @changedStruct(ptr noundef %0, ptr noundef %1, i32 noundef %2, ptr noundef byval(%0) align 4 %3) {
  %5 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %7 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %9 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %10 = mul i32 %8, %9
  %11 = add i32 %7, %10
  %12 = mul i32 %6, %11
  %13 = add i32 %5, %12
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %15 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %16 = mul i32 %14, %15
  %17 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %18 = mul i32 %16, %17
  %19 = urem i32 %13, 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds [4 x i32], ptr %3, i64 0, i64 %20
  %22 = load i32, ptr %21, align 4
  %23 = add i32 %22, %13
  store i32 %23, ptr %21, align 4
  %24 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %25 = mul i32 %24, %18
  %26 = add i32 %25, %13
  %27 = zext i32 %26 to i64
  %28 = getelementptr inbounds float, ptr %0, i64 %27
  %29 = load float, ptr %28, align 4
  %30 = getelementptr inbounds %0, ptr %3, i32 0, i32 1
  %31 = load float, ptr %30, align 4
  %32 = fadd contract float %31, %29
  store float %32, ptr %30, align 4
  %33 = zext i32 %13 to i64
  %34 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %33
  store float %32, ptr %34, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %35 = add i32 %13, 3
  %36 = urem i32 %35, %18
  %37 = zext i32 %36 to i64
  %38 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %37
  %39 = load float, ptr %38, align 4
  %40 = fptosi float %39 to i32
  %41 = add i32 %13, 1
  %42 = urem i32 %41, 4
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds [4 x i32], ptr %3, i64 0, i64 %43
  %45 = load i32, ptr %44, align 4
  %46 = add nsw i32 %45, %40
  store i32 %46, ptr %44, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %47 = srem i32 %2, 4
  %48 = sext i32 %47 to i64
  %49 = getelementptr inbounds [4 x i32], ptr %3, i64 0, i64 %48
  %50 = load i32, ptr %49, align 4
  %51 = load i32, ptr %21, align 4
  %52 = mul nsw i32 %51, 3
  %53 = add nsw i32 %50, %52
  %54 = sitofp i32 %53 to float
  %55 = load float, ptr %30, align 4
  %56 = fadd contract float %54, %55
  %57 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %58 = mul i32 %57, %18
  %59 = add i32 %58, %13
  %60 = zext i32 %59 to i64
  %61 = getelementptr inbounds float, ptr %1, i64 %60
  store float %56, ptr %61, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local float @fib(i32 noundef %0) {
  %2 = icmp slt i32 %0, 2
  br i1 %2, label %3, label %5

3:                                                ; preds = %1
  %4 = sitofp i32 %0 to float
  br label %15

5:                                                ; preds = %1
  %6 = sub nsw i32 %0, 1
  %7 = call contract float @fib(i32 noundef %6)
  %8 = sub nsw i32 %0, 2
  %9 = call contract float @fib(i32 noundef %8)
  %10 = fadd contract float %7, %9
  %11 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %12 = urem i32 %11, 3
  %13 = uitofp i32 %12 to float
  %14 = fadd contract float %10, %13
  br label %15

15:                                               ; preds = %5, %3
  %16 = phi contract float [ %4, %3 ], [ %14, %5 ]
  ret float %16
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @recursive(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  %18 = urem i32 %12, 6
  %19 = call contract float @fib(i32 noundef %18)
  %20 = zext i32 %12 to i64
  %21 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %20
  store float %19, ptr %21, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %22 = add i32 %12, %2
  %23 = urem i32 %22, %17
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @line to ptr), i64 0, i64 %24
  %26 = load float, ptr %25, align 4
  %27 = urem i32 %12, 3
  %28 = call contract float @fib(i32 noundef %27)
  %29 = fadd contract float %26, %28
  %30 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %31 = mul i32 %30, %17
  %32 = add i32 %31, %12
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds float, ptr %0, i64 %33
  %35 = load float, ptr %34, align 4
  %36 = fadd contract float %29, %35
  %37 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %38 = mul i32 %37, %17
  %39 = add i32 %38, %12
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds float, ptr %1, i64 %40
  store float %36, ptr %41, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @named(ptr noundef %0, ptr noundef %1, i32 noundef %2) {
  %4 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_xEv()
  %5 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %6 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_yEv()
  %7 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %8 = call noundef i32 @_ZN26__cuda_builtin_threadIdx_t17__fetch_builtin_zEv()
  %9 = mul i32 %7, %8
  %10 = add i32 %6, %9
  %11 = mul i32 %5, %10
  %12 = add i32 %4, %11
  %13 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_xEv()
  %14 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_yEv()
  %15 = mul i32 %13, %14
  %16 = call noundef i32 @_ZN25__cuda_builtin_blockDim_t17__fetch_builtin_zEv()
  %17 = mul i32 %15, %16
  call void asm sideeffect "barrier.sync 1;", "~{memory}"()
  %18 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %19 = mul i32 %18, %17
  %20 = add i32 %19, %12
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = sitofp i32 %2 to float
  %25 = fadd contract float %23, %24
  %26 = call noundef i32 @_ZN25__cuda_builtin_blockIdx_t17__fetch_builtin_xEv()
  %27 = mul i32 %26, %17
  %28 = add i32 %27, %12
  %29 = zext i32 %28 to i64
  %30 = getelementptr inbounds float, ptr %1, i64 %29
  store float %25, ptr %30, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.z()

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 65) i32 @llvm.nvvm.read.ptx.sreg.ntid.z()

; Function Attrs: convergent nocallback nounwind
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)

; Function Attrs: convergent nocallback nounwind
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)

; Function Attrs: convergent nocallback nounwind
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32, i1)

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }

