target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

$_Z7threadXv = comdat any

$_Z5countv = comdat any

$_Z4herev = comdat any

@choices = protected addrspace(1) externally_initialized global [2 x ptr] [ptr @_Z9everyLanej, ptr @_Z6noLanej], align 16
@__hip_cuid_928f9db60ce00c2b = addrspace(1) global i8 0
@llvm.compiler.used = appending addrspace(1) global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @choices to ptr), ptr addrspacecast (ptr addrspace(1) @__hip_cuid_928f9db60ce00c2b to ptr)], section "llvm.metadata"
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @alternating(ptr addrspace(1) noundef %0, i32 noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = alloca i64, align 8, addrspace(5)
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
  store ptr %16, ptr %11, align 8, !tbaa !5
  store i32 %1, ptr %12, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %6) #6
  %17 = call noundef i32 @_Z7threadXv() #7
  store i32 %17, ptr %13, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %7) #6
  store i64 0, ptr %14, align 8, !tbaa !11
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #6
  store i32 0, ptr %15, align 4, !tbaa !9
  br label %18

18:                                               ; preds = %35, %2
  %19 = load i32, ptr %15, align 4, !tbaa !9
  %20 = load i32, ptr %12, align 4, !tbaa !9
  %21 = icmp ult i32 %19, %20
  br i1 %21, label %23, label %22

22:                                               ; preds = %18
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #6
  br label %38

23:                                               ; preds = %18
  %24 = load i32, ptr %13, align 4, !tbaa !9
  %25 = and i32 %24, 1
  %26 = load i32, ptr %15, align 4, !tbaa !9
  %27 = and i32 %26, 1
  %28 = icmp eq i32 %25, %27
  br i1 %28, label %29, label %34

29:                                               ; preds = %23
  %30 = load i64, ptr %14, align 8, !tbaa !11
  %31 = mul i64 %30, 100
  %32 = call noundef i64 @_Z5countv() #7
  %33 = add i64 %31, %32
  store i64 %33, ptr %14, align 8, !tbaa !11
  br label %34

34:                                               ; preds = %29, %23
  br label %35

35:                                               ; preds = %34
  %36 = load i32, ptr %15, align 4, !tbaa !9
  %37 = add i32 %36, 1
  store i32 %37, ptr %15, align 4, !tbaa !9
  br label %18, !llvm.loop !13

38:                                               ; preds = %22
  %39 = load i64, ptr %14, align 8, !tbaa !11
  %40 = load ptr, ptr %11, align 8, !tbaa !5
  %41 = load i32, ptr %13, align 4, !tbaa !9
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i64, ptr %40, i64 %42
  store i64 %39, ptr %43, align 8, !tbaa !11
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %7) #6
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %6) #6
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
define linkonce_odr hidden noundef i64 @_Z5countv() #2 comdat {
  %1 = alloca i64, align 8, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call noundef i64 @_Z4herev() #7
  %4 = call i64 @llvm.ctpop.i64(i64 %3)
  %5 = trunc i64 %4 to i32
  %6 = sext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @nested(ptr addrspace(1) noundef %0, i32 noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = alloca i64, align 8, addrspace(5)
  %8 = alloca i32, align 4, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = addrspacecast ptr addrspace(5) %3 to ptr
  %12 = addrspacecast ptr addrspace(5) %4 to ptr
  %13 = addrspacecast ptr addrspace(5) %5 to ptr
  %14 = addrspacecast ptr addrspace(5) %6 to ptr
  %15 = addrspacecast ptr addrspace(5) %7 to ptr
  %16 = addrspacecast ptr addrspace(5) %8 to ptr
  %17 = addrspacecast ptr addrspace(5) %9 to ptr
  %18 = addrspacecast ptr addrspace(5) %10 to ptr
  store ptr addrspace(1) %0, ptr %11, align 8
  %19 = load ptr, ptr %11, align 8, !tbaa !5
  store ptr %19, ptr %12, align 8, !tbaa !5
  store i32 %1, ptr %13, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %6) #6
  %20 = call noundef i32 @_Z7threadXv() #7
  store i32 %20, ptr %14, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %7) #6
  store i64 0, ptr %15, align 8, !tbaa !11
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #6
  store i32 0, ptr %16, align 4, !tbaa !9
  br label %21

