; The static hash depends on the kernel and what it reaches: not on the source's path, debug
; information, -fPIC, names of values, types and internal symbols, or the rest of the unit.
; RUN: split-file %s %t
; RUN: %embedded %t/plain.ll | grep -o '"kernel":"kernel.*"static_hash":"[0-9a-f]*"' | sed 's/.*hash/hash/' > %t/plain
; RUN: %embedded %t/dressed.ll | grep -o '"kernel":"kernel.*"static_hash":"[0-9a-f]*"' | sed 's/.*hash/hash/' > %t/dressed
; RUN: %embedded %t/other.ll | grep -o '"kernel":"kernel.*"static_hash":"[0-9a-f]*"' | sed 's/.*hash/hash/' > %t/other
; RUN: FileCheck --input-file=%t/plain %s
; RUN: diff %t/plain %t/dressed
; RUN: not diff %t/plain %t/other

; CHECK: hash":"{{[0-9a-f]+}}"

;--- plain.ll
source_filename = "a.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.S = type { i32, i32 }
@.str = private unnamed_addr constant [3 x i8] c"hi\00"
@_ZL7counter = internal addrspace(1) global i32 0

define internal i32 @_ZL6helperi(i32 %0) {
  %2 = add i32 %0, 1
  %3 = load i8, ptr @.str
  ret i32 %2
}

define internal i32 @_ZL5deepi(i32 %0) {
  store i32 %0, ptr addrspace(1) @_ZL7counter
  ret i32 %0
}

define ptx_kernel void @kernel(ptr %0) {
  %2 = getelementptr %struct.S, ptr %0, i64 3, i32 1
  %3 = load i32, ptr %2
  %4 = call i32 @_ZL6helperi(i32 %3)
  %5 = call i32 @_ZL5deepi(i32 %4)
  call void asm sideeffect "bar.sync 0;", ""(), !srcloc !1
  store i32 %5, ptr %0
  ret void
}
!1 = !{i64 100}

;--- dressed.ll
source_filename = "/somewhere/else/b.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Unrelated = type { double }
%struct.S.17 = type { i32, i32 }
@.str = private unnamed_addr constant [4 x i8] c"bye\00"
@.str.1 = private unnamed_addr constant [3 x i8] c"hi\00"
@unrelated = addrspace(1) externally_initialized global i32 0
@_ZL7counter = internal addrspace(1) global i32 0

define internal i32 @_ZL5deepi(i32 %x) {
  store i32 %x, ptr addrspace(1) @_ZL7counter
  ret i32 %x
}

define ptx_kernel void @unrelated_kernel(ptr %out) {
  %a = getelementptr %struct.Unrelated, ptr %out, i64 1
  %v = load i8, ptr @.str
  %w = call i32 @_ZL5deepi(i32 1)
  store i8 %v, ptr %a
  store i32 1, ptr addrspace(1) @unrelated
  ret void, !a_kind_of_its_own !9
}

define dso_local ptx_kernel void @kernel(ptr %out) !dbg !6 {
entry:
  %field = getelementptr %struct.S.17, ptr %out, i64 3, i32 1, !dbg !8
  %v = load i32, ptr %field, !dbg !8
  %r = call i32 @renamed_helper(i32 %v), !dbg !8
  %d = call i32 @_ZL5deepi(i32 %r), !dbg !8
  call void asm sideeffect "bar.sync 0;", ""(), !dbg !8, !srcloc !9
  store i32 %d, ptr %out, !dbg !8
  ret void, !dbg !8
}

define internal i32 @renamed_helper(i32 %x) {
start:
  %y = add i32 %x, 1
  %c = load i8, ptr @.str.1
  ret i32 %y
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !10}
!llvm.ident = !{!4}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "b.cu", directory: "/somewhere/else")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = !{!"another compiler"}
!5 = !DISubroutineType(types: !7)
!6 = distinct !DISubprogram(name: "kernel", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!7 = !{null}
!8 = !DILocation(line: 2, scope: !6)
!9 = !{i64 200}
!10 = !{i32 8, !"PIC Level", i32 2}

;--- other.ll
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.S = type { i32, i32 }
@.str = private unnamed_addr constant [3 x i8] c"hi\00"
@_ZL7counter = internal addrspace(1) global i32 0

define internal i32 @_ZL6helperi(i32 %0) {
  %2 = add i32 %0, 2
  %3 = load i8, ptr @.str
  ret i32 %2
}

define internal i32 @_ZL5deepi(i32 %0) {
  store i32 %0, ptr addrspace(1) @_ZL7counter
  ret i32 %0
}

define ptx_kernel void @kernel(ptr %0) {
  %2 = getelementptr %struct.S, ptr %0, i64 3, i32 1
  %3 = load i32, ptr %2
  %4 = call i32 @_ZL6helperi(i32 %3)
  %5 = call i32 @_ZL5deepi(i32 %4)
  call void asm sideeffect "bar.sync 0;", ""()
  store i32 %5, ptr %0
  ret void
}
