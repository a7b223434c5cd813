// libFuzzer entry for one reader (MNEME_FUZZ_READER).
#include <cstdint>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const mneme::fuzz::NamedReader& reader : mneme::fuzz::readers())
    if (reader.name == MNEME_FUZZ_READER)
      reader.read({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
