// Small kernels as textual NVPTX IR.
#pragma once

#include <stdexcept>
#include <string>

namespace mneme::test {

inline const std::string kHead = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.trap()
define internal i64 @globalId() {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = mul i32 %block, %width
  %i = add i32 %base, %thread
  %wide = zext i32 %i to i64
  ret i64 %wide
}
)";

/// out[i] = in[i] * factor for i < n
inline const std::string kScale = kHead + R"(
define ptx_kernel void @scale(ptr %in, ptr %out, i32 %n, float %factor) {
  %i = call i64 @globalId()
  %n64 = sext i32 %n to i64
  %inside = icmp slt i64 %i, %n64
  br i1 %inside, label %then, label %done
then:
  %from = getelementptr inbounds float, ptr %in, i64 %i
  %to = getelementptr inbounds float, ptr %out, i64 %i
  %x = load float, ptr %from, align 4
  %y = fmul float %x, %factor
  store float %y, ptr %to, align 4
  br label %done
done:
  ret void
}
)";

/// atomicAdd(sum, in[i])
inline const std::string kAtomicSum = kHead + R"(
define ptx_kernel void @atomicSum(ptr %in, ptr %sum) {
  %i = call i64 @globalId()
  %from = getelementptr inbounds float, ptr %in, i64 %i
  %x = load float, ptr %from, align 4
  %old = atomicrmw fadd ptr %sum, float %x monotonic, align 4
  ret void
}
)";

/// counter += limit; out[0] = *link, where the global `link` points to the global `value`
inline const std::string kGlobals = kHead + R"(
@counter = addrspace(1) externally_initialized global i32 7
@value = addrspace(1) externally_initialized global i32 1
@link = addrspace(1) externally_initialized global ptr null
@limit = addrspace(4) externally_initialized constant i32 3
define ptx_kernel void @globals(ptr %out) {
  %c = load i32, ptr addrspace(1) @counter, align 4
  %l = load i32, ptr addrspace(4) @limit, align 4
  %sum = add i32 %c, %l
  store i32 %sum, ptr addrspace(1) @counter, align 4
  %p = load ptr, ptr addrspace(1) @link, align 8
  %v = load i32, ptr %p, align 4
  store i32 %v, ptr %out, align 4
  %unused = load i32, ptr addrspace(1) @value, align 4
  ret void
}
)";

/// Follows head->next->next... and adds up values: { ptr next, i32 value }
inline const std::string kGraph = kHead + R"(
%node = type { ptr, i32 }
define ptx_kernel void @graph(ptr %head, ptr %out) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %head, %entry ], [ %next, %body ]
  %total = phi i32 [ 0, %entry ], [ %more, %body ]
  %end = icmp eq ptr %at, null
  br i1 %end, label %done, label %body
body:
  %slot = getelementptr inbounds %node, ptr %at, i32 0, i32 1
  %v = load i32, ptr %slot, align 4
  %more = add i32 %total, %v
  %next = load ptr, ptr %at, align 8
  br label %loop
done:
  store i32 %total, ptr %out, align 4
  ret void
}
)";

/// `text` with the one occurrence of `from` replaced.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::logic_error("not exactly once in the kernel: " + from);
  return text.replace(at, from.size(), to);
}

} // namespace mneme::test
