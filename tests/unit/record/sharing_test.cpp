#include <doctest/doctest.h>

#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include "runtime/recorder/own_references.h"
#include "runtime/recorder/sharing.h"

#ifdef __x86_64__
// Functions as of a library that was linked in whole. Nothing calls the first: the zeros before it
// are no distance, since they belong to no call.
asm(R"(
  .text
  .balign 16
  .byte 0x0f, 0x1f, 0x80
  .long 0
  .type mnemeTestNeverCalled, @function
mnemeTestNeverCalled:
  ret
  .size mnemeTestNeverCalled, 1
)");
extern "C" {
[[gnu::used, gnu::noinline]] void mnemeTestCalled() { asm volatile("" ::: "memory"); }
[[gnu::used, gnu::noinline]] void mnemeTestPointedTo() { asm volatile("nop"); }
[[gnu::used]] void (*mnemeTestPointer)() = mnemeTestPointedTo;
}
#endif

namespace mneme::record::test {
namespace {

std::optional<bool> refersTo(std::string_view name) {
  std::optional<bool> result;
  const auto ask = [&](const dl_phdr_info& program) {
    result = refersToOwn(program, [&](std::string_view one) { return one == name; });
  };
  using Ask = decltype(ask);
  dl_iterate_phdr( // the program comes first
      [](dl_phdr_info* info, size_t, void* user) {
        (*static_cast<Ask*>(user))(*info);
        return 1;
      },
      const_cast<void*>(static_cast<const void*>(&ask)));
  return result;
}

} // namespace

#ifdef __x86_64__
TEST_CASE("a program refers to those of its functions that it calls or points to") {
  mnemeTestCalled();
  CHECK(refersTo("mnemeTestNeverCalled") == false);
  CHECK(refersTo("mnemeTestCalled") == true);
  CHECK(refersTo("mnemeTestPointedTo") == true);
  CHECK_FALSE(refersTo("mnemeTestUnknown").has_value());
}
#endif

TEST_CASE("a program or library that asks for handles of memory may share it") {
  CHECK(mayShare({.isProgram = true, .importsExport = true}, false));
  CHECK(mayShare({.isProgram = true, .namesExport = true}, false));
  CHECK(mayShare({.path = "/opt/app/libhalo.so", .importsExport = true}, false));
  CHECK_FALSE(mayShare({.isProgram = true}, true));
  CHECK_FALSE(mayShare({.path = "/usr/lib/libm.so.6"}, true));
}

TEST_CASE("what could share memory counts where there are processes to share it with") {
  const LoadedObject mpi{.path = "/usr/lib/libmpi.so.40", .namesExport = true};
  const LoadedObject transport{.path = "/usr/lib/ucx/libuct_cuda.so.0"};
  const LoadedObject framework{.path = "libtorch_cuda.so", .importsExport = true};
  for (const LoadedObject& object : {mpi, transport, framework}) {
    CAPTURE(object.path);
    CHECK(mayShare(object, true));
    CHECK_FALSE(mayShare(object, false));
  }
  // An MPI that knows nothing of devices.
  CHECK_FALSE(mayShare({.path = "/usr/lib/libmpich.so.12"}, true));
}

TEST_CASE("a library that is opened later is seen when it is there") {
  Sharing alone(false), together(true);
  CHECK(alone.sharer() == "");
  CHECK(together.sharer() == "");
  void* library = dlopen(MNEME_TEST_SHARER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  CHECK(alone.sharer() == "");
  CHECK(together.sharer() == "'libmpi_that_shares.so'");
  dlclose(library);
  CHECK(together.sharer() == "'libmpi_that_shares.so'"); // memory may have been given away
}

} // namespace mneme::record::test
