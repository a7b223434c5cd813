#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <thread>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;

// A fatal error inside LLVM leaks what the compilation held: its frames cannot be unwound.
extern "C" const char* __lsan_default_suppressions() { return "leak:libmneme_compile.so"; }

namespace {

Failure compileFailure(const compile::Request& request) {
  return failureOf([&] { compile::compile(request); });
}

// The bits of `text` in LLVM's 6-bit alphabet, least significant first: as bitcode has its writer.
std::vector<bool> bitsOf(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
  std::vector<bool> bits;
  for (const char letter : text)
    for (int bit = 0; bit < 6; ++bit)
      bits.push_back(kAlphabet.find(letter) >> bit & 1);
  return bits;
}

/// Bitcode that says it was written by LLVM 99, and whose module has a hole.
std::vector<std::byte> bitcodeOfTheFuture() {
  std::vector<std::byte> bitcode = compile::irToBitcode(bytesOf(kVectorAdd));
  const auto bitAt = [&](size_t i) {
    return (bitcode[i / 8] >> i % 8 & std::byte{1}) != std::byte{};
  };
  const std::vector<bool> letters = bitsOf("LLVM");
  const std::vector<bool> version = bitsOf("99");
  for (size_t at = 0; at < 1024; ++at) {
    size_t same = 0;
    while (same < letters.size() && bitAt(at + same) == letters[same])
      ++same;
    if (same < letters.size())
      continue;
    for (size_t i = 0; i < version.size(); ++i) {
      const size_t bit = at + same + i;
      const std::byte mask = std::byte{1} << bit % 8;
      bitcode[bit / 8] = version[i] ? bitcode[bit / 8] | mask : bitcode[bit / 8] & ~mask;
    }
    break;
  }
  std::fill(bitcode.end() - static_cast<ptrdiff_t>(bitcode.size() / 2), bitcode.end(), std::byte{});
  return bitcode;
}

} // namespace

TEST_CASE("bitcode that only a newer LLVM reads is told from damage") {
  compile::Request request = vectorAddRequest("sm_90");
  request.modules = {bitcodeOfTheFuture()};
  const Failure failure = compileFailure(request);
  CHECK(failure.code == ErrorCode::Unsupported);
  CHECK(contains(failure.message, "written by LLVM 99"));
  CHECK(contains(failure.message, "record the program built with clang"));
}

TEST_CASE("an unknown kernel is named, with the kernels there are") {
  compile::Request request = vectorAddRequest("sm_90");
  request.kernel = "missing";
  const Failure failure = compileFailure(request);
  CHECK(failure.code == ErrorCode::NotFound);
  CHECK(contains(failure.message, "'missing'"));
  CHECK(contains(failure.message, "'vectorAdd'"));
}

TEST_CASE("an unknown pass is named") {
  compile::Request request = vectorAddRequest("sm_90");
  request.passes = "instcombine,no-such-pass";
  const Failure failure = compileFailure(request);
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(contains(failure.message, "no-such-pass"));
  const Failure checked = failureOf([] { compile::checkPasses("default<O3>,no-such-pass"); });
  CHECK(checked.code == ErrorCode::InvalidArgument);
  CHECK(contains(checked.message, "no-such-pass"));
}

TEST_CASE("a level in place of a pipeline gets its pipeline's name") {
  const auto messageOf = [](const char* passes) {
    return failureOf([&] { compile::checkPasses(passes); }).message;
  };
  CHECK(contains(messageOf("O3"), "'O3' (this level's is default<O3>)"));
  CHECK(contains(messageOf("-Os"), "(this level's is default<Os>)"));
  CHECK(!contains(messageOf("O9"), "level"));
}

TEST_CASE("good pipelines pass the check") {
  for (const char* passes : {"", "default<O0>", "default<Oz>", "function(sroa,instcombine)",
                             "module(function(gvn)),globaldce"})
    CHECK(failureOf([&] { compile::checkPasses(passes); }).code == ErrorCode::Ok);
}

TEST_CASE("malformed pipelines are refused") {
  for (const char* passes : {"function(instcombine", "default<O9>", "instcombine,,", ")", "a(b"}) {
    CAPTURE(passes);
    CHECK(failureOf([&] { compile::checkPasses(passes); }).code == ErrorCode::InvalidArgument);
  }
}

