// Kernels in, numbers out: compiles NVPTX-flavoured IR for the CPU device and runs it there.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/emulator/executor/executor.h"

namespace test {

inline constexpr const char* kPipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                             "default<O3>", "default<Os>", "default<Oz>"};

inline constexpr const char* kPreamble =
    "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n";

struct Compiled {
  std::unique_ptr<mneme::device::cpu::Image> image;
  std::string ir;
  const mneme_cpu_image_header& header() const { return image->header(); }
  bool isLoop() const { return header().flags & MNEME_CPU_IMAGE_LOOP; }
};

inline mneme::compile::Request requestOf(const std::string& text, const std::string& kernel,
                                         const std::string& passes) {
  mneme::compile::Request request;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  request.modules.emplace_back(bytes, bytes + text.size());
  request.kernel = kernel;
  request.passes = passes;
  request.wantIr = true;
  return request;
}

inline Compiled compileText(const std::string& text, const std::string& kernel,
                            const std::string& passes = "default<O2>",
                            const std::string& options = "") {
  mneme::compile::Request request = requestOf(text, kernel, passes);
  request.optionsJson = options;
  mneme::compile::Result result = mneme::compile::compile(request);
  return {mneme::device::cpu::Image::load(result.image), result.ir};
}

/// What O3 makes of a kernel for one processor, the same on every machine that runs the test.
inline std::string vectorisedIr(const std::string& text, const std::string& kernel) {
  mneme::compile::Request request = requestOf(text, kernel, "default<O3>");
  request.target = "cpu:skylake";
  return mneme::compile::compile(request).ir;
}

inline std::string kernelText(const std::string& file) {
  return mneme::readTextFile(std::string(KERNEL_DIR) + "/" + file);
}

/// IR that the build makes of a source in `kernels`.
inline std::string compiledKernels(const std::string& name) {
  return mneme::readTextFile(std::string(COMPILED_KERNEL_DIR) + "/" + name + ".ll");
}

/// The message of the error that compiling gives; empty if it compiles.
inline std::string compileError(const std::string& text, const std::string& kernel) {
  try {
    compileText(text, kernel);
  } catch (const mneme::Error& error) {
    CHECK(error.code() == mneme::ErrorCode::Unsupported);
    return error.what();
  }
  return {};
}

inline void launch(const Compiled& compiled, uint32_t blocks, uint32_t threads,
                   std::vector<void*> args, uint64_t sharedBytes = 0, bool cooperative = false) {
  mneme::device::LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  shape.dynamicSharedBytes = sharedBytes;
  shape.isCooperative = cooperative;
  auto outcome = mneme::device::cpu::run(*compiled.image, shape, args.data(), 60);
  REQUIRE_MESSAGE(outcome.fault == mneme::device::cpu::FaultKind::None, outcome.message);
}

/// Storage for the image's globals, bound and initialised.
inline std::vector<std::vector<uint64_t>> bindGlobals(const Compiled& compiled) {
  std::vector<std::vector<uint64_t>> storage;
  std::vector<bool> fresh;
  for (size_t index = 0; index < compiled.header().globalCount; ++index) {
    storage.emplace_back(compiled.header().globals[index].sizeBytes / 8 + 1);
    fresh.push_back(true);
    compiled.image->bindGlobal(index, storage.back().data());
  }
  compiled.image->initialiseGlobals(fresh);
  return storage;
}

template <typename T> constexpr const char* irType() {
  if constexpr (std::is_same_v<T, float>)
    return "float";
  else if constexpr (std::is_same_v<T, double>)
    return "double";
  else if constexpr (sizeof(T) == 8)
    return "i64";
  else if constexpr (sizeof(T) == 2)
    return "i16";
  else
    return "i32";
}

template <typename T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// out[i] = f(a[i], b[i], c[i]) for as many operands as `inputs` has. `body` computes %r of type
/// Out from %a, %b, %c of type In; `declarations` go before the kernel.
template <typename Out, typename In>
std::vector<Out> evaluate(const std::string& body, std::vector<std::vector<In>> inputs,
                          const std::string& declarations = "", const std::string& options = "") {
  const std::string in = irType<In>();
  const std::string out = irType<Out>();
  std::string text = kPreamble + declarations +
                     "\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                     "define ptx_kernel void @k(ptr %out, ptr %pa, ptr %pb, ptr %pc) {\n"
                     "  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  const char* names[] = {"a", "b", "c"};
  for (size_t index = 0; index < inputs.size(); ++index) {
    std::string n = names[index];
    text += "  %q" + n + " = getelementptr " + in + ", ptr %p" + n + ", i32 %i\n  %" + n +
            " = load " + in + ", ptr %q" + n + "\n";
  }
  text += body + "\n  %qo = getelementptr " + out + ", ptr %out, i32 %i\n  store " + out +
          " %r, ptr %qo\n  ret void\n}\n";
  size_t count = inputs[0].size();
  std::vector<Out> first;
  inputs.resize(3);
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    std::vector<Out> result(count);
    void* pointers[] = {result.data(), inputs[0].data(), inputs[1].data(), inputs[2].data()};
    Compiled compiled = compileText(text, "k", passes, options);
    launch(compiled, 1, uint32_t(count), {&pointers[0], &pointers[1], &pointers[2], &pointers[3]});
    if (first.empty())
      first = result;
    for (size_t index = 0; index < count; ++index)
      CHECK_MESSAGE(bitsOf(first[index]) == bitsOf(result[index]), "pipelines differ: " << body);
  }
  return first;
}

/// One intrinsic applied to its inputs.
template <typename Out, typename In>
std::vector<Out> callIntrinsic(const std::string& name, std::vector<std::vector<In>> inputs) {
  std::string operands;
  std::string types;
  const char* names[] = {"%a", "%b", "%c"};
  for (size_t index = 0; index < inputs.size(); ++index) {
    operands += (index ? ", " : "") + std::string(irType<In>()) + " " + names[index];
    types += (index ? ", " : "") + std::string(irType<In>());
  }
  return evaluate<Out, In>(
      "  %r = call " + std::string(irType<Out>()) + " @" + name + "(" + operands + ")",
      std::move(inputs), "declare " + std::string(irType<Out>()) + " @" + name + "(" + types + ")");
}

/// Compares bit for bit; any NaN equals any NaN.
template <typename T> void checkSame(T got, T expected, const std::string& what) {
  if constexpr (std::is_floating_point_v<T>)
    if (got != got && expected != expected)
      return;
  CHECK_MESSAGE(bitsOf(got) == bitsOf(expected),
                what << ": got " << got << ", expected " << expected);
}

} // namespace test
