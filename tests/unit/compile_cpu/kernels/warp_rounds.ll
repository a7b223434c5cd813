; Made of warp_rounds.cu, and stripped of what no test needs.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@_ZZ10sumOfBlockE5parts = internal unnamed_addr addrspace(3) global [32 x i32] undef, align 4
@_ZZ8barriersE6values = internal unnamed_addr addrspace(3) global [1024 x i32] undef, align 4
@_ZZ6inStepE6values = internal addrspace(3) global [1056 x i32] undef, align 4

define ptx_kernel void @sumOfWarp(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  br label %20

20:
  %21 = phi i32 [ 16, %3 ], [ %25, %20 ]
  %22 = phi i32 [ %19, %3 ], [ %24, %20 ]
  %23 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %22, i32 %21, i32 31)
  %24 = add nsw i32 %23, %22
  %25 = lshr i32 %21, 1
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %27, label %20

27:
  %28 = add nsw i32 %24, %2
  %29 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %28, ptr %29, align 4
  ret void
}

define ptx_kernel void @sumOfBlock(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = mul nuw nsw i32 %7, %8
  %10 = add nuw nsw i32 %9, %6
  %11 = mul nuw nsw i32 %10, %5
  %12 = add nuw nsw i32 %11, %4
  %13 = icmp slt i32 %12, %2
  br i1 %13, label %16, label %14

14:
  %15 = phi i32 [ 0, %3 ], [ %36, %30 ]
  br label %20

16:
  %17 = mul nuw nsw i32 %5, %7
  %18 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %19 = mul nuw nsw i32 %17, %18
  br label %30

20:
  %21 = phi i32 [ %25, %20 ], [ 16, %14 ]
  %22 = phi i32 [ %24, %20 ], [ %15, %14 ]
  %23 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %22, i32 %21, i32 31)
  %24 = add nsw i32 %23, %22
  %25 = lshr i32 %21, 1
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %27, label %20

27:
  %28 = and i32 %12, 31
  %29 = icmp eq i32 %28, 0
  br i1 %29, label %39, label %43

30:
  %31 = phi i32 [ %12, %16 ], [ %37, %30 ]
  %32 = phi i32 [ 0, %16 ], [ %36, %30 ]
  %33 = zext nneg i32 %31 to i64
  %34 = getelementptr inbounds i32, ptr %0, i64 %33
  %35 = load i32, ptr %34, align 4
  %36 = add nsw i32 %35, %32
  %37 = add nuw nsw i32 %31, %19
  %38 = icmp slt i32 %37, %2
  br i1 %38, label %30, label %14

39:
  %40 = lshr exact i32 %12, 5
  %41 = zext nneg i32 %40 to i64
  %42 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ10sumOfBlockE5parts to ptr), i64 %41
  store i32 %24, ptr %42, align 4
  br label %43

43:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %44 = icmp ult i32 %12, 32
  br i1 %44, label %45, label %65

45:
  %46 = mul nuw nsw i32 %5, %7
  %47 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %48 = mul nuw nsw i32 %46, %47
  %49 = add nuw nsw i32 %48, 31
  %50 = lshr i32 %49, 5
  %51 = icmp ult i32 %28, %50
  br i1 %51, label %52, label %56

52:
  %53 = zext nneg i32 %28 to i64
  %54 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ10sumOfBlockE5parts to ptr), i64 %53
  %55 = load i32, ptr %54, align 4
  br label %56

56:
  %57 = phi i32 [ %55, %52 ], [ 0, %45 ]
  br label %58

58:
  %59 = phi i32 [ %63, %58 ], [ 16, %56 ]
  %60 = phi i32 [ %62, %58 ], [ %57, %56 ]
  %61 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %60, i32 %59, i32 31)
  %62 = add nsw i32 %61, %60
  %63 = lshr i32 %59, 1
  %64 = icmp eq i32 %63, 0
  br i1 %64, label %65, label %58

65:
  %66 = phi i32 [ %24, %43 ], [ %62, %58 ]
  %67 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %68 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %69 = mul i32 %68, %67
  %70 = add i32 %69, %8
  %71 = mul i32 %70, %7
  %72 = add i32 %71, %6
  %73 = mul i32 %72, %5
  %74 = add nuw nsw i32 %73, %4
  %75 = sext i32 %74 to i64
  %76 = getelementptr inbounds i32, ptr %1, i64 %75
  store i32 %66, ptr %76, align 4
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @scan(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = and i32 %23, 31
  br label %28

25:
  %26 = mul nsw i32 %34, %2
  %27 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %26, ptr %27, align 4
  ret void

28:
  %29 = phi i32 [ %19, %3 ], [ %34, %28 ]
  %30 = phi i32 [ 1, %3 ], [ %35, %28 ]
  %31 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %29, i32 %30, i32 0)
  %32 = icmp ult i32 %24, %30
  %33 = select i1 %32, i32 0, i32 %31
  %34 = add nsw i32 %33, %29
  %35 = shl nuw nsw i32 %30, 1
  %36 = icmp ult i32 %30, 16
  br i1 %36, label %28, label %25
}

define ptx_kernel void @part(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %2, 32
  %21 = mul nuw nsw i32 %7, %8
  %22 = add nuw nsw i32 %21, %6
  %23 = mul nuw nsw i32 %22, %5
  %24 = add nuw nsw i32 %23, %4
  %25 = and i32 %24, 31
  %26 = icmp slt i32 %25, %20
  br i1 %26, label %27, label %37

27:
  %28 = shl nsw i32 -1, %20
  %29 = xor i32 %28, -1
  %30 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %29, i32 %19, i32 1, i32 31)
  %31 = mul nsw i32 %30, 100
  %32 = add nsw i32 %31, %19
  %33 = and i32 %19, 1
  %34 = icmp ne i32 %33, 0
  %35 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %29, i1 %34)
  %36 = add i32 %32, %35
  br label %37

37:
  %38 = phi i32 [ %36, %27 ], [ %19, %3 ]
  %39 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %38, ptr %39, align 4
  ret void
}

define ptx_kernel void @sides(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = and i32 %23, 16
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %26, label %30

26:
  %27 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %19, i32 3, i32 31)
  %28 = mul nsw i32 %27, 3
  %29 = add nsw i32 %28, %2
  br label %33

30:
  %31 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -65536, i32 %19, i32 5, i32 31)
  %32 = mul nsw i32 %31, 5
  br label %33

33:
  %34 = phi i32 [ %29, %26 ], [ %32, %30 ]
  %35 = and i32 %23, 1
  %36 = icmp eq i32 %35, 0
  br i1 %36, label %40, label %37

37:
  %38 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %34, i32 %2, i32 31)
  %39 = add nsw i32 %38, %34
  br label %44

40:
  %41 = mul nsw i32 %34, 7
  %42 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %41, i32 %2, i32 31)
  %43 = sub nsw i32 %34, %42
  br label %44

44:
  %45 = phi i32 [ %39, %37 ], [ %43, %40 ]
  %46 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %45, ptr %46, align 4
  ret void
}

