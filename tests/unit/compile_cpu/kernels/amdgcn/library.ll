target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

%union.anon = type { double }

$_Z7threadXv = comdat any

@__oclc_daz_opt = external protected addrspace(4) constant i8, align 1
@.str = private unnamed_addr addrspace(4) constant [21 x i8] c"value %d, %5.2f, %s\0A\00", align 1
@.str.1 = private unnamed_addr addrspace(4) constant [5 x i8] c"text\00", align 1
@.str.2 = private unnamed_addr addrspace(4) constant [12 x i8] c"*value == 3\00", align 1
@.str.3 = private unnamed_addr addrspace(4) constant [12 x i8] c"library.hip\00", align 1
@.str.4 = private unnamed_addr addrspace(4) constant [8 x i8] c"asserts\00", align 1
@__hip_cuid_4d3f7e14b21d521d = addrspace(1) global i8 0
@llvm.compiler.used = appending addrspace(1) global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @__hip_cuid_4d3f7e14b21d521d to ptr)], section "llvm.metadata"
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @math(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca i32, align 4, addrspace(5)
  %8 = alloca float, align 4, addrspace(5)
  %9 = alloca ptr, align 8, addrspace(5)
  %10 = alloca float, align 4, addrspace(5)
  %11 = alloca i32, align 4, addrspace(5)
  %12 = addrspacecast ptr addrspace(5) %3 to ptr
  %13 = addrspacecast ptr addrspace(5) %4 to ptr
  %14 = addrspacecast ptr addrspace(5) %5 to ptr
  %15 = addrspacecast ptr addrspace(5) %6 to ptr
  %16 = addrspacecast ptr addrspace(5) %7 to ptr
  %17 = addrspacecast ptr addrspace(5) %8 to ptr
  %18 = addrspacecast ptr addrspace(5) %9 to ptr
  %19 = addrspacecast ptr addrspace(5) %10 to ptr
  %20 = addrspacecast ptr addrspace(5) %11 to ptr
  store ptr addrspace(1) %0, ptr %12, align 8
  %21 = load ptr, ptr %12, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %13, align 8
  %22 = load ptr, ptr %13, align 8, !tbaa !5
  store ptr %21, ptr %14, align 8, !tbaa !5
  store ptr %22, ptr %15, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %7) #7
  %23 = call noundef i32 @_Z7threadXv() #8
  store i32 %23, ptr %16, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #7
  %24 = load ptr, ptr %14, align 8, !tbaa !5
  %25 = load i32, ptr %16, align 4, !tbaa !9
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds float, ptr %24, i64 %26
  %28 = load float, ptr %27, align 4, !tbaa !11
  store float %28, ptr %17, align 4, !tbaa !11
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %9) #7
  %29 = load ptr, ptr %15, align 8, !tbaa !5
  %30 = load i32, ptr %16, align 4, !tbaa !9
  %31 = mul i32 24, %30
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds double, ptr %29, i64 %32
  store ptr %33, ptr %18, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %10) #7
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %11) #7
  %34 = load float, ptr %17, align 4, !tbaa !11
  %35 = call contract float @__ocml_sin_f32(float noundef %34) #8
  %36 = fpext float %35 to double
  %37 = load ptr, ptr %18, align 8, !tbaa !5
  %38 = getelementptr inbounds double, ptr %37, i64 0
  store double %36, ptr %38, align 8, !tbaa !13
  %39 = load float, ptr %17, align 4, !tbaa !11
  %40 = fpext float %39 to double
  %41 = call contract double @__ocml_exp_f64(double noundef %40) #8
  %42 = load ptr, ptr %18, align 8, !tbaa !5
  %43 = getelementptr inbounds double, ptr %42, i64 1
  store double %41, ptr %43, align 8, !tbaa !13
  %44 = load float, ptr %17, align 4, !tbaa !11
  %45 = call contract float @__ocml_pow_f32(float noundef %44, float noundef 2.500000e+00) #8
  %46 = fpext float %45 to double
  %47 = load ptr, ptr %18, align 8, !tbaa !5
  %48 = getelementptr inbounds double, ptr %47, i64 2
  store double %46, ptr %48, align 8, !tbaa !13
  %49 = load float, ptr %17, align 4, !tbaa !11
  %50 = call contract float @__ocml_sqrt_f32(float noundef %49) #8
  %51 = fpext float %50 to double
  %52 = load ptr, ptr %18, align 8, !tbaa !5
  %53 = getelementptr inbounds double, ptr %52, i64 3
  store double %51, ptr %53, align 8, !tbaa !13
  %54 = load float, ptr %17, align 4, !tbaa !11
  %55 = call contract float @__ocml_rint_f32(float noundef %54) #8
  %56 = fpext float %55 to double
  %57 = load ptr, ptr %18, align 8, !tbaa !5
  %58 = getelementptr inbounds double, ptr %57, i64 4
  store double %56, ptr %58, align 8, !tbaa !13
  %59 = load float, ptr %17, align 4, !tbaa !11
  %60 = call contract float @__ocml_rsqrt_f32(float noundef %59) #8
  %61 = fpext float %60 to double
  %62 = load ptr, ptr %18, align 8, !tbaa !5
  %63 = getelementptr inbounds double, ptr %62, i64 5
  store double %61, ptr %63, align 8, !tbaa !13
  %64 = load float, ptr %17, align 4, !tbaa !11
  %65 = call contract float @__ocml_fmax_f32(float noundef %64, float noundef 7.500000e-01) #8
  %66 = fpext float %65 to double
  %67 = load ptr, ptr %18, align 8, !tbaa !5
  %68 = getelementptr inbounds double, ptr %67, i64 6
  store double %66, ptr %68, align 8, !tbaa !13
  %69 = load float, ptr %17, align 4, !tbaa !11
  %70 = fpext float %69 to double
  %71 = call contract double @__ocml_add_rtz_f64(double noundef %70, double noundef 1.000000e-30) #8
  %72 = load ptr, ptr %18, align 8, !tbaa !5
  %73 = getelementptr inbounds double, ptr %72, i64 7
  store double %71, ptr %73, align 8, !tbaa !13
  %74 = load float, ptr %17, align 4, !tbaa !11
  %75 = addrspacecast ptr %19 to ptr addrspace(5)
  %76 = call contract float @__ocml_sincos_f32(float noundef %74, ptr addrspace(5) noundef %75) #8
  %77 = fpext float %76 to double
  %78 = load ptr, ptr %18, align 8, !tbaa !5
  %79 = getelementptr inbounds double, ptr %78, i64 8
  store double %77, ptr %79, align 8, !tbaa !13
  %80 = load float, ptr %19, align 4, !tbaa !11
  %81 = fpext float %80 to double
  %82 = load ptr, ptr %18, align 8, !tbaa !5
  %83 = getelementptr inbounds double, ptr %82, i64 9
  store double %81, ptr %83, align 8, !tbaa !13
  %84 = load float, ptr %17, align 4, !tbaa !11
  %85 = addrspacecast ptr %20 to ptr addrspace(5)
  %86 = call contract float @__ocml_frexp_f32(float noundef %84, ptr addrspace(5) noundef %85) #8
  %87 = fpext float %86 to double
  %88 = load ptr, ptr %18, align 8, !tbaa !5
  %89 = getelementptr inbounds double, ptr %88, i64 10
  store double %87, ptr %89, align 8, !tbaa !13
  %90 = load i32, ptr %20, align 4, !tbaa !9
  %91 = sitofp i32 %90 to double
  %92 = load ptr, ptr %18, align 8, !tbaa !5
  %93 = getelementptr inbounds double, ptr %92, i64 11
  store double %91, ptr %93, align 8, !tbaa !13
  %94 = load float, ptr %17, align 4, !tbaa !11
  %95 = call contract float @llvm.amdgcn.rcp.f32(float %94)
  %96 = fpext float %95 to double
  %97 = load ptr, ptr %18, align 8, !tbaa !5
  %98 = getelementptr inbounds double, ptr %97, i64 12
  store double %96, ptr %98, align 8, !tbaa !13
  %99 = load float, ptr %17, align 4, !tbaa !11
  %100 = call contract float @llvm.amdgcn.fract.f32(float %99)
  %101 = fpext float %100 to double
  %102 = load ptr, ptr %18, align 8, !tbaa !5
  %103 = getelementptr inbounds double, ptr %102, i64 13
  store double %101, ptr %103, align 8, !tbaa !13
  %104 = load float, ptr %17, align 4, !tbaa !11
  %105 = call contract float @llvm.amdgcn.frexp.mant.f32(float %104)
  %106 = fpext float %105 to double
  %107 = load ptr, ptr %18, align 8, !tbaa !5
  %108 = getelementptr inbounds double, ptr %107, i64 14
  store double %106, ptr %108, align 8, !tbaa !13
  %109 = load float, ptr %17, align 4, !tbaa !11
  %110 = call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %109)
  %111 = sitofp i32 %110 to double
  %112 = load ptr, ptr %18, align 8, !tbaa !5
  %113 = getelementptr inbounds double, ptr %112, i64 15
  store double %111, ptr %113, align 8, !tbaa !13
  %114 = load float, ptr %17, align 4, !tbaa !11
  %115 = call contract float @llvm.amdgcn.fmed3.f32(float %114, float 1.000000e+00, float 2.000000e+00)
  %116 = fpext float %115 to double
  %117 = load ptr, ptr %18, align 8, !tbaa !5
  %118 = getelementptr inbounds double, ptr %117, i64 16
  store double %116, ptr %118, align 8, !tbaa !13
  %119 = load float, ptr %17, align 4, !tbaa !11
  %120 = call i1 @llvm.amdgcn.class.f32(float %119, i32 256)
  %121 = uitofp i1 %120 to double
  %122 = load ptr, ptr %18, align 8, !tbaa !5
  %123 = getelementptr inbounds double, ptr %122, i64 17
  store double %121, ptr %123, align 8, !tbaa !13
  %124 = load float, ptr %17, align 4, !tbaa !11
  %125 = call contract float @llvm.ldexp.f32.i32(float %124, i32 3)
  %126 = fpext float %125 to double
  %127 = load ptr, ptr %18, align 8, !tbaa !5
  %128 = getelementptr inbounds double, ptr %127, i64 18
  store double %126, ptr %128, align 8, !tbaa !13
  %129 = load float, ptr %17, align 4, !tbaa !11
  %130 = call contract float @llvm.amdgcn.sin.f32(float %129)
  %131 = fpext float %130 to double
  %132 = load ptr, ptr %18, align 8, !tbaa !5
  %133 = getelementptr inbounds double, ptr %132, i64 19
  store double %131, ptr %133, align 8, !tbaa !13
  %134 = load i8, ptr addrspacecast (ptr addrspace(4) @__oclc_daz_opt to ptr), align 1, !tbaa !15
  %135 = icmp ne i8 %134, 0
  br i1 %135, label %136, label %137

