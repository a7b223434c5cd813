#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "runtime/core/abi/mneme_rt.h"

namespace {

struct Wrapper {
  uint32_t magic = 0, version = 1;
  const void* data = nullptr;
  const void* unused = nullptr;
};

const char kCode[64] = {};
int handles[64];

Wrapper wrapperOf(size_t index) { return {.data = kCode + index}; }

} // namespace

TEST_CASE("code is known by its content from registration to its end") {
  const Wrapper first = wrapperOf(0), second = wrapperOf(1);
  CHECK(mneme_rt_code_handle(kCode, nullptr) == nullptr);
  mneme_rt_code_registered(&first, &handles[0]);
  mneme_rt_code_registered(&second, &handles[1]);
  CHECK(mneme_rt_code_handle(kCode, nullptr) == &handles[0]);
  CHECK(mneme_rt_code_handle(kCode + 1, nullptr) == &handles[1]);
  mneme_rt_code_unregistered(&handles[0]);
  CHECK(mneme_rt_code_handle(kCode, nullptr) == nullptr);
  CHECK(mneme_rt_code_handle(kCode + 1, nullptr) == &handles[1]);
  mneme_rt_code_unregistered(&handles[1]);
}

TEST_CASE("a handle that comes back is another registration") {
  const Wrapper first = wrapperOf(0), second = wrapperOf(1);
  uint64_t before = 0, after = 0;
  mneme_rt_code_registered(&first, &handles[0]);
  CHECK(mneme_rt_code_handle(kCode, &before) == &handles[0]);
  mneme_rt_code_registered(&second, &handles[0]); // nobody said that the first has gone
  CHECK(mneme_rt_code_handle(kCode, nullptr) == nullptr);
  CHECK(mneme_rt_code_handle(kCode + 1, &after) == &handles[0]);
  CHECK(before != after);
  mneme_rt_code_unregistered(&handles[0]);
}

TEST_CASE("what was not registered is not noted") {
  const Wrapper first = wrapperOf(0);
  mneme_rt_code_registered(&first, nullptr);
  mneme_rt_code_registered(nullptr, &handles[0]);
  CHECK(mneme_rt_code_handle(kCode, nullptr) == nullptr);
  mneme_rt_code_unregistered(nullptr);
}

TEST_CASE("there may be many") {
  std::vector<Wrapper> wrappers;
  for (size_t index = 0; index < 64; ++index)
    wrappers.push_back(wrapperOf(index));
  for (size_t index = 0; index < 64; ++index)
    mneme_rt_code_registered(&wrappers[index], &handles[index]);
  for (size_t index = 0; index < 64; ++index)
    CHECK(mneme_rt_code_handle(kCode + index, nullptr) == &handles[index]);
  for (int& handle : handles)
    mneme_rt_code_unregistered(&handle);
  CHECK(mneme_rt_code_handle(kCode + 63, nullptr) == nullptr);
}

TEST_CASE("a forked child knows none and waits for nothing") {
  const Wrapper first = wrapperOf(0);
  mneme_rt_code_registered(&first, &handles[0]);
  const pid_t child = fork();
  if (child == 0) {
    mneme_rt_code_unregistered(&handles[0]);
    _exit(mneme_rt_code_handle(kCode, nullptr) ? 1 : 0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(mneme_rt_code_handle(kCode, nullptr) == &handles[0]);
  mneme_rt_code_unregistered(&handles[0]);
}
