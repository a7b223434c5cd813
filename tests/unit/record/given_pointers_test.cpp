#include <doctest/doctest.h>

#include <array>

#include "runtime/recorder/given_pointers.h"

namespace mneme::record::test {

TEST_CASE("pointers are named: arguments, and what the kernel reads in structures") {
  struct Body {
    void* unread;
    void* x;
    void* y;
    void* nothing;
    int count;
  };
  int there = 0;
  Body body{&there, &there, &body, nullptr, 3};
  void *first = &there, *null = nullptr;
  std::array<void*, 3> args{&first, &null, &body};
  mneme_launch launch{};
  launch.args = args.data();

  embed::KernelBlob blob;
  blob.args = {{"p", "ptr", 8, 8, ArgKind::Pointer},
               {"", "ptr", 8, 8, ArgKind::Pointer},
               {"b", "struct.Body", sizeof(Body), 8, ArgKind::Aggregate}};
  CHECK(givenPointers(blob, launch).size() == 1); // nothing is known of the structure
  blob.args[2].fields = {{"b.x", "ptr", 8, 8, ArgKind::Pointer},
                         {"", "ptr", 16, 8, ArgKind::Pointer},
                         {"b.nothing", "ptr", 24, 8, ArgKind::Pointer},
                         {"b.count", "i32", 32, 4, ArgKind::Integer}};
  const auto pointers = givenPointers(blob, launch);
  REQUIRE(pointers.size() == 3);
  CHECK(pointers[0].address == reinterpret_cast<uint64_t>(&there));
  CHECK(pointers[0].name == "argument 0, 'p'");
  CHECK(!pointers[0].isMember);
  CHECK(pointers[1].name == "member 'b.x' of argument 2");
  CHECK(pointers[2].address == reinterpret_cast<uint64_t>(&body));
  CHECK(pointers[2].name == "the member at byte 16 of argument 2");
  CHECK(pointers[2].isMember);

  first = nullptr;
  blob.args = {{"", "ptr", 8, 8, ArgKind::Pointer}};
  CHECK(givenPointers(blob, launch).empty());
  first = &there;
  CHECK(givenPointers(blob, launch).at(0).name == "argument 0");
}

TEST_CASE("memory of the host can be read, and a wrong address does no harm") {
  const int there = 5;
  CHECK(isHostReadable(reinterpret_cast<uint64_t>(&there)));
  CHECK_FALSE(isHostReadable(8));
  CHECK_FALSE(isHostReadable(~uint64_t{0} - 64));
}

} // namespace mneme::record::test
