// Members of structures that are passed by value become constants.
#include <doctest/doctest.h>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

// A functor that is passed on as a copy, and a structure the kernel changes.
const char* const kKernel = R"(
target triple = "nvptx64-nvidia-cuda"
%struct.F = type { ptr, i32, i32, double }
define ptx_kernel void @apply(ptr byval(%struct.F) align 8 %f, ptr byval(%struct.F) align 8 %g) {
  %copy = alloca %struct.F, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %f, i64 24, i1 false)
  call void @body(ptr %copy)
  call void @body(ptr %g)
  %at = getelementptr inbounds %struct.F, ptr %g, i32 0, i32 1
  store i32 5, ptr %at, align 8
  call void @body(ptr %g)
  ret void
}
define ptx_kernel void @sometimes(ptr byval(%struct.F) align 8 %f, i1 %isOn) {
  %at = getelementptr inbounds %struct.F, ptr %f, i32 0, i32 1
  br i1 %isOn, label %change, label %end
change:
  store i32 5, ptr %at, align 8
  call void @llvm.nvvm.barrier0()
  br label %end
end:
  call void @body(ptr %f)
  ret void
}
define internal void @body(ptr %self) {
  %data = load ptr, ptr %self, align 8
  %pn = getelementptr inbounds %struct.F, ptr %self, i32 0, i32 1
  %n = load i32, ptr %pn, align 8
  store volatile i32 %n, ptr %data, align 8
  %px = getelementptr inbounds %struct.F, ptr %self, i32 0, i32 3
  %x = load double, ptr %px, align 8
  store volatile double %x, ptr %data, align 8
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.nvvm.barrier0()
)";

template <typename Value> ArgValue member(uint32_t index, uint32_t offset, const Value& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {.index = index, .bytes = {bytes, bytes + sizeof(value)}, .offset = offset};
}

std::string irWith(const std::vector<ArgValue>& values, const char* target = "sm_90",
                   const char* kernel = "apply") {
  compile::Request request;
  request.modules = {bytesOf(kKernel)};
  request.kernel = kernel;
  request.target = target;
  request.wantIr = true;
  request.specializedArgs = values;
  return compile::compile(request).ir;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

TEST_CASE("a member becomes a constant wherever the kernel reads it") {
  for (const char* target : {"sm_90", "cpu"}) { // the CPU's code has loops over threads, and copies
    CAPTURE(target);
    CHECK(count(irWith({}, target), "store volatile i32 77") == 0);
    const std::string one = irWith({member(0, 8, 77)}, target);
    CHECK(count(one, "store volatile i32 77") >= 1);
    CHECK(count(one, "store volatile double 2.5") == 0);
    const std::string both = irWith({member(0, 8, 77), member(0, 16, 2.5)}, target);
    CHECK(count(both, "store volatile i32 77") >= 1);
    CHECK(count(both, "store volatile double 2.5") >= 1);
  }
}

TEST_CASE("what the kernel has changed does not become a constant") {
  const std::string changed = irWith({member(1, 8, 77)});
  CHECK(count(changed, "store volatile i32 77") == 1);
  CHECK(count(changed, "store volatile i32 5") == 1);
  const std::string sometimes = irWith({member(0, 8, 77)}, "sm_90", "sometimes");
  CHECK(count(sometimes, "i32 77") == 0);
  CHECK(count(sometimes, "store volatile i32") == 1);
}

TEST_CASE("a member that no structure has is refused") {
  for (const ArgValue& wrong : {member(0, 24, 1), member(0, 20, 1.0), member(2, 0, 1)})
    CHECK_THROWS_WITH_AS(irWith({wrong}), doctest::Contains("takes no structure as argument"),
                         Error);
}

TEST_CASE("the trace names argument, offset and value") {
  compile::Request request;
  request.modules = {bytesOf(kKernel)};
  request.kernel = "apply";
  request.target = "sm_90";
  request.wantTrace = true;
  request.specializedArgs = {member(0, 8, 77)};
  CHECK(compile::compile(request).trace.find("ArgNo 0 Offset 8 with value i32 77") !=
        std::string::npos);
}
