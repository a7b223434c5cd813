// Conformance: runs every case on every device. MNEME_TEST_DEVICE names one device; else these are
// "cpu", "cuda:0" and "hip:0", and a device that does not open is reported with its own reason.
// `test_conformance --fault NAME DEVICE` is how cases that ruin a process run in one of their own.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/unit/conformance/faults.h"
#include "tests/unit/conformance/support.h"

namespace {

/// -1: the device is not there.
int runOn(const std::string& id, int argc, char** argv) {
  try {
    conformance::setDevice(mneme::device::openDevice(id));
  } catch (const mneme::Error& error) {
    std::printf("conformance on %s: skipped: %s\n", id.c_str(), error.what());
    return -1;
  }
  std::printf("conformance on %s (%s)\n", id.c_str(), conformance::theDeviceName().c_str());
  std::fflush(stdout);
  doctest::Context context(argc, argv);
  const int result = context.run();
  conformance::setDevice(nullptr);
  return result;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--fault")
    return conformance::runFault(argv[2], argv[3]);
  if (const char* only = std::getenv("MNEME_TEST_DEVICE"); only && *only)
    return runOn(only, argc, argv) == 0 ? 0 : 1;
  int result = 0;
  for (const char* id : {"cpu", "cuda:0", "hip:0"})
    if (runOn(id, argc, argv) > 0)
      result = 1;
  return result;
}
