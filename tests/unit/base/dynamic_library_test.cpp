#include "runtime/core/base/dynamic_library.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "runtime/core/base/error.h"

using namespace mneme;

namespace {

std::string messageOf(const std::string& name, const char* symbol) {
  try {
    DynamicLibrary::open(name).symbol(symbol);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::BackendUnavailable);
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("a library gives its symbols, and names the one that is missing") {
  const DynamicLibrary library = DynamicLibrary::open("libc.so.6");
  CHECK(library.symbol("getpid") != nullptr);
  CHECK(library.findSymbol("mneme_is_not_there") == nullptr);
  CHECK(messageOf("libc.so.6", "mneme_is_not_there").find("mneme_is_not_there") !=
        std::string::npos);
}

TEST_CASE("a library that is not there is named") {
  CHECK(messageOf("libmneme_none.so", "any").find("libmneme_none.so") != std::string::npos);
}

TEST_CASE("code knows the directory it was loaded from") {
  static const int here = 0;
  CHECK(std::filesystem::path(directoryOfCode(&here)) ==
        std::filesystem::read_symlink("/proc/self/exe").parent_path());
}
