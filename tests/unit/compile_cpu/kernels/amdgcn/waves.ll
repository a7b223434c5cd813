target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

$_Z7threadXv = comdat any

$_Z6blockXv = comdat any

$_Z5sizeXv = comdat any

$_Z7barrierv = comdat any

$_Z4lanev = comdat any

$_Z7shufflejj = comdat any

@_ZZ9reductionE4sums = internal addrspace(3) global [256 x float] undef, align 16
@_ZZ13dynamicSharedE5fixed = internal addrspace(3) global [4 x i32] undef, align 16
@dynamic = external hidden addrspace(3) global [0 x i32], align 4
@_ZZ7atomicsE5local = internal addrspace(3) global i32 undef, align 4
@_ZZ5tilesE5cells = internal addrspace(3) global [128 x i32] undef, align 16
@.str = private unnamed_addr addrspace(4) constant [6 x i8] c"agent\00", align 1
@.str.1 = private unnamed_addr addrspace(4) constant [10 x i8] c"workgroup\00", align 1
@__hip_cuid_30c9cd82d6e8fe3b = addrspace(1) global i8 0
@llvm.compiler.used = appending addrspace(1) global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @__hip_cuid_30c9cd82d6e8fe3b to ptr)], section "llvm.metadata"
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @reduction(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca i32, align 4, addrspace(5)
  %8 = alloca i32, align 4, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = addrspacecast ptr addrspace(5) %3 to ptr
  %11 = addrspacecast ptr addrspace(5) %4 to ptr
  %12 = addrspacecast ptr addrspace(5) %5 to ptr
  %13 = addrspacecast ptr addrspace(5) %6 to ptr
  %14 = addrspacecast ptr addrspace(5) %7 to ptr
  %15 = addrspacecast ptr addrspace(5) %8 to ptr
  store ptr addrspace(1) %0, ptr %10, align 8
  %16 = load ptr, ptr %10, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %11, align 8
  %17 = load ptr, ptr %11, align 8, !tbaa !5
  store ptr %16, ptr %12, align 8, !tbaa !5
  store ptr %17, ptr %13, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %7) #8
  %18 = call noundef i32 @_Z7threadXv() #9
  store i32 %18, ptr %14, align 4, !tbaa !9
  %19 = load ptr, ptr %12, align 8, !tbaa !5
  %20 = call noundef i32 @_Z6blockXv() #9
  %21 = call noundef i32 @_Z5sizeXv() #9
  %22 = mul i32 %20, %21
  %23 = load i32, ptr %14, align 4, !tbaa !9
  %24 = add i32 %22, %23
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds float, ptr %19, i64 %25
  %27 = load float, ptr %26, align 4, !tbaa !11
  %28 = load i32, ptr %14, align 4, !tbaa !9
  %29 = zext i32 %28 to i64
  %30 = getelementptr inbounds [256 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ9reductionE4sums to ptr), i64 0, i64 %29
  store float %27, ptr %30, align 4, !tbaa !11
  call void @_Z7barrierv() #9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #8
  %31 = call noundef i32 @_Z5sizeXv() #9
  %32 = udiv i32 %31, 2
  store i32 %32, ptr %15, align 4, !tbaa !9
  br label %33

33:                                               ; preds = %54, %2
  %34 = load i32, ptr %15, align 4, !tbaa !9
  %35 = icmp ugt i32 %34, 0
  br i1 %35, label %37, label %36

36:                                               ; preds = %33
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #8
  br label %57

37:                                               ; preds = %33
  %38 = load i32, ptr %14, align 4, !tbaa !9
  %39 = load i32, ptr %15, align 4, !tbaa !9
  %40 = icmp ult i32 %38, %39
  br i1 %40, label %41, label %53

41:                                               ; preds = %37
  %42 = load i32, ptr %14, align 4, !tbaa !9
  %43 = load i32, ptr %15, align 4, !tbaa !9
  %44 = add i32 %42, %43
  %45 = zext i32 %44 to i64
  %46 = getelementptr inbounds [256 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ9reductionE4sums to ptr), i64 0, i64 %45
  %47 = load float, ptr %46, align 4, !tbaa !11
  %48 = load i32, ptr %14, align 4, !tbaa !9
  %49 = zext i32 %48 to i64
  %50 = getelementptr inbounds [256 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ9reductionE4sums to ptr), i64 0, i64 %49
  %51 = load float, ptr %50, align 4, !tbaa !11
  %52 = fadd contract float %51, %47
  store float %52, ptr %50, align 4, !tbaa !11
  br label %53

