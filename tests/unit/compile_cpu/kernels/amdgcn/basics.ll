target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

%struct.Settings = type { i32, [4 x float], double }

$_Z6blockXv = comdat any

$_Z5sizeXv = comdat any

$_Z7threadXv = comdat any

$_Z7threadZv = comdat any

$_Z5sizeYv = comdat any

$_Z7threadYv = comdat any

$_Z5sizeZv = comdat any

@counter = protected addrspace(1) externally_initialized global i32 0, align 4
@coefficients = protected addrspace(4) externally_initialized global [4 x float] [float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 4.000000e+00], align 16
@place = protected addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @counter to ptr), align 8
@__hip_cuid_c30458cb4be155e7 = addrspace(1) global i8 0
@llvm.compiler.used = appending addrspace(1) global [4 x ptr] [ptr addrspacecast (ptr addrspace(1) @counter to ptr), ptr addrspacecast (ptr addrspace(4) @coefficients to ptr), ptr addrspacecast (ptr addrspace(1) @place to ptr), ptr addrspacecast (ptr addrspace(1) @__hip_cuid_c30458cb4be155e7 to ptr)], section "llvm.metadata"
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @vectorAdd(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1, ptr addrspace(1) noundef %2, i32 noundef %3) #0 {
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca ptr, align 8, addrspace(5)
  %8 = alloca ptr, align 8, addrspace(5)
  %9 = alloca ptr, align 8, addrspace(5)
  %10 = alloca ptr, align 8, addrspace(5)
  %11 = alloca i32, align 4, addrspace(5)
  %12 = alloca i32, align 4, addrspace(5)
  %13 = addrspacecast ptr addrspace(5) %5 to ptr
  %14 = addrspacecast ptr addrspace(5) %6 to ptr
  %15 = addrspacecast ptr addrspace(5) %7 to ptr
  %16 = addrspacecast ptr addrspace(5) %8 to ptr
  %17 = addrspacecast ptr addrspace(5) %9 to ptr
  %18 = addrspacecast ptr addrspace(5) %10 to ptr
  %19 = addrspacecast ptr addrspace(5) %11 to ptr
  %20 = addrspacecast ptr addrspace(5) %12 to ptr
  store ptr addrspace(1) %0, ptr %13, align 8
  %21 = load ptr, ptr %13, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %14, align 8
  %22 = load ptr, ptr %14, align 8, !tbaa !5
  store ptr addrspace(1) %2, ptr %15, align 8
  %23 = load ptr, ptr %15, align 8, !tbaa !5
  store ptr %21, ptr %16, align 8, !tbaa !5
  store ptr %22, ptr %17, align 8, !tbaa !5
  store ptr %23, ptr %18, align 8, !tbaa !5
  store i32 %3, ptr %19, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %12) #7
  %24 = call noundef i32 @_Z6blockXv() #8
  %25 = call noundef i32 @_Z5sizeXv() #8
  %26 = mul i32 %24, %25
  %27 = call noundef i32 @_Z7threadXv() #8
  %28 = add i32 %26, %27
  store i32 %28, ptr %20, align 4, !tbaa !9
  %29 = load i32, ptr %20, align 4, !tbaa !9
  %30 = load i32, ptr %19, align 4, !tbaa !9
  %31 = icmp slt i32 %29, %30
  br i1 %31, label %32, label %48

32:                                               ; preds = %4
  %33 = load ptr, ptr %16, align 8, !tbaa !5
  %34 = load i32, ptr %20, align 4, !tbaa !9
  %35 = sext i32 %34 to i64
  %36 = getelementptr inbounds float, ptr %33, i64 %35
  %37 = load float, ptr %36, align 4, !tbaa !11
  %38 = load ptr, ptr %17, align 8, !tbaa !5
  %39 = load i32, ptr %20, align 4, !tbaa !9
  %40 = sext i32 %39 to i64
  %41 = getelementptr inbounds float, ptr %38, i64 %40
  %42 = load float, ptr %41, align 4, !tbaa !11
  %43 = fadd contract float %37, %42
  %44 = load ptr, ptr %18, align 8, !tbaa !5
  %45 = load i32, ptr %20, align 4, !tbaa !9
  %46 = sext i32 %45 to i64
  %47 = getelementptr inbounds float, ptr %44, i64 %46
  store float %43, ptr %47, align 4, !tbaa !11
  br label %48

