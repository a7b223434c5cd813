#include "runtime/core/base/guard_page.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

/// Stands in for UCX's: it does not know the new address.
extern "C" void* mremap(void*, size_t, size_t, int, ...) noexcept { return MAP_FAILED; }

namespace mneme::test {

TEST_CASE("a guard page is mapped whatever has replaced mremap() in the process") {
  GuardPage page;
  const uint64_t bytes = 3 * kGuardPageBytes;
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(reserved != MAP_FAILED);
  const auto first = reinterpret_cast<uint64_t>(reserved);
  auto* memory = static_cast<volatile unsigned char*>(reserved);
  REQUIRE(page.put(first, bytes, true));
  memory[0] = 7;
  CHECK(memory[kGuardPageBytes] == 7);
  CHECK(memory[2 * kGuardPageBytes] == 7);
  page.remove(first, bytes);
  munmap(reserved, bytes);
}

} // namespace mneme::test