53:                                               ; preds = %41, %37
  call void @_Z7barrierv() #9
  br label %54

54:                                               ; preds = %53
  %55 = load i32, ptr %15, align 4, !tbaa !9
  %56 = udiv i32 %55, 2
  store i32 %56, ptr %15, align 4, !tbaa !9
  br label %33, !llvm.loop !13

57:                                               ; preds = %36
  %58 = load i32, ptr %14, align 4, !tbaa !9
  %59 = icmp eq i32 %58, 0
  br i1 %59, label %60, label %66

60:                                               ; preds = %57
  %61 = load float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reductionE4sums to ptr), align 16, !tbaa !11
  %62 = load ptr, ptr %13, align 8, !tbaa !5
  %63 = call noundef i32 @_Z6blockXv() #9
  %64 = zext i32 %63 to i64
  %65 = getelementptr inbounds float, ptr %62, i64 %64
  store float %61, ptr %65, align 4, !tbaa !11
  br label %66

66:                                               ; preds = %60, %57
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %7) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z7threadXv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x()
  ret i32 %3
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z6blockXv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call i32 @llvm.amdgcn.workgroup.id.x()
  ret i32 %3
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z5sizeXv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call align 8 dereferenceable(256) ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %4 = getelementptr i8, ptr addrspace(4) %3, i32 12
  %5 = load i16, ptr addrspace(4) %4, align 2, !range !15, !invariant.load !16, !noundef !16
  %6 = zext i16 %5 to i32
  ret i32 %6
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden void @_Z7barrierv() #2 comdat {
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @dynamicShared(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = addrspacecast ptr addrspace(5) %2 to ptr
  %6 = addrspacecast ptr addrspace(5) %3 to ptr
  %7 = addrspacecast ptr addrspace(5) %4 to ptr
  store ptr addrspace(1) %0, ptr %5, align 8
  %8 = load ptr, ptr %5, align 8, !tbaa !5
  store ptr %8, ptr %6, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #8
  %9 = call noundef i32 @_Z7threadXv() #9
  store i32 %9, ptr %7, align 4, !tbaa !9
  %10 = load i32, ptr %7, align 4, !tbaa !9
  %11 = mul i32 %10, 3
  %12 = load i32, ptr %7, align 4, !tbaa !9
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds [0 x i32], ptr addrspacecast (ptr addrspace(3) @dynamic to ptr), i64 0, i64 %13
  store i32 %11, ptr %14, align 4, !tbaa !9
  %15 = load i32, ptr %7, align 4, !tbaa !9
  %16 = icmp ult i32 %15, 4
  br i1 %16, label %17, label %23

17:                                               ; preds = %1
  %18 = load i32, ptr %7, align 4, !tbaa !9
  %19 = add i32 100, %18
  %20 = load i32, ptr %7, align 4, !tbaa !9
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds [4 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ13dynamicSharedE5fixed to ptr), i64 0, i64 %21
  store i32 %19, ptr %22, align 4, !tbaa !9
  br label %23

23:                                               ; preds = %17, %1
  call void @_Z7barrierv() #9
  %24 = call noundef i32 @_Z5sizeXv() #9
  %25 = sub i32 %24, 1
  %26 = load i32, ptr %7, align 4, !tbaa !9
  %27 = sub i32 %25, %26
  %28 = zext i32 %27 to i64
  %29 = getelementptr inbounds [0 x i32], ptr addrspacecast (ptr addrspace(3) @dynamic to ptr), i64 0, i64 %28
  %30 = load i32, ptr %29, align 4, !tbaa !9
  %31 = load i32, ptr %7, align 4, !tbaa !9
  %32 = and i32 %31, 3
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds [4 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ13dynamicSharedE5fixed to ptr), i64 0, i64 %33
  %35 = load i32, ptr %34, align 4, !tbaa !9
  %36 = add i32 %30, %35
  %37 = load ptr, ptr %6, align 8, !tbaa !5
  %38 = load i32, ptr %7, align 4, !tbaa !9
  %39 = zext i32 %38 to i64
  %40 = getelementptr inbounds i32, ptr %37, i64 %39
  store i32 %36, ptr %40, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #8
  ret void
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @lanes(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = addrspacecast ptr addrspace(5) %2 to ptr
  %7 = addrspacecast ptr addrspace(5) %3 to ptr
  %8 = addrspacecast ptr addrspace(5) %4 to ptr
  %9 = addrspacecast ptr addrspace(5) %5 to ptr
  store ptr addrspace(1) %0, ptr %6, align 8
  %10 = load ptr, ptr %6, align 8, !tbaa !5
  store ptr %10, ptr %7, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #8
  %11 = call noundef i32 @_Z7threadXv() #9
  store i32 %11, ptr %8, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %5) #8
  %12 = load ptr, ptr %7, align 8, !tbaa !5
  %13 = load i32, ptr %8, align 4, !tbaa !9
  %14 = mul i32 12, %13
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i64, ptr %12, i64 %15
  store ptr %16, ptr %9, align 8, !tbaa !5
  %17 = call noundef i32 @_Z4lanev() #9
  %18 = zext i32 %17 to i64
  %19 = load ptr, ptr %9, align 8, !tbaa !5
  %20 = getelementptr inbounds i64, ptr %19, i64 0
  store i64 %18, ptr %20, align 8, !tbaa !17
  %21 = call i32 @llvm.amdgcn.wavefrontsize()
  %22 = zext i32 %21 to i64
  %23 = load ptr, ptr %9, align 8, !tbaa !5
  %24 = getelementptr inbounds i64, ptr %23, i64 1
  store i64 %22, ptr %24, align 8, !tbaa !17
  %25 = load i32, ptr %8, align 4, !tbaa !9
  %26 = mul i32 %25, 10
  %27 = call noundef i32 @_Z4lanev() #9
  %28 = add i32 %27, 5
  %29 = call i32 @llvm.amdgcn.wavefrontsize()
  %30 = sub i32 %29, 1
  %31 = and i32 %28, %30
  %32 = call noundef i32 @_Z7shufflejj(i32 noundef %26, i32 noundef %31) #9
  %33 = zext i32 %32 to i64
  %34 = load ptr, ptr %9, align 8, !tbaa !5
  %35 = getelementptr inbounds i64, ptr %34, i64 2
  store i64 %33, ptr %35, align 8, !tbaa !17
  %36 = load i32, ptr %8, align 4, !tbaa !9
  %37 = urem i32 %36, 3
  %38 = icmp eq i32 %37, 0
  %39 = call i64 @llvm.amdgcn.ballot.i64(i1 %38)
  %40 = load ptr, ptr %9, align 8, !tbaa !5
  %41 = getelementptr inbounds i64, ptr %40, i64 3
  store i64 %39, ptr %41, align 8, !tbaa !17
  %42 = load i32, ptr %8, align 4, !tbaa !9
  %43 = add i32 %42, 7
  %44 = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %43)
  %45 = zext i32 %44 to i64
  %46 = load ptr, ptr %9, align 8, !tbaa !5
  %47 = getelementptr inbounds i64, ptr %46, i64 4
  store i64 %45, ptr %47, align 8, !tbaa !17
  %48 = load i32, ptr %8, align 4, !tbaa !9
  %49 = call i32 @llvm.amdgcn.readlane.i32(i32 %48, i32 9)
  %50 = zext i32 %49 to i64
  %51 = load ptr, ptr %9, align 8, !tbaa !5
  %52 = getelementptr inbounds i64, ptr %51, i64 5
  store i64 %50, ptr %52, align 8, !tbaa !17
  %53 = load i32, ptr %8, align 4, !tbaa !9
  %54 = call i32 @llvm.amdgcn.ds.swizzle(i32 %53, i32 1055)
  %55 = zext i32 %54 to i64
  %56 = load ptr, ptr %9, align 8, !tbaa !5
  %57 = getelementptr inbounds i64, ptr %56, i64 6
  store i64 %55, ptr %57, align 8, !tbaa !17
  %58 = load i32, ptr %8, align 4, !tbaa !9
  %59 = call i32 @llvm.amdgcn.update.dpp.i32(i32 -1, i32 %58, i32 273, i32 15, i32 15, i1 false)
  %60 = zext i32 %59 to i64
  %61 = load ptr, ptr %9, align 8, !tbaa !5
  %62 = getelementptr inbounds i64, ptr %61, i64 7
  store i64 %60, ptr %62, align 8, !tbaa !17
  %63 = load i32, ptr %8, align 4, !tbaa !9
  %64 = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %63, i32 27, i32 15, i32 15, i1 true)
  %65 = zext i32 %64 to i64
  %66 = load ptr, ptr %9, align 8, !tbaa !5
  %67 = getelementptr inbounds i64, ptr %66, i64 8
  store i64 %65, ptr %67, align 8, !tbaa !17
  %68 = call noundef i32 @_Z4lanev() #9
  %69 = xor i32 %68, 1
  %70 = shl i32 %69, 2
  %71 = load i32, ptr %8, align 4, !tbaa !9
  %72 = call i32 @llvm.amdgcn.ds.permute(i32 %70, i32 %71)
  %73 = zext i32 %72 to i64
  %74 = load ptr, ptr %9, align 8, !tbaa !5
  %75 = getelementptr inbounds i64, ptr %74, i64 9
  store i64 %73, ptr %75, align 8, !tbaa !17
  %76 = call i32 @llvm.amdgcn.mbcnt.lo(i32 1431655765, i32 1000)
  %77 = zext i32 %76 to i64
  %78 = load ptr, ptr %9, align 8, !tbaa !5
  %79 = getelementptr inbounds i64, ptr %78, i64 10
  store i64 %77, ptr %79, align 8, !tbaa !17
  %80 = load i32, ptr %8, align 4, !tbaa !9
  %81 = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %80, i32 322, i32 10, i32 15, i1 false)
  %82 = zext i32 %81 to i64
  %83 = load ptr, ptr %9, align 8, !tbaa !5
  %84 = getelementptr inbounds i64, ptr %83, i64 11
  store i64 %82, ptr %84, align 8, !tbaa !17
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %5) #8
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #8
  ret void
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z4lanev() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %4 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %3)
  ret i32 %4
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.wavefrontsize() #3

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z7shufflejj(i32 noundef %0, i32 noundef %1) #2 comdat {
  %3 = alloca i32, align 4, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = addrspacecast ptr addrspace(5) %3 to ptr
  %7 = addrspacecast ptr addrspace(5) %4 to ptr
  %8 = addrspacecast ptr addrspace(5) %5 to ptr
  store i32 %0, ptr %7, align 4, !tbaa !9
  store i32 %1, ptr %8, align 4, !tbaa !9
  %9 = load i32, ptr %8, align 4, !tbaa !9
  %10 = shl i32 %9, 2
  %11 = load i32, ptr %7, align 4, !tbaa !9
  %12 = call i32 @llvm.amdgcn.ds.bpermute(i32 %10, i32 %11)
  ret i32 %12
}

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i64 @llvm.amdgcn.ballot.i64(i1) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.ds.swizzle(i32, i32 immarg) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.ds.permute(i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32) #5

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @divergent(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca i32, align 4, addrspace(5)
  %8 = alloca i64, align 8, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = addrspacecast ptr addrspace(5) %3 to ptr
  %12 = addrspacecast ptr addrspace(5) %4 to ptr
  %13 = addrspacecast ptr addrspace(5) %5 to ptr
  %14 = addrspacecast ptr addrspace(5) %6 to ptr
  %15 = addrspacecast ptr addrspace(5) %7 to ptr
  %16 = addrspacecast ptr addrspace(5) %8 to ptr
  %17 = addrspacecast ptr addrspace(5) %9 to ptr
  store ptr addrspace(1) %0, ptr %11, align 8
  %18 = load ptr, ptr %11, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %12, align 8
  %19 = load ptr, ptr %12, align 8, !tbaa !5
  store ptr %18, ptr %13, align 8, !tbaa !5
  store ptr %19, ptr %14, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %7) #8
  %20 = call noundef i32 @_Z7threadXv() #9
  store i32 %20, ptr %15, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %8) #8
  store i64 0, ptr %16, align 8, !tbaa !17
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %9) #8
  store i32 0, ptr %17, align 4, !tbaa !9
  br label %21