21:                                               ; preds = %62, %2
  %22 = load i32, ptr %16, align 4, !tbaa !9
  %23 = load i32, ptr %13, align 4, !tbaa !9
  %24 = icmp ult i32 %22, %23
  br i1 %24, label %26, label %25

25:                                               ; preds = %21
  store i32 2, ptr %17, align 4
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #6
  br label %65

26:                                               ; preds = %21
  %27 = load i32, ptr %14, align 4, !tbaa !9
  %28 = load i32, ptr %16, align 4, !tbaa !9
  %29 = add i32 %27, %28
  %30 = urem i32 %29, 3
  %31 = icmp eq i32 %30, 0
  br i1 %31, label %32, label %33

32:                                               ; preds = %26
  br label %62

33:                                               ; preds = %26
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %10) #6
  store i32 0, ptr %18, align 4, !tbaa !9
  br label %34

34:                                               ; preds = %53, %33
  %35 = load i32, ptr %18, align 4, !tbaa !9
  %36 = load i32, ptr %14, align 4, !tbaa !9
  %37 = and i32 %36, 3
  %38 = icmp ult i32 %35, %37
  br i1 %38, label %40, label %39

39:                                               ; preds = %34
  store i32 5, ptr %17, align 4
  br label %56

40:                                               ; preds = %34
  %41 = load i64, ptr %15, align 8, !tbaa !11
  %42 = mul i64 %41, 31
  %43 = call noundef i64 @_Z5countv() #7
  %44 = add i64 %42, %43
  store i64 %44, ptr %15, align 8, !tbaa !11
  %45 = load i64, ptr %15, align 8, !tbaa !11
  %46 = urem i64 %45, 7
  %47 = load i32, ptr %14, align 4, !tbaa !9
  %48 = urem i32 %47, 7
  %49 = zext i32 %48 to i64
  %50 = icmp eq i64 %46, %49
  br i1 %50, label %51, label %52

51:                                               ; preds = %40
  store i32 5, ptr %17, align 4
  br label %56

52:                                               ; preds = %40
  br label %53

53:                                               ; preds = %52
  %54 = load i32, ptr %18, align 4, !tbaa !9
  %55 = add i32 %54, 1
  store i32 %55, ptr %18, align 4, !tbaa !9
  br label %34, !llvm.loop !15

56:                                               ; preds = %51, %39
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %10) #6
  br label %57

57:                                               ; preds = %56
  %58 = load i64, ptr %15, align 8, !tbaa !11
  %59 = mul i64 %58, 17
  %60 = call noundef i64 @_Z5countv() #7
  %61 = add i64 %59, %60
  store i64 %61, ptr %15, align 8, !tbaa !11
  br label %62

62:                                               ; preds = %57, %32
  %63 = load i32, ptr %16, align 4, !tbaa !9
  %64 = add i32 %63, 1
  store i32 %64, ptr %16, align 4, !tbaa !9
  br label %21, !llvm.loop !16

65:                                               ; preds = %25
  %66 = load i64, ptr %15, align 8, !tbaa !11
  %67 = load ptr, ptr %12, align 8, !tbaa !5
  %68 = load i32, ptr %14, align 4, !tbaa !9
  %69 = zext i32 %68 to i64
  %70 = getelementptr inbounds i64, ptr %67, i64 %69
  store i64 %66, ptr %70, align 8, !tbaa !11
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %7) #6
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %6) #6
  ret void
}

; Function Attrs: convergent mustprogress nounwind
define hidden noundef i64 @_Z9everyLanej(i32 noundef %0) #3 {
  %2 = alloca i64, align 8, addrspace(5)
  %3 = alloca i32, align 4, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store i32 %0, ptr %5, align 4, !tbaa !9
  %6 = call noundef i64 @_Z4herev() #7
  ret i64 %6
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr hidden noundef i64 @_Z4herev() #2 comdat {
  %1 = alloca i64, align 8, addrspace(5)
  %2 = addrspacecast ptr addrspace(5) %1 to ptr
  %3 = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  ret i64 %3
}

