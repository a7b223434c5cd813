// Code that counts on the lanes of a warp going in step, and code that only looks like it.
#include "support.h"

#include <ctime>
#include <numeric>

using namespace test;

namespace {

/// 128 numbers through a kernel (in, out), by every pipeline.
std::vector<float> through(const char* kernel, std::vector<void*> more = {}) {
  std::vector<float> in(128), first;
  std::iota(in.begin(), in.end(), 1.0f);
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    Compiled compiled = compileText(kernelText("in_step.ll"), kernel, passes);
    std::vector<float> out(128);
    void* pointers[] = {in.data(), out.data()};
    std::vector<void*> args{&pointers[0], &pointers[1]};
    args.insert(args.end(), more.begin(), more.end());
    launch(compiled, 1, 128, args);
    if (first.empty())
      first = out;
    CHECK(first == out);
  }
  return first;
}

} // namespace

TEST_CASE("kernels whose lanes read only what is theirs, or behind a barrier, stay loops") {
  for (const char* kernel :
       {"barriers", "treeScan", "triangle", "ownParts", "ownColumns", "ownStack", "oneThread",
        "border", "strides", "columns", "maskedScan"}) {
    CAPTURE(kernel);
    CHECK(compileText(kernelText("in_step.ll"), kernel).isLoop());
  }
}

TEST_CASE("the tail of a reduction goes in step") {
  CHECK(through("lastWarp")[0] == 128 * 129 / 2);
}

TEST_CASE("a scan goes in step though its indices are not plain") {
  uint32_t size = 32;
  const std::vector<float> sums = through("paddedScan", {&size});
  for (int t = 0; t < 128; ++t) {
    const int lane = t % 32, first = t - lane + 1;
    CHECK(sums[t] == (lane + 1) * first + lane * (lane + 1) / 2);
  }
}

TEST_CASE("a fence between store and load does not keep lanes from going in step") {
  const std::vector<float> values = through("mirror");
  for (int t = 0; t < 128; ++t)
    CHECK(values[t] == t / 32 * 32 + 32 - t % 32);
}

TEST_CASE("many accesses are looked at quickly") {
  std::string body;
  for (int i = 0; i < 600; ++i) {
    const std::string n = std::to_string(i), a = std::to_string(i * 7 % 40);
    body += "  %w" + n + " = getelementptr float, ptr addrspace(3) %own, i64 " + a +
            "\n  store float %x, ptr addrspace(3) %w" + n + "\n  %r" + n +
            " = getelementptr float, " + "ptr addrspace(3) %own, i64 " +
            std::to_string(i * 11 % 40) + "\n  %v" + n +
            " = load volatile float, ptr addrspace(3) %r" + n + "\n";
  }
  std::string text = std::string(kPreamble) + "@d = external addrspace(3) global [0 x float]\n";
  std::string indices;
  for (const char* axis : {"x", "y", "z"})
    for (const char* name : {"tid.", "ntid."}) {
      const std::string full = std::string(name) + axis;
      text += "declare i32 @llvm.nvvm.read.ptx.sreg." + full + "()\n";
      indices += "  %" + full + " = call i32 @llvm.nvvm.read.ptx.sreg." + full + "()\n";
    }
  // Each thread of three dimensions has 40 elements.
  text += "define ptx_kernel void @k(float %x) {\n" + indices +
          "  %slice = mul i32 %tid.z, %ntid.y\n  %row = add i32 %slice, %tid.y\n"
          "  %before = mul i32 %row, %ntid.x\n  %thread = add i32 %before, %tid.x\n"
          "  %first = mul i32 %thread, 40\n  %wide = zext i32 %first to i64\n"
          "  %own = getelementptr float, ptr addrspace(3) @d, i64 %wide\n" +
          body + "  ret void\n}\n";
  const std::clock_t start = std::clock();
  compileText(text, "k", "default<O0>");
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 10); // half a minute, pair by pair
}

TEST_CASE("AMDGCN: waves of 32 and 64 lanes go in step") {
  for (unsigned size : {32u, 64u}) {
    std::string text = kernelText("amdgcn/in_step.ll");
    text.replace(text.find("size64"), 6, "size" + std::to_string(size));
    Compiled compiled = compileText(text, "mirror");
    std::vector<uint32_t> out(128);
    void* pointer = out.data();
    launch(compiled, 1, 128, {&pointer});
    for (uint32_t t = 0; t < 128; ++t)
      CHECK(out[t] == t / size * size + size - 1 - t % size);
  }
}
