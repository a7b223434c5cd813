; Loops around atomics: which of them wait for another thread?
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; The maximum by compare-and-swap: every attempt starts from the value just read.
define ptx_kernel void @lockFree(ptr %max) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = load i32, ptr %max
  br label %retry
retry:
  %old = phi i32 [ %first, %entry ], [ %seen, %retry ]
  %larger = call i32 @llvm.umax.i32(i32 %old, i32 %tid)
  %pair = cmpxchg ptr %max, i32 %old, i32 %larger syncscope("device") monotonic monotonic
  %seen = extractvalue { i32, i1 } %pair, 0
  %same = icmp eq i32 %seen, %old
  br i1 %same, label %done, label %retry
done:
  ret void
}
declare i32 @llvm.umax.i32(i32, i32)

; A work queue: the counter moves by itself.
define ptx_kernel void @queue(ptr %counter, ptr %out) {
entry:
  br label %take
take:
  %item = atomicrmw add ptr %counter, i32 1 syncscope("device") monotonic
  %more = icmp ult i32 %item, 100
  br i1 %more, label %work, label %done
work:
  %place = getelementptr i32, ptr %out, i32 %item
  store i32 %item, ptr %place
  br label %take
done:
  ret void
}

; Threads take turns: thread i waits until thread i + 1 is through.
define ptx_kernel void @turns(ptr %turn, ptr %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %wait
wait:
  %now = load volatile i32, ptr %turn
  %mine = icmp eq i32 %now, %tid
  br i1 %mine, label %work, label %wait
work:
  %place = getelementptr i32, ptr %out, i32 %tid
  store i32 %now, ptr %place
  %before = sub i32 %tid, 1
  store volatile i32 %before, ptr %turn
  ret void
}

; A spin lock.
define ptx_kernel void @lock(ptr %lock, ptr %sum) {
entry:
  br label %acquire
acquire:
  %old = atomicrmw xchg ptr %lock, i32 1 syncscope("device") acquire
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %acquire
work:
  %value = load i32, ptr %sum
  %next = add i32 %value, 1
  store i32 %next, ptr %sum
  store atomic i32 0, ptr %lock syncscope("device") release, align 4
  ret void
}
