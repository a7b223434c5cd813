// What replaces a static runtime inside of a program: here a program that has one by its names.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/emulator/runtimes/cuda/jump.h"
#include "runtime/emulator/runtimes/cuda/jump_writer.h"
#include "runtime/emulator/runtimes/cuda/loaded_object.h"
#include "runtime/emulator/runtimes/cuda/static_runtime_file.h"
#include "runtime/emulator/runtimes/cuda/static_runtime_lookup.h"

using namespace mneme::cpu_runtime::cuda;

extern "C" {
[[gnu::visibility("hidden"), gnu::noinline]] int libcudart_static_0123() { return 3; }
[[gnu::visibility("hidden"), gnu::noinline]] int cudaSaysNothing(int value) {
  return value + libcudart_static_0123();
}

/// How many calls of mprotect() the system still allows; negative: all.
static int allowedProtections = -1;
int mprotect(void* address, size_t bytes, int protection) noexcept {
  if (allowedProtections == 0) {
    errno = ENOMEM;
    return -1;
  }
  --allowedProtections;
  return static_cast<int>(syscall(SYS_mprotect, address, bytes, protection));
}
}

namespace {

double answer(int number, double fraction) { return number + fraction; }

using Answer = double (*)(int, double);

constexpr size_t kPage = 4096;

/// Memory for code, which is unmapped in the end.
struct Page {
  explicit Page(int protection) {
    bytes = static_cast<unsigned char*>(
        mmap(nullptr, kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(bytes != MAP_FAILED);
  }
  ~Page() { munmap(bytes, kPage); }

  unsigned char* bytes;
};

/// An object whose code begins in the middle of this page, as lld lays programs out.
struct InMidPage {
  static constexpr size_t kBegin = 0x640;
  explicit InMidPage(const Page& page) {
    part.p_type = PT_LOAD;
    part.p_flags = PF_R | PF_X;
    part.p_vaddr = kBegin;
    part.p_filesz = part.p_memsz = kPage - kBegin;
    info.dlpi_addr = reinterpret_cast<uintptr_t>(page.bytes);
    info.dlpi_phdr = &part;
    info.dlpi_phnum = 1;
  }

  ElfW(Phdr) part {};
  dl_phdr_info info{};
};

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

TEST_CASE("a thread that enters a function while a jump is written gets there") {
  if (!hasJumps())
    return;
  // A first instruction of 15 bytes, which does nothing: no thread is ever inside of the jump.
  constexpr std::array<unsigned char, 21> code = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e,
                                                  0x0f, 0x1f, 0x84, 0,    0,    0,    0,
                                                  0,    0xb8, 7,    0,    0,    0,    0xc3};
  constexpr size_t apart = 32;
  const Page page(PROT_READ | PROT_WRITE | PROT_EXEC);
  for (size_t at = 0; at < kPage; at += apart)
    std::memcpy(page.bytes + at, code.data(), code.size());
  std::atomic<int> rounds{0};
  std::atomic<bool> isDone{false};
  bool isRight = true;
  std::thread caller([&] {
    for (; !isDone; ++rounds)
      for (size_t at = 0; at < kPage; at += apart) {
        const int got = reinterpret_cast<int (*)()>(page.bytes + at)();
        isRight = isRight && (got == 7 || got == 3);
      }
  });
  while (rounds == 0)
    std::this_thread::yield();
  for (size_t at = 0; at < kPage; at += apart)
    writeJump(page.bytes + at, reinterpret_cast<const void*>(&libcudart_static_0123));
  for (const int before = rounds; rounds < before + 2;)
    std::this_thread::yield();
  isDone = true;
  caller.join();
  CHECK(isRight);
  for (size_t at = 0; at < kPage; at += apart)
    CHECK(isJump(page.bytes + at));
}

TEST_CASE("code that begins in the middle of a page gets jumps, and is not writable afterwards") {
  if (!hasJumps())
    return;
  const Page page(PROT_READ | PROT_EXEC);
  const InMidPage made(page);
  const LoadedObject object(made.info);
  unsigned char* const function = page.bytes + InMidPage::kBegin + 16;
  const JumpPlace place{reinterpret_cast<uintptr_t>(function),
                        reinterpret_cast<const void*>(&answer)};
  const JumpPlace before{place.address - 32, place.target};
  CHECK_THROWS_WITH_AS(writeJumps(object, {&before, 1}), "its code is in several parts",
                       mneme::Error);
  writeJumps(object, {&place, 1});
  CHECK(reinterpret_cast<Answer>(function)(40, 2.5) == 42.5);
  std::array<int, 2> pipe{};
  REQUIRE(pipe2(pipe.data(), O_NONBLOCK) == 0);
  CHECK(write(pipe[1], "x", 1) == 1);
  CHECK(read(pipe[0], function, 1) == -1); // the system may not write there either
  CHECK(errno == EFAULT);
  close(pipe[0]);
  close(pipe[1]);
}

TEST_CASE("a system that does not let code be protected again stops nothing") {
  if (!hasJumps())
    return;
  const Page page(PROT_READ | PROT_EXEC);
  const InMidPage made(page);
  unsigned char* const function = page.bytes + InMidPage::kBegin;
  const JumpPlace place{reinterpret_cast<uintptr_t>(function),
                        reinterpret_cast<const void*>(&answer)};
  allowedProtections = 0;
  CHECK_THROWS_AS(writeJumps(LoadedObject(made.info), {&place, 1}), mneme::Error);
  allowedProtections = 1;
  writeJumps(LoadedObject(made.info), {&place, 1});
  allowedProtections = -1;
  CHECK(isJump(function));
}

TEST_CASE("functions of a static runtime are found in the program's file") {
  const StaticRuntimeFile file = readStaticRuntime("/proc/self/exe");
  CHECK(file.hasSymbols);
  CHECK_FALSE(file.hasDeviceCode);
  CHECK(file.toolkit == 0); // no release of CUDA has such functions
  bool isFound = false;
  withProgram([&](const LoadedObject& program) {
    for (const RuntimeFunction& function : file.functions)
      if (function.name == "cudaSaysNothing") {
        const uintptr_t address = program.base() + function.start;
        isFound = address == reinterpret_cast<uintptr_t>(&cudaSaysNothing);
        CHECK(function.bytes > 0);
        CHECK(std::memcmp(function.code.data(), reinterpret_cast<const void*>(address),
                          std::min<size_t>(function.bytes, function.code.size())) == 0);
        CHECK(program.isCode(address, function.bytes));
        CHECK(program.protectionOf(address) == (PROT_READ | PROT_EXEC));
      }
  });
  CHECK(isFound);
  CHECK(cudaSaysNothing(4) == 7);
}

TEST_CASE("the file that was loaded counts, and not one of its name") {
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t, void*) {
        dl_phdr_info info = *program;
        for (const char* name : {"", "./removed.so", "/proc/self/cmdline", "/bin/sh"}) {
          CAPTURE(name);
          info.dlpi_name = name;
          const auto file = findStaticRuntime(LoadedObject(info));
          CHECK(file.has_value());
          CHECK(file.value_or(StaticRuntimeFile()).functions.size() == 1);
        }
        // Other segments than the file of the program has.
        --info.dlpi_phnum;
        CHECK_FALSE(findStaticRuntime(LoadedObject(info)).has_value());
        return 1;
      },
      nullptr);
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
    CHECK_FALSE(program.refersTo("cudaSaysNothing"));
    CHECK(program.exports().find("no_such_function") == nullptr);
  });
}