21:                                               ; preds = %38, %2
  %22 = load i32, ptr %17, align 4, !tbaa !9
  %23 = load ptr, ptr %13, align 8, !tbaa !5
  %24 = load i32, ptr %15, align 4, !tbaa !9
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i32, ptr %23, i64 %25
  %27 = load i32, ptr %26, align 4, !tbaa !9
  %28 = icmp ult i32 %22, %27
  br i1 %28, label %30, label %29

29:                                               ; preds = %21
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %9) #8
  br label %41

30:                                               ; preds = %21
  %31 = load i64, ptr %16, align 8, !tbaa !17
  %32 = mul i64 %31, 3
  %33 = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %34 = call i64 @llvm.ctpop.i64(i64 %33)
  %35 = trunc i64 %34 to i32
  %36 = sext i32 %35 to i64
  %37 = add i64 %32, %36
  store i64 %37, ptr %16, align 8, !tbaa !17
  br label %38

38:                                               ; preds = %30
  %39 = load i32, ptr %17, align 4, !tbaa !9
  %40 = add i32 %39, 1
  store i32 %40, ptr %17, align 4, !tbaa !9
  br label %21, !llvm.loop !19

41:                                               ; preds = %29
  %42 = load i64, ptr %16, align 8, !tbaa !17
  %43 = load ptr, ptr %14, align 8, !tbaa !5
  %44 = load i32, ptr %15, align 4, !tbaa !9
  %45 = mul i32 3, %44
  %46 = zext i32 %45 to i64
  %47 = getelementptr inbounds i64, ptr %43, i64 %46
  store i64 %42, ptr %47, align 8, !tbaa !17
  %48 = load i32, ptr %15, align 4, !tbaa !9
  %49 = urem i32 %48, 2
  %50 = icmp ne i32 %49, 0
  br i1 %50, label %51, label %59

