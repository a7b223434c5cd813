#include <doctest/doctest.h>

#include "kernels.h"
#include "loaded_image.h"

using namespace mneme;
using namespace mneme::test;

namespace {

constexpr uint32_t kGrid = 5;
constexpr uint32_t kBlock = 64;

/// Runs vectorAdd on kGrid * kBlock threads and checks each element bit for bit.
void checkVectorAdd(const compile::Request& request) {
  const LoadedImage image(compile::compile(request).image);
  CHECK(image.header().abi == MNEME_CPU_IMAGE_ABI);
  CHECK(std::string(image.header().kernelName) == "vectorAdd");
  REQUIRE(image.header().argCount == 5);
  CHECK(image.header().argSizes[3] == 4);

  int count = static_cast<int>(kGrid * kBlock) - 7;
  float scale = 2.5f;
  std::vector<float> a(kGrid * kBlock);
  std::vector<float> b(a.size());
  std::vector<float> c(a.size(), -1.0f);
  for (size_t index = 0; index < a.size(); ++index) {
    a[index] = 0.1f * static_cast<float>(index);
    b[index] = 1.0f / static_cast<float>(index + 1);
  }
  float* pa = a.data();
  float* pb = b.data();
  float* pc = c.data();
  void* arguments[] = {&pa, &pb, &pc, &count, &scale};
  image.launch(kGrid, kBlock, arguments);
  for (size_t index = 0; index < c.size(); ++index) {
    const volatile float product = b[index] * scale;
    const float expected = index < static_cast<size_t>(count) ? a[index] + product : -1.0f;
    CHECK(c[index] == expected);
  }
}

} // namespace

TEST_CASE("a CPU image computes the same under every pipeline") {
  for (const char* passes : {"", "default<O0>", "default<O1>", "default<O2>", "default<O3>",
                             "default<Os>", "default<Oz>"}) {
    CAPTURE(passes);
    for (uint32_t level = 0; level <= 3; level += 3) {
      compile::Request request = vectorAddRequest("cpu");
      request.passes = passes;
      request.codegenOptLevel = level;
      checkVectorAdd(request);
    }
  }
}

TEST_CASE("a CPU image computes the same when specialised") {
  compile::Request request = vectorAddRequest("cpu");
  request.specializedArgs = {argument(3, static_cast<int>(kGrid * kBlock) - 7), argument(4, 2.5f)};
  request.specializeDims = true;
  request.setLaunchBounds = true;
  request.grid[0] = kGrid;
  request.block[0] = kBlock;
  checkVectorAdd(request);
}

TEST_CASE("code for a named processor runs too") { checkVectorAdd(vectorAddRequest("cpu:x86-64")); }

TEST_CASE("the loop of a simple kernel is vectorised") {
  compile::Request request = vectorAddRequest("cpu");
  request.wantIr = true;
  CHECK(contains(compile::compile(request).ir, " x float>"));
}

TEST_CASE("equal requests give equal images") {
  const compile::Request request = vectorAddRequest("cpu");
  const compile::Result first = compile::compile(request);
  const compile::Result second = compile::compile(request);
  CHECK(first.image == second.image);
  CHECK(first.image.size() > 0);
}

TEST_CASE("the outputs do not depend on which outputs are asked for") {
  compile::Request request = vectorAddRequest("cpu");
  const compile::Result plain = compile::compile(request);
  request.wantIr = true;
  request.wantAssembly = true;
  const compile::Result all = compile::compile(request);
  CHECK(all.image == plain.image);
  CHECK(contains(all.assembly, "mneme_cpu_image"));
}

TEST_CASE("an image needs no more than libc and libm") {
  compile::Request request;
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
declare float @nowhere(float)
define ptx_kernel void @k(ptr %p) {
  %y = call float @nowhere(float 1.0)
  store float %y, ptr %p
  ret void
})")};
  request.kernel = "k";
  const Failure failure = failureOf([&] { compile::compile(request); });
  CHECK(failure.code != ErrorCode::Ok);
  CHECK(contains(failure.message, "nowhere"));
}
