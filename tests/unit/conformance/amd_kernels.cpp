#include "tests/unit/conformance/amd_kernels.h"

#include <cstring>
#include <utility>

#include "tests/unit/conformance/kernels.h"

namespace conformance {

namespace {

/// What NVIDIA has as one instruction.
constexpr const char* kServices = R"(
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare void @llvm.trap()

define internal i32 @blockSize() {
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %place = getelementptr inbounds i8, ptr addrspace(4) %packet, i64 4
  %size = load i16, ptr addrspace(4) %place, align 4
  %wide = zext i16 %size to i32
  ret i32 %wide
}

define internal i32 @blockCount() {
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %place = getelementptr inbounds i8, ptr addrspace(4) %packet, i64 12
  %threads = load i32, ptr addrspace(4) %place, align 4
  %size = call i32 @blockSize()
  %count = udiv i32 %threads, %size
  ret i32 %count
}

define internal void @barrier() {
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  ret void
}

define internal i32 @lane() {
  %low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %all = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %low)
  ret i32 %all
}

define internal i32 @shuffleDown(i32 %mask, i32 %value, i32 %distance, i32 %last) {
  %lane = call i32 @lane()
  %inWarp = and i32 %lane, 31
  %far = add i32 %inWarp, %distance
  %isInside = icmp ule i32 %far, %last
  %there = add i32 %lane, %distance
  %from = select i1 %isInside, i32 %there, i32 %lane
  %place = shl i32 %from, 2
  %got = call i32 @llvm.amdgcn.ds.bpermute(i32 %place, i32 %value)
  ret i32 %got
}

define internal i32 @vote(i32 %mask, i1 %value) {
  %all = call i64 @llvm.amdgcn.ballot.i64(i1 %value)
  %lane = call i32 @lane()
  %half = and i32 %lane, 32
  %wide = zext i32 %half to i64
  %shifted = lshr i64 %all, %wide
  %votes = trunc i64 %shifted to i32
  ret i32 %votes
}

define internal void @fail(ptr %text, ptr %file, i32 %line, ptr %function, i64 %width) {
  call void @llvm.trap()
  ret void
}
)";

constexpr std::pair<const char*, const char*> kReplaced[] = {
    {"ptx_kernel", "amdgpu_kernel"},
    {"@llvm.nvvm.read.ptx.sreg.ctaid.x", "@llvm.amdgcn.workgroup.id.x"},
    {"@llvm.nvvm.read.ptx.sreg.nctaid.x", "@blockCount"},
    {"@llvm.nvvm.read.ptx.sreg.ntid.x", "@blockSize"},
    {"@llvm.nvvm.read.ptx.sreg.tid.x", "@llvm.amdgcn.workitem.id.x"},
    {"@llvm.nvvm.barrier0", "@barrier"},
    {"@llvm.nvvm.shfl.sync.down.i32", "@shuffleDown"},
    {"@llvm.nvvm.vote.ballot.sync", "@vote"},
    {"@__assertfail", "@fail"},
};

} // namespace

std::string amdKernels() {
  std::string text = kKernels;
  text.erase(0, text.find("@tile ="));
  const size_t prints = text.find("define ptx_kernel void @prints");
  text.erase(prints, text.find("; counter +=") - prints);
  for (const auto& [from, to] : kReplaced)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += strlen(to))
      text.replace(at, strlen(from), to);
  return kServices + text;
}

} // namespace conformance