51:                                               ; preds = %41
  %52 = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %53 = load ptr, ptr %14, align 8, !tbaa !5
  %54 = load i32, ptr %15, align 4, !tbaa !9
  %55 = mul i32 3, %54
  %56 = add i32 %55, 1
  %57 = zext i32 %56 to i64
  %58 = getelementptr inbounds i64, ptr %53, i64 %57
  store i64 %52, ptr %58, align 8, !tbaa !17
  br label %67

59:                                               ; preds = %41
  %60 = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %61 = load ptr, ptr %14, align 8, !tbaa !5
  %62 = load i32, ptr %15, align 4, !tbaa !9
  %63 = mul i32 3, %62
  %64 = add i32 %63, 1
  %65 = zext i32 %64 to i64
  %66 = getelementptr inbounds i64, ptr %61, i64 %65
  store i64 %60, ptr %66, align 8, !tbaa !17
  br label %67

67:                                               ; preds = %59, %51
  %68 = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %69 = load ptr, ptr %14, align 8, !tbaa !5
  %70 = load i32, ptr %15, align 4, !tbaa !9
  %71 = mul i32 3, %70
  %72 = add i32 %71, 2
  %73 = zext i32 %72 to i64
  %74 = getelementptr inbounds i64, ptr %69, i64 %73
  store i64 %68, ptr %74, align 8, !tbaa !17
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %8) #8
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %7) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.ctpop.i64(i64) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @atomics(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1, ptr addrspace(1) noundef %2) #0 {
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca ptr, align 8, addrspace(5)
  %8 = alloca ptr, align 8, addrspace(5)
  %9 = alloca ptr, align 8, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = alloca i32, align 4, addrspace(5)
  %12 = alloca float, align 4, addrspace(5)
  %13 = alloca float, align 4, addrspace(5)
  %14 = alloca i32, align 4, addrspace(5)
  %15 = alloca i32, align 4, addrspace(5)
  %16 = alloca i8, align 1, addrspace(5)
  %17 = alloca i32, align 4, addrspace(5)
  %18 = alloca i32, align 4, addrspace(5)
  %19 = addrspacecast ptr addrspace(5) %4 to ptr
  %20 = addrspacecast ptr addrspace(5) %5 to ptr
  %21 = addrspacecast ptr addrspace(5) %6 to ptr
  %22 = addrspacecast ptr addrspace(5) %7 to ptr
  %23 = addrspacecast ptr addrspace(5) %8 to ptr
  %24 = addrspacecast ptr addrspace(5) %9 to ptr
  %25 = addrspacecast ptr addrspace(5) %10 to ptr
  %26 = addrspacecast ptr addrspace(5) %11 to ptr
  %27 = addrspacecast ptr addrspace(5) %12 to ptr
  %28 = addrspacecast ptr addrspace(5) %13 to ptr
  %29 = addrspacecast ptr addrspace(5) %14 to ptr
  %30 = addrspacecast ptr addrspace(5) %15 to ptr
  %31 = addrspacecast ptr addrspace(5) %16 to ptr
  %32 = addrspacecast ptr addrspace(5) %17 to ptr
  %33 = addrspacecast ptr addrspace(5) %18 to ptr
  store ptr addrspace(1) %0, ptr %19, align 8
  %34 = load ptr, ptr %19, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %20, align 8
  %35 = load ptr, ptr %20, align 8, !tbaa !5
  store ptr addrspace(1) %2, ptr %21, align 8
  %36 = load ptr, ptr %21, align 8, !tbaa !5
  store ptr %34, ptr %22, align 8, !tbaa !5
  store ptr %35, ptr %23, align 8, !tbaa !5
  store ptr %36, ptr %24, align 8, !tbaa !5
  %37 = call noundef i32 @_Z7threadXv() #9
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %39, label %40

