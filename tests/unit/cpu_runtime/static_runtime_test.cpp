// What replaces a static runtime inside of a program: here a program that has one by its names.
#include <array>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <link.h>
#include <sys/mman.h>

#include "runtime/emulator/runtimes/cuda/jump.h"
#include "runtime/emulator/runtimes/cuda/loaded_object.h"
#include "runtime/emulator/runtimes/cuda/static_runtime_file.h"

using namespace mneme::cpu_runtime::cuda;

extern "C" {
[[gnu::visibility("hidden"), gnu::noinline]] int libcudart_static_0123() { return 3; }
[[gnu::visibility("hidden"), gnu::noinline]] int cudaSaysNothing(int value) {
  return value + libcudart_static_0123();
}
}

namespace {

double answer(int number, double fraction) { return number + fraction; }

using Answer = double (*)(int, double);

/// Runs `check` with the program as it is loaded.
template <typename Check> void withProgram(const Check& check) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        (*static_cast<const Check*>(user))(LoadedObject(*info));
        return 1; // it is the first
      },
      const_cast<Check*>(&check));
}

} // namespace

TEST_CASE("a jump passes everything on, and keeps the mark of a function that may be called") {
  if (!hasJumps())
    return;
  constexpr std::array<unsigned char, 4> mark = {0xf3, 0x0f, 0x1e, 0xfa};
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  auto* const plain = static_cast<unsigned char*>(page);
  auto* const marked = plain + 64;
  std::memcpy(marked, mark.data(), mark.size());
  CHECK_FALSE(isJump(plain));
  for (unsigned char* const function : {plain, marked}) {
    writeJump(function, reinterpret_cast<const void*>(&answer));
    CHECK(isJump(function));
    CHECK(reinterpret_cast<Answer>(function)(40, 2.5) == 42.5);
  }
  CHECK(std::memcmp(marked, mark.data(), mark.size()) == 0);
  CHECK(jumpBytes(marked) == jumpBytes(plain) + mark.size());
  CHECK(plain[jumpBytes(plain)] == 0);
  munmap(page, 4096);
}

TEST_CASE("functions of a static runtime are found in the program's file") {
  const StaticRuntimeFile file = readStaticRuntime("/proc/self/exe");
  CHECK(file.hasSymbols);
  CHECK_FALSE(file.hasDeviceCode);
  bool isFound = false;
  withProgram([&](const LoadedObject& program) {
    for (const RuntimeFunction& function : file.functions)
      if (function.name == "cudaSaysNothing") {
        const uintptr_t address = program.base() + function.start;
        isFound = address == reinterpret_cast<uintptr_t>(&cudaSaysNothing);
        CHECK(function.bytes > 0);
        CHECK(program.isCode(address, function.bytes));
        CHECK(program.protectionOf(address) == (PROT_READ | PROT_EXEC));
      }
  });
  CHECK(isFound);
  CHECK(cudaSaysNothing(4) == 7);
}

TEST_CASE("a file that is none has no runtime") {
  CHECK(readStaticRuntime("/nowhere").functions.empty());
  CHECK(readStaticRuntime("/proc/self/cmdline").functions.empty());
}

TEST_CASE("a loaded program says what it needs, calls and contains") {
  const std::string out = dlsym(RTLD_DEFAULT, "puts") ? "libc.so.6" : "";
  withProgram([&](const LoadedObject& program) {
    static const int inside = 1;
    int outside = 0;
    CHECK(program.path().empty());
    CHECK(program.contains(&inside));
    CHECK_FALSE(program.contains(&outside));
    CHECK_FALSE(program.isCode(reinterpret_cast<uintptr_t>(&inside), 1));
    CHECK(program.needs(out));
    CHECK_FALSE(program.needs("libc.so"));
    CHECK(program.refersTo("dlsym"));
    CHECK_FALSE(program.refersTo("dlsy"));
    CHECK_FALSE(program.calls("cudaSaysNothing"));
    CHECK(program.exports().find("no_such_function") == nullptr);
  });
}
