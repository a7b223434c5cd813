#include <doctest/doctest.h>

#include <dlfcn.h>

#include "runtime/recorder/sharing.h"

namespace mneme::record::test {

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