39:                                               ; preds = %3
  store i32 0, ptr addrspacecast (ptr addrspace(3) @_ZZ7atomicsE5local to ptr), align 4, !tbaa !9
  br label %40

40:                                               ; preds = %39, %3
  call void @_Z7barrierv() #9
  store i32 1, ptr %25, align 4, !tbaa !9
  %41 = load i32, ptr %25, align 4
  %42 = atomicrmw add ptr addrspacecast (ptr addrspace(3) @_ZZ7atomicsE5local to ptr), i32 %41 syncscope("workgroup-one-as") monotonic, align 4
  store i32 %42, ptr %26, align 4
  %43 = load i32, ptr %26, align 4, !tbaa !9
  %44 = load ptr, ptr %23, align 8, !tbaa !5
  store float 5.000000e-01, ptr %27, align 4, !tbaa !11
  %45 = load float, ptr %27, align 4
  %46 = atomicrmw fadd ptr %44, float %45 syncscope("agent-one-as") monotonic, align 4
  store float %46, ptr %28, align 4
  %47 = load float, ptr %28, align 4, !tbaa !11
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %14) #8
  store i32 0, ptr %29, align 4, !tbaa !9
  %48 = load ptr, ptr %24, align 8, !tbaa !5
  %49 = call noundef i32 @_Z7threadXv() #9
  %50 = add i32 %49, 1
  store i32 %50, ptr %30, align 4, !tbaa !9
  %51 = load i32, ptr %29, align 4
  %52 = load i32, ptr %30, align 4
  %53 = cmpxchg ptr %48, i32 %51, i32 %52 seq_cst monotonic, align 4
  %54 = extractvalue { i32, i1 } %53, 0
  %55 = extractvalue { i32, i1 } %53, 1
  br i1 %55, label %57, label %56

