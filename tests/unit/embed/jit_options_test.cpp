#include "runtime/core/embed/jit_options.h"

#include <doctest/doctest.h>

#include <string>

#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::embed::test {
namespace {

const std::string kPtx = ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k(.param .u64 p) { ret; }\n";

CodeImage imageOf(const std::string& text) { return copyImage(imageInMemory(text.c_str())); }

void* place(uint64_t value) { return reinterpret_cast<void*>(value); }

} // namespace

TEST_CASE("options that change code stand in the first line of PTX") {
  const int numbers[] = {7, 3, 0, 4, 7, 12};
  void* values[] = {place(2),    place(0x1234), place(0x7fff00000018),
                    place(4096), place(1),      place(1)};
  const std::vector<JitOption> options = jitOptionsOf({numbers, values, 6});
  CHECK(options == std::vector<JitOption>{{0, 24}, {7, 1}}); // no logs; the last of two counts
  const CodeImage plain = imageOf(kPtx), image = withJitOptions(plain, options, "");
  CHECK(image.form == "ptx");
  CHECK(image.contentHash != plain.contentHash);
  const std::string text(reinterpret_cast<const char*>(image.bytes->data()), image.bytes->size());
  CHECK(text.starts_with("// options of the driver's compiler: 0=24 7=1\n.version 8.0\n"));
  CHECK(jitOptionsIn(text) == options);
  CHECK(jitOptionsAt(text.c_str()) == options);
  CHECK(readCode(image, "sm_90").kernels.size() == 1);
}

TEST_CASE("code without options, and other code, is as it was") {
  const int log = 5;
  void* const value = place(1);
  CHECK(jitOptionsOf({&log, &value, 1}).empty());
  CHECK(jitOptionsOf({nullptr, nullptr, 3}).empty());
  const CodeImage plain = imageOf(kPtx);
  CHECK(withJitOptions(plain, {}, "").contentHash == plain.contentHash);
  CodeImage cubin = plain;
  cubin.form = "cubin";
  CHECK(withJitOptions(cubin, {{0, 24}}, "").bytes == plain.bytes);
  CHECK(jitOptionsAt(kPtx.c_str()).empty());
  CHECK(jitOptionsAt("").empty());
}

TEST_CASE("of a fat binary options belong to its PTX, where that is what is compiled") {
  // Machine code for sm_75, and PTX for it and newer ones.
  const CodeImage image = copyImage(readFile(IMAGES "/lz4.fatbin"));
  const CodeImage compiled = withJitOptions(image, {{0, 24}}, "sm_90");
  CHECK(compiled.form == "ptx");
  CHECK(jitOptionsAt(compiled.bytes->data()) == std::vector<JitOption>{{0, 24}});
  CHECK_FALSE(readCode(compiled, "sm_90").kernels.empty());
  for (const char* target : {"sm_75", "sm_52", ""}) // its machine code; nothing; either
    CHECK(withJitOptions(image, {{0, 24}}, target).contentHash == image.contentHash);
  CHECK(withJitOptions(image, {}, "sm_90").contentHash == image.contentHash);
}

TEST_CASE("other limits are those of the driver, too") {
  std::string ptx = "// options of the driver's compiler: 0=24 33=1\n" + kPtx;
  setJitNumber(ptx, kJitMaxRegisters, 48);
  setJitNumber(ptx, kJitMaxThreads, 128); // it says nothing of threads
  CHECK(ptx == "// options of the driver's compiler: 0=48 33=1\n" + kPtx);
  std::string plain = kPtx;
  setJitNumber(plain, kJitMaxRegisters, 48);
  CHECK(plain == kPtx);
}

TEST_CASE("a damaged line gives what can be read of it") {
  const std::string line = "// options of the driver's compiler:";
  for (const char* end : {"", " ", " x=1", " 0", " 0=", "0=1", " 99999999999=1", "\n 0=1"})
    CHECK(jitOptionsIn(line + end).empty());
  CHECK(jitOptionsIn(line + " 0=1 7=x") == std::vector<JitOption>{{0, 1}});
}

} // namespace mneme::embed::test
