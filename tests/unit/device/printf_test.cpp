#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/emulator/executor/device_printf.h"
#include "support.h"

using mneme::device::cpu::formatPacked;

namespace {

/// Packs values as device code does.
class Packed {
public:
  template <typename T> Packed& add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  const void* data() const { return bytes_.data(); }

private:
  std::vector<char> bytes_;
};

std::string format(const char* text, const Packed& packed) {
  int32_t count = 0;
  return formatPacked(text, packed.data(), count);
}

} // namespace

TEST_CASE("printf conversions read the packed buffer") {
  CHECK(format("%d|%5u|%-4x|%lld", Packed().add(-3).add(7u).add(255u).add(int64_t{1} << 40)) ==
        "-3|    7|ff  |1099511627776");
  CHECK(format("%.3f %g %e", Packed().add(1.5).add(0.25).add(12.0)) == "1.500 0.25 1.200000e+01");
  CHECK(format("%c%c", Packed().add(int{'o'}).add(int{'k'})) == "ok");
  CHECK(format("%d %f", Packed().add(1).add(2.0)) == "1 2.000000");
  CHECK(format("%s=%zu", Packed().add<const char*>("n").add(uint64_t{5})) == "n=5");
  CHECK(format("[%6s|%-6s|%.2s]",
               Packed().add<const char*>("ab").add<const char*>("cd").add<const char*>("efg")) ==
        "[    ab|cd    |ef]");
  CHECK(format("%s", Packed().add<const char*>(nullptr)) == "(null)");
  CHECK(format("%*d|%-*d|%.*f", Packed().add(5).add(1).add(3).add(2).add(1).add(0.25)) ==
        "    1|2  |0.2");
  CHECK(format("100%% %hhd", Packed().add(511)) == "100% -1");
  CHECK(format("%p", Packed().add(reinterpret_cast<void*>(0x1234))) == "0x1234");
  CHECK(format("%y %n", Packed()) == "%y %n");
  CHECK(format("%", Packed()) == "%");
  CHECK(format("%300d", Packed().add(1)).size() == 300);
}

TEST_CASE("device printf goes to stdout in order with the host's output") {
  char path[] = "/tmp/mneme-printf-XXXXXX";
  const int file = mkstemp(path);
  fflush(stdout);
  const int saved = dup(1);
  dup2(file, 1);
  auto image = test::loadImage("loop");
  printf("before\n");
  test::launch(*image, 6, test::shapeOf(3, 1));
  printf("after\n");
  fflush(stdout);
  dup2(saved, 1);
  close(saved);
  const std::string text = mneme::readTextFile(path);
  close(file);
  unlink(path);
  const std::string line = "block %: <abc> -5  2.50\n";
  CHECK(text == "before\n" + line + line + line + "after\n");
}
