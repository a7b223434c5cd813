// The kernels' bitcode, inside the program: it may run where the build tree is not.
#include "cpu_runner.h"

asm(".section .rodata\n"
    "memoryBitcode: .incbin \"" BITCODE_DIR "/memory.bc\"\n"
    "memoryBitcodeEnd:\n"
    "compareBitcode: .incbin \"" BITCODE_DIR "/compare.bc\"\n"
    "compareBitcodeEnd:\n"
    ".previous\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const std::byte memoryBitcode[], memoryBitcodeEnd[];
[[gnu::visibility("hidden")]] extern const std::byte compareBitcode[], compareBitcodeEnd[];
}

namespace test {

std::vector<std::byte> bitcodeOf(BulkModule module) {
  if (module == BulkModule::Memory)
    return {memoryBitcode, memoryBitcodeEnd};
  return {compareBitcode, compareBitcodeEnd};
}

} // namespace test