56:                                               ; preds = %40
  store i32 %54, ptr %29, align 4
  br label %57

57:                                               ; preds = %56, %40
  %58 = zext i1 %55 to i8
  store i8 %58, ptr %31, align 1, !tbaa !20
  %59 = load i8, ptr %31, align 1, !tbaa !20, !range !22, !noundef !16
  %60 = trunc i8 %59 to i1
  call void @_Z7barrierv() #9
  %61 = call noundef i32 @_Z7threadXv() #9
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %63, label %73

63:                                               ; preds = %57
  %64 = load ptr, ptr %22, align 8, !tbaa !5
  %65 = call noundef i32 @_Z6blockXv() #9
  %66 = and i32 %65, 1
  %67 = zext i32 %66 to i64
  %68 = getelementptr inbounds i32, ptr %64, i64 %67
  %69 = load i32, ptr addrspacecast (ptr addrspace(3) @_ZZ7atomicsE5local to ptr), align 4, !tbaa !9
  store i32 %69, ptr %32, align 4, !tbaa !9
  %70 = load i32, ptr %32, align 4
  %71 = atomicrmw add ptr %68, i32 %70 syncscope("agent-one-as") monotonic, align 4
  store i32 %71, ptr %33, align 4
  %72 = load i32, ptr %33, align 4, !tbaa !9
  br label %73

73:                                               ; preds = %63, %57
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %14) #8
  ret void
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @blockCount(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store ptr addrspace(1) %0, ptr %4, align 8
  %6 = load ptr, ptr %4, align 8, !tbaa !5
  store ptr %6, ptr %5, align 8, !tbaa !5
  %7 = call noundef i32 @_Z7threadXv() #9
  %8 = urem i32 %7, 4
  %9 = icmp eq i32 %8, 1
  %10 = zext i1 %9 to i32
  %11 = call i32 @__ockl_wgred_add_i32(i32 noundef %10) #9
  %12 = load ptr, ptr %5, align 8, !tbaa !5
  %13 = call noundef i32 @_Z7threadXv() #9
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds i32, ptr %12, i64 %14
  store i32 %11, ptr %15, align 4, !tbaa !9
  ret void
}