define ptx_kernel void @ended(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = mul nuw nsw i32 %7, %8
  %10 = add nuw nsw i32 %9, %6
  %11 = mul nuw nsw i32 %10, %5
  %12 = add nuw nsw i32 %11, %4
  %13 = urem i32 %12, 7
  %14 = icmp eq i32 %13, %2
  br i1 %14, label %42, label %15

15:
  %16 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %17 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %18 = mul i32 %16, %17
  %19 = add i32 %18, %8
  %20 = mul i32 %19, %7
  %21 = add i32 %20, %6
  %22 = mul i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds i32, ptr %0, i64 %24
  %26 = load i32, ptr %25, align 4
  %27 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %26, i32 2, i32 31)
  %28 = add nsw i32 %27, %26
  %29 = getelementptr inbounds i32, ptr %1, i64 %24
  store i32 %28, ptr %29, align 4
  %30 = srem i32 %28, 5
  %31 = icmp eq i32 %30, 0
  br i1 %31, label %42, label %32

32:
  %33 = srem i32 %28, 3
  %34 = icmp eq i32 %33, 0
  %35 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %34)
  %36 = add i32 %35, %28
  store i32 %36, ptr %29, align 4
  %37 = and i32 %12, 31
  %38 = icmp ugt i32 %37, 20
  br i1 %38, label %42, label %39

39:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %40 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %36, i32 1, i32 31)
  %41 = add nsw i32 %40, %36
  store i32 %41, ptr %29, align 4
  br label %42

42:
  ret void
}

define ptx_kernel void @early(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = icmp slt i32 %16, %2
  br i1 %17, label %18, label %31

18:
  %19 = sext i32 %16 to i64
  %20 = getelementptr inbounds i32, ptr %0, i64 %19
  %21 = load i32, ptr %20, align 4
  br label %22

22:
  %23 = phi i32 [ 16, %18 ], [ %27, %22 ]
  %24 = phi i32 [ %21, %18 ], [ %26, %22 ]
  %25 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %24, i32 %23, i32 31)
  %26 = add nsw i32 %25, %24
  %27 = lshr i32 %23, 1
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %29, label %22

29:
  %30 = getelementptr inbounds i32, ptr %1, i64 %19
  store i32 %26, ptr %30, align 4
  br label %31

31:
  ret void
}

define ptx_kernel void @unevenWarps(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = lshr i32 %23, 5
  %25 = mul nuw nsw i32 %24, 3
  %26 = srem i32 %2, 5
  %27 = add nsw i32 %25, %26
  %28 = icmp sgt i32 %27, 0
  br i1 %28, label %40, label %29

29:
  %30 = phi i32 [ %19, %3 ], [ %46, %40 ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %31

31:
  %32 = phi i32 [ 16, %29 ], [ %36, %31 ]
  %33 = phi i32 [ %30, %29 ], [ %35, %31 ]
  %34 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %33, i32 %32, i32 31)
  %35 = add nsw i32 %34, %33
  %36 = lshr i32 %32, 1
  %37 = icmp eq i32 %36, 0
  br i1 %37, label %38, label %31

38:
  %39 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %35, ptr %39, align 4
  ret void

40:
  %41 = phi i32 [ %47, %40 ], [ 0, %3 ]
  %42 = phi i32 [ %46, %40 ], [ %19, %3 ]
  %43 = mul nsw i32 %42, 3
  %44 = and i32 %41, 31
  %45 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %42, i32 %44, i32 31)
  %46 = add nsw i32 %45, %43
  %47 = add nuw nsw i32 %41, 1
  %48 = icmp eq i32 %47, %27
  br i1 %48, label %29, label %40
}

define ptx_kernel void @unevenLanes(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = add nsw i32 %19, %2
  %21 = srem i32 %20, 9
  br label %22

22:
  %23 = phi i32 [ %19, %3 ], [ %35, %28 ]
  %24 = phi i32 [ %21, %3 ], [ %33, %28 ]
  %25 = icmp sgt i32 %24, 0
  %26 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %25)
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %36, label %28

28:
  %29 = mul nsw i32 %23, 5
  %30 = add nsw i32 %29, %24
  %31 = select i1 %25, i32 %30, i32 %23
  %32 = sext i1 %25 to i32
  %33 = add nsw i32 %24, %32
  %34 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %31, i32 1, i32 0)
  %35 = add nsw i32 %34, %31
  br label %22

36:
  %37 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %23, ptr %37, align 4
  ret void
}

define ptx_kernel void @leaving(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = and i32 %19, 15
  %21 = mul nuw nsw i32 %5, %7
  %22 = mul nuw nsw i32 %21, %9
  %23 = mul nuw nsw i32 %7, %8
  %24 = add nuw nsw i32 %23, %6
  %25 = mul nuw nsw i32 %24, %5
  %26 = add nuw nsw i32 %25, %4
  %27 = and i32 %26, 1073741792
  %28 = sub nsw i32 %22, %27
  %29 = icmp slt i32 %28, 32
  %30 = sub nsw i32 %27, %22
  %31 = add nsw i32 %30, 32
  %32 = lshr i32 -1, %31
  %33 = select i1 %29, i32 %32, i32 -1
  br label %34

34:
  %35 = phi i32 [ 0, %3 ], [ %47, %56 ]
  %36 = phi i32 [ %33, %3 ], [ %57, %56 ]
  %37 = phi i32 [ 0, %3 ], [ %45, %56 ]
  %38 = phi i32 [ %20, %3 ], [ %59, %56 ]
  %39 = icmp eq i32 %37, 40
  br i1 %39, label %60, label %40

40:
  %41 = and i32 %38, 1
  %42 = icmp ne i32 %41, 0
  %43 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %36, i1 %42)
  %44 = call i32 @llvm.ctpop.i32(i32 %43)
  %45 = add nuw nsw i32 %37, 1
  %46 = mul nuw nsw i32 %44, %45
  %47 = add nuw nsw i32 %46, %35
  %48 = icmp sgt i32 %38, %37
  %49 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %36, i1 %48)
  br i1 %48, label %50, label %56

50:
  %51 = call i32 @llvm.cttz.i32(i32 %49, i1 true)
  %52 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %49, i32 %38, i32 %51, i32 31)
  %53 = and i32 %52, 1
  %54 = add nsw i32 %53, %38
  %55 = icmp ne i32 %37, %2
  br label %56

56:
  %57 = phi i32 [ %36, %40 ], [ %49, %50 ]
  %58 = phi i1 [ false, %40 ], [ %55, %50 ]
  %59 = phi i32 [ %38, %40 ], [ %54, %50 ]
  br i1 %58, label %34, label %60

60:
  %61 = phi i32 [ %47, %56 ], [ %35, %34 ]
  %62 = phi i32 [ %59, %56 ], [ %38, %34 ]
  %63 = shl nsw i32 %61, 6
  %64 = add nsw i32 %63, %62
  %65 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %64, ptr %65, align 4
  ret void
}
declare i32 @llvm.ctpop.i32(i32)