48:                                               ; preds = %32, %4
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %12) #7
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p5(i64 immarg, ptr addrspace(5) nocapture) #1

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
  %5 = load i16, ptr addrspace(4) %4, align 2, !range !13, !invariant.load !14, !noundef !14
  %6 = zext i16 %5 to i32
  ret i32 %6
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z7threadXv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x()
  ret i32 %3
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @dimensions(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca ptr, align 8, addrspace(5)
  %8 = alloca ptr, align 8, addrspace(5)
  %9 = addrspacecast ptr addrspace(5) %2 to ptr
  %10 = addrspacecast ptr addrspace(5) %3 to ptr
  %11 = addrspacecast ptr addrspace(5) %4 to ptr
  %12 = addrspacecast ptr addrspace(5) %5 to ptr
  %13 = addrspacecast ptr addrspace(5) %6 to ptr
  %14 = addrspacecast ptr addrspace(5) %7 to ptr
  %15 = addrspacecast ptr addrspace(5) %8 to ptr
  store ptr addrspace(1) %0, ptr %9, align 8
  %16 = load ptr, ptr %9, align 8, !tbaa !5
  store ptr %16, ptr %10, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #7
  %17 = call noundef i32 @_Z7threadZv() #8
  %18 = call noundef i32 @_Z5sizeYv() #8
  %19 = mul i32 %17, %18
  %20 = call noundef i32 @_Z7threadYv() #8
  %21 = add i32 %19, %20
  %22 = call noundef i32 @_Z5sizeXv() #8
  %23 = mul i32 %21, %22
  %24 = call noundef i32 @_Z7threadXv() #8
  %25 = add i32 %23, %24
  store i32 %25, ptr %11, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %5) #7
  %26 = call i64 @__ockl_get_group_id(i32 noundef 0) #8
  %27 = trunc i64 %26 to i32
  %28 = call i64 @__ockl_get_num_groups(i32 noundef 0) #8
  %29 = trunc i64 %28 to i32
  %30 = call i32 @llvm.amdgcn.workgroup.id.y()
  %31 = call i64 @__ockl_get_num_groups(i32 noundef 1) #8
  %32 = trunc i64 %31 to i32
  %33 = call i32 @llvm.amdgcn.workgroup.id.z()
  %34 = mul i32 %32, %33
  %35 = add i32 %30, %34
  %36 = mul i32 %29, %35
  %37 = add i32 %27, %36
  store i32 %37, ptr %12, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %6) #7
  %38 = load ptr, ptr %10, align 8, !tbaa !5
  %39 = load i32, ptr %12, align 4, !tbaa !9
  %40 = call noundef i32 @_Z5sizeXv() #8
  %41 = mul i32 %39, %40
  %42 = call noundef i32 @_Z5sizeYv() #8
  %43 = mul i32 %41, %42
  %44 = call noundef i32 @_Z5sizeZv() #8
  %45 = mul i32 %43, %44
  %46 = load i32, ptr %11, align 4, !tbaa !9
  %47 = add i32 %45, %46
  %48 = mul i32 8, %47
  %49 = zext i32 %48 to i64
  %50 = getelementptr inbounds i32, ptr %38, i64 %49
  store ptr %50, ptr %13, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %7) #7
  %51 = call align 4 dereferenceable(64) ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %52 = addrspacecast ptr addrspace(4) %51 to ptr
  store ptr %52, ptr %14, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %8) #7
  %53 = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %54 = addrspacecast ptr addrspace(4) %53 to ptr
  store ptr %54, ptr %15, align 8, !tbaa !5
  %55 = load i32, ptr %12, align 4, !tbaa !9
  %56 = load ptr, ptr %13, align 8, !tbaa !5
  %57 = getelementptr inbounds i32, ptr %56, i64 0
  store i32 %55, ptr %57, align 4, !tbaa !9
  %58 = load i32, ptr %11, align 4, !tbaa !9
  %59 = load ptr, ptr %13, align 8, !tbaa !5
  %60 = getelementptr inbounds i32, ptr %59, i64 1
  store i32 %58, ptr %60, align 4, !tbaa !9
  %61 = call i64 @__ockl_get_local_size(i32 noundef 2) #8
  %62 = trunc i64 %61 to i32
  %63 = load ptr, ptr %13, align 8, !tbaa !5
  %64 = getelementptr inbounds i32, ptr %63, i64 2
  store i32 %62, ptr %64, align 4, !tbaa !9
  %65 = call i64 @__ockl_get_local_id(i32 noundef 1) #8
  %66 = trunc i64 %65 to i32
  %67 = load ptr, ptr %13, align 8, !tbaa !5
  %68 = getelementptr inbounds i32, ptr %67, i64 3
  store i32 %66, ptr %68, align 4, !tbaa !9
  %69 = load ptr, ptr %14, align 8, !tbaa !5
  %70 = getelementptr inbounds i8, ptr %69, i64 6
  %71 = load i16, ptr %70, align 2, !tbaa !15
  %72 = zext i16 %71 to i32
  %73 = load ptr, ptr %13, align 8, !tbaa !5
  %74 = getelementptr inbounds i32, ptr %73, i64 4
  store i32 %72, ptr %74, align 4, !tbaa !9
  %75 = load ptr, ptr %14, align 8, !tbaa !5
  %76 = getelementptr inbounds i8, ptr %75, i64 12
  %77 = load i32, ptr %76, align 4, !tbaa !9
  %78 = load ptr, ptr %13, align 8, !tbaa !5
  %79 = getelementptr inbounds i32, ptr %78, i64 5
  store i32 %77, ptr %79, align 4, !tbaa !9
  %80 = load ptr, ptr %15, align 8, !tbaa !5
  %81 = getelementptr inbounds i8, ptr %80, i64 8
  %82 = load i32, ptr %81, align 4, !tbaa !9
  %83 = load ptr, ptr %13, align 8, !tbaa !5
  %84 = getelementptr inbounds i32, ptr %83, i64 6
  store i32 %82, ptr %84, align 4, !tbaa !9
  %85 = call align 4 dereferenceable(64) ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %86 = getelementptr i8, ptr addrspace(4) %85, i32 20
  %87 = load i32, ptr addrspace(4) %86, align 4, !invariant.load !14
  %88 = load ptr, ptr %13, align 8, !tbaa !5
  %89 = getelementptr inbounds i32, ptr %88, i64 7
  store i32 %87, ptr %89, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %8) #7
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %7) #7
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %6) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %5) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #7
  ret void
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z7threadZv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.z()
  ret i32 %3
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z5sizeYv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call align 8 dereferenceable(256) ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %4 = getelementptr i8, ptr addrspace(4) %3, i32 14
  %5 = load i16, ptr addrspace(4) %4, align 2, !range !13, !invariant.load !14, !noundef !14
  %6 = zext i16 %5 to i32
  ret i32 %6
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z7threadYv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.y()
  ret i32 %3
}

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_get_group_id(i32 noundef) #3

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_get_num_groups(i32 noundef) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.y() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.z() #4

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i32 @_Z5sizeZv() #2 comdat {
  %1 = alloca i32, align 4, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call align 8 dereferenceable(256) ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %4 = getelementptr i8, ptr addrspace(4) %3, i32 16
  %5 = load i16, ptr addrspace(4) %4, align 2, !range !13, !invariant.load !14, !noundef !14
  %6 = zext i16 %5 to i32
  ret i32 %6
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef nonnull align 4 ptr addrspace(4) @llvm.amdgcn.dispatch.ptr() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef align 4 ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() #4

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_get_local_size(i32 noundef) #3

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_get_local_id(i32 noundef) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @byValue(ptr addrspace(4) noundef byref(%struct.Settings) align 8 %0, ptr addrspace(1) noundef %1) #0 {
  %3 = alloca %struct.Settings, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = addrspacecast ptr addrspace(5) %3 to ptr
  %8 = addrspacecast ptr addrspace(5) %4 to ptr
  %9 = addrspacecast ptr addrspace(5) %5 to ptr
  %10 = addrspacecast ptr addrspace(5) %6 to ptr
  call void @llvm.memcpy.p0.p4.i64(ptr align 8 %7, ptr addrspace(4) align 8 %0, i64 32, i1 false)
  store ptr addrspace(1) %1, ptr %8, align 8
  %11 = load ptr, ptr %8, align 8, !tbaa !5
  store ptr %11, ptr %9, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %6) #7
  %12 = call noundef i32 @_Z7threadXv() #8
  store i32 %12, ptr %10, align 4, !tbaa !9
  %13 = load i32, ptr %10, align 4, !tbaa !9
  %14 = uitofp i32 %13 to float
  %15 = getelementptr inbounds %struct.Settings, ptr %7, i32 0, i32 1
  %16 = load i32, ptr %10, align 4, !tbaa !9
  %17 = and i32 %16, 1
  %18 = zext i32 %17 to i64
  %19 = getelementptr inbounds [4 x float], ptr %15, i64 0, i64 %18
  %20 = load float, ptr %19, align 4, !tbaa !11
  %21 = fadd contract float %20, %14
  store float %21, ptr %19, align 4, !tbaa !11
  %22 = getelementptr inbounds %struct.Settings, ptr %7, i32 0, i32 0
  %23 = load i32, ptr %22, align 8, !tbaa !17
  %24 = sitofp i32 %23 to float
  %25 = getelementptr inbounds %struct.Settings, ptr %7, i32 0, i32 1
  %26 = load i32, ptr %10, align 4, !tbaa !9
  %27 = and i32 %26, 3
  %28 = zext i32 %27 to i64
  %29 = getelementptr inbounds [4 x float], ptr %25, i64 0, i64 %28
  %30 = load float, ptr %29, align 4, !tbaa !11
  %31 = fmul contract float %24, %30
  %32 = fpext float %31 to double
  %33 = getelementptr inbounds %struct.Settings, ptr %7, i32 0, i32 2
  %34 = load double, ptr %33, align 8, !tbaa !20
  %35 = fadd contract double %32, %34
  %36 = load ptr, ptr %9, align 8, !tbaa !5
  %37 = load i32, ptr %10, align 4, !tbaa !9
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds double, ptr %36, i64 %38
  store double %35, ptr %39, align 8, !tbaa !21
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %6) #7
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p4.i64(ptr noalias nocapture writeonly, ptr addrspace(4) noalias nocapture readonly, i64, i1 immarg) #5

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @variables(ptr addrspace(1) noundef %0) #0 {
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
  %12 = addrspacecast ptr addrspace(5) %6 to ptr
  %13 = addrspacecast ptr addrspace(5) %7 to ptr
  store ptr addrspace(1) %0, ptr %8, align 8
  %14 = load ptr, ptr %8, align 8, !tbaa !5
  store ptr %14, ptr %9, align 8, !tbaa !5
  store i32 2, ptr %10, align 4, !tbaa !9
  %15 = load i32, ptr %10, align 4
  %16 = atomicrmw add ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 %15 monotonic, align 4
  store i32 %16, ptr %11, align 4
  %17 = load i32, ptr %11, align 4, !tbaa !9
  %18 = load ptr, ptr addrspacecast (ptr addrspace(1) @place to ptr), align 8, !tbaa !5
  %19 = getelementptr inbounds i32, ptr %18, i64 0
  store i32 5, ptr %12, align 4, !tbaa !9
  %20 = load i32, ptr %12, align 4
  %21 = atomicrmw max ptr %19, i32 %20 syncscope("agent-one-as") monotonic, align 4
  store i32 %21, ptr %13, align 4
  %22 = load i32, ptr %13, align 4, !tbaa !9
  %23 = call noundef i32 @_Z7threadXv() #8
  %24 = and i32 %23, 3
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds [4 x float], ptr addrspacecast (ptr addrspace(4) @coefficients to ptr), i64 0, i64 %25
  %27 = load float, ptr %26, align 4, !tbaa !11
  %28 = load ptr, ptr %9, align 8, !tbaa !5
  %29 = call noundef i32 @_Z7threadXv() #8
  %30 = zext i32 %29 to i64
  %31 = getelementptr inbounds float, ptr %28, i64 %30
  store float %27, ptr %31, align 4, !tbaa !11
  ret void
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @integers(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1, ptr addrspace(1) noundef %2) #0 {
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca ptr, align 8, addrspace(5)
  %8 = alloca ptr, align 8, addrspace(5)
  %9 = alloca ptr, align 8, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = alloca i32, align 4, addrspace(5)
  %12 = alloca i32, align 4, addrspace(5)
  %13 = alloca ptr, align 8, addrspace(5)
  %14 = alloca <2 x i16>, align 4, addrspace(5)
  %15 = addrspacecast ptr addrspace(5) %4 to ptr
  %16 = addrspacecast ptr addrspace(5) %5 to ptr
  %17 = addrspacecast ptr addrspace(5) %6 to ptr
  %18 = addrspacecast ptr addrspace(5) %7 to ptr
  %19 = addrspacecast ptr addrspace(5) %8 to ptr
  %20 = addrspacecast ptr addrspace(5) %9 to ptr
  %21 = addrspacecast ptr addrspace(5) %10 to ptr
  %22 = addrspacecast ptr addrspace(5) %11 to ptr
  %23 = addrspacecast ptr addrspace(5) %12 to ptr
  %24 = addrspacecast ptr addrspace(5) %13 to ptr
  %25 = addrspacecast ptr addrspace(5) %14 to ptr
  store ptr addrspace(1) %0, ptr %15, align 8
  %26 = load ptr, ptr %15, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %16, align 8
  %27 = load ptr, ptr %16, align 8, !tbaa !5
  store ptr addrspace(1) %2, ptr %17, align 8
  %28 = load ptr, ptr %17, align 8, !tbaa !5
  store ptr %26, ptr %18, align 8, !tbaa !5
  store ptr %27, ptr %19, align 8, !tbaa !5
  store ptr %28, ptr %20, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %10) #7
  %29 = call noundef i32 @_Z7threadXv() #8
  store i32 %29, ptr %21, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %11) #7
  %30 = load ptr, ptr %18, align 8, !tbaa !5
  %31 = load i32, ptr %21, align 4, !tbaa !9
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds i32, ptr %30, i64 %32
  %34 = load i32, ptr %33, align 4, !tbaa !9
  store i32 %34, ptr %22, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %12) #7
  %35 = load ptr, ptr %19, align 8, !tbaa !5
  %36 = load i32, ptr %21, align 4, !tbaa !9
  %37 = zext i32 %36 to i64
  %38 = getelementptr inbounds i32, ptr %35, i64 %37
  %39 = load i32, ptr %38, align 4, !tbaa !9
  store i32 %39, ptr %23, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %13) #7
  %40 = load ptr, ptr %20, align 8, !tbaa !5
  %41 = load i32, ptr %21, align 4, !tbaa !9
  %42 = mul i32 16, %41
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds i32, ptr %40, i64 %43
  store ptr %44, ptr %24, align 8, !tbaa !5
  %45 = load i32, ptr %22, align 4, !tbaa !9
  %46 = load i32, ptr %23, align 4, !tbaa !9
  %47 = load i32, ptr %23, align 4, !tbaa !9
  %48 = lshr i32 %47, 8
  %49 = call i32 @llvm.amdgcn.ubfe.i32(i32 %45, i32 %46, i32 %48)
  %50 = load ptr, ptr %24, align 8, !tbaa !5
  %51 = getelementptr inbounds i32, ptr %50, i64 0
  store i32 %49, ptr %51, align 4, !tbaa !9
  %52 = load i32, ptr %22, align 4, !tbaa !9
  %53 = load i32, ptr %23, align 4, !tbaa !9
  %54 = load i32, ptr %23, align 4, !tbaa !9
  %55 = lshr i32 %54, 8
  %56 = call i32 @llvm.amdgcn.sbfe.i32(i32 %52, i32 %53, i32 %55)
  %57 = load ptr, ptr %24, align 8, !tbaa !5
  %58 = getelementptr inbounds i32, ptr %57, i64 1
  store i32 %56, ptr %58, align 4, !tbaa !9
  %59 = load i32, ptr %22, align 4, !tbaa !9
  %60 = load i32, ptr %23, align 4, !tbaa !9
  %61 = call i32 @llvm.fshr.i32(i32 %59, i32 %60, i32 13)
  %62 = load ptr, ptr %24, align 8, !tbaa !5
  %63 = getelementptr inbounds i32, ptr %62, i64 2
  store i32 %61, ptr %63, align 4, !tbaa !9
  %64 = load i32, ptr %22, align 4, !tbaa !9
  %65 = load i32, ptr %23, align 4, !tbaa !9
  %66 = call i32 @llvm.amdgcn.alignbyte(i32 %64, i32 %65, i32 3)
  %67 = load ptr, ptr %24, align 8, !tbaa !5
  %68 = getelementptr inbounds i32, ptr %67, i64 3
  store i32 %66, ptr %68, align 4, !tbaa !9
  %69 = load i32, ptr %22, align 4, !tbaa !9
  %70 = load i32, ptr %23, align 4, !tbaa !9
  %71 = call i32 @llvm.amdgcn.perm(i32 %69, i32 %70, i32 218892293)
  %72 = load ptr, ptr %24, align 8, !tbaa !5
  %73 = getelementptr inbounds i32, ptr %72, i64 4
  store i32 %71, ptr %73, align 4, !tbaa !9
  %74 = load i32, ptr %22, align 4, !tbaa !9
  %75 = load i32, ptr %23, align 4, !tbaa !9
  %76 = call i32 @llvm.amdgcn.sad.u8(i32 %74, i32 %75, i32 7)
  %77 = load ptr, ptr %24, align 8, !tbaa !5
  %78 = getelementptr inbounds i32, ptr %77, i64 5
  store i32 %76, ptr %78, align 4, !tbaa !9
  %79 = load i32, ptr %22, align 4, !tbaa !9
  %80 = load i32, ptr %23, align 4, !tbaa !9
  %81 = call i32 @llvm.amdgcn.lerp(i32 %79, i32 %80, i32 16777472)
  %82 = load ptr, ptr %24, align 8, !tbaa !5
  %83 = getelementptr inbounds i32, ptr %82, i64 6
  store i32 %81, ptr %83, align 4, !tbaa !9
  %84 = load i32, ptr %22, align 4, !tbaa !9
  %85 = load i32, ptr %23, align 4, !tbaa !9
  %86 = call i32 @llvm.amdgcn.msad.u8(i32 %84, i32 %85, i32 1)
  %87 = load ptr, ptr %24, align 8, !tbaa !5
  %88 = getelementptr inbounds i32, ptr %87, i64 7
  store i32 %86, ptr %88, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %14) #7
  %89 = load i32, ptr %22, align 4, !tbaa !9
  %90 = load i32, ptr %23, align 4, !tbaa !9
  %91 = call <2 x i16> @llvm.amdgcn.cvt.pk.u16(i32 %89, i32 %90)
  store <2 x i16> %91, ptr %25, align 4, !tbaa !22
  %92 = load i32, ptr %25, align 4, !tbaa !22
  %93 = load ptr, ptr %24, align 8, !tbaa !5
  %94 = getelementptr inbounds i32, ptr %93, i64 8
  store i32 %92, ptr %94, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %14) #7
  %95 = load i32, ptr %22, align 4, !tbaa !9
  %96 = load i32, ptr %23, align 4, !tbaa !9
  %97 = and i32 %96, 255
  %98 = shl i32 %95, %97
  %99 = load ptr, ptr %24, align 8, !tbaa !5
  %100 = getelementptr inbounds i32, ptr %99, i64 9
  store i32 %98, ptr %100, align 4, !tbaa !9
  %101 = load i32, ptr %22, align 4, !tbaa !9
  %102 = load i32, ptr %23, align 4, !tbaa !9
  %103 = and i32 %102, 3
  %104 = udiv i32 %101, %103
  %105 = load ptr, ptr %24, align 8, !tbaa !5
  %106 = getelementptr inbounds i32, ptr %105, i64 10
  store i32 %104, ptr %106, align 4, !tbaa !9
  %107 = load i32, ptr %22, align 4, !tbaa !9
  %108 = load i32, ptr %23, align 4, !tbaa !9
  %109 = call i32 @llvm.amdgcn.sad.u16(i32 %107, i32 %108, i32 0)
  %110 = load ptr, ptr %24, align 8, !tbaa !5
  %111 = getelementptr inbounds i32, ptr %110, i64 11
  store i32 %109, ptr %111, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %13) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %12) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %11) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %10) #7
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.ubfe.i32(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.sbfe.i32(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.fshr.i32(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.alignbyte(i32, i32, i32) #4

; Function Attrs: nocallback nofree nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.perm(i32, i32, i32) #6

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.sad.u8(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.lerp(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.msad.u8(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <2 x i16> @llvm.amdgcn.cvt.pk.u16(i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.sad.u16(i32, i32, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.z() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.y() #4

attributes #0 = { convergent mustprogress norecurse nounwind "amdgpu-flat-work-group-size"="1,1024" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent inlinehint mustprogress nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #3 = { convergent nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nocallback nofree nounwind speculatable willreturn memory(none) }
attributes #7 = { nounwind }
attributes #8 = { convergent nounwind }

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
!13 = !{i16 1, i16 1025}
!14 = !{}
!15 = !{!16, !16, i64 0}
!16 = !{!"short", !7, i64 0}
!17 = !{!18, !10, i64 0}
!18 = !{!"_ZTS8Settings", !10, i64 0, !7, i64 4, !19, i64 24}
!19 = !{!"double", !7, i64 0}
!20 = !{!18, !19, i64 24}
!21 = !{!19, !19, i64 0}
!22 = !{!7, !7, i64 0}
