#include "runtime/compiler/service/other_compiler.h"

#include <filesystem>

#include "runtime/compiler/service/library_identity.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

constexpr size_t kHashDigits = 16;

/// Empty if the file cannot be read.
std::string hashOf(const std::string& path) {
  const std::string identity = apart([&] { return libraryIdentity(path); });
  return identity.empty() ? std::string() : toHex(hash64(identity));
}

} // namespace

std::string compilerText(const std::string& path) {
  std::error_code error;
  const std::string found = std::filesystem::canonical(path, error).string();
  const std::string hash = error ? std::string() : hashOf(found);
  if (hash.empty())
    throw Error(ErrorCode::InvalidArgument, "there is no kernel compiler '" + path + "'");
  return found + "@" + hash;
}

std::string compilerPathIn(const std::string& text) {
  const size_t at = text.size() > kHashDigits ? text.size() - kHashDigits - 1 : text.npos;
  const bool isPinned = at != text.npos && text[at] == '@';
  const std::string path = isPinned ? text.substr(0, at) : text;
  const std::string hash = hashOf(path);
  if (hash.empty())
    throw Error(ErrorCode::InvalidArgument,
                "the kernel compiler '" + path +
                    "' is not there or cannot be read; build it with 'mneme compiler add', or "
                    "leave --llvm out");
  if (isPinned && text.substr(at + 1) != hash)
    throw Error(ErrorCode::InvalidArgument,
                "the kernel compiler '" + path +
                    "' has changed since it was named; name it again with --llvm");
  return path;
}

} // namespace mneme::compile