define ptx_kernel void @groups(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %19, 6
  %21 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %23, label %26

23:
  %24 = phi i32 [ 0, %3 ], [ %41, %26 ]
  %25 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %24, ptr %25, align 4
  ret void

26:
  %27 = phi i32 [ %44, %26 ], [ 0, %3 ]
  %28 = phi i32 [ %41, %26 ], [ 0, %3 ]
  %29 = phi i32 [ %43, %26 ], [ %21, %3 ]
  %30 = phi i1 [ %40, %26 ], [ true, %3 ]
  %31 = call i32 @llvm.cttz.i32(i32 %29, i1 true)
  %32 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %20, i32 %31, i32 31)
  %33 = icmp eq i32 %20, %32
  %34 = select i1 %30, i1 %33, i1 false
  %35 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %34)
  %36 = call i32 @llvm.ctpop.i32(i32 %35)
  %37 = mul nsw i32 %27, %2
  %38 = add nsw i32 %36, %37
  %39 = xor i1 %33, true
  %40 = select i1 %39, i1 %30, i1 false
  %41 = select i1 %33, i32 %38, i32 %28
  %42 = xor i32 %35, -1
  %43 = and i32 %29, %42
  %44 = add nuw nsw i32 %27, 1
  %45 = icmp eq i32 %43, 0
  br i1 %45, label %23, label %26
}

define ptx_kernel void @widths(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = sext i32 %19 to i64
  %21 = mul nsw i64 %20, 4294967299
  %22 = sext i32 %2 to i64
  %23 = add nsw i64 %21, %22
  %24 = trunc i64 %23 to i32
  %25 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %24, i32 9, i32 31)
  %26 = lshr i64 %23, 32
  %27 = trunc nuw i64 %26 to i32
  %28 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %27, i32 9, i32 31)
  %29 = mul nsw i32 %28, 3
  %30 = xor i32 %29, %25
  %31 = mul nsw i32 %30, 7
  %32 = mul nuw nsw i32 %7, %8
  %33 = add nuw nsw i32 %32, %6
  %34 = mul nuw nsw i32 %33, %5
  %35 = add nuw nsw i32 %34, %4
  %36 = add nuw nsw i32 %35, 1
  %37 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %19, i32 %36, i32 6175)
  %38 = add nsw i32 %31, %37
  %39 = mul nsw i32 %38, 7
  %40 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %19, i32 1, i32 7168)
  %41 = add nsw i32 %39, %40
  %42 = mul nsw i32 %41, 7
  %43 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %19, i32 2, i32 4127)
  %44 = add nsw i32 %42, %43
  %45 = mul nsw i32 %44, 7
  %46 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %19, i32 1, i32 7711)
  %47 = add nsw i32 %45, %46
  %48 = mul nsw i32 %47, 7
  %49 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %19, i32 %2, i32 4096)
  %50 = add nsw i32 %48, %49
  %51 = mul nsw i32 %50, 7
  %52 = and i32 %35, 31
  %53 = urem i32 %52, 5
  %54 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %19, i32 %53, i32 6175)
  %55 = add nsw i32 %51, %54
  %56 = mul nsw i32 %55, 7
  %57 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %19, i32 %19, i32 31)
  %58 = add nsw i32 %56, %57
  %59 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %58, ptr %59, align 4
  ret void
}

define ptx_kernel void @tiles(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = and i32 %23, 24
  %25 = shl nuw i32 255, %24
  br label %31

26:
  %27 = lshr i32 %23, 3
  %28 = and i32 %27, 3
  %29 = srem i32 %2, 4
  %30 = icmp eq i32 %28, %29
  br i1 %30, label %38, label %42

31:
  %32 = phi i32 [ 4, %3 ], [ %36, %31 ]
  %33 = phi i32 [ %19, %3 ], [ %35, %31 ]
  %34 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %25, i32 %33, i32 %32, i32 6175)
  %35 = add nsw i32 %34, %33
  %36 = lshr i32 %32, 1
  %37 = icmp eq i32 %36, 0
  br i1 %37, label %26, label %31

38:
  %39 = mul nsw i32 %35, 3
  %40 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %25, i32 %35, i32 2, i32 6175)
  %41 = add nsw i32 %40, %39
  br label %42

42:
  %43 = phi i32 [ %41, %38 ], [ %35, %26 ]
  call void @llvm.nvvm.bar.warp.sync(i32 %25)
  %44 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %43, ptr %44, align 4
  ret void
}
declare void @llvm.nvvm.bar.warp.sync(i32)

define ptx_kernel void @barriers(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %19, i32 1, i32 31)
  %21 = add nsw i32 %20, %19
  %22 = mul nuw nsw i32 %7, %8
  %23 = add nuw nsw i32 %22, %6
  %24 = mul nuw nsw i32 %23, %5
  %25 = add nuw nsw i32 %24, %4
  %26 = zext nneg i32 %25 to i64
  %27 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ8barriersE6values to ptr), i64 %26
  store i32 %21, ptr %27, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %28 = add nuw nsw i32 %25, 33
  %29 = mul nuw nsw i32 %5, %7
  %30 = mul nuw nsw i32 %29, %9
  %31 = urem i32 %28, %30
  %32 = zext nneg i32 %31 to i64
  %33 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ8barriersE6values to ptr), i64 %32
  %34 = load i32, ptr %33, align 4
  %35 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %34, i32 4, i32 31)
  %36 = add nsw i32 %35, %34
  %37 = srem i32 %36, 3
  %38 = icmp eq i32 %37, 0
  %39 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %38)
  %40 = mul nsw i32 %39, 100
  %41 = add nsw i32 %40, %36
  %42 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %41, i32 %2, i32 31)
  %43 = add nsw i32 %41, %42
  %44 = icmp eq i32 %43, %2
  %45 = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %44)
  br i1 %45, label %46, label %51

46:
  %47 = and i32 %43, 4
  %48 = icmp ne i32 %47, 0
  %49 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %48)
  %50 = add i32 %49, %43
  br label %51

51:
  %52 = phi i32 [ %50, %46 ], [ %43, %3 ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %52, ptr %27, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %53 = xor i32 %25, -1
  %54 = add nsw i32 %30, %53
  %55 = sext i32 %54 to i64
  %56 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ8barriersE6values to ptr), i64 %55
  %57 = load i32, ptr %56, align 4
  %58 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %57, ptr %58, align 4
  ret void
}
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32, i1)

define ptx_kernel void @apart(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = and i32 %23, 32
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %26, label %34

26:
  %27 = phi i32 [ %31, %26 ], [ 16, %3 ]
  %28 = phi i32 [ %30, %26 ], [ %19, %3 ]
  %29 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %28, i32 %27, i32 31)
  %30 = add nsw i32 %29, %28
  %31 = lshr i32 %27, 1
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %33, label %26

33:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %38

34:
  %35 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %19, i32 1, i32 31)
  %36 = xor i32 %35, %19
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %37 = add nsw i32 %36, %2
  br label %38

38:
  %39 = phi i32 [ %30, %33 ], [ %37, %34 ]
  %40 = and i32 %39, 1
  %41 = icmp ne i32 %40, 0
  %42 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %41)
  %43 = add nsw i32 %42, %39
  %44 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %43, ptr %44, align 4
  ret void
}