; Function Attrs: convergent mustprogress nounwind
define hidden noundef i64 @_Z6noLanej(i32 noundef %0) #3 {
  %2 = alloca i64, align 8, addrspace(5)
  %3 = alloca i32, align 4, addrspace(5)
  %4 = addrspacecast ptr addrspace(5) %2 to ptr
  %5 = addrspacecast ptr addrspace(5) %3 to ptr
  store i32 %0, ptr %5, align 4, !tbaa !9
  %6 = call noundef i64 @_Z4herev() #7
  %7 = and i64 %6, 6148914691236517205
  ret i64 %7
}

; Function Attrs: convergent mustprogress norecurse nounwind
define protected amdgpu_kernel void @byPointer(ptr addrspace(1) noundef %0, i32 noundef %1) #0 {
  %3 = alloca ptr, align 8, addrspace(5)
  %4 = alloca ptr, align 8, addrspace(5)
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = alloca i64, align 8, addrspace(5)
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
  store ptr %16, ptr %11, align 8, !tbaa !5
  store i32 %1, ptr %12, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %6) #6
  %17 = call noundef i32 @_Z7threadXv() #7
  store i32 %17, ptr %13, align 4, !tbaa !9
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %7) #6
  store i64 0, ptr %14, align 8, !tbaa !11
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %8) #6
  store i32 0, ptr %15, align 4, !tbaa !9
  br label %18

18:                                               ; preds = %41, %2
  %19 = load i32, ptr %15, align 4, !tbaa !9
  %20 = load i32, ptr %12, align 4, !tbaa !9
  %21 = icmp ult i32 %19, %20
  br i1 %21, label %23, label %22

22:                                               ; preds = %18
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %8) #6
  br label %44

23:                                               ; preds = %18
  %24 = load i32, ptr %13, align 4, !tbaa !9
  %25 = and i32 %24, 2
  %26 = load i32, ptr %15, align 4, !tbaa !9
  %27 = and i32 %26, 2
  %28 = icmp eq i32 %25, %27
  br i1 %28, label %29, label %40

29:                                               ; preds = %23
  %30 = load i64, ptr %14, align 8, !tbaa !11
  %31 = mul i64 %30, 3
  %32 = load i32, ptr %13, align 4, !tbaa !9
  %33 = and i32 %32, 1
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds [2 x ptr], ptr addrspacecast (ptr addrspace(1) @choices to ptr), i64 0, i64 %34
  %36 = load ptr, ptr %35, align 8, !tbaa !5
  %37 = load i32, ptr %13, align 4, !tbaa !9
  %38 = call noundef i64 %36(i32 noundef %37) #7
  %39 = add i64 %31, %38
  store i64 %39, ptr %14, align 8, !tbaa !11
  br label %40

40:                                               ; preds = %29, %23
  br label %41

41:                                               ; preds = %40
  %42 = load i32, ptr %15, align 4, !tbaa !9
  %43 = add i32 %42, 1
  store i32 %43, ptr %15, align 4, !tbaa !9
  br label %18, !llvm.loop !17

44:                                               ; preds = %22
  %45 = load i64, ptr %14, align 8, !tbaa !11
  %46 = load ptr, ptr %11, align 8, !tbaa !5
  %47 = load i32, ptr %13, align 4, !tbaa !9
  %48 = zext i32 %47 to i64
  %49 = getelementptr inbounds i64, ptr %46, i64 %48
  store i64 %45, ptr %49, align 8, !tbaa !11
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %7) #6
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %6) #6
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workitem.id.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.ctpop.i64(i64) #4

; Function Attrs: convergent nocallback nofree nounwind willreturn memory(none)
declare i64 @llvm.amdgcn.ballot.i64(i1) #5

attributes #0 = { convergent mustprogress norecurse nounwind "amdgpu-flat-work-group-size"="1,1024" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent inlinehint mustprogress nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #3 = { convergent mustprogress nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nocallback nofree nounwind willreturn memory(none) }
attributes #6 = { nounwind }
attributes #7 = { convergent nounwind }

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
!12 = !{!"long", !7, i64 0}
!13 = distinct !{!13, !14}
!14 = !{!"llvm.loop.mustprogress"}
!15 = distinct !{!15, !14}
!16 = distinct !{!16, !14}
!17 = distinct !{!17, !14}
