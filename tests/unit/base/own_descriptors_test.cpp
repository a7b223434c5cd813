#include "runtime/core/base/own_descriptors.h"

#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "tests/unit/base/guest_parts.h"

namespace mneme::test {

TEST_CASE("what is opened apart is in no table of the application") {
  CHECK(inChild([] {
    const int before = dup(0);
    int inside = -1;
    bool sawStandard = false, sawOther = true;
    runApart([&] {
      inside = open("/dev/zero", O_RDONLY);
      sawStandard = isOpen(0) && isOpen(1) && isOpen(2);
      sawOther = inside != 3;
    });
    const int after = dup(0);
    return inside == 3 && sawStandard && !sawOther && after == before + 1;
  }));
}

TEST_CASE("what is thrown apart arrives") {
  CHECK_THROWS_WITH_AS(runApart([] { throw Error(ErrorCode::IoFailed, "apart"); }), "apart", Error);
  CHECK(apart([] { return apart([] { return 7; }); }) == 7);
}

} // namespace mneme::test