; Function Attrs: convergent nounwind
declare hidden i32 @__ockl_wgred_add_i32(i32 noundef) #6

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @gridWide(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca i32, align 4, addrspace(5)
  %8 = alloca i32, align 4, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = addrspacecast ptr addrspace(5) %3 to ptr
  %11 = addrspacecast ptr addrspace(5) %4 to ptr
  %12 = addrspacecast ptr addrspace(5) %5 to ptr
  %13 = addrspacecast ptr addrspace(5) %6 to ptr
  %14 = addrspacecast ptr addrspace(5) %7 to ptr
  %15 = addrspacecast ptr addrspace(5) %8 to ptr
  store ptr addrspace(1) %0, ptr %10, align 8
  %16 = load ptr, ptr %10, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %11, align 8
  %17 = load ptr, ptr %11, align 8, !tbaa !5
  store ptr %16, ptr %12, align 8, !tbaa !5
  store ptr %17, ptr %13, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %7) #8
  %18 = call align 4 dereferenceable(64) ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %19 = getelementptr i8, ptr addrspace(4) %18, i32 12
  %20 = load i32, ptr addrspace(4) %19, align 4, !invariant.load !16
  %21 = call noundef i32 @_Z5sizeXv() #9
  %22 = udiv i32 %20, %21
  store i32 %22, ptr %14, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #8
  store i32 0, ptr %15, align 4, !tbaa !9
  br label %23

23:                                               ; preds = %63, %2
  %24 = load i32, ptr %15, align 4, !tbaa !9
  %25 = icmp ult i32 %24, 5
  br i1 %25, label %27, label %26

26:                                               ; preds = %23
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #8
  br label %66

27:                                               ; preds = %23
  %28 = call noundef i32 @_Z7threadXv() #9
  %29 = icmp eq i32 %28, 0
  br i1 %29, label %30, label %47

30:                                               ; preds = %27
  %31 = load ptr, ptr %12, align 8, !tbaa !5
  %32 = call noundef i32 @_Z6blockXv() #9
  %33 = add i32 %32, 1
  %34 = load i32, ptr %14, align 4, !tbaa !9
  %35 = urem i32 %33, %34
  %36 = load i32, ptr %14, align 4, !tbaa !9
  %37 = add i32 %35, %36
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds i32, ptr %31, i64 %38
  %40 = load i32, ptr %39, align 4, !tbaa !9
  %41 = load ptr, ptr %12, align 8, !tbaa !5
  %42 = call noundef i32 @_Z6blockXv() #9
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds i32, ptr %41, i64 %43
  %45 = load i32, ptr %44, align 4, !tbaa !9
  %46 = add i32 %45, %40
  store i32 %46, ptr %44, align 4, !tbaa !9
  br label %47

47:                                               ; preds = %30, %27
  call void @__ockl_grid_sync() #9
  %48 = call noundef i32 @_Z7threadXv() #9
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %50, label %62

50:                                               ; preds = %47
  %51 = load ptr, ptr %12, align 8, !tbaa !5
  %52 = call noundef i32 @_Z6blockXv() #9
  %53 = zext i32 %52 to i64
  %54 = getelementptr inbounds i32, ptr %51, i64 %53
  %55 = load i32, ptr %54, align 4, !tbaa !9
  %56 = load ptr, ptr %12, align 8, !tbaa !5
  %57 = call noundef i32 @_Z6blockXv() #9
  %58 = load i32, ptr %14, align 4, !tbaa !9
  %59 = add i32 %57, %58
  %60 = zext i32 %59 to i64
  %61 = getelementptr inbounds i32, ptr %56, i64 %60
  store i32 %55, ptr %61, align 4, !tbaa !9
  br label %62

62:                                               ; preds = %50, %47
  call void @__ockl_grid_sync() #9
  br label %63

63:                                               ; preds = %62
  %64 = load i32, ptr %15, align 4, !tbaa !9
  %65 = add i32 %64, 1
  store i32 %65, ptr %15, align 4, !tbaa !9
  br label %23, !llvm.loop !23

66:                                               ; preds = %26
  %67 = call noundef i32 @_Z7threadXv() #9
  %68 = icmp eq i32 %67, 0
  br i1 %68, label %69, label %79

69:                                               ; preds = %66
  %70 = load ptr, ptr %12, align 8, !tbaa !5
  %71 = call noundef i32 @_Z6blockXv() #9
  %72 = zext i32 %71 to i64
  %73 = getelementptr inbounds i32, ptr %70, i64 %72
  %74 = load i32, ptr %73, align 4, !tbaa !9
  %75 = load ptr, ptr %13, align 8, !tbaa !5
  %76 = call noundef i32 @_Z6blockXv() #9
  %77 = zext i32 %76 to i64
  %78 = getelementptr inbounds i32, ptr %75, i64 %77
  store i32 %74, ptr %78, align 4, !tbaa !9
  br label %79

79:                                               ; preds = %69, %66
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %7) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef nonnull align 4 ptr addrspace(4) @llvm.amdgcn.dispatch.ptr() #3

