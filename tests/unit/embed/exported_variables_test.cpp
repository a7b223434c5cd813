#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/exported_variables.h"
#include "tests/unit/embed/image_maker.h"

using namespace mneme;
using namespace mneme::embed;
using namespace mneme::embed::test;

namespace {

constexpr uint8_t kExported = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                  kWeak = ELF64_ST_INFO(STB_WEAK, STT_OBJECT),
                  kLocal = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                  kFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);

using Found = std::map<std::string, uint64_t>;

Buffer codeObject(const std::vector<Symbol>& symbols) { return elfWith(symbols, SHT_DYNSYM); }

const Buffer kFour = bytesOf("four"), kOne = bytesOf("1");

} // namespace

TEST_CASE("variables that every code object exports can be asked for") {
  const Buffer first = codeObject({{"counter", kFour, kExported},
                                   {"table", kOne, kWeak},
                                   {"own", kFour, kLocal},
                                   {"code", kFour, kFunction}});
  const Buffer second = codeObject({{"table", kOne, kWeak}, {"other", kOne, kExported}});
  CHECK(exportedVariables(bundleWith({first})) == Found{{"counter", 4}, {"table", 1}});
  CHECK(exportedVariables(bundleWith({first, second})) == Found{{"table", 1}});
  CHECK(exportedVariables(compressedBundleWith(bundleWith({first}), 3)) ==
        Found{{"counter", 4}, {"table", 1}});
}

TEST_CASE("a bundle without code objects exports nothing") {
  CHECK(exportedVariables(bundleWith({})).empty());
  CHECK(exportedVariables(bytesOf("no bundle at all")).empty());
}

TEST_CASE("a damaged bundle is refused") {
  Buffer bundle = bundleWith({codeObject({{"counter", kFour, kExported}})});
  bundle.resize(bundle.size() - 100);
  CHECK_THROWS_AS(exportedVariables(bundle), Error);
}