136:                                              ; preds = %2
  br label %140

137:                                              ; preds = %2
  %138 = load float, ptr %17, align 4, !tbaa !11
  %139 = fdiv contract float %138, 3.000000e+00
  br label %140

140:                                              ; preds = %137, %136
  %141 = phi contract float [ 1.000000e+00, %136 ], [ %139, %137 ]
  %142 = fpext float %141 to double
  %143 = load ptr, ptr %18, align 8, !tbaa !5
  %144 = getelementptr inbounds double, ptr %143, i64 20
  store double %142, ptr %144, align 8, !tbaa !13
  %145 = load float, ptr %17, align 4, !tbaa !11
  %146 = fmul contract float %145, 3.000000e+00
  %147 = fadd contract float %146, 0x3E7AD7F2A0000000
  %148 = fpext float %147 to double
  %149 = load ptr, ptr %18, align 8, !tbaa !5
  %150 = getelementptr inbounds double, ptr %149, i64 21
  store double %148, ptr %150, align 8, !tbaa !13
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %11) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %10) #7
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %9) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #7
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %7) #7
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

; Function Attrs: convergent nounwind
declare hidden float @__ocml_sin_f32(float noundef) #3

; Function Attrs: convergent nounwind
declare hidden double @__ocml_exp_f64(double noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_pow_f32(float noundef, float noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_sqrt_f32(float noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_rint_f32(float noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_rsqrt_f32(float noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_fmax_f32(float noundef, float noundef) #3

; Function Attrs: convergent nounwind
declare hidden double @__ocml_add_rtz_f64(double noundef, double noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_sincos_f32(float noundef, ptr addrspace(5) noundef) #3

; Function Attrs: convergent nounwind
declare hidden float @__ocml_frexp_f32(float noundef, ptr addrspace(5) noundef) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.rcp.f32(float) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.fract.f32(float) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.frexp.mant.f32(float) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.frexp.exp.i32.f32(float) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.fmed3.f32(float, float, float) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i1 @llvm.amdgcn.class.f32(float, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.ldexp.f32.i32(float, i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.sin.f32(float) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @prints(i32 noundef %0, double noundef %1) #0 {
  %3 = alloca i32, align 4, addrspace(5)
  %4 = alloca double, align 8, addrspace(5)
  %5 = alloca i64, align 8, addrspace(5)
  %6 = alloca %union.anon, align 8, addrspace(5)
  %7 = addrspacecast ptr addrspace(5) %3 to ptr
  %8 = addrspacecast ptr addrspace(5) %4 to ptr
  %9 = addrspacecast ptr addrspace(5) %5 to ptr
  %10 = addrspacecast ptr addrspace(5) %6 to ptr
  store i32 %0, ptr %7, align 4, !tbaa !9
  store double %1, ptr %8, align 8, !tbaa !13
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %5) #7
  %11 = call i64 @__ockl_printf_begin(i64 noundef 0) #8
  store i64 %11, ptr %9, align 8, !tbaa !16
  %12 = load i64, ptr %9, align 8, !tbaa !16
  %13 = call i64 @__ockl_printf_append_string_n(i64 noundef %12, ptr noundef addrspacecast (ptr addrspace(4) @.str to ptr), i64 noundef 20, i32 noundef 0) #8
  store i64 %13, ptr %9, align 8, !tbaa !16
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %6) #7
  %14 = load double, ptr %8, align 8, !tbaa !13
  store double %14, ptr %10, align 8, !tbaa !15
  %15 = load i64, ptr %9, align 8, !tbaa !16
  %16 = load i32, ptr %7, align 4, !tbaa !9
  %17 = sext i32 %16 to i64
  %18 = load i64, ptr %10, align 8, !tbaa !15
  %19 = call i64 @__ockl_printf_append_args(i64 noundef %15, i32 noundef 2, i64 noundef %17, i64 noundef %18, i64 noundef 0, i64 noundef 0, i64 noundef 0, i64 noundef 0, i64 noundef 0, i32 noundef 0) #8
  store i64 %19, ptr %9, align 8, !tbaa !16
  %20 = load i64, ptr %9, align 8, !tbaa !16
  %21 = call i64 @__ockl_printf_append_string_n(i64 noundef %20, ptr noundef addrspacecast (ptr addrspace(4) @.str.1 to ptr), i64 noundef 5, i32 noundef 1) #8
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %6) #7
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %5) #7
  ret void
}

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_printf_begin(i64 noundef) #3

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_printf_append_string_n(i64 noundef, ptr noundef, i64 noundef, i32 noundef) #3

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_printf_append_args(i64 noundef, i32 noundef, i64 noundef, i64 noundef, i64 noundef, i64 noundef, i64 noundef, i64 noundef, i64 noundef, i32 noundef) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @asserts(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store ptr addrspace(1) %0, ptr %4, align 8
  %6 = load ptr, ptr %4, align 8, !tbaa !5
  store ptr %6, ptr %5, align 8, !tbaa !5
  %7 = load ptr, ptr %5, align 8, !tbaa !5
  %8 = load i32, ptr %7, align 4, !tbaa !9
  %9 = icmp ne i32 %8, 3
  br i1 %9, label %10, label %11

10:                                               ; preds = %1
  call void @__assert_fail(ptr noundef addrspacecast (ptr addrspace(4) @.str.2 to ptr), ptr noundef addrspacecast (ptr addrspace(4) @.str.3 to ptr), i32 noundef 12, ptr noundef addrspacecast (ptr addrspace(4) @.str.4 to ptr)) #8
  br label %11

11:                                               ; preds = %10, %1
  ret void
}

; Function Attrs: convergent nounwind
declare hidden void @__assert_fail(ptr noundef, ptr noundef, i32 noundef, ptr noundef) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @traps(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store ptr addrspace(1) %0, ptr %4, align 8
  %6 = load ptr, ptr %4, align 8, !tbaa !5
  store ptr %6, ptr %5, align 8, !tbaa !5
  %7 = load ptr, ptr %5, align 8, !tbaa !5
  %8 = load i32, ptr %7, align 4, !tbaa !9
  %9 = icmp ne i32 %8, 3
  br i1 %9, label %10, label %11

10:                                               ; preds = %1
  call void @llvm.trap()
  br label %11

11:                                               ; preds = %10, %1
  ret void
}

; Function Attrs: cold noreturn nounwind memory(inaccessiblemem: write)
declare void @llvm.trap() #5

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @callsHost(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store ptr addrspace(1) %0, ptr %4, align 8
  %6 = load ptr, ptr %4, align 8, !tbaa !5
  store ptr %6, ptr %5, align 8, !tbaa !5
  %7 = call i64 @__ockl_hostcall_preview(i32 noundef 1, i64 noundef 2) #8
  %8 = load ptr, ptr %5, align 8, !tbaa !5
  store i64 %7, ptr %8, align 8, !tbaa !16
  ret void
}

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_hostcall_preview(i32 noundef, i64 noundef) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @heap(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = addrspacecast ptr addrspace(5) %2 to ptr
  %6 = addrspacecast ptr addrspace(5) %3 to ptr
  %7 = addrspacecast ptr addrspace(5) %4 to ptr
  store ptr addrspace(1) %0, ptr %5, align 8
  %8 = load ptr, ptr %5, align 8, !tbaa !5
  store ptr %8, ptr %6, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %4) #7
  %9 = call i64 @__ockl_dm_alloc(i64 noundef 64) #8
  %10 = inttoptr i64 %9 to ptr
  store ptr %10, ptr %7, align 8, !tbaa !5
  %11 = call noundef i32 @_Z7threadXv() #8
  %12 = add i32 42, %11
  %13 = zext i32 %12 to i64
  %14 = load ptr, ptr %7, align 8, !tbaa !5
  %15 = getelementptr inbounds i64, ptr %14, i64 3
  store i64 %13, ptr %15, align 8, !tbaa !16
  %16 = load ptr, ptr %7, align 8, !tbaa !5
  %17 = getelementptr inbounds i64, ptr %16, i64 3
  %18 = load i64, ptr %17, align 8, !tbaa !16
  %19 = load ptr, ptr %6, align 8, !tbaa !5
  %20 = call noundef i32 @_Z7threadXv() #8
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds i64, ptr %19, i64 %21
  store i64 %18, ptr %22, align 8, !tbaa !16
  %23 = load ptr, ptr %7, align 8, !tbaa !5
  %24 = ptrtoint ptr %23 to i64
  call void @__ockl_dm_dealloc(i64 noundef %24) #8
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %4) #7
  ret void
}

; Function Attrs: convergent nounwind
declare hidden i64 @__ockl_dm_alloc(i64 noundef) #3

; Function Attrs: convergent nounwind
declare hidden void @__ockl_dm_dealloc(i64 noundef) #3

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @matrix(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store ptr addrspace(1) %0, ptr %4, align 8
  %6 = load ptr, ptr %4, align 8, !tbaa !5
  store ptr %6, ptr %5, align 8, !tbaa !5
  %7 = load ptr, ptr %5, align 8, !tbaa !5
  %8 = load <4 x float>, ptr %7, align 16, !tbaa !15
  %9 = call contract <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float 1.000000e+00, float 2.000000e+00, <4 x float> %8, i32 0, i32 0, i32 0)
  %10 = load ptr, ptr %5, align 8, !tbaa !5
  store <4 x float> %9, ptr %10, align 16, !tbaa !15
  ret void
}