; Function Attrs: convergent nounwind
declare hidden void @__ockl_grid_sync() #6

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @tiles(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = alloca i32, align 4, addrspace(5)
  %8 = addrspacecast ptr addrspace(5) %2 to ptr
  %9 = addrspacecast ptr addrspace(5) %3 to ptr
  %10 = addrspacecast ptr addrspace(5) %4 to ptr
  %11 = addrspacecast ptr addrspace(5) %5 to ptr
  %12 = addrspacecast ptr addrspace(5) %7 to ptr
  store ptr addrspace(1) %0, ptr %8, align 8
  %13 = load ptr, ptr %8, align 8, !tbaa !5
  store ptr %13, ptr %9, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #8
  %14 = call noundef i32 @_Z7threadXv() #9
  store i32 %14, ptr %10, align 4, !tbaa !9
  %15 = load i32, ptr %10, align 4, !tbaa !9
  %16 = load i32, ptr %10, align 4, !tbaa !9
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds [128 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5tilesE5cells to ptr), i64 0, i64 %17
  store i32 %15, ptr %18, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %5) #8
  store i32 1, ptr %11, align 4, !tbaa !9
  br label %19

19:                                               ; preds = %36, %1
  %20 = load i32, ptr %11, align 4, !tbaa !9
  %21 = icmp ult i32 %20, 16
  br i1 %21, label %23, label %22

22:                                               ; preds = %19
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %5) #8
  br label %39

23:                                               ; preds = %19
  fence syncscope("agent") acq_rel
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %7) #8
  %24 = load i32, ptr %10, align 4, !tbaa !9
  %25 = load i32, ptr %11, align 4, !tbaa !9
  %26 = xor i32 %24, %25
  %27 = zext i32 %26 to i64
  %28 = getelementptr inbounds [128 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5tilesE5cells to ptr), i64 0, i64 %27
  %29 = load i32, ptr %28, align 4, !tbaa !9
  store i32 %29, ptr %12, align 4, !tbaa !9
  fence syncscope("agent") acq_rel
  %30 = load i32, ptr %12, align 4, !tbaa !9
  %31 = load i32, ptr %10, align 4, !tbaa !9
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds [128 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5tilesE5cells to ptr), i64 0, i64 %32
  %34 = load i32, ptr %33, align 4, !tbaa !9
  %35 = add i32 %34, %30
  store i32 %35, ptr %33, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %7) #8
  br label %36

36:                                               ; preds = %23
  %37 = load i32, ptr %11, align 4, !tbaa !9
  %38 = mul i32 %37, 2
  store i32 %38, ptr %11, align 4, !tbaa !9
  br label %19, !llvm.loop !24

39:                                               ; preds = %22
  %40 = load i32, ptr %10, align 4, !tbaa !9
  %41 = zext i32 %40 to i64
  %42 = getelementptr inbounds [128 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5tilesE5cells to ptr), i64 0, i64 %41
  %43 = load i32, ptr %42, align 4, !tbaa !9
  %44 = load ptr, ptr %9, align 8, !tbaa !5
  %45 = load i32, ptr %10, align 4, !tbaa !9
  %46 = zext i32 %45 to i64
  %47 = getelementptr inbounds i32, ptr %44, i64 %46
  store i32 %43, ptr %47, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.x() #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef align 4 ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() #3

; Function Attrs: convergent nocallback nofree nounwind willreturn
declare void @llvm.amdgcn.s.barrier() #7

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32) #5

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32) #4

attributes #0 = { convergent mustprogress norecurse nounwind "amdgpu-flat-work-group-size"="1,1024" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent inlinehint mustprogress nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #3 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { convergent nocallback nofree nounwind willreturn memory(none) }
attributes #5 = { nocallback nofree nosync nounwind willreturn memory(none) }
attributes #6 = { convergent nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #7 = { convergent nocallback nofree nounwind willreturn }
attributes #8 = { nounwind }
attributes #9 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
!4 = !{!"clang version 19"}
!5 = !{!6, !6, i64 0}
!6 = !{!"any pointer", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C++ TBAA"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !7, i64 0}
!11 = !{!12, !12, i64 0}
!12 = !{!"float", !7, i64 0}
!13 = distinct !{!13, !14}
!14 = !{!"llvm.loop.mustprogress"}
!15 = !{i16 1, i16 1025}
!16 = !{}
!17 = !{!18, !18, i64 0}
!18 = !{!"long", !7, i64 0}
!19 = distinct !{!19, !14}
!20 = !{!21, !21, i64 0}
!21 = !{!"bool", !7, i64 0}
!22 = !{i8 0, i8 2}
!23 = distinct !{!23, !14}
!24 = distinct !{!24, !14}