TEST_CASE("damaged IR is refused wherever it is cut") {
  const std::vector<std::byte> bitcode = compile::irToBitcode(bytesOf(kVectorAdd));
  compile::Request request = vectorAddRequest("sm_90");
  for (size_t size = 0; size < bitcode.size(); size += 97) {
    CAPTURE(size);
    request.modules = {{bitcode.begin(), bitcode.begin() + static_cast<ptrdiff_t>(size)}};
    CHECK(compileFailure(request).code == ErrorCode::ArtifactCorrupt);
  }
  request.modules = {bytesOf("define void @f( {")};
  CHECK(compileFailure(request).code == ErrorCode::ArtifactCorrupt);
  request.modules = {bytesOf("define i32 @vectorAdd() { ret i64 0 }")};
  CHECK(compileFailure(request).code == ErrorCode::ArtifactCorrupt);
  CHECK(failureOf([] { compile::irToText(bytesOf("not IR")); }).code == ErrorCode::ArtifactCorrupt);
}

TEST_CASE("bitcode with flipped bits never ends the process") {
  const std::vector<std::byte> bitcode = compile::irToBitcode(bytesOf(kVectorAdd));
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<std::byte> mutated = bitcode;
    for (unsigned flip = 0; flip <= random() % 4; ++flip)
      mutated[random() % mutated.size()] ^= std::byte(1u << (random() % 8));
    const ErrorCode code = failureOf([&] { compile::irToText(mutated); }).code;
    CHECK((code == ErrorCode::Ok || code == ErrorCode::ArtifactCorrupt));
  }
}

TEST_CASE("a request without modules is refused") {
  compile::Request request = vectorAddRequest("sm_90");
  request.modules.clear();
  CHECK(compileFailure(request).code == ErrorCode::InvalidArgument);
}

TEST_CASE("unknown targets are refused") {
  CHECK(compileFailure(vectorAddRequest("sm_1")).code == ErrorCode::InvalidArgument);
  CHECK(compileFailure(vectorAddRequest("vax")).code == ErrorCode::InvalidArgument);
  CHECK(compileFailure(vectorAddRequest("cpu:no-such-cpu")).code == ErrorCode::InvalidArgument);
}

TEST_CASE("arguments that cannot be specialised are refused") {
  compile::Request request = vectorAddRequest("sm_90");
  request.specializedArgs = {argument(5, 1)};
  CHECK(compileFailure(request).code == ErrorCode::InvalidArgument);
  request.specializedArgs = {argument(3, int64_t{1})};
  const Failure failure = compileFailure(request);
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(contains(failure.message, "has 4 bytes"));
}

TEST_CASE("dimensions of zero are refused when specialised") {
  compile::Request request = vectorAddRequest("sm_90");
  request.specializeDims = true;
  request.block[1] = 0;
  CHECK(compileFailure(request).code == ErrorCode::InvalidArgument);
}

TEST_CASE("what the code generator cannot translate is an error, not the end of the process") {
  compile::Request request;
  request.target = "sm_90";
  request.kernel = "k";
  // x86's intrinsic has no meaning on a GPU.
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
declare i64 @llvm.x86.rdtsc()
define ptx_kernel void @k(ptr %p) {
  %t = call i64 @llvm.x86.rdtsc()
  store i64 %t, ptr %p
  ret void
})")};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Failure failure = compileFailure(request);
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(contains(failure.message, "rdtsc"));
  }
  CHECK(compileFailure(vectorAddRequest("sm_90")).code == ErrorCode::Ok);
}

TEST_CASE("a kernel that device code calls is refused on the CPU") {
  compile::Request request;
  request.kernel = "k";
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p) {
  call void @k(ptr %p)
  ret void
})")};
  CHECK(compileFailure(request).code == ErrorCode::Unsupported);
}

TEST_CASE("options that are not JSON are refused") {
  compile::Request request = vectorAddRequest("sm_90");
  request.optionsJson = "{\"fp_contract\": ";
  CHECK(compileFailure(request).code == ErrorCode::InvalidArgument);
}

TEST_CASE("threads compile at the same time") {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::byte>> images(8);
  for (size_t index = 0; index < images.size(); ++index)
    threads.emplace_back([&images, index] {
      images[index] = compile::compile(vectorAddRequest(index % 2 == 0 ? "cpu" : "sm_90")).image;
    });
  for (std::thread& thread : threads)
    thread.join();
  for (size_t index = 0; index < images.size(); ++index) {
    CHECK_FALSE(images[index].empty());
    CHECK(images[index] == images[index % 2]);
  }
}