define ptx_kernel void @aggregated(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %19, 3
  %21 = srem i32 %2, 3
  %22 = icmp eq i32 %20, %21
  br i1 %22, label %38, label %23

23:
  %24 = call i32 @llvm.nvvm.activemask()
  %25 = call i32 @llvm.cttz.i32(i32 %24, i1 true)
  %26 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %24, i32 %19, i32 %25, i32 31)
  %27 = mul nsw i32 %26, 100
  %28 = mul nuw nsw i32 %7, %8
  %29 = add nuw nsw i32 %28, %6
  %30 = mul nuw nsw i32 %29, %5
  %31 = add nuw nsw i32 %30, %4
  %32 = and i32 %31, 31
  %33 = shl nsw i32 -1, %32
  %34 = xor i32 %33, -1
  %35 = and i32 %24, %34
  %36 = call i32 @llvm.ctpop.i32(i32 %35)
  %37 = add nsw i32 %27, %36
  br label %38

38:
  %39 = phi i32 [ %37, %23 ], [ %19, %3 ]
  %40 = and i32 %39, 1
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %46, label %42

42:
  %43 = call i32 @llvm.nvvm.activemask()
  %44 = call i32 @llvm.ctpop.i32(i32 %43)
  %45 = add nsw i32 %44, %39
  br label %46

46:
  %47 = phi i32 [ %45, %42 ], [ %39, %38 ]
  %48 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %47, ptr %48, align 4
  ret void
}

define ptx_kernel void @promised(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = call i32 @llvm.nvvm.activemask()
  %21 = srem i32 %19, 4
  %22 = srem i32 %2, 4
  %23 = icmp eq i32 %21, %22
  br i1 %23, label %24, label %29

24:
  %25 = shl nsw i32 %19, 3
  %26 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %20, i1 true)
  %27 = call i32 @llvm.ctpop.i32(i32 %26)
  %28 = add nsw i32 %27, %25
  br label %29

29:
  %30 = phi i32 [ %28, %24 ], [ %19, %3 ]
  %31 = and i32 %30, 1
  %32 = icmp ne i32 %31, 0
  %33 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %32)
  %34 = mul nsw i32 %33, 1000
  %35 = add nsw i32 %34, %30
  %36 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %35, ptr %36, align 4
  ret void
}

define ptx_kernel void @matches(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %19, 4
  %21 = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %20)
  %22 = mul nsw i32 %21, 31
  %23 = sext i32 %20 to i64
  %24 = shl nsw i64 %23, 40
  %25 = call i32 @llvm.nvvm.match.any.sync.i64(i32 -1, i64 %24)
  %26 = add i32 %22, %25
  %27 = mul nsw i32 %26, 31
  %28 = mul nuw nsw i32 %7, %8
  %29 = add nuw nsw i32 %28, %6
  %30 = mul nuw nsw i32 %29, %5
  %31 = add nuw nsw i32 %30, %4
  %32 = and i32 %31, 32
  %33 = icmp eq i32 %32, 0
  %34 = select i1 %33, i32 %20, i32 %2
  %35 = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %34)
  %36 = extractvalue { i32, i1 } %35, 1
  %37 = zext i1 %36 to i32
  %38 = extractvalue { i32, i1 } %35, 0
  %39 = add i32 %27, %38
  %40 = mul nsw i32 %39, 31
  %41 = add nsw i32 %40, %37
  %42 = mul nsw i32 %41, 31
  %43 = srem i32 %2, 8
  %44 = add nsw i32 %43, 32
  %45 = zext nneg i32 %44 to i64
  %46 = shl nuw nsw i64 1, %45
  %47 = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 -1, i64 %46)
  %48 = extractvalue { i32, i1 } %47, 1
  %49 = zext i1 %48 to i32
  %50 = extractvalue { i32, i1 } %47, 0
  %51 = add i32 %42, %50
  %52 = mul nsw i32 %51, 31
  %53 = add nsw i32 %52, %49
  %54 = mul nsw i32 %53, 31
  %55 = icmp eq i32 %20, 3
  %56 = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %55)
  %57 = select i1 %56, i32 4, i32 0
  %58 = icmp slt i32 %20, 3
  %59 = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %58)
  %60 = select i1 %59, i32 2, i32 0
  %61 = icmp eq i32 %20, %2
  %62 = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %61)
  %63 = zext i1 %62 to i32
  %64 = or disjoint i32 %60, %57
  %65 = or disjoint i32 %64, %63
  %66 = add i32 %65, %54
  %67 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %66, ptr %67, align 4
  ret void
}
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.match.any.sync.i64(i32, i64)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)

define ptx_kernel void @reductions(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nsw i32 %19, 77
  %21 = sub nsw i32 %20, %2
  %22 = call i32 @llvm.nvvm.redux.sync.add(i32 %21, i32 -1)
  %23 = mul nsw i32 %22, 31
  %24 = call i32 @llvm.nvvm.redux.sync.min(i32 %21, i32 -1)
  %25 = add nsw i32 %23, %24
  %26 = mul nsw i32 %25, 31
  %27 = call i32 @llvm.nvvm.redux.sync.max(i32 %21, i32 -1)
  %28 = add nsw i32 %26, %27
  %29 = mul nsw i32 %28, 31
  %30 = call i32 @llvm.nvvm.redux.sync.umin(i32 %21, i32 -1)
  %31 = add i32 %29, %30
  %32 = mul nsw i32 %31, 31
  %33 = call i32 @llvm.nvvm.redux.sync.umax(i32 %21, i32 -1)
  %34 = add i32 %32, %33
  %35 = mul nsw i32 %34, 31
  %36 = call i32 @llvm.nvvm.redux.sync.and(i32 %21, i32 -1)
  %37 = add nsw i32 %35, %36
  %38 = mul nsw i32 %37, 31
  %39 = call i32 @llvm.nvvm.redux.sync.or(i32 %21, i32 -1)
  %40 = add nsw i32 %38, %39
  %41 = mul nsw i32 %40, 31
  %42 = call i32 @llvm.nvvm.redux.sync.xor(i32 %21, i32 -1)
  %43 = add nsw i32 %41, %42
  %44 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %43, ptr %44, align 4
  ret void
}
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.min(i32, i32)
declare i32 @llvm.nvvm.redux.sync.max(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umax(i32, i32)
declare i32 @llvm.nvvm.redux.sync.and(i32, i32)
declare i32 @llvm.nvvm.redux.sync.or(i32, i32)
declare i32 @llvm.nvvm.redux.sync.xor(i32, i32)

define ptx_kernel void @locals(ptr %0, ptr %1, i32 %2) {
  %4 = alloca [8 x i32], align 4
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %11 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %12 = mul i32 %11, %10
  %13 = add i32 %12, %9
  %14 = mul i32 %13, %8
  %15 = add i32 %14, %7
  %16 = mul i32 %15, %6
  %17 = add nuw nsw i32 %16, %5
  %18 = sext i32 %17 to i64
  %19 = getelementptr inbounds i32, ptr %0, i64 %18
  %20 = load i32, ptr %19, align 4
  br label %31

21:
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %23 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %24 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %25 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %26 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %27 = mul nuw nsw i32 %25, %26
  %28 = add nuw nsw i32 %27, %24
  %29 = mul nuw nsw i32 %28, %23
  %30 = add nuw nsw i32 %29, %22
  br label %68

31:
  %32 = phi i32 [ 0, %3 ], [ %33, %31 ]
  %33 = add nuw nsw i32 %32, 1
  %34 = mul nsw i32 %20, %33
  %35 = zext nneg i32 %32 to i64
  %36 = getelementptr inbounds i32, ptr %4, i64 %35
  store i32 %34, ptr %36, align 4
  %37 = icmp eq i32 %33, 8
  br i1 %37, label %21, label %31

38:
  %39 = srem i32 %2, 8
  %40 = sext i32 %39 to i64
  %41 = getelementptr inbounds i32, ptr %4, i64 %40
  %42 = load i32, ptr %41, align 4
  %43 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %44 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %45 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %46 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %47 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %48 = mul nuw nsw i32 %46, %47
  %49 = add nuw nsw i32 %48, %45
  %50 = mul nuw nsw i32 %49, %44
  %51 = add nuw nsw i32 %43, 3
  %52 = add nuw nsw i32 %51, %50
  %53 = and i32 %52, 7
  %54 = zext nneg i32 %53 to i64
  %55 = getelementptr inbounds i32, ptr %4, i64 %54
  %56 = load i32, ptr %55, align 4
  %57 = add nsw i32 %56, %42
  %58 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %59 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %60 = mul i32 %59, %58
  %61 = add i32 %60, %47
  %62 = mul i32 %61, %46
  %63 = add i32 %62, %45
  %64 = mul i32 %63, %44
  %65 = add nuw nsw i32 %64, %43
  %66 = sext i32 %65 to i64
  %67 = getelementptr inbounds i32, ptr %1, i64 %66
  store i32 %57, ptr %67, align 4
  ret void

68:
  %69 = phi i32 [ 0, %21 ], [ %83, %68 ]
  %70 = add nuw nsw i32 %69, %30
  %71 = and i32 %70, 7
  %72 = zext nneg i32 %71 to i64
  %73 = getelementptr inbounds i32, ptr %4, i64 %72
  %74 = load i32, ptr %73, align 4
  %75 = add nuw nsw i32 %69, %30
  %76 = and i32 %75, 31
  %77 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %74, i32 %76, i32 31)
  %78 = and i32 %77, 7
  %79 = zext nneg i32 %78 to i64
  %80 = getelementptr inbounds i32, ptr %4, i64 %79
  %81 = load i32, ptr %80, align 4
  %82 = add nsw i32 %81, %77
  store i32 %82, ptr %80, align 4
  %83 = add nuw nsw i32 %69, 1
  %84 = icmp eq i32 %83, 5
  br i1 %84, label %38, label %68
}

