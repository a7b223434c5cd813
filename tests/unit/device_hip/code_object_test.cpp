// What code objects say about themselves, whole ones and damaged ones.
#include <doctest/doctest.h>

#include <cstring>

#include "runtime/compiler/service/client.h"
#include "runtime/devices/hip/code_object.h"

using namespace mneme;
using device::hip::CodeObjectFacts;
using device::hip::readCodeObject;

namespace {

const char* const kScale = R"(
target triple = "amdgcn-amd-amdhsa"
@factor = addrspace(4) externally_initialized constant float 2.0, align 4
@counter = addrspace(1) externally_initialized global i64 0, align 8
@tile = internal addrspace(3) global [64 x float] poison, align 4

define amdgpu_kernel void @scale(ptr addrspace(1) %data, i32 %n, i8 %flag) #0 {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %size = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %size, align 4
  %place = getelementptr float, ptr addrspace(1) %data, i32 %thread
  %slot = getelementptr float, ptr addrspace(3) @tile, i32 %thread
  %value = load float, ptr addrspace(1) %place
  %factor = load float, ptr addrspace(4) @factor
  %product = fmul float %value, %factor
  store volatile float %product, ptr addrspace(3) %slot
  store float %product, ptr addrspace(1) %place
  %wide = zext i32 %blocks to i64
  %old = atomicrmw add ptr addrspace(1) @counter, i64 %wide monotonic
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,128" "target-cpu"="gfx90a" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
)";

/// Empty where this LLVM has no code generation for AMD GPUs.
const std::vector<std::byte>& scaleImage() {
  static const std::vector<std::byte> image = [] {
    if (compile::versionJson().find("amdgpu") == std::string::npos)
      return std::vector<std::byte>();
    compile::Request request;
    const auto text = std::as_bytes(std::span(kScale, std::strlen(kScale)));
    request.modules.emplace_back(text.begin(), text.end());
    request.kernel = "scale";
    request.target = "gfx90a:xnack-";
    return compile::compile(request).image;
  }();
  if (image.empty())
    MESSAGE("skipped: this LLVM has no AMDGPU target");
  return image;
}

} // namespace

TEST_CASE("a code object names its target, the kernel's arguments and resources, its variables") {
  const std::vector<std::byte>& image = scaleImage();
  if (image.empty())
    return;
  const CodeObjectFacts facts = readCodeObject(image, "scale");
  CHECK(facts.target == "gfx90a:xnack-");
  CHECK(facts.argumentSizes == std::vector<uint64_t>{8, 4, 1}); // hidden ones left out
  CHECK(facts.ldsBytes == 256);
  CHECK(facts.maxThreads == 128);
  CHECK(facts.vectorRegisters > 0);
  REQUIRE(facts.variables.size() == 2);
  for (const auto& variable : facts.variables) {
    CHECK((variable.name == "factor" || variable.name == "counter"));
    CHECK(variable.sizeBytes == (variable.name == "factor" ? 4 : 8));
    CHECK(variable.isConstant == (variable.name == "factor"));
  }
}

TEST_CASE("a kernel that is not there has no arguments") {
  const std::vector<std::byte>& image = scaleImage();
  if (image.empty())
    return;
  const CodeObjectFacts facts = readCodeObject(image, "other");
  CHECK(facts.target == "gfx90a:xnack-");
  CHECK(facts.argumentSizes.empty());
}

TEST_CASE("damaged code objects give fewer facts, never a fault") {
  const std::vector<std::byte>& image = scaleImage();
  if (image.empty())
    return;
  for (size_t size = 0; size < image.size(); size += 97)
    CHECK(readCodeObject(std::span(image).first(size), "scale").target.empty());
  std::vector<std::byte> damaged = image;
  for (size_t at = 0; at < image.size(); ++at) {
    damaged[at] ^= std::byte{0xff};
    readCodeObject(damaged, "scale"); // for the sanitizers
    damaged[at] = image[at];
  }
  std::vector<std::byte> other = image;
  other[18] = std::byte{190}; // the machine: NVIDIA's
  CHECK(readCodeObject(other, "scale").target.empty());
}
