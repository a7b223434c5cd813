; Recursion, a function pointer table, and a struct passed by value that the kernel changes.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%params = type { i32, [3 x i32] }

@table = private constant [2 x ptr] [ptr @addThread, ptr @double]

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define internal i32 @addThread(i32 %x) noinline {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %sum = add i32 %x, %tid
  ret i32 %sum
}

define internal i32 @double(i32 %x) {
  %twice = shl i32 %x, 1
  ret i32 %twice
}

define internal i32 @fibonacci(i32 %n) {
  %small = icmp ult i32 %n, 2
  br i1 %small, label %leaf, label %inner
leaf:
  ret i32 %n
inner:
  %n1 = sub i32 %n, 1
  %n2 = sub i32 %n, 2
  %f1 = call i32 @fibonacci(i32 %n1)
  %f2 = call i32 @fibonacci(i32 %n2)
  %sum = add i32 %f1, %f2
  ret i32 %sum
}

define ptx_kernel void @calls(ptr %out, ptr byval(%params) align 4 %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %parity = and i32 %tid, 1
  %entry = getelementptr [2 x ptr], ptr @table, i32 0, i32 %parity
  %function = load ptr, ptr %entry
  %called = call i32 %function(i32 100)
  %number = call i32 @fibonacci(i32 %tid)
  %field = getelementptr %params, ptr %p, i32 0, i32 1, i32 2
  %before = load i32, ptr %field
  %changed = add i32 %before, %tid
  store i32 %changed, ptr %field
  %after = load i32, ptr %field
  %s1 = mul i32 %called, 10000
  %s2 = mul i32 %after, 100
  %s3 = add i32 %s1, %s2
  %s4 = add i32 %s3, %number
  %to = getelementptr i32, ptr %out, i32 %tid
  store i32 %s4, ptr %to
  ret void
}