define ptx_kernel void @voted(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %19, 3
  %21 = srem i32 %2, 3
  %22 = icmp eq i32 %20, %21
  %23 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %22)
  br i1 %22, label %24, label %30

24:
  %25 = call i32 @llvm.cttz.i32(i32 %23, i1 true)
  %26 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %23, i32 %19, i32 %25, i32 31)
  %27 = add nsw i32 %26, %19
  %28 = call i32 @llvm.nvvm.redux.sync.add(i32 %27, i32 %23)
  %29 = add nsw i32 %27, %28
  br label %30

30:
  %31 = phi i32 [ %29, %24 ], [ %19, %3 ]
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %32 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %31, i32 16, i32 31)
  %33 = add nsw i32 %32, %31
  %34 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %33, ptr %34, align 4
  ret void
}

define ptx_kernel void @inStep(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = add nsw i32 %19, %2
  %21 = mul nuw nsw i32 %7, %8
  %22 = add nuw nsw i32 %21, %6
  %23 = mul nuw nsw i32 %22, %5
  %24 = add nuw nsw i32 %23, %4
  %25 = zext nneg i32 %24 to i64
  %26 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @_ZZ6inStepE6values to ptr), i64 %25
  store volatile i32 %20, ptr %26, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %27 = icmp ult i32 %24, 32
  br i1 %27, label %28, label %45

28:
  %29 = getelementptr i8, ptr %26, i64 64
  %30 = load volatile i32, ptr %29, align 4
  %31 = load volatile i32, ptr %26, align 4
  %32 = add nsw i32 %31, %30
  store volatile i32 %32, ptr %26, align 4
  %33 = getelementptr i8, ptr %26, i64 32
  %34 = load volatile i32, ptr %33, align 4
  %35 = load volatile i32, ptr %26, align 4
  %36 = add nsw i32 %35, %34
  store volatile i32 %36, ptr %26, align 4
  %37 = getelementptr i8, ptr %26, i64 16
  %38 = load volatile i32, ptr %37, align 4
  %39 = load volatile i32, ptr %26, align 4
  %40 = add nsw i32 %39, %38
  store volatile i32 %40, ptr %26, align 4
  %41 = load volatile i32, ptr %26, align 4
  %42 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %41, i32 2, i32 31)
  %43 = load volatile i32, ptr %26, align 4
  %44 = add nsw i32 %43, %42
  store volatile i32 %44, ptr %26, align 4
  br label %45

45:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %46 = load volatile i32, ptr %26, align 4
  %47 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %46, ptr %47, align 4
  ret void
}

