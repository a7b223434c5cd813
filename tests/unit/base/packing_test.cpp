#include "runtime/core/base/packing.h"

#include <string>

#include <doctest/doctest.h>

using namespace mneme;

namespace {

std::vector<std::byte> packed() {
  Packer packer;
  packer.add(bytesOf(std::string("text")));
  packer.add(uint64_t{7});
  packer.add(std::span<const std::byte>());
  return packer.packed();
}

} // namespace

TEST_CASE("fields come back in their order") {
  const std::vector<std::byte> bytes = packed();
  Unpacker unpacker(bytes);
  std::string text, empty = "old";
  unpacker.take(text);
  CHECK(unpacker.takeNumber() == 7);
  CHECK_FALSE(unpacker.isGood()); // a field is left
  unpacker.take(empty);
  CHECK(unpacker.isGood());
  CHECK(text == "text");
  CHECK(empty.empty());
}

TEST_CASE("bytes that end too early are not fields, wherever they end") {
  const std::vector<std::byte> bytes = packed();
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    Unpacker unpacker(std::span(bytes).first(size));
    std::string text, empty;
    unpacker.take(text);
    unpacker.takeNumber();
    unpacker.take(empty);
    CHECK_FALSE(unpacker.isGood());
  }
}

TEST_CASE("a count of more fields than there can be is refused") {
  Packer packer;
  packer.add(uint64_t{3});
  packer.add(uint64_t{0});
  packer.add(uint64_t{0});
  Unpacker unpacker(packer.packed());
  CHECK(unpacker.takeCount() == 0);
  CHECK_FALSE(unpacker.isGood());
}