; Function Attrs: convergent nocallback nofree nosync nounwind willreturn memory(none)
declare <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float, float, <4 x float>, i32 immarg, i32 immarg, i32 immarg) #6

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @assembly(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = addrspacecast ptr addrspace(5) %2 to ptr
  %6 = addrspacecast ptr addrspace(5) %3 to ptr
  %7 = addrspacecast ptr addrspace(5) %4 to ptr
  store ptr addrspace(1) %0, ptr %5, align 8
  %8 = load ptr, ptr %5, align 8, !tbaa !5
  store ptr %8, ptr %6, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #7
  %9 = load ptr, ptr %6, align 8, !tbaa !5
  %10 = getelementptr inbounds i32, ptr %9, i64 0
  %11 = load i32, ptr %10, align 4, !tbaa !9
  store i32 %11, ptr %7, align 4, !tbaa !9
  %12 = load i32, ptr %7, align 4, !tbaa !9
  %13 = call i32 asm sideeffect "; keeps the value in place", "=v,0"(i32 %12) #8, !srcloc !18
  store i32 %13, ptr %7, align 4, !tbaa !9
  %14 = load i32, ptr %7, align 4, !tbaa !9
  %15 = add i32 %14, 1
  %16 = load ptr, ptr %6, align 8, !tbaa !5
  %17 = getelementptr inbounds i32, ptr %16, i64 0
  store i32 %15, ptr %17, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #7
  ret void
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @instruction(ptr addrspace(1) noundef %0) #0 {
  %2 = alloca ptr, align 8, addrspace(5)
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca i32, align 4, addrspace(5)
  %5 = addrspacecast ptr addrspace(5) %2 to ptr
  %6 = addrspacecast ptr addrspace(5) %3 to ptr
  %7 = addrspacecast ptr addrspace(5) %4 to ptr
  store ptr addrspace(1) %0, ptr %5, align 8
  %8 = load ptr, ptr %5, align 8, !tbaa !5
  store ptr %8, ptr %6, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %4) #7
  %9 = call i32 asm sideeffect "v_mov_b32 $0, 7", "=v"() #8, !srcloc !19
  store i32 %9, ptr %7, align 4, !tbaa !9
  %10 = load i32, ptr %7, align 4, !tbaa !9
  %11 = load ptr, ptr %6, align 8, !tbaa !5
  %12 = getelementptr inbounds i32, ptr %11, i64 0
  store i32 %10, ptr %12, align 4, !tbaa !9
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %4) #7
  ret void
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @integerPower(ptr addrspace(1) noundef %0, ptr addrspace(1) noundef %1, ptr addrspace(1) noundef %2) #0 {
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca ptr, align 8, addrspace(5)
  %6 = alloca ptr, align 8, addrspace(5)
  %7 = alloca ptr, align 8, addrspace(5)
  %8 = alloca ptr, align 8, addrspace(5)
  %9 = alloca ptr, align 8, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = addrspacecast ptr addrspace(5) %4 to ptr
  %12 = addrspacecast ptr addrspace(5) %5 to ptr
  %13 = addrspacecast ptr addrspace(5) %6 to ptr
  %14 = addrspacecast ptr addrspace(5) %7 to ptr
  %15 = addrspacecast ptr addrspace(5) %8 to ptr
  %16 = addrspacecast ptr addrspace(5) %9 to ptr
  %17 = addrspacecast ptr addrspace(5) %10 to ptr
  store ptr addrspace(1) %0, ptr %11, align 8
  %18 = load ptr, ptr %11, align 8, !tbaa !5
  store ptr addrspace(1) %1, ptr %12, align 8
  %19 = load ptr, ptr %12, align 8, !tbaa !5
  store ptr addrspace(1) %2, ptr %13, align 8
  %20 = load ptr, ptr %13, align 8, !tbaa !5
  store ptr %18, ptr %14, align 8, !tbaa !5
  store ptr %19, ptr %15, align 8, !tbaa !5
  store ptr %20, ptr %16, align 8, !tbaa !5
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %10) #7
  %21 = call noundef i32 @_Z7threadXv() #8
  store i32 %21, ptr %17, align 4, !tbaa !9
  %22 = load ptr, ptr %14, align 8, !tbaa !5
  %23 = load i32, ptr %17, align 4, !tbaa !9
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds float, ptr %22, i64 %24
  %26 = load float, ptr %25, align 4, !tbaa !11
  %27 = load ptr, ptr %15, align 8, !tbaa !5
  %28 = load i32, ptr %17, align 4, !tbaa !9
  %29 = zext i32 %28 to i64
  %30 = getelementptr inbounds i32, ptr %27, i64 %29
  %31 = load i32, ptr %30, align 4, !tbaa !9
  %32 = call contract float @__ocml_pown_f32(float noundef %26, i32 noundef %31) #8
  %33 = load ptr, ptr %16, align 8, !tbaa !5
  %34 = load i32, ptr %17, align 4, !tbaa !9
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds float, ptr %33, i64 %35
  store float %32, ptr %36, align 4, !tbaa !11
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %10) #7
  ret void
}

; Function Attrs: convergent nounwind
declare hidden float @__ocml_pown_f32(float noundef, i32 noundef) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.x() #4

attributes #0 = { convergent mustprogress norecurse nounwind "amdgpu-flat-work-group-size"="1,1024" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent inlinehint mustprogress nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #3 = { convergent nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { cold noreturn nounwind memory(inaccessiblemem: write) }
attributes #6 = { convergent nocallback nofree nosync nounwind willreturn memory(none) }
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
!13 = !{!14, !14, i64 0}
!14 = !{!"double", !7, i64 0}
!15 = !{!7, !7, i64 0}
!16 = !{!17, !17, i64 0}
!17 = !{!"long", !7, i64 0}
!18 = !{i64 3413}
!19 = !{i64 3561}