define ptx_kernel void @many(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %6 = mul i32 %4, %5
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %8 = add i32 %6, %7
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %10 = mul i32 %8, %9
  %11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %12 = add i32 %10, %11
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %14 = mul i32 %12, %13
  %15 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %16 = add nuw nsw i32 %14, %15
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nsw i32 %19, 3
  %21 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %19, i32 0, i32 31)
  %22 = add nsw i32 %21, %20
  %23 = mul nsw i32 %22, 3
  %24 = srem i32 %2, 32
  %25 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %22, i32 %24, i32 31)
  %26 = add nsw i32 %25, %23
  %27 = mul nsw i32 %26, 3
  %28 = shl nsw i32 %2, 1
  %29 = srem i32 %28, 32
  %30 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %26, i32 %29, i32 31)
  %31 = add nsw i32 %30, %27
  %32 = mul nsw i32 %31, 3
  %33 = mul nsw i32 %2, 3
  %34 = srem i32 %33, 32
  %35 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %31, i32 %34, i32 31)
  %36 = add nsw i32 %35, %32
  %37 = mul nsw i32 %36, 3
  %38 = shl nsw i32 %2, 2
  %39 = srem i32 %38, 32
  %40 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %36, i32 %39, i32 31)
  %41 = add nsw i32 %40, %37
  %42 = mul nsw i32 %41, 3
  %43 = mul nsw i32 %2, 5
  %44 = srem i32 %43, 32
  %45 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %41, i32 %44, i32 31)
  %46 = add nsw i32 %45, %42
  %47 = mul nsw i32 %46, 3
  %48 = mul nsw i32 %2, 6
  %49 = srem i32 %48, 32
  %50 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %46, i32 %49, i32 31)
  %51 = add nsw i32 %50, %47
  %52 = mul nsw i32 %51, 3
  %53 = mul nsw i32 %2, 7
  %54 = srem i32 %53, 32
  %55 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %51, i32 %54, i32 31)
  %56 = add nsw i32 %55, %52
  %57 = mul nsw i32 %56, 3
  %58 = shl nsw i32 %2, 3
  %59 = srem i32 %58, 32
  %60 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %56, i32 %59, i32 31)
  %61 = add nsw i32 %60, %57
  %62 = mul nsw i32 %61, 3
  %63 = mul nsw i32 %2, 9
  %64 = srem i32 %63, 32
  %65 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %61, i32 %64, i32 31)
  %66 = add nsw i32 %65, %62
  %67 = mul nsw i32 %66, 3
  %68 = mul nsw i32 %2, 10
  %69 = srem i32 %68, 32
  %70 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %66, i32 %69, i32 31)
  %71 = add nsw i32 %70, %67
  %72 = mul nsw i32 %71, 3
  %73 = mul nsw i32 %2, 11
  %74 = srem i32 %73, 32
  %75 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %71, i32 %74, i32 31)
  %76 = add nsw i32 %75, %72
  %77 = mul nsw i32 %76, 3
  %78 = mul nsw i32 %2, 12
  %79 = srem i32 %78, 32
  %80 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %76, i32 %79, i32 31)
  %81 = add nsw i32 %80, %77
  %82 = mul nsw i32 %81, 3
  %83 = mul nsw i32 %2, 13
  %84 = srem i32 %83, 32
  %85 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %81, i32 %84, i32 31)
  %86 = add nsw i32 %85, %82
  %87 = mul nsw i32 %86, 3
  %88 = mul nsw i32 %2, 14
  %89 = srem i32 %88, 32
  %90 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %86, i32 %89, i32 31)
  %91 = add nsw i32 %90, %87
  %92 = mul nsw i32 %91, 3
  %93 = mul nsw i32 %2, 15
  %94 = srem i32 %93, 32
  %95 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %91, i32 %94, i32 31)
  %96 = add nsw i32 %95, %92
  %97 = mul nsw i32 %96, 3
  %98 = shl nsw i32 %2, 4
  %99 = srem i32 %98, 32
  %100 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %96, i32 %99, i32 31)
  %101 = add nsw i32 %100, %97
  %102 = mul nsw i32 %101, 3
  %103 = mul nsw i32 %2, 17
  %104 = srem i32 %103, 32
  %105 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %101, i32 %104, i32 31)
  %106 = add nsw i32 %105, %102
  %107 = mul nsw i32 %106, 3
  %108 = mul nsw i32 %2, 18
  %109 = srem i32 %108, 32
  %110 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %106, i32 %109, i32 31)
  %111 = add nsw i32 %110, %107
  %112 = mul nsw i32 %111, 3
  %113 = mul nsw i32 %2, 19
  %114 = srem i32 %113, 32
  %115 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %111, i32 %114, i32 31)
  %116 = add nsw i32 %115, %112
  %117 = mul nsw i32 %116, 3
  %118 = mul nsw i32 %2, 20
  %119 = srem i32 %118, 32
  %120 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %116, i32 %119, i32 31)
  %121 = add nsw i32 %120, %117
  %122 = mul nsw i32 %121, 3
  %123 = mul nsw i32 %2, 21
  %124 = srem i32 %123, 32
  %125 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %121, i32 %124, i32 31)
  %126 = add nsw i32 %125, %122
  %127 = mul nsw i32 %126, 3
  %128 = mul nsw i32 %2, 22
  %129 = srem i32 %128, 32
  %130 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %126, i32 %129, i32 31)
  %131 = add nsw i32 %130, %127
  %132 = mul nsw i32 %131, 3
  %133 = mul nsw i32 %2, 23
  %134 = srem i32 %133, 32
  %135 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %131, i32 %134, i32 31)
  %136 = add nsw i32 %135, %132
  %137 = mul nsw i32 %136, 3
  %138 = mul nsw i32 %2, 24
  %139 = srem i32 %138, 32
  %140 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %136, i32 %139, i32 31)
  %141 = add nsw i32 %140, %137
  %142 = mul nsw i32 %141, 3
  %143 = mul nsw i32 %2, 25
  %144 = srem i32 %143, 32
  %145 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %141, i32 %144, i32 31)
  %146 = add nsw i32 %145, %142
  %147 = mul nsw i32 %146, 3
  %148 = mul nsw i32 %2, 26
  %149 = srem i32 %148, 32
  %150 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %146, i32 %149, i32 31)
  %151 = add nsw i32 %150, %147
  %152 = mul nsw i32 %151, 3
  %153 = mul nsw i32 %2, 27
  %154 = srem i32 %153, 32
  %155 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %151, i32 %154, i32 31)
  %156 = add nsw i32 %155, %152
  %157 = mul nsw i32 %156, 3
  %158 = mul nsw i32 %2, 28
  %159 = srem i32 %158, 32
  %160 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %156, i32 %159, i32 31)
  %161 = add nsw i32 %160, %157
  %162 = mul nsw i32 %161, 3
  %163 = mul nsw i32 %2, 29
  %164 = srem i32 %163, 32
  %165 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %161, i32 %164, i32 31)
  %166 = add nsw i32 %165, %162
  %167 = mul nsw i32 %166, 3
  %168 = mul nsw i32 %2, 30
  %169 = srem i32 %168, 32
  %170 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %166, i32 %169, i32 31)
  %171 = add nsw i32 %170, %167
  %172 = mul nsw i32 %171, 3
  %173 = mul nsw i32 %2, 31
  %174 = srem i32 %173, 32
  %175 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %171, i32 %174, i32 31)
  %176 = add nsw i32 %175, %172
  %177 = mul nsw i32 %176, 3
  %178 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %176, i32 0, i32 31)
  %179 = add nsw i32 %178, %177
  %180 = mul nsw i32 %179, 3
  %181 = mul nsw i32 %2, 33
  %182 = srem i32 %181, 32
  %183 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %179, i32 %182, i32 31)
  %184 = add nsw i32 %183, %180
  %185 = mul nsw i32 %184, 3
  %186 = mul nsw i32 %2, 34
  %187 = srem i32 %186, 32
  %188 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %184, i32 %187, i32 31)
  %189 = add nsw i32 %188, %185
  %190 = mul nsw i32 %189, 3
  %191 = mul nsw i32 %2, 35
  %192 = srem i32 %191, 32
  %193 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %189, i32 %192, i32 31)
  %194 = add nsw i32 %193, %190
  %195 = mul nsw i32 %194, 3
  %196 = mul nsw i32 %2, 36
  %197 = srem i32 %196, 32
  %198 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %194, i32 %197, i32 31)
  %199 = add nsw i32 %198, %195
  %200 = mul nsw i32 %199, 3
  %201 = mul nsw i32 %2, 37
  %202 = srem i32 %201, 32
  %203 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %199, i32 %202, i32 31)
  %204 = add nsw i32 %203, %200
  %205 = mul nsw i32 %204, 3
  %206 = mul nsw i32 %2, 38
  %207 = srem i32 %206, 32
  %208 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %204, i32 %207, i32 31)
  %209 = add nsw i32 %208, %205
  %210 = mul nsw i32 %209, 3
  %211 = mul nsw i32 %2, 39
  %212 = srem i32 %211, 32
  %213 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %209, i32 %212, i32 31)
  %214 = add nsw i32 %213, %210
  %215 = mul nsw i32 %214, 3
  %216 = mul nsw i32 %2, 40
  %217 = srem i32 %216, 32
  %218 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %214, i32 %217, i32 31)
  %219 = add nsw i32 %218, %215
  %220 = mul nsw i32 %219, 3
  %221 = mul nsw i32 %2, 41
  %222 = srem i32 %221, 32
  %223 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %219, i32 %222, i32 31)
  %224 = add nsw i32 %223, %220
  %225 = mul nsw i32 %224, 3
  %226 = mul nsw i32 %2, 42
  %227 = srem i32 %226, 32
  %228 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %224, i32 %227, i32 31)
  %229 = add nsw i32 %228, %225
  %230 = mul nsw i32 %229, 3
  %231 = mul nsw i32 %2, 43
  %232 = srem i32 %231, 32
  %233 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %229, i32 %232, i32 31)
  %234 = add nsw i32 %233, %230
  %235 = mul nsw i32 %234, 3
  %236 = mul nsw i32 %2, 44
  %237 = srem i32 %236, 32
  %238 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %234, i32 %237, i32 31)
  %239 = add nsw i32 %238, %235
  %240 = mul nsw i32 %239, 3
  %241 = mul nsw i32 %2, 45
  %242 = srem i32 %241, 32
  %243 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %239, i32 %242, i32 31)
  %244 = add nsw i32 %243, %240
  %245 = mul nsw i32 %244, 3
  %246 = mul nsw i32 %2, 46
  %247 = srem i32 %246, 32
  %248 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %244, i32 %247, i32 31)
  %249 = add nsw i32 %248, %245
  %250 = mul nsw i32 %249, 3
  %251 = mul nsw i32 %2, 47
  %252 = srem i32 %251, 32
  %253 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %249, i32 %252, i32 31)
  %254 = add nsw i32 %253, %250
  %255 = mul nsw i32 %254, 3
  %256 = mul nsw i32 %2, 48
  %257 = srem i32 %256, 32
  %258 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %254, i32 %257, i32 31)
  %259 = add nsw i32 %258, %255
  %260 = mul nsw i32 %259, 3
  %261 = mul nsw i32 %2, 49
  %262 = srem i32 %261, 32
  %263 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %259, i32 %262, i32 31)
  %264 = add nsw i32 %263, %260
  %265 = mul nsw i32 %264, 3
  %266 = mul nsw i32 %2, 50
  %267 = srem i32 %266, 32
  %268 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %264, i32 %267, i32 31)
  %269 = add nsw i32 %268, %265
  %270 = mul nsw i32 %269, 3
  %271 = mul nsw i32 %2, 51
  %272 = srem i32 %271, 32
  %273 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %269, i32 %272, i32 31)
  %274 = add nsw i32 %273, %270
  %275 = mul nsw i32 %274, 3
  %276 = mul nsw i32 %2, 52
  %277 = srem i32 %276, 32
  %278 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %274, i32 %277, i32 31)
  %279 = add nsw i32 %278, %275
  %280 = mul nsw i32 %279, 3
  %281 = mul nsw i32 %2, 53
  %282 = srem i32 %281, 32
  %283 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %279, i32 %282, i32 31)
  %284 = add nsw i32 %283, %280
  %285 = mul nsw i32 %284, 3
  %286 = mul nsw i32 %2, 54
  %287 = srem i32 %286, 32
  %288 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %284, i32 %287, i32 31)
  %289 = add nsw i32 %288, %285
  %290 = mul nsw i32 %289, 3
  %291 = mul nsw i32 %2, 55
  %292 = srem i32 %291, 32
  %293 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %289, i32 %292, i32 31)
  %294 = add nsw i32 %293, %290
  %295 = mul nsw i32 %294, 3
  %296 = mul nsw i32 %2, 56
  %297 = srem i32 %296, 32
  %298 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %294, i32 %297, i32 31)
  %299 = add nsw i32 %298, %295
  %300 = mul nsw i32 %299, 3
  %301 = mul nsw i32 %2, 57
  %302 = srem i32 %301, 32
  %303 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %299, i32 %302, i32 31)
  %304 = add nsw i32 %303, %300
  %305 = mul nsw i32 %304, 3
  %306 = mul nsw i32 %2, 58
  %307 = srem i32 %306, 32
  %308 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %304, i32 %307, i32 31)
  %309 = add nsw i32 %308, %305
  %310 = mul nsw i32 %309, 3
  %311 = mul nsw i32 %2, 59
  %312 = srem i32 %311, 32
  %313 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %309, i32 %312, i32 31)
  %314 = add nsw i32 %313, %310
  %315 = mul nsw i32 %314, 3
  %316 = mul nsw i32 %2, 60
  %317 = srem i32 %316, 32
  %318 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %314, i32 %317, i32 31)
  %319 = add nsw i32 %318, %315
  %320 = mul nsw i32 %319, 3
  %321 = mul nsw i32 %2, 61
  %322 = srem i32 %321, 32
  %323 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %319, i32 %322, i32 31)
  %324 = add nsw i32 %323, %320
  %325 = mul nsw i32 %324, 3
  %326 = mul nsw i32 %2, 62
  %327 = srem i32 %326, 32
  %328 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %324, i32 %327, i32 31)
  %329 = add nsw i32 %328, %325
  %330 = mul nsw i32 %329, 3
  %331 = mul nsw i32 %2, 63
  %332 = srem i32 %331, 32
  %333 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %329, i32 %332, i32 31)
  %334 = add nsw i32 %333, %330
  %335 = mul nsw i32 %334, 3
  %336 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %334, i32 0, i32 31)
  %337 = add nsw i32 %336, %335
  %338 = mul nsw i32 %337, 3
  %339 = mul nsw i32 %2, 65
  %340 = srem i32 %339, 32
  %341 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %337, i32 %340, i32 31)
  %342 = add nsw i32 %341, %338
  %343 = mul nsw i32 %342, 3
  %344 = mul nsw i32 %2, 66
  %345 = srem i32 %344, 32
  %346 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %342, i32 %345, i32 31)
  %347 = add nsw i32 %346, %343
  %348 = mul nsw i32 %347, 3
  %349 = mul nsw i32 %2, 67
  %350 = srem i32 %349, 32
  %351 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %347, i32 %350, i32 31)
  %352 = add nsw i32 %351, %348
  %353 = mul nsw i32 %352, 3
  %354 = mul nsw i32 %2, 68
  %355 = srem i32 %354, 32
  %356 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %352, i32 %355, i32 31)
  %357 = add nsw i32 %356, %353
  %358 = mul nsw i32 %357, 3
  %359 = mul nsw i32 %2, 69
  %360 = srem i32 %359, 32
  %361 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %357, i32 %360, i32 31)
  %362 = add nsw i32 %361, %358
  %363 = mul nsw i32 %362, 3
  %364 = mul nsw i32 %2, 70
  %365 = srem i32 %364, 32
  %366 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %362, i32 %365, i32 31)
  %367 = add nsw i32 %366, %363
  %368 = mul nsw i32 %367, 3
  %369 = mul nsw i32 %2, 71
  %370 = srem i32 %369, 32
  %371 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %367, i32 %370, i32 31)
  %372 = add nsw i32 %371, %368
  %373 = mul nsw i32 %372, 3
  %374 = mul nsw i32 %2, 72
  %375 = srem i32 %374, 32
  %376 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %372, i32 %375, i32 31)
  %377 = add nsw i32 %376, %373
  %378 = mul nsw i32 %377, 3
  %379 = mul nsw i32 %2, 73
  %380 = srem i32 %379, 32
  %381 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %377, i32 %380, i32 31)
  %382 = add nsw i32 %381, %378
  %383 = mul nsw i32 %382, 3
  %384 = mul nsw i32 %2, 74
  %385 = srem i32 %384, 32
  %386 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %382, i32 %385, i32 31)
  %387 = add nsw i32 %386, %383
  %388 = mul nsw i32 %387, 3
  %389 = mul nsw i32 %2, 75
  %390 = srem i32 %389, 32
  %391 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %387, i32 %390, i32 31)
  %392 = add nsw i32 %391, %388
  %393 = mul nsw i32 %392, 3
  %394 = mul nsw i32 %2, 76
  %395 = srem i32 %394, 32
  %396 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %392, i32 %395, i32 31)
  %397 = add nsw i32 %396, %393
  %398 = mul nsw i32 %397, 3
  %399 = mul nsw i32 %2, 77
  %400 = srem i32 %399, 32
  %401 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %397, i32 %400, i32 31)
  %402 = add nsw i32 %401, %398
  %403 = mul nsw i32 %402, 3
  %404 = mul nsw i32 %2, 78
  %405 = srem i32 %404, 32
  %406 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %402, i32 %405, i32 31)
  %407 = add nsw i32 %406, %403
  %408 = mul nsw i32 %407, 3
  %409 = mul nsw i32 %2, 79
  %410 = srem i32 %409, 32
  %411 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %407, i32 %410, i32 31)
  %412 = add nsw i32 %411, %408
  %413 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %412, ptr %413, align 4
  ret void
}

define i32 @_Z5depthi(i32 %0) {
  %2 = icmp slt i32 %0, 1
  br i1 %2, label %3, label %15

3:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = mul nuw nsw i32 %7, %8
  %10 = add nuw nsw i32 %9, %6
  %11 = mul nuw nsw i32 %10, %5
  %12 = add nuw nsw i32 %11, %4
  br label %13

13:
  %14 = phi i32 [ %29, %15 ], [ %12, %3 ]
  ret i32 %14

15:
  %16 = add nsw i32 %0, -1
  %17 = call i32 @_Z5depthi(i32 %16)
  %18 = mul nsw i32 %17, 3
  %19 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %20 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %21 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %23 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %24 = mul nuw nsw i32 %22, %23
  %25 = add nuw nsw i32 %24, %21
  %26 = mul nuw nsw i32 %25, %20
  %27 = add nuw nsw i32 %26, %19
  %28 = and i32 %27, 31
  %29 = add nsw i32 %18, %28
  br label %13
}

define ptx_kernel void @recursive(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = srem i32 %19, 5
  %21 = add nsw i32 %20, %2
  %22 = call i32 @_Z5depthi(i32 %21)
  %23 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %22, i32 1, i32 31)
  %24 = add nsw i32 %23, %22
  %25 = and i32 %24, 1
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %30, label %27

27:
  %28 = srem i32 %24, 3
  %29 = call i32 @_Z5depthi(i32 %28)
  br label %30

30:
  %31 = phi i32 [ %24, %3 ], [ %29, %27 ]
  br label %32

32:
  %33 = phi i32 [ %37, %32 ], [ 16, %30 ]
  %34 = phi i32 [ %36, %32 ], [ %31, %30 ]
  %35 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %34, i32 %33, i32 31)
  %36 = add nsw i32 %35, %34
  %37 = lshr i32 %33, 1
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %39, label %32

39:
  %40 = call i32 @_Z5depthi(i32 1)
  %41 = add nsw i32 %40, %36
  %42 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %41, ptr %42, align 4
  ret void
}

define ptx_kernel void @wrongMask(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = icmp eq i32 %16, %2
  br i1 %17, label %18, label %31

18:
  %19 = mul nuw nsw i32 %7, %8
  %20 = add nuw nsw i32 %19, %6
  %21 = mul nuw nsw i32 %20, %5
  %22 = add nuw nsw i32 %21, %4
  %23 = and i32 %22, 31
  %24 = shl nuw i32 1, %23
  %25 = xor i32 %24, -1
  %26 = sext i32 %16 to i64
  %27 = getelementptr inbounds i32, ptr %0, i64 %26
  %28 = load i32, ptr %27, align 4
  %29 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %25, i32 %28, i32 1, i32 31)
  %30 = getelementptr inbounds i32, ptr %1, i64 %26
  store i32 %29, ptr %30, align 4
  br label %31

31:
  ret void
}

define ptx_kernel void @wrongMaskOfAll(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -9, i32 %19, i32 1, i32 31)
  %21 = add nsw i32 %20, %2
  %22 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %21, ptr %22, align 4
  ret void
}

define ptx_kernel void @deadlock(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = mul i32 %10, %9
  %12 = add i32 %11, %8
  %13 = mul i32 %12, %7
  %14 = add i32 %13, %6
  %15 = mul i32 %14, %5
  %16 = add nuw nsw i32 %15, %4
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds i32, ptr %0, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = mul nuw nsw i32 %7, %8
  %21 = add nuw nsw i32 %20, %6
  %22 = mul nuw nsw i32 %21, %5
  %23 = add nuw nsw i32 %22, %4
  %24 = icmp eq i32 %23, %2
  br i1 %24, label %25, label %26

25:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %28

26:
  %27 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %19, i32 1, i32 31)
  br label %28

28:
  %29 = phi i32 [ %19, %25 ], [ %27, %26 ]
  %30 = getelementptr inbounds i32, ptr %1, i64 %17
  store i32 %29, ptr %30, align 4
  ret void
}

define ptx_kernel void @differentMasks(ptr %0, ptr %1, i32 %2) {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %9 = mul nuw nsw i32 %7, %8
  %10 = add nuw nsw i32 %9, %6
  %11 = mul nuw nsw i32 %10, %5
  %12 = add nuw nsw i32 %11, %4
  %13 = icmp eq i32 %12, %2
  %14 = select i1 %13, i32 65535, i32 -1
  %15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %16 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %17 = mul i32 %16, %15
  %18 = add i32 %17, %8
  %19 = mul i32 %18, %7
  %20 = add i32 %19, %6
  %21 = mul i32 %20, %5
  %22 = add nuw nsw i32 %21, %4
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds i32, ptr %0, i64 %23
  %25 = load i32, ptr %24, align 4
  %26 = and i32 %25, 1
  %27 = icmp ne i32 %26, 0
  %28 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %14, i1 %27)
  %29 = getelementptr inbounds i32, ptr %1, i64 %23
  store i32 %28, ptr %29, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.cttz.i32(i32, i1 immarg)
declare i32 @llvm.nvvm.activemask()
